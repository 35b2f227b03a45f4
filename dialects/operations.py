"""Typed compute operations of `memgraph`: what real models use, with the source's exact semantics.

    %1 = memgraph.conv_2d %0, %w, %b window<[3, 3], stride = [2, 2], pad = [0, 0, 1, 1]>
           activation<relu> rounding<tflm_double> : (T0, T1, T2) -> T3

Tensors are NHWC or NCHW as their encoding says; convolution weights are `ohwi` (depthwise: `ihwo`)
for NHWC and `oihw` for NCHW. Anything that has no typed operation is a `memgraph.opaque`.
"""

from typing import ClassVar

from xdsl.dialects.builtin import (
    I64,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    UnitAttr,
)
from xdsl.ir import Operation
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from memopt.dialects.attributes import ActivationAttr, RoundingAttr
from memopt.dialects.compute import (
    ACTIVATION,
    INTS,
    ROUNDING,
    TYPES,
    AnyTensor,
    ComputeOp,
    elements_of,
    shape_of,
)
from memopt.dialects.compute import is_constant_expression as is_constant_expression
from memopt.dialects.memory import (
    bytes_of,
)
from memopt.dialects.windowed import (
    AveragePool2DOp,
    Conv2DOp,
    DepthwiseConv2DOp,
    MaxPool2DOp,
    ResizeBilinearOp,
    ResizeNearestOp,
)
from memopt.dialects.windowed import ConvBase as ConvBase
from memopt.dialects.windowed import PoolBase as PoolBase


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


@irdl_op_definition
class QuantizeOp(UnaryOp):
    """Real to stored, or one quantization to another; the types say which."""

    name = "memgraph.quantize"
    FOLDS: ClassVar[bool] = True


@irdl_op_definition
class DequantizeOp(UnaryOp):
    """Stored to real (also float16 to float32)."""

    name = "memgraph.dequantize"
    FOLDS: ClassVar[bool] = True


@irdl_op_definition
class CastOp(UnaryOp):
    """Another element type, same values."""

    name = "memgraph.cast"
    FOLDS: ClassVar[bool] = True


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


@irdl_op_definition
class ConcatOp(ComputeOp):
    """Operands one after the other along `axis`."""

    name = "memgraph.concat"
    APPLIES_ACTIVATION: ClassVar[bool] = (
        False  # TensorFlow Lite's schema has it, its kernels refuse
    )
    FOLDS: ClassVar[bool] = True
    inputs = var_operand_def(AnyTensor)
    result = result_def(AnyTensor)
    axis = prop_def(IntegerAttr[I64])
    activation = opt_prop_def(ActivationAttr)
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Pure())
    assembly_format = "$inputs `axis` $axis" + ACTIVATION + ROUNDING + " " + TYPES

    def verify_(self) -> None:
        axis, out = self.axis.value.data, shape_of(self.result)
        self.require(0 <= axis < len(out), f"axis {axis} out of range")
        shapes = [shape_of(v) for v in self.inputs]
        self.require(bool(shapes), "nothing to join")
        for s in shapes:
            same = len(s) == len(out) and s[:axis] + s[axis + 1 :] == out[:axis] + out[axis + 1 :]
            self.require(same, f"operand {s} does not fit {out}")
        total = sum(s[axis] for s in shapes)
        self.require(
            total == out[axis], f"operands have {total} along axis {axis}, not {out[axis]}"
        )


@irdl_op_definition
class SplitOp(ComputeOp):
    """Parts of the operand along `axis`."""

    name = "memgraph.split"
    input = operand_def(AnyTensor)
    parts = var_result_def(AnyTensor)
    axis = prop_def(IntegerAttr[I64])
    traits = traits_def(Pure())
    assembly_format = "$input `axis` $axis " + TYPES

    def verify_(self) -> None:
        axis, whole = self.axis.value.data, shape_of(self.input)
        self.require(0 <= axis < len(whole) and bool(self.parts), f"axis {axis} out of range")
        shapes = [shape_of(p) for p in self.parts]
        for s in shapes:
            same = s[:axis] + s[axis + 1 :] == whole[:axis] + whole[axis + 1 :]
            self.require(same and len(s) == len(whole), f"part {s} does not fit {whole}")
        total = sum(s[axis] for s in shapes)
        self.require(total == whole[axis], f"parts have {total} along axis {axis}")


@irdl_op_definition
class SliceOp(ComputeOp):
    """`sizes` elements from `starts`, every `strides`-th."""

    name = "memgraph.slice"
    FOLDS: ClassVar[bool] = True
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    starts = prop_def(INTS)
    strides = prop_def(INTS)
    traits = traits_def(Pure())
    assembly_format = "$input `starts` $starts `strides` $strides " + TYPES

    def verify_(self) -> None:
        shape, out = shape_of(self.input), shape_of(self.result)
        starts = [int(v) for v in self.starts.get_values()]
        strides = [int(v) for v in self.strides.get_values()]
        self.require(len(starts) == len(strides) == len(shape) == len(out), "ranks differ")
        for size, start, stride, count in zip(shape, starts, strides, out, strict=True):
            last = start + (count - 1) * stride
            self.require(
                stride != 0 and (count == 0 or (0 <= start < size and 0 <= last < size)),
                f"slice {start}:{last}:{stride} leaves the operand",
            )


@irdl_op_definition
class PadOp(ComputeOp):
    """`before` and `after` elements of the real `value` around each dimension."""

    name = "memgraph.pad"
    FOLDS: ClassVar[bool] = True
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    before = prop_def(INTS)
    after = prop_def(INTS)
    value = prop_def(FloatAttr[Float32Type])
    traits = traits_def(Pure())
    assembly_format = "$input `before` $before `after` $after `value` $value " + TYPES

    def verify_(self) -> None:
        before = [int(v) for v in self.before.get_values()]
        after = [int(v) for v in self.after.get_values()]
        shape, out = shape_of(self.input), shape_of(self.result)
        self.require(len(before) == len(after) == len(shape) == len(out), "ranks differ")
        self.require(min((*before, *after), default=0) >= 0, "negative padding")
        expected = tuple(b + s + a for b, s, a in zip(before, shape, after, strict=True))
        self.require(out == expected, f"the result's shape must be {expected}")


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


@irdl_op_definition
class ReshapeOp(ComputeOp):
    """The same bytes with another shape (also squeeze, expand and flatten)."""

    name = "memgraph.reshape"
    FOLDS: ClassVar[bool] = True
    IS_VIEW: ClassVar[bool] = True
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$input " + TYPES

    def verify_(self) -> None:
        a, b = bytes_of(self.input.type), bytes_of(self.result.type)
        self.require(a == b, f"{a} bytes cannot become {b} bytes")


@irdl_op_definition
class CopyOp(ComputeOp):
    """The same bytes in another place. `memgraph-memory` moves tensors between memories with it."""

    name = "memgraph.copy"
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$input " + TYPES

    def verify_(self) -> None:
        self.require(self.input.type == self.result.type, "a copy has the type of its operand")


@irdl_op_definition
class TransposeOp(ComputeOp):
    """Dimension i of the result is dimension `permutation[i]` of the operand."""

    name = "memgraph.transpose"
    FOLDS: ClassVar[bool] = True
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    permutation = prop_def(INTS)
    traits = traits_def(Pure())
    assembly_format = "$input `permutation` $permutation " + TYPES

    def verify_(self) -> None:
        order = [int(v) for v in self.permutation.get_values()]
        shape = shape_of(self.input)
        self.require(sorted(order) == list(range(len(shape))), f"{order} is no permutation")
        expected = tuple(shape[i] for i in order)
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")


OPERATIONS: tuple[type[Operation], ...] = (
    AddOp,
    AveragePool2DOp,
    CastOp,
    ConcatOp,
    Conv2DOp,
    CopyOp,
    DepthwiseConv2DOp,
    DequantizeOp,
    FullyConnectedOp,
    HardSwishOp,
    LogisticOp,
    MaxPool2DOp,
    MaximumOp,
    MeanOp,
    MinimumOp,
    MulOp,
    PadOp,
    QuantizeOp,
    Relu6Op,
    ReluOp,
    ReshapeOp,
    ResizeBilinearOp,
    ResizeNearestOp,
    SliceOp,
    SoftmaxOp,
    SplitOp,
    SubOp,
    TanhOp,
    TransposeOp,
)
