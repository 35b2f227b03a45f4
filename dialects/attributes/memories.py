"""The memories of a plan: one arena, several shared objects, or several banks.

#memgraph.memory<object0, kind = object, bytes = 64>
#memgraph.memory<dtcm, kind = bank, bytes = 49152, capacity = 65536, cost = 1, moved = 98304>
#memgraph.traffic<cost = 139264, lower_bound = 139264, proof = ilp>
"""

from collections.abc import Sequence
from typing import Literal, get_args

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.operators import (
    RecordAttr,
    need_counts,
    need_keys,
    number_of,
    one_of,
    parse_keys,
)

MemoryKind = Literal["arena", "object", "bank"]
ARENA = "arena"  # the name of a plan's only memory
PROOFS = ("ilp", "none")
BANK_KEYS = ("capacity", "cost", "moved")


@irdl_attr_definition
class MemoryAttr(ParametrizedAttribute):
    """A memory of a plan and the bytes of it that the plan needs.

    The `kind` says what its buffers may do: in an `arena` they lie side by side and one after the
    other; in an `object` there is one at a time, which begins it; a `bank` is an arena of at most
    `capacity` bytes, in which a run reads and writes `moved` bytes, each at `cost`. Only a bank has
    these three (-1 elsewhere).
    """

    name = "memgraph.memory"
    memory: StringAttr
    kind: StringAttr
    bytes: IntAttr
    capacity: IntAttr
    cost: IntAttr
    moved: IntAttr

    def __init__(
        self,
        memory: str,
        kind: MemoryKind,
        bytes: int,  # noqa: A002
        capacity: int = -1,
        cost: int = -1,
        moved: int = -1,
    ):
        super().__init__(
            StringAttr(memory),
            StringAttr(kind),
            IntAttr(bytes),
            IntAttr(capacity),
            IntAttr(cost),
            IntAttr(moved),
        )

    def verify(self) -> None:
        what = f"memory {self.memory.data}"
        one_of(self.kind.data, get_args(MemoryKind), f"{what}: kind")
        need_counts(what, self.bytes.data)
        numbers = self.capacity.data, self.cost.data, self.moved.data
        if self.kind.data == "bank":
            need_counts(what, *numbers)
        elif numbers != (-1, -1, -1):
            raise VerifyException(f"{what}: only a bank has capacity, cost and moved")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            memory = parser.parse_identifier_or_str_literal()
            parser.parse_punctuation(",")
            readers = dict.fromkeys(("bytes", *BANK_KEYS), number_of(parser))
            keys = parse_keys(
                parser, {"kind": parser.parse_identifier, **readers}, parser.Delimiter.NONE
            )
            need_keys(parser, keys, "kind", "bytes")
            given = [key for key in BANK_KEYS if key in keys]
            if keys["kind"] == "bank":
                need_keys(parser, keys, *BANK_KEYS)
            elif given:
                parser.raise_error(f"memory {memory}: only a bank has {given[0]}")
        return cls(memory, **keys).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_identifier_or_string_literal(self.memory.data)
            printer.print_string(f", kind = {self.kind.data}, bytes = {self.bytes.data}")
            if self.kind.data == "bank":
                printer.print_string(
                    f", capacity = {self.capacity.data}, cost = {self.cost.data}, "
                    f"moved = {self.moved.data}"
                )


def one_arena(size: int) -> tuple[MemoryAttr, ...]:
    """The memories of a plan with one arena of `size` bytes."""
    return (MemoryAttr(ARENA, "arena", size),)


@irdl_attr_definition
class TrafficAttr(RecordAttr):
    """Cost of the traffic of a plan over banks: the sum of their moved bytes times their cost.

    No assignment in this order costs less than `lower_bound`, shown by `proof`. Where the order was
    chosen for the cost, none in any order, with results in place as they are, costs less than
    `orders_lower_bound`.
    """

    name = "memgraph.traffic"
    cost: IntAttr
    lower_bound: IntAttr
    proof: StringAttr
    orders_lower_bound: IntAttr

    def __init__(self, cost: int, lower_bound: int, proof: str, orders_lower_bound: int = 0):
        bounds = IntAttr(lower_bound), StringAttr(proof), IntAttr(orders_lower_bound)
        super().__init__(IntAttr(cost), *bounds)

    @property
    def optimal(self) -> bool:
        return self.proof.data != "none" and self.cost.data == self.lower_bound.data

    def verify(self) -> None:
        one_of(self.proof.data, PROOFS, "proof")
        if not 0 <= self.lower_bound.data <= self.cost.data:
            raise VerifyException("traffic: lower_bound must be between 0 and cost")
        if not 0 <= self.orders_lower_bound.data <= self.lower_bound.data:
            raise VerifyException("traffic: orders_lower_bound must be at most lower_bound")
        need_counts("traffic", self.cost.data)
