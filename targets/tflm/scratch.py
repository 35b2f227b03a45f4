"""Scratch that TensorFlow Lite Micro's reference kernels request when they are prepared.

    scratch_bytes(op)     # (256, 64) for an SVDF, () for none, None where it is not known
    requested(op, model)  # the same of the kernels that the memory model names

A typed operation that requests something has a function here, registered by its class; one that
stays opaque is known by its name in the file.

The file knows nothing of it: TFLM plans it at run time, around the tensors that have offsets.
Source: the kernels' Prepare functions in tensorflow/tflite-micro (named at each formula), which
were compared with the calls of RequestScratchBufferInArena in the PyPI wheel's binary: there are
no other callers. CMSIS-NN's kernels ask for more.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, Float32Type, IntegerAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.dialects.arithmetic.stored import element_of, integer_type, is_small_integer, is_stored
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.runtimes import scratch_requests
from memopt.dialects.memgraph.custom import IN_FILE
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.tensors import element_bits, elements_of, shape_of
from memopt.dialects.memgraph.variables import AssignVariableOp
from memopt.dialects.operators.activations import BoundedOp, GeluOp
from memopt.dialects.operators.add_n import AddNOp
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.convolution import ConvBase
from memopt.dialects.operators.detection import DetectionPostprocessOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.lstm import LstmOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.picked import MirroredOp
from memopt.dialects.operators.reductions import ExtremeOp, ReduceProdOp, ReduceSumOp
from memopt.dialects.operators.signal_fft import SignalRfftOp
from memopt.dialects.operators.svdf import SvdfOp
from memopt.dialects.operators.transpose_convolution import TransposeConv2DOp

INT8: Attribute = IntegerType(8)
INT16: Attribute = IntegerType(16)
# how the names of custom operators begin of which TFLM has kernels
LIBRARY = ("CUSTOM:Signal", "CUSTOM:TFLite_Detection_PostProcess")
POINTER = 8  # bytes of a pointer on the host; 4 on a Cortex-M, so that less is needed there


def requests(op: Operation, model: ModelAttr) -> tuple[int, ...] | None:
    """Return what the reference kernel requests; None also where the kernel is the user's."""
    return None if is_of_user(op) else scratch_bytes(op)


def is_of_user(op: Operation) -> bool:
    """Return whether this is a custom operator of the file, and none of TFLM's own library."""
    name = op.attributes.get(IN_FILE)
    return isinstance(name, StringAttr) and not name.data.startswith(LIBRARY)


def requested(op: Operation, model: ModelAttr) -> tuple[int, ...] | None:
    """Return what `op` requests in TFLM with the kernels of `model`, the reference kernels if it
    names none; None where that is not known."""
    return (scratch_requests(model) or requests)(op, model)


@singledispatch
def scratch_bytes(op: Operation) -> tuple[int, ...] | None:
    """Bytes of each scratch buffer of `op` in the order of the requests, not rounded up.

    None where TFLM has no such kernel or its requests are not known (custom operators).
    """
    return () if isinstance(op, ComputeOp | AssignVariableOp) else None


@scratch_bytes.register
def _(op: OpaqueOp) -> tuple[int, ...] | None:
    name = op.op_name.data
    if name in NO_SCRATCH:
        return ()
    formula = FORMULAS.get(name)
    return formula(op) if formula else None


@scratch_bytes.register
def _(op: BoundedOp | GeluOp | ReduceProdOp) -> None:
    """There is no such kernel."""


@scratch_bytes.register
def _(op: ConvBase | FullyConnectedOp) -> tuple[int, ...]:
    return unpacked_weights(op.weights)


@scratch_bytes.register
def _(op: MeanOp | ReduceSumOp) -> tuple[int, ...]:
    return sum_scratch(op.input, op.result, len(op.axes))


@scratch_bytes.register
def _(op: ExtremeOp) -> tuple[int, ...]:
    """reduce_common.cc, PrepareMinMaxHelper: an index, the resolved axes."""
    return 4 * len(shape_of(op.input)), 4 * len(op.axes)


@scratch_bytes.register
def _(op: MirroredOp) -> tuple[int, ...]:
    """mirror_pad.cc: elements per dimension of output and input."""
    rank = 4 * len(shape_of(op.input))
    return rank, rank


@scratch_bytes.register
def _(op: AddNOp) -> tuple[int, ...]:
    """add_n.cc: a pointer per operand."""
    return (POINTER * len(op.inputs),)


@scratch_bytes.register
def _(op: SvdfOp) -> tuple[int, ...]:
    """svdf_common.cc: batch x filters, and for int8 batch x units, four bytes each."""
    batch, filters = shape_of(op.input)[0], shape_of(op.feature)[0]
    each = (4 * batch * filters, 4 * batch * (filters // op.rank.value.data))
    return each if is_stored(op.input) else each[:1]


@scratch_bytes.register
def _(op: LstmOp) -> tuple[int, ...]:
    """unidirectional_sequence_lstm.cc: four gates, each batch x state of the cell's type."""
    return (op.batches * shape_of(op.result)[2] * element_bits(element_of(op.cell)) // 8,) * 4


@scratch_bytes.register
def _(op: SignalRfftOp) -> tuple[int, ...]:
    """signal/micro/kernels/rfft.cc: a frame, padded."""
    return (op.length.value.data * element_bits(element_of(op.input)) // 8,)


@scratch_bytes.register
def _(op: DetectionPostprocessOp) -> tuple[int, ...]:
    """detection_postprocess.cc: candidates, boxes and scores as reals, and lists of as many numbers
    as boxes, or as boxes for each object or class."""
    boxes, scores = shape_of(op.offsets)[1], elements_of(op.scores)
    each, objects, classes = 4 * boxes, op.most, op.class_count
    of_objects, of_more = objects * each, max(objects, classes) * each
    first = boxes, 4 * each, 4 * scores, each, each
    return *first, of_objects, of_objects, each, of_objects, of_more, min(boxes, objects) * each


@scratch_bytes.register
def _(op: TransposeConv2DOp) -> tuple[int, ...]:
    """transpose_conv.cc: an accumulator per element of the result."""
    size = {INT8: 4, INT16: 8}.get(element_of(op.input), 0)
    return (size * elements_of(op.result),) if size else ()


def unpacked_weights(weights: SSAValue) -> tuple[int, ...]:
    """conv.cc, depthwise_conv.cc, fully_connected.cc: int4 weights are unpacked, a byte each."""
    return (elements_of(weights),) if integer_type(element_of(weights)) == (4, False) else ()


def sum_scratch(source: SSAValue, result: SSAValue, axes: int) -> tuple[int, ...]:
    """reduce_common.cc, PrepareMeanOrSumHelper: sums, an index, the resolved axes."""
    sums = (4 * elements_of(result),) if is_small_integer(source) else ()
    return (*sums, 4 * len(shape_of(source)), 4 * axes)


def operand(op: OpaqueOp, position: int) -> SSAValue | None:
    """The operand at a position of the file's list, None if it is left out there."""
    absent: set[int] = set()
    listed = op.options.data.get("absent") if op.options else None
    if isinstance(listed, ArrayAttr):
        entries = cast("ArrayAttr[Attribute]", listed).data
        absent = {cast("IntegerAttr[Any]", a).value.data for a in entries}
    if position in absent:
        return None
    index = position - sum(1 for a in absent if a < position)
    return op.operands[index] if index < len(op.operands) else None


def flag(op: OpaqueOp, key: str) -> bool:
    return bool(number(op, key))


def number(op: OpaqueOp, key: str) -> int | None:
    option = op.options.data.get(key) if op.options else None
    return cast("IntegerAttr[Any]", option).value.data if isinstance(option, IntegerAttr) else None


def _weighted(op: OpaqueOp) -> tuple[int, ...] | None:
    weights = operand(op, 1)
    return None if weights is None else unpacked_weights(weights)


def _sum(op: OpaqueOp) -> tuple[int, ...] | None:
    source, axes = operand(op, 0), operand(op, 1)
    if source is None or axes is None:
        return None
    return sum_scratch(source, op.results[0], elements_of(axes))


def _reduce(op: OpaqueOp) -> tuple[int, ...] | None:
    """reduce_common.cc, PrepareMinMaxHelper and PrepareAllHelper: an index, the resolved axes."""
    source, axes = operand(op, 0), operand(op, 1)
    if source is None or axes is None:
        return None
    return 4 * len(shape_of(source)), 4 * elements_of(axes)


def _svdf(op: OpaqueOp) -> tuple[int, ...] | None:
    """svdf_common.cc: batch x filters, and for int8 batch x units, four bytes each."""
    source, weights, rank = operand(op, 0), operand(op, 1), number(op, "rank")
    if source is None or weights is None or not rank:
        return None
    batch, filters = shape_of(source)[0], shape_of(weights)[0]
    if isinstance(element_of(source), Float32Type):
        return (4 * batch * filters,)
    return 4 * batch * filters, 4 * batch * (filters // rank)


def _lstm(op: OpaqueOp) -> tuple[int, ...] | None:
    """unidirectional_sequence_lstm.cc: four gates, each batch x state of the cell's type."""
    source, state, cell = operand(op, 0), operand(op, 18), operand(op, 19)
    if source is None or state is None or cell is None:
        return None
    batch = shape_of(source)[1 if flag(op, "timeMajor") else 0]
    each = batch * shape_of(state)[1] * element_bits(element_of(cell)) // 8
    return (each,) * 4


def _transpose_conv(op: OpaqueOp) -> tuple[int, ...] | None:
    """transpose_conv.cc: an accumulator per output element; int16 biases become int64."""
    source, bias = operand(op, 2), operand(op, 3)
    if source is None:
        return None
    count, type_ = elements_of(op.results[0]), element_of(source)
    if type_ == INT8:
        return (4 * count,)
    if type_ != INT16:
        return ()
    widened = bias is not None and element_of(bias) == INT16
    return (8 * count, *((8 * elements_of(bias),) if bias is not None and widened else ()))


def _mirror_pad(op: OpaqueOp) -> tuple[int, ...] | None:
    """mirror_pad.cc: elements per dimension of output and input."""
    rank = 4 * len(shape_of(op.operands[0])) if op.operands else 0
    return rank, rank


def _add_n(op: OpaqueOp) -> tuple[int, ...] | None:
    """add_n.cc: a pointer per operand."""
    return (POINTER * len(op.operands),)


FORMULAS: dict[str, Callable[[OpaqueOp], tuple[int, ...] | None]] = {
    "ADD_N": _add_n,
    "CONV_2D": _weighted,
    "DEPTHWISE_CONV_2D": _weighted,
    "FULLY_CONNECTED": _weighted,
    "MEAN": _sum,
    "MIRROR_PAD": _mirror_pad,
    "REDUCE_ALL": _reduce,
    "REDUCE_MAX": _reduce,
    "REDUCE_MIN": _reduce,
    "SUM": _sum,
    "SVDF": _svdf,
    "TRANSPOSE_CONV": _transpose_conv,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
}

NO_SCRATCH = frozenset(
    {
        *("ABS", "ADD", "ARG_MAX", "ARG_MIN", "ASSIGN_VARIABLE", "AVERAGE_POOL_2D"),
        *("BATCH_MATMUL", "BATCH_TO_SPACE_ND", "BROADCAST_ARGS", "BROADCAST_TO", "CALL_ONCE"),
        *("CAST", "CEIL", "CONCATENATION", "COS", "CUMSUM", "DEPTH_TO_SPACE", "DEQUANTIZE"),
        *("DIV", "DYNAMIC_UPDATE_SLICE", "ELU", "EMBEDDING_LOOKUP", "EQUAL", "EXP"),
        *("EXPAND_DIMS", "FILL", "FLOOR", "FLOOR_DIV", "FLOOR_MOD", "GATHER", "GATHER_ND"),
        *("GREATER", "GREATER_EQUAL", "HARD_SWISH", "IF", "L2_NORMALIZATION", "L2_POOL_2D"),
        *("LEAKY_RELU", "LESS", "LESS_EQUAL", "LOG", "LOGICAL_AND", "LOGICAL_NOT"),
        *("LOGICAL_OR", "LOGISTIC", "LOG_SOFTMAX", "MAXIMUM", "MAX_POOL_2D", "MINIMUM", "MUL"),
        *("NEG", "NOT_EQUAL", "PACK", "PAD", "PADV2", "PRELU", "QUANTIZE", "READ_VARIABLE"),
        *("RELU", "RELU6", "RESHAPE", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"),
        *("REVERSE_V2", "ROUND", "RSQRT", "SELECT_V2", "SHAPE", "SIN", "SLICE", "SOFTMAX"),
        *("SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQRT", "SQUARE"),
        *("SQUARED_DIFFERENCE", "SQUEEZE", "STRIDED_SLICE", "SUB", "TANH", "TRANSPOSE"),
        *("UNPACK", "VAR_HANDLE", "WHILE", "ZEROS_LIKE", "UNINITIALIZED"),
    }
)
"""Names in the file of kernels that ask for no scratch."""
