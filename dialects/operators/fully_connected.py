"""Matrix times vector."""

from xdsl.dialects.builtin import (
    UnitAttr,
)
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from memopt.dialects.attributes import ActivationAttr, RoundingAttr
from memopt.dialects.operators.base import ACTIVATION, ROUNDING, TYPES, ComputeOp
from memopt.dialects.tensors import AnyTensor, elements_of, shape_of


@irdl_op_definition
class FullyConnectedOp(ComputeOp):
    """result = input (rows of `weights`' last dimension) times transposed weights, plus bias."""

    name = "memgraph.fully_connected"
    input = operand_def(AnyTensor)
    weights = operand_def(AnyTensor)
    bias = opt_operand_def(AnyTensor)
    result = result_def(AnyTensor)
    keep_dims = opt_prop_def(UnitAttr)
    activation = opt_prop_def(ActivationAttr)
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Pure())
    assembly_format = (
        "$input `,` $weights (`,` $bias^)? (`keep_dims` $keep_dims^)?"
        + ACTIVATION
        + ROUNDING
        + " "
        + TYPES
    )

    def verify_(self) -> None:
        weights = shape_of(self.weights)
        self.require(len(weights) == 2, "weights must have two dimensions")
        size, out = elements_of(self.input), elements_of(self.result)
        self.require(
            weights[1] > 0 and size % weights[1] == 0,
            f"input of {size} elements does not split into rows of {weights[1]}",
        )
        rows = size // weights[1]
        self.require(
            out == rows * weights[0],
            f"the result has {out} elements, not {rows} rows of {weights[0]}",
        )
        bias = weights[0] if self.bias is None else elements_of(self.bias)
        self.require(bias == weights[0], f"a bias of {bias} for {weights[0]} columns")

    def macs(self) -> int:
        """Every element of the result takes one row of weights."""
        return elements_of(self.result) * shape_of(self.weights)[1]
