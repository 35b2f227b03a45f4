"""Traffic to memory off the chip.

memgraph.off_chip = #memgraph.off_chip<on_chip = 262144, rule = belady, moved = 12288,
    lower_bound = 0, proof = none>
"""

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.memories import PROOFS
from memopt.dialects.attributes.operators import RecordAttr, need_counts, one_of


@irdl_attr_definition
class OffChipAttr(RecordAttr):
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


OFF_CHIP_ATTRIBUTES: tuple[type[Attribute], ...] = (OffChipAttr,)
