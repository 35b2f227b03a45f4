"""CONCATENATION, SPLIT and SLICE where they move bytes."""

import math
from dataclasses import replace

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    Table,
    bytes_per_element,
    refuse,
)
from memopt.backends.c.emit.registry import ANY, kernel
from memopt.backends.c.emit.rowwise import copy_call, moved, tensor_or_bytes
from memopt.backends.c.emit.strided import strided_call
from memopt.backends.c.rows.row_calls import Lowered, RowCall, changed_rows, own_rows
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.quick import numbers
from memopt.dialects.memgraph.tensors import bytes_of, encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.slices import ConcatOp, ConcatRequantizedOp, SliceOp, SplitOp
from memopt.dialects.rows.steps import row_type


def constant_rows(op: ConcatOp) -> str:
    """Nothing, or that some rows of the result are constants."""
    along_height = op.axis.value.data == 1
    if not along_height or not any(is_constant_expression(v, GENERIC) for v in op.inputs):
        return ""
    return "rows of a concatenation along the height with a constant"


def concat_rows(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """Along the height, every row is a row of some operand."""
    assert isinstance(op, ConcatOp)
    if op.axis.value.data != 1:
        return own_rows(op, constants, lowered)
    lowered(op, constants)  # refuses what it does not join
    size = bytes_of(row_type(op.result.type)) or 0
    return [RowCall(replace(copy_call(op.inputs[0], 1, size, (size, size)), operands=()), (0,))]


@kernel(ConcatOp, ANY, rows=concat_rows, stays=constant_rows)
def concat(op: ConcatOp, constants: Constants) -> list[KernelCall]:
    """One copy per operand. All operands must be quantised as the result is."""
    axis, out = op.axis.value.data, shape_of(op.result)
    if "activation" in op.properties:
        raise refuse(op, "a concatenation with a fused activation")
    width = bytes_per_element(op, op.result)
    rows = math.prod(out[:axis])
    inner = math.prod(out[axis + 1 :]) * width
    calls: list[KernelCall] = []
    at = 0
    for value in op.inputs:
        a, b = encoding_of(value), encoding_of(op.result)
        if (a.scales, a.zero_points) != (b.scales, b.zero_points):
            raise refuse(op, "a concatenation of different quantizations")
        size = shape_of(value)[axis] * inner
        if size:
            operand = tensor_or_bytes(value, constants)
            calls.append(moved(copy_call(operand, rows, size, (size, out[axis] * inner)), 0, at))
        at += size
    return calls


@kernel(ConcatRequantizedOp, "u8", rows=own_rows)
def concat_requantized(op: ConcatRequantizedOp, constants: Constants) -> list[KernelCall]:
    """A table of all bytes per operand."""
    axis, out = op.axis.value.data, shape_of(op.result)
    every, inner = np.arange(256, dtype=np.uint8), math.prod(out[axis + 1 :])
    calls: list[KernelCall] = []
    at = 0
    for value in op.inputs:
        size, array = shape_of(value)[axis] * inner, constants(value)
        table = np.roll(op.requantized(every, value), 128)  # in the order of signed bytes
        of_bytes = Table("int8_t", table.view(np.int8), is_looked_up=True)
        fields = (("row_n", size), ("table", of_bytes))
        operand = value if array is None else Table("uint8_t", array)
        rows = Rows(math.prod(out[:axis]), size, out[axis] * inner)
        if size:
            calls.append(moved(KernelCall("lookup_s8", fields, (operand,), rows), 0, at))
        at += size
    return calls


@kernel(SplitOp, ANY, rows=own_rows)
def split(op: SplitOp, constants: Constants) -> list[KernelCall]:
    axis, shape = op.axis.value.data, shape_of(op.input)
    inner = math.prod(shape[axis + 1 :]) * bytes_per_element(op, op.input)
    calls: list[KernelCall] = []
    at = 0
    for number, part in enumerate(op.parts):
        size = shape_of(part)[axis] * inner
        copy = copy_call(op.input, math.prod(shape[:axis]), size, (shape[axis] * inner, size))
        calls.append(moved(copy, at, 0, number))
        at += size
    return calls


def slice_rows(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """Which row of the input row r is, `memgraph.row` says: of that one, all of the height."""
    assert isinstance(op, SliceOp)
    starts, strides = list(op.starts.get_values()), list(op.strides.get_values())
    starts[1], strides[1] = 0, 1
    properties = {"starts": numbers(starts), "strides": numbers(strides)}
    return changed_rows(op, constants, lowered, properties)


@kernel(SliceOp, ANY, rows=slice_rows)
def slice_(op: SliceOp, constants: Constants) -> KernelCall:
    """Stretches of bytes, if it is along one axis; else elements at steps."""
    shape, out = shape_of(op.input), shape_of(op.result)
    starts = [int(v) for v in op.starts.get_values()]
    strides = [int(v) for v in op.strides.get_values()]
    changed = [i for i in range(len(shape)) if shape[i] != out[i] or (strides[i] < 0 < out[i] - 1)]
    axes = changed or [len(shape) // 2]
    if len(axes) != 1 or strides[axes[0]] != 1:
        start, steps = op.lies_at(0, 0) or (0, ())
        return strided_call(op, op.input, start, out, steps)
    axis = axes[0]
    inner = math.prod(shape[axis + 1 :]) * bytes_per_element(op, op.input)
    size = out[axis] * inner
    copy = copy_call(op.input, math.prod(shape[:axis]), size, (shape[axis] * inner, size))
    return moved(copy, starts[axis] * inner, 0)
