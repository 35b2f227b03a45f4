"""The `onnx` dialect's memory behaviour, that of onnx-mlir, by name: xDSL does not have it, so its
operations are unregistered.

%1 = onnx.Reshape(%0, %shape)        the same bytes, as `Transpose` if no element moves
%2 = onnx.Slice(%1, %starts, ...)    lies in its operand, if it is one piece of that; so do the
                                     results of `Split`
%3 = onnx.Concat(%1, %2)             its operands lie in it, if they follow each other there
%4 = onnx.Add(%3, %c)                may write over an operand of its result's shape and width
%5 = onnx.ScatterND(%4, %i, %u)      may write over the first, which it is but for some elements
%6 = onnx.Conv(%5, %w, %none)        a buffer of its own

The standard's operators are functions, so all may move but those that draw random numbers, run
graphs, or are somebody else's (`onnx.Custom`): these get the careful defaults. A name may end with
the version that it is of, as in `onnx.SqueezeV11`.
"""

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Operation

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.foreign.descriptions import (
    Concatenation,
    attribute_of,
    element_wise,
    moved,
    nothing,
    number_of,
    numbers_in,
    overwrites,
    piece,
    pieces,
    view,
    whole,
)
from memopt.dialects.foreign.forms import constant, returned
from memopt.dialects.memgraph.behaviour import careful
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.interface import OperatorMemory
from memopt.dialects.memgraph.names import full_name, place_of
from memopt.dialects.memgraph.tensors import is_buffer, shape_of

GENERIC_BY = "onnx-mlir-opt --mlir-print-op-generic"
"""The command that prints any release's text in generic form: constants and what ends a function
are all that `onnx-mlir --EmitONNXIR` does not."""

EACH = (
    *("Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh", "BitShift"),
    *("BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Cast", "CastLike", "Ceil", "Celu"),
    *("Clip", "ClipV11", "ClipV12", "ClipV6", "Cos", "Cosh", "DequantizeLinear", "Div", "Elu"),
    *("Equal", "Erf", "Exp", "Floor", "Gelu", "Greater", "GreaterOrEqual", "HardSigmoid"),
    *("HardSwish", "IsInf", "IsNaN", "LeakyRelu", "Less", "LessOrEqual", "Log", "Max", "Mean"),
    *("Min", "Mish", "Mod", "Mul", "Neg", "Not", "Or", "PRelu", "Pow", "QuantizeLinear"),
    *("Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh"),
    *("Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Tan", "Tanh", "ThresholdedRelu", "Where"),
    "Xor",
)
REDUCTIONS = (
    *("ReduceSumSquare", "ReduceSumSquareV11", "ReduceSumSquareV13"),
    *(
        f"Reduce{kind}{version}"
        for kind in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum")
        for version in ("", "V11", "V13", "V18")
    ),
)
WHOLE = (
    *("ArgMax", "ArgMin", "AveragePool", "BatchNormalization"),
    *("BatchNormalizationInferenceMode", "Compress", "ConstantOfShape", "Conv", "ConvInteger"),
    *("ConvTranspose", "CumSum", "DFT", "DFTV17", "DepthToSpace", "Det", "DynamicQuantizeLinear"),
    *("Einsum", "Expand", "EyeLike", "GRU", "Gather", "GatherElements", "GatherND", "Gemm"),
    *("GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "GridSample", "GridSampleV16"),
    *("GroupNormalization", "GroupNormalizationV18", "Hardmax", "InstanceNormalization", "LRN"),
    *("LSTM", "LayerNormalization", "LogSoftmax", "LpNormalization", "LpPool", "MatMul"),
    *("MatMulInteger", "MaxPool", "MaxPoolSingleOut", "MaxRoiPool", "MaxUnpool"),
    *("MeanVarianceNormalization", "NonMaxSuppression", "NonZero", "OneHot", "Pad", "PadV11"),
    *("PadV13", "PadV18", "PadV2", "QLinearConv", "QLinearMatMul", "RMSLayerNormalization"),
    *("RNN", "Range", "Resize", "ResizeV10", "ResizeV11", "ResizeV13", "ResizeV18"),
    *("ReverseSequence", "RoiAlign", "Shape", "Size", "Softmax", "SoftmaxV11", "SpaceToDepth"),
    *("Tile", "TopK", "TopKV10", "TopKV11", "Trilu", "Unique", "Upsample", "UpsampleV7"),
)

CAREFUL = (
    *("Bernoulli", "Call", "Custom", "Dim", "Dropout", "EntryPoint", "If", "Loop", "Multinomial"),
    *("PrintSignature", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
    *("Return", "Scan", "Yield"),
)


def _axis(op: Operation) -> int | None:
    """Return the axis, counted from the front."""
    axis, rank = number_of(op, "axis"), len(shape_of(op.operands[0]))
    return None if axis is None else axis + rank if axis < 0 else axis


def _integers(op: Operation, name: str) -> tuple[int, ...] | None:
    listed = attribute_of(op, name)
    if not isinstance(listed, ArrayAttr):
        return None
    numbers = cast("ArrayAttr[IntegerAttr]", listed).data
    return tuple(number.value.data for number in numbers)


def _transpose(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Describe a transposition, which turns all dimensions round unless it says which."""
    rank = len(shape_of(op.operands[0]))
    return moved(op, model, _integers(op, "perm") or tuple(reversed(range(rank))))


def _split(op: Operation, model: ModelAttr) -> OperatorMemory:
    axis = _axis(op) or 0
    if not 0 <= axis < len(shape_of(op.operands[0])):
        raise MemoptError(f"{full_name(op)} has no axis {axis}", place_of(op))
    return pieces(op, model, axis)


def _slice(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Describe a slice, whose starts, axes and steps are known if they are constants."""
    return piece(op, model, _start(op))


def _start(op: Operation) -> tuple[int, ...] | None:
    """Return the first element of a slice without steps, None if it is not known."""
    shape = shape_of(op.operands[0])
    starts, steps = numbers_in(op.operands[1]), _optional(op, 4)
    axes = _optional(op, 3)
    if starts is None or axes is None or steps is None or set(steps) - {1}:
        return None
    begin, axes = [0] * len(shape), axes or tuple(range(len(starts)))
    if len(axes) != len(starts) or not all(-len(shape) <= axis < len(shape) for axis in axes):
        text = f"{full_name(op)} has {len(starts)} starts for axes {list(axes)}"
        raise MemoptError(f"{text} of {len(shape)}", place_of(op))
    for axis, start in zip(axes, starts, strict=True):
        size = shape[axis]
        begin[axis] = min(max(start + size if start < 0 else start, 0), size)
    return tuple(begin)


def _optional(op: Operation, operand: int) -> tuple[int, ...] | None:
    """Return the numbers of an operand: none of one that is left out, None if not known."""
    if len(op.operands) <= operand or not is_buffer(op.operands[operand].type):
        return ()
    return numbers_in(op.operands[operand])


MEMORY = {
    f"onnx.{name}": describe
    for names, describe in (
        (("Constant", "NoValue"), nothing),
        (EACH, element_wise),
        ((*WHOLE, *REDUCTIONS), whole),
        (CAREFUL, careful),
        (("Scatter", "ScatterElements", "ScatterND"), overwrites),
        (("Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"), view),
        (("SqueezeV11", "UnsqueezeV11"), view),
        (("Transpose",), _transpose),
        (("Concat",), Concatenation(_axis)),
        (("Slice",), _slice),
        (("Split", "SplitV11", "SplitV13"), _split),
    )
    for name in names
}

FORMS = {"onnx.Constant": constant, "onnx.Return": returned, "onnx.Yield": returned}
