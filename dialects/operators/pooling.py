"""Pooling."""

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

from memopt.dialects.attributes import ActivationAttr, WindowAttr
from memopt.dialects.operators.base import ACTIVATION, TYPES
from memopt.dialects.operators.window import WindowedOp
from memopt.dialects.tensors import AnyTensor, channels_of


class PoolBase(WindowedOp):
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    window = prop_def(WindowAttr)
    count_include_pad = opt_prop_def(UnitAttr)
    activation = opt_prop_def(ActivationAttr)
    traits = traits_def(Pure())
    assembly_format = (
        "$input `window` `` $window (`count_include_pad` $count_include_pad^)?"
        + ACTIVATION
        + " "
        + TYPES
    )

    def verify_(self) -> None:
        self.check_window(self.window, self.input, self.result)
        source, out = channels_of(self.input), channels_of(self.result)
        self.require(source == out, f"{source} channels in, {out} out")


@irdl_op_definition
class AveragePool2DOp(PoolBase):
    name = "memgraph.average_pool_2d"


@irdl_op_definition
class MaxPool2DOp(PoolBase):
    name = "memgraph.max_pool_2d"
