"""Element-wise operations of one operand."""

from typing import ClassVar

from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from memopt.dialects.attributes import RoundingAttr
from memopt.dialects.operators.base import ROUNDING, TYPES, ComputeOp
from memopt.dialects.tensors import AnyTensor, shape_of


class UnaryOp(ComputeOp):
    """Element-wise, same shape."""

    ELEMENTWISE: ClassVar[bool] = True
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Pure())
    assembly_format = "$input" + ROUNDING + " " + TYPES

    def verify_(self) -> None:
        self.require(shape_of(self.input) == shape_of(self.result), "shapes differ")


@irdl_op_definition
class ReluOp(UnaryOp):
    name = "memgraph.relu"
    AS_ACTIVATION: ClassVar[str | None] = "relu"


@irdl_op_definition
class Relu6Op(UnaryOp):
    name = "memgraph.relu6"
    AS_ACTIVATION: ClassVar[str | None] = "relu6"


@irdl_op_definition
class LogisticOp(UnaryOp):
    name = "memgraph.logistic"


@irdl_op_definition
class TanhOp(UnaryOp):
    name = "memgraph.tanh"


@irdl_op_definition
class HardSwishOp(UnaryOp):
    name = "memgraph.hard_swish"
