"""Softmax."""

from xdsl.dialects.builtin import (
    I64,
    Float32Type,
    FloatAttr,
    IntegerAttr,
)
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from memopt.dialects.operators.base import TYPES, ComputeOp
from memopt.dialects.tensors import AnyTensor, shape_of


@irdl_op_definition
class SoftmaxOp(ComputeOp):
    """exp(beta * x) normalised over `axis`."""

    name = "memgraph.softmax"
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    axis = prop_def(IntegerAttr[I64])
    beta = prop_def(FloatAttr[Float32Type])
    traits = traits_def(Pure())
    assembly_format = "$input `axis` $axis `beta` $beta " + TYPES

    def verify_(self) -> None:
        self.require(shape_of(self.input) == shape_of(self.result), "shapes differ")
        axis = self.axis.value.data
        self.require(0 <= axis < max(1, len(shape_of(self.input))), f"axis {axis} out of range")
