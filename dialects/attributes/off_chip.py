"""Traffic to memory off the chip.

memgraph.off_chip = #memgraph.off_chip<on_chip = 262144, rule = belady, moved = 12288,
    lower_bound = 0, proof = none>
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.memories import PROOFS
from memopt.dialects.attributes.operators import need_counts, number_of, one_of, parse_record


@irdl_attr_definition
class OffChipAttr(ParametrizedAttribute):
    """Bytes `moved` from and to memory off the chip in one run, if `on_chip` bytes are on it.

    `rule` says who decides what stays, such as `belady`; which rules there are is known to the
    pass that measures, which also checks it. `lower_bound` bounds every rule.
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
        one_of(self.proof.data, PROOFS, "proof")
        if self.on_chip.data < 0 or not 0 <= self.lower_bound.data <= self.moved.data:
            raise VerifyException("off_chip: lower_bound must be between 0 and moved")
        need_counts("off_chip", self.on_chip.data, self.moved.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        found = parse_record(
            parser,
            {
                "on_chip": number_of(parser),
                "rule": parser.parse_identifier,
                "moved": number_of(parser),
                "lower_bound": number_of(parser),
                "proof": parser.parse_identifier,
            },
        )
        return cls(**found).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(
                f"on_chip = {self.on_chip.data}, rule = {self.rule.data}, "
                f"moved = {self.moved.data}, lower_bound = {self.lower_bound.data}, "
                f"proof = {self.proof.data}"
            )


OFF_CHIP_ATTRIBUTES: tuple[type[Attribute], ...] = (OffChipAttr,)
