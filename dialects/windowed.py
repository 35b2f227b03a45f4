"""Operations that slide a window over height and width: convolution, pooling, resizing."""

from typing import ClassVar

from xdsl.dialects.builtin import (
    I64,
    IntegerAttr,
    UnitAttr,
)
from xdsl.ir import SSAValue
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
from memopt.dialects.compute import (
    ACTIVATION,
    ROUNDING,
    TYPES,
    AnyTensor,
    ComputeOp,
    channels_of,
    elements_of,
    encoding_of,
    shape_of,
)


class WindowedOp(ComputeOp):
    """Base of what slides a window: the result's height and width follow from it."""

    def check_window(self, window: WindowAttr, source: SSAValue, result: SSAValue) -> None:
        shape, out = shape_of(source), shape_of(result)
        self.require(len(shape) == len(out) == len(window.kernel) + 2, "rank does not fit window")
        first = 2 if encoding_of(source).layout.data == "nchw" else 1
        kernel, stride, dilation, pad = window.sizes
        n = len(kernel)
        for i in range(n):
            span = dilation[i] * (kernel[i] - 1) + 1
            expected = (shape[first + i] + pad[i] + pad[i + n] - span) // stride[i] + 1
            self.require(
                out[first + i] == expected,
                f"dimension {first + i} of the result is {out[first + i]}, not {expected}",
            )
        self.require(shape[0] == out[0], f"{shape[0]} batches in, {out[0]} out")


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


class ResizeBase(ComputeOp):
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    align_corners = opt_prop_def(UnitAttr)
    half_pixel_centers = opt_prop_def(UnitAttr)
    traits = traits_def(Pure())
    assembly_format = (
        "$input (`align_corners` $align_corners^)? (`half_pixel_centers` $half_pixel_centers^)? "
        + TYPES
    )

    def verify_(self) -> None:
        shape, out = shape_of(self.input), shape_of(self.result)
        first = 2 if encoding_of(self.input).layout.data == "nchw" else 1
        fits = (
            len(shape) == len(out) == 4
            and shape[:first] == out[:first]
            and shape[first + 2 :] == out[first + 2 :]
        )
        self.require(fits, f"only height and width may change from {shape} to {out}")


@irdl_op_definition
class ResizeBilinearOp(ResizeBase):
    name = "memgraph.resize_bilinear"


@irdl_op_definition
class ResizeNearestOp(ResizeBase):
    name = "memgraph.resize_nearest"
