"""Attributes of plans over several memories, and of traffic to memory off the chip.

memgraph.memories = #memgraph.memories<banks = [
    #memgraph.bank<dtcm, capacity = 65536, cost = 1, arena = 49152, moved = 98304>,
    #memgraph.bank<sram, capacity = 327680, cost = 2, arena = 16384, moved = 20480>],
    cost = 139264, lower_bound = 139264, proof = ilp>
memgraph.off_chip = #memgraph.off_chip<on_chip = 262144, rule = belady, moved = 12288,
    lower_bound = 0, proof = none>
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes import need_counts, need_keys, one_of, parse_keys

PROOFS = ("ilp", "none")
RULES = ("belady", "exact")


@irdl_attr_definition
class BankAttr(ParametrizedAttribute):
    """A memory of the plan, in bytes: `arena` is used of `capacity`, `moved` are read and written
    there in one run, each at `cost`."""

    name = "memgraph.bank"
    bank: StringAttr
    capacity: IntAttr
    cost: IntAttr
    arena: IntAttr
    moved: IntAttr

    def __init__(self, bank: str, capacity: int, cost: int, arena: int, moved: int):
        super().__init__(
            StringAttr(bank), IntAttr(capacity), IntAttr(cost), IntAttr(arena), IntAttr(moved)
        )

    def verify(self) -> None:
        if min(self.capacity.data, self.cost.data, self.arena.data, self.moved.data) < 0:
            raise VerifyException(f"bank {self.bank.data}: negative bytes or cost")
        numbers = (self.capacity.data, self.cost.data, self.arena.data, self.moved.data)
        need_counts(f"bank {self.bank.data}", *numbers)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        keys = ("capacity", "cost", "arena", "moved")
        found: dict[str, int] = {}
        with parser.in_angle_brackets():
            bank = parser.parse_identifier_or_str_literal()
            for key in keys:
                parser.parse_punctuation(",")
                parser.parse_keyword(key)
                parser.parse_punctuation("=")
                found[key] = parser.parse_integer()
        return cls(bank, **found).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_identifier_or_string_literal(self.bank.data)
            printer.print_string(
                f", capacity = {self.capacity.data}, cost = {self.cost.data}, "
                f"arena = {self.arena.data}, moved = {self.moved.data}"
            )


@irdl_attr_definition
class MemoriesAttr(ParametrizedAttribute):
    """The memories that a function's slots are in. `cost` is the sum over the banks of moved bytes
    times cost; no assignment in this order costs less than `lower_bound`, shown by `proof`."""

    name = "memgraph.memories"
    banks: ArrayAttr[BankAttr]
    cost: IntAttr
    lower_bound: IntAttr
    proof: StringAttr

    def __init__(self, banks: Sequence[BankAttr], cost: int, lower_bound: int, proof: str):
        super().__init__(ArrayAttr(banks), IntAttr(cost), IntAttr(lower_bound), StringAttr(proof))

    @property
    def optimal(self) -> bool:
        return self.proof.data != "none" and self.cost.data == self.lower_bound.data

    def bank(self, name: str) -> BankAttr | None:
        """The bank of that name."""
        return next((b for b in self.banks if b.bank.data == name), None)

    def start(self, name: str) -> int:
        """Bytes used of the banks before that of this name: where it begins if they are drawn as
        one."""
        total = 0
        for b in self.banks:
            if b.bank.data == name:
                break
            total += b.arena.data
        return total

    def verify(self) -> None:
        one_of(self.proof.data, PROOFS, "proof")
        names = [b.bank.data for b in self.banks]
        if not names or len(set(names)) != len(names) or not all(names):
            raise VerifyException("memories: banks need different names, and there must be one")
        if not 0 <= self.lower_bound.data <= self.cost.data:
            raise VerifyException("memories: lower_bound must be between 0 and cost")
        need_counts("memories", self.cost.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def banks() -> list[BankAttr]:
            found = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_attribute
            )
            if not all(isinstance(b, BankAttr) for b in found):
                parser.raise_error("expected a list of #memgraph.bank")
            return cast("list[BankAttr]", found)

        found = parse_keys(
            parser,
            {
                "banks": banks,
                "cost": parser.parse_integer,
                "lower_bound": parser.parse_integer,
                "proof": parser.parse_identifier,
            },
        )
        need_keys(parser, found, "banks", "cost", "lower_bound", "proof")
        return cls(**found).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("banks = [")
            printer.print_list(self.banks.data, printer.print_attribute)
            printer.print_string(
                f"], cost = {self.cost.data}, lower_bound = {self.lower_bound.data}, "
                f"proof = {self.proof.data}"
            )


@irdl_attr_definition
class OffChipAttr(ParametrizedAttribute):
    """Bytes `moved` from and to memory off the chip in one run, if `on_chip` bytes are on it.

    `rule` says who decides what stays: `belady` or `exact`. `lower_bound` bounds every rule.
    """

    name = "memgraph.off_chip"
    on_chip: IntAttr
    rule: StringAttr
    moved: IntAttr
    lower_bound: IntAttr
    proof: StringAttr

    def __init__(self, on_chip: int, rule: str, moved: int, lower_bound: int, proof: str):
        super().__init__(
            IntAttr(on_chip),
            StringAttr(rule),
            IntAttr(moved),
            IntAttr(lower_bound),
            StringAttr(proof),
        )

    def verify(self) -> None:
        one_of(self.rule.data, RULES, "rule")
        one_of(self.proof.data, PROOFS, "proof")
        if self.on_chip.data < 0 or not 0 <= self.lower_bound.data <= self.moved.data:
            raise VerifyException("off_chip: lower_bound must be between 0 and moved")
        need_counts("off_chip", self.on_chip.data, self.moved.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        found = parse_keys(
            parser,
            {
                "on_chip": parser.parse_integer,
                "rule": parser.parse_identifier,
                "moved": parser.parse_integer,
                "lower_bound": parser.parse_integer,
                "proof": parser.parse_identifier,
            },
        )
        need_keys(parser, found, "on_chip", "rule", "moved", "lower_bound", "proof")
        return cls(**found).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(
                f"on_chip = {self.on_chip.data}, rule = {self.rule.data}, "
                f"moved = {self.moved.data}, lower_bound = {self.lower_bound.data}, "
                f"proof = {self.proof.data}"
            )


BANK_ATTRIBUTES: tuple[type[Attribute], ...] = (BankAttr, MemoriesAttr, OffChipAttr)
