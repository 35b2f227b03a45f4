"""Scratch that TensorFlow Lite Micro's reference kernels ask for when they are prepared.

    scratch_bytes(op)    # (256, 64) for an SVDF, () for none, None where it is not known

The file knows nothing of it: TFLM plans it at run time, around the tensors that have offsets.
Source: the kernels' Prepare functions in tensorflow/tflite-micro (named at each formula), which
were compared with the calls of RequestScratchBufferInArena in the PyPI wheel's binary: there are
no other callers. CMSIS-NN's kernels ask for more.
"""

from collections.abc import Callable
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    Float32Type,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.memgraph.structure import AssignVariableOp, OpaqueOp
from memopt.dialects.memgraph.tensors import element_bits, elements_of, shape_of
from memopt.dialects.operators.add_n import POINTER
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.by_name import ASKS_FOR_NOTHING
from memopt.dialects.operators.mean import sum_scratch
from memopt.dialects.operators.products import unpacked_weights


def scratch_bytes(op: Operation) -> tuple[int, ...] | None:
    """Bytes of each scratch buffer of `op` in the order of the requests, not rounded up.

    None where TFLM has no such kernel or its requests are not known (custom operators).
    """
    if isinstance(op, OpaqueOp):
        name = op.op_name.data
        if name in ASKS_FOR_NOTHING:
            return ()
        formula = FORMULAS.get(name)
        return formula(op) if formula else None
    if isinstance(op, AssignVariableOp):
        return ()
    return op.scratch("reference") if isinstance(op, ComputeOp) else None


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
    found = op.options.data.get(key) if op.options else None
    return cast("IntegerAttr[Any]", found).value.data if isinstance(found, IntegerAttr) else None


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
    if type_ == IntegerType(8):
        return (4 * count,)
    if type_ != IntegerType(16):
        return ()
    widened = bias is not None and element_of(bias) == IntegerType(16)
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
