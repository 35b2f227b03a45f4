"""Element-wise operations of two operands."""

from typing import ClassVar

from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from memopt.dialects.attributes import ActivationAttr, RoundingAttr
from memopt.dialects.operators.base import ACTIVATION, ROUNDING, TYPES, ComputeOp
from memopt.dialects.tensors import AnyTensor, elements_of, shape_of


class BinaryOp(ComputeOp):
    """Element-wise with numpy's broadcasting."""

    ELEMENTWISE: ClassVar[bool] = True
    lhs = operand_def(AnyTensor)
    rhs = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    activation = opt_prop_def(ActivationAttr)
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs" + ACTIVATION + ROUNDING + " " + TYPES

    def verify_(self) -> None:
        a, b = shape_of(self.lhs), shape_of(self.rhs)
        n = max(len(a), len(b))
        a, b = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
        self.require(
            all(x == y or 1 in (x, y) for x, y in zip(a, b, strict=True)),
            f"shapes {a} and {b} do not broadcast",
        )
        expected = tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")


@irdl_op_definition
class AddOp(BinaryOp):
    name = "memgraph.add"


@irdl_op_definition
class SubOp(BinaryOp):
    name = "memgraph.sub"


@irdl_op_definition
class MulOp(BinaryOp):
    name = "memgraph.mul"

    def macs(self) -> int:
        """One per element."""
        return elements_of(self.result)


@irdl_op_definition
class MaximumOp(BinaryOp):
    name = "memgraph.maximum"
    APPLIES_ACTIVATION: ClassVar[bool] = False


@irdl_op_definition
class MinimumOp(BinaryOp):
    name = "memgraph.minimum"
    APPLIES_ACTIVATION: ClassVar[bool] = False
