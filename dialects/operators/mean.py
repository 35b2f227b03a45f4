"""Means over axes."""

from xdsl.dialects.builtin import (
    UnitAttr,
)
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from memopt.dialects.attributes import RoundingAttr
from memopt.dialects.operators.base import INTS, ROUNDING, TYPES, ComputeOp
from memopt.dialects.tensors import AnyTensor, shape_of


@irdl_op_definition
class MeanOp(ComputeOp):
    """The mean over `axes`; with `keep_dims` these stay as 1."""

    name = "memgraph.mean"
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    axes = prop_def(INTS)
    keep_dims = opt_prop_def(UnitAttr)
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Pure())
    assembly_format = "$input `axes` $axes (`keep_dims` $keep_dims^)?" + ROUNDING + " " + TYPES

    def verify_(self) -> None:
        axes, shape = [int(v) for v in self.axes.get_values()], shape_of(self.input)
        self.require(all(0 <= a < len(shape) for a in axes), f"axes {axes} out of range")
        keep = self.keep_dims is not None
        expected = tuple(
            1 if i in axes else d for i, d in enumerate(shape) if keep or i not in axes
        )
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")
