"""Convolutions."""

from typing import ClassVar

from xdsl.dialects.builtin import (
    I64,
    IntegerAttr,
)
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from memopt.dialects.attributes import ActivationAttr, RoundingAttr, WindowAttr
from memopt.dialects.operators.base import ACTIVATION, ROUNDING, TYPES
from memopt.dialects.operators.window import WindowedOp
from memopt.dialects.tensors import AnyTensor, channels_of, elements_of, encoding_of, shape_of


class ConvBase(WindowedOp):
    input = operand_def(AnyTensor)
    weights = operand_def(AnyTensor)
    bias = opt_operand_def(AnyTensor)
    result = result_def(AnyTensor)
    window = prop_def(WindowAttr)
    groups = prop_def(IntegerAttr[I64])
    activation = opt_prop_def(ActivationAttr)
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Pure())
    assembly_format = (
        "$input `,` $weights (`,` $bias^)? `window` `` $window `groups` $groups"
        + ACTIVATION
        + ROUNDING
        + " "
        + TYPES
    )

    OUT_LAST: ClassVar[bool] = False  # weights `ihwo`, not `ohwi`, where they are not `oihw`

    def verify_(self) -> None:
        self.check_window(self.window, self.input, self.result)
        weights = shape_of(self.weights)
        first = 2 if encoding_of(self.weights).layout.data == "oihw" else 1
        kernel = self.window.sizes[0]
        self.require(
            len(weights) == len(kernel) + 2 and weights[first : first + len(kernel)] == kernel,
            f"weights {weights} do not have the window's kernel {kernel}",
        )
        source, out = channels_of(self.input), channels_of(self.result)
        last = self.OUT_LAST and first == 1
        filters, depth = (
            (weights[-1], weights[0]) if last else (weights[0], weights[1 if first == 2 else -1])
        )
        groups = self.groups.value.data
        self.require(filters == out, f"{filters} filters cannot make {out} channels")
        self.require(
            groups > 0 and depth * groups == source,
            f"filters of depth {depth} in {groups} groups do not fit {source} channels",
        )
        bias = out if self.bias is None else elements_of(self.bias)
        self.require(bias == out, f"a bias of {bias} for {out} channels")

    def macs(self) -> int:
        """Every element of the result takes one filter's elements."""
        filters = max(channels_of(self.result), 1)
        return elements_of(self.result) * (elements_of(self.weights) // filters)


@irdl_op_definition
class Conv2DOp(ConvBase):
    """Two-dimensional convolution; `groups` > 1 splits channels."""

    name = "memgraph.conv_2d"


@irdl_op_definition
class DepthwiseConv2DOp(ConvBase):
    """Convolution of each channel by itself; `groups` is the number of input channels."""

    name = "memgraph.depthwise_conv_2d"
    OUT_LAST: ClassVar[bool] = True
