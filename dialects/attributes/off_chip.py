"""Traffic to memory off the chip.

memgraph.off_chip = #memgraph.off_chip<on_chip = 262144, rule = belady, moved = 12288,
    lower_bound = 0, proof = none>
memgraph.off_chip = #memgraph.off_chip<on_chip = 131072, rule = packing, moved = 49152,
    lower_bound = 40960, proof = none, objective = traffic, orders_lower_bound = 40960,
    outside = [3, 7]>
"""

from collections.abc import Sequence
from typing import get_args

from xdsl.dialects.builtin import DenseArrayBase, IntAttr, IntegerType, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.operators import RecordAttr, need_counts, one_of
from memopt.dialects.attributes.plan import ProofKind
from memopt.dialects.attributes.quick import numbers

TRAFFIC = "traffic"  # the objective of an order that was chosen for it


@irdl_attr_definition
class OffChipAttr(RecordAttr):
    """Bytes `moved` from and to memory off the chip in one run, if `on_chip` bytes are on it.

    `rule` says who decides what stays, such as `belady`; which rules there are is known to the
    pass that measures, which also checks it. `lower_bound` bounds every rule in this order. If the
    order was chosen for its traffic, that is its `objective`, and `orders_lower_bound` bounds every
    order and rule. `proof` says what proves a bound that is met. `outside` lists what is not kept
    on the chip, where the rule alone does not say it: stretches between two touches of a tensor,
    numbered tensor by tensor, arguments first, then results as they are made.
    """

    name = "memgraph.off_chip"
    on_chip: IntAttr
    rule: StringAttr
    moved: IntAttr
    lower_bound: IntAttr
    proof: StringAttr
    objective: StringAttr
    orders_lower_bound: IntAttr
    outside: DenseArrayBase[IntegerType]

    def __init__(
        self,
        on_chip: int,
        rule: str,
        moved: int,
        lower_bound: int,
        proof: str,
        objective: str = "",
        orders_lower_bound: int = 0,
        outside: Sequence[int] = (),
    ):
        super().__init__(
            IntAttr(on_chip),
            StringAttr(rule),
            IntAttr(moved),
            IntAttr(lower_bound),
            StringAttr(proof),
            StringAttr(objective),
            IntAttr(orders_lower_bound),
            numbers(outside),
        )

    def verify(self) -> None:
        one_of(self.proof.data, get_args(ProofKind), "proof")
        if self.objective.data:
            one_of(self.objective.data, (TRAFFIC,), "objective")
        if self.on_chip.data < 0 or not 0 <= self.lower_bound.data <= self.moved.data:
            raise VerifyException("off_chip: lower_bound must be between 0 and moved")
        orders = self.orders_lower_bound.data
        if not 0 <= orders <= self.lower_bound.data:
            raise VerifyException("off_chip: orders_lower_bound must be at most lower_bound")
        if orders and not self.objective.data:
            raise VerifyException("off_chip: orders_lower_bound needs objective = traffic")
        need_counts("off_chip", self.on_chip.data, self.moved.data)
        need_counts("off_chip", *self.outside.get_values())


OFF_CHIP_ATTRIBUTES: tuple[type[Attribute], ...] = (OffChipAttr,)
