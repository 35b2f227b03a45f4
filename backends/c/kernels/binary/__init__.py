"""Functions of two numbers: those of reals and plain integers mostly by the C that they say."""

import math
from dataclasses import replace

from memopt.backends.c.emit.broadcast import broadcast_call
from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    activation_of,
    element_kind,
    per_tensor,
    refuse,
    split_rows,
    tensor_or_table,
)
from memopt.backends.c.emit.float32 import float_result_range
from memopt.backends.c.emit.int8 import WIDE, Fields, int8_range
from memopt.backends.c.emit.int16 import need_zero_points_of_zero
from memopt.backends.c.emit.registry import ROUNDINGS, kernel
from memopt.backends.c.kernels.binary.even_lines import product_fields, sum_fields, tflm_sum_fields
from memopt.backends.c.rows.row_calls import Lowered, RowCall, is_one_pixel, own_rows
from memopt.dialects.arithmetic.even_rounding import rounds_even
from memopt.dialects.arithmetic.scalars import quantize_multiplier
from memopt.dialects.arithmetic.stored import is_stored, need_same_numbers
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import REAL_RANGES, ComputeOp
from memopt.dialects.operators.binary import AddOp, BinaryOp, DivOp, MulOp, SelectOp, SubOp, SumOp
from memopt.dialects.operators.comparison import ComparisonOp, LogicalAndOp, LogicalOp, LogicalOrOp
from memopt.dialects.operators.powers import FloorDivOp, FloorModOp
from memopt.dialects.operators.prelu import PreluOp, SquaredDifferenceOp


def _steps(shape: tuple[int, ...], out: tuple[int, ...]) -> tuple[int, int, int] | None:
    """(element step, row step, elements of a row or 0 if any will do) of an operand; None if none.

    Same shape: 1, 1. One element: 0, 0. The last dimensions of the result: 1, 0, and the operand
    is the row. All but the last ones: 0, -1, an element for each row.
    """
    size = math.prod(shape)
    if size == math.prod(out):
        return 1, 1, 0
    if size == 1:
        return 0, 0, 0
    trailing = tuple(shape)
    while trailing and trailing[0] == 1:
        trailing = trailing[1:]
    if trailing == out[len(out) - len(trailing) :]:
        return 1, 0, size
    leading = (1,) * (len(out) - len(shape)) + shape
    while leading and leading[-1] == 1:
        leading = leading[:-1]
    if leading == out[: len(leading)]:
        return 0, -1, math.prod(out[len(leading) :])
    return None


def binary_call(op: BinaryOp, constants: Constants, kernel: str, fields: Fields) -> KernelCall:
    """An element-wise operator of two operands, row by row; by a kernel that calls this one where
    a broadcast is another than of one element, along leading or along last dimensions."""
    out = shape_of(op.result)
    a, b = _steps(shape_of(op.lhs), out), _steps(shape_of(op.rhs), out)
    operands = tuple(tensor_or_table(op, v, constants) for v in (op.lhs, op.rhs))
    if a is None or b is None or (a[2] and b[2] and a[2] != b[2]):
        return replace(broadcast_call(op, kernel, fields), operands=operands)
    rows, row_n = split_rows(out)
    if row := a[2] or b[2]:
        rows, row_n = math.prod(out) // row, row
    steps = (("a_step", a[0]), ("b_step", b[0]), ("a_row_step", a[1]), ("b_row_step", b[1]))
    return KernelCall(
        kernel,
        (("row_n", row_n), *fields, *steps),
        tuple(operands),
        Rows.of(op, rows, row_n, row_n),
    )


def _kernel_of(op: BinaryOp) -> str:
    """The kernel of its name and type."""
    return f"{op.name.removeprefix('memgraph.')}_{element_kind(op.result)}"


def _zero_points(op: BinaryOp) -> tuple[tuple[str, int], ...]:
    names = (("a", op.lhs), ("b", op.rhs), ("output", op.result))
    named = (pair for pair in names if is_stored(pair[1]))
    return tuple((f"{name}_zero_point", per_tensor(op, value)[1]) for name, value in named)


def _even_call(
    op: BinaryOp, constants: Constants, is_product: bool = False, sign: int = 1
) -> KernelCall:
    """Return the call that computes as ONNX does: by integers where any do, else of real numbers.
    Those of the right operand are times `sign`."""
    if is_product and (line := product_fields(op)):
        return binary_call(op, constants, "product_even_s8", (*line, *_zero_points(op)))
    if not is_product and (line := sum_fields(op, sign)):
        return binary_call(op, constants, "sum_line_s8", line)
    a, b, output = (per_tensor(op, v)[0] for v in (op.lhs, op.rhs, op.result))
    scales = (("a_scale", a), ("b_scale", sign * b), ("output_scale", output))
    rule = (*scales, ("is_product", int(is_product)))
    fields = (*rule, *_zero_points(op), *int8_range(op, op.result))
    return binary_call(op, constants, "binary_even_s8", fields)


def _sum(op: SumOp, constants: Constants) -> KernelCall:
    """Return the call of one of two kernels, each with a sign of its own."""
    left_shift, numbers = op.common_scale(bits=16 if element_kind(op.result) == "s16" else 8)
    names = ("a", "b", "output")
    fields = (
        ("left_shift", left_shift),
        *_zero_points(op),
        *((f"{name}_multiplier", n[0]) for name, n in zip(names, numbers, strict=True)),
        *((f"{name}_shift", n[1]) for name, n in zip(names, numbers, strict=True)),
        *int8_range(op, op.result),
    )
    return binary_call(op, constants, _kernel_of(op), fields)


def _rows_in_turn(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """Return the row calls of kernels that make one row after the other: two rows of one pixel are
    computed at once, unless one element or row of an operand would serve both."""

    def is_each(call: KernelCall) -> bool:
        steps = dict(call.fields)
        return all(steps.get(step) == 1 for step in ("a_row_step", "b_row_step"))

    calls = own_rows(op, constants, lowered)
    one_pixel = is_one_pixel(op)
    return [replace(c, in_runs="in_turn" if one_pixel and is_each(c.call) else "") for c in calls]


@kernel((AddOp, SubOp), "s8", rounding=ROUNDINGS, rows=_rows_in_turn)
def sum_s8(op: SumOp, constants: Constants) -> KernelCall:
    if rounds_even(op):
        return _even_call(op, constants, sign=op.SIGN)
    line = tflm_sum_fields(op)
    return binary_call(op, constants, "sum_line_s8", line) if line else _sum(op, constants)


@kernel((AddOp, SubOp), "u8, s16", rounding="tflm_double", rows=own_rows)
def sum_stored(op: SumOp, constants: Constants) -> KernelCall:
    if element_kind(op.result) == "s16":
        need_zero_points_of_zero(op, op.lhs, op.rhs, op.result)
    return _sum(op, constants)


@kernel(MulOp, "s8", rounding=ROUNDINGS, rows=_rows_in_turn)
@kernel(MulOp, "u8, s16", rounding="tflm_double", rows=own_rows)
def mul_stored(op: MulOp, constants: Constants) -> KernelCall:
    if rounds_even(op):
        return _even_call(op, constants, is_product=True)
    a_scale, b_scale, out_scale = (per_tensor(op, v)[0] for v in (op.lhs, op.rhs, op.result))
    multiplier, shift = quantize_multiplier(a_scale * b_scale / out_scale)
    is_wide = element_kind(op.result) == "s16"  # whose products are as large as 2^30
    if shift > (0 if is_wide else 14):
        raise refuse(op, "an output scale so small that the product could overflow")
    if is_wide:
        need_zero_points_of_zero(op, op.lhs, op.rhs, op.result)
    fields = (
        *_zero_points(op),
        ("multiplier", multiplier),
        ("shift", shift + WIDE if is_wide or shift >= 0 else shift),
        *int8_range(op, op.result),
    )
    return binary_call(op, constants, _kernel_of(op), fields)


@kernel(DivOp, "s8, u8", rounding="tflm_double", rows=own_rows)
def quotient_stored(op: DivOp, constants: Constants) -> KernelCall:
    multiplier, shift = op.multiplier
    numbers = (("multiplier", multiplier), ("shift", shift))
    fields = (*_zero_points(op), *numbers, *int8_range(op, op.result))
    return binary_call(op, constants, _kernel_of(op), fields)


@kernel((AddOp, SubOp, MulOp, DivOp), "i32", rows=own_rows)
def binary_i32(op: BinaryOp, constants: Constants) -> KernelCall:
    """Return the call for integers that stand for themselves; they wrap."""
    if any(is_stored(v) for v in (op.lhs, op.rhs, op.result)):
        raise refuse(op, "quantized int32")
    low, high = REAL_RANGES[activation_of(op)]
    ends = (("act_min", "INT32_MIN" if low is None else low),)
    ends = (*ends, ("act_max", "INT32_MAX" if high is None else high))
    return binary_call(op, constants, _kernel_of(op), ends)


@kernel(PreluOp, "s8, u8", rounding="tflm_double", rows=own_rows)
def prelu_stored(op: PreluOp, constants: Constants) -> KernelCall:
    (above, first), (below, second) = op.slopes
    if first > 22 or second > 14:
        raise refuse(op, "an output scale so small that the product could overflow")
    fields = (
        *_zero_points(op),
        ("above_multiplier", above),
        ("above_shift", first + WIDE if first >= 0 else first),
        ("below_multiplier", below),
        ("below_shift", second + WIDE if second >= 0 else second),
        *int8_range(op, op.result),
    )
    return binary_call(op, constants, _kernel_of(op), fields)


@kernel(SquaredDifferenceOp, "s8, s16", rounding="tflm_double", rows=own_rows)
def squared_difference_stored(op: SquaredDifferenceOp, constants: Constants) -> KernelCall:
    bits = 16 if element_kind(op.result) == "s16" else 8
    left_shift, (a, b, (multiplier, shift)) = op.common_scale(bits)
    if shift > 0:
        raise refuse(op, "an output scale so small that the square could overflow")
    fields = (
        ("left_shift", left_shift),
        *_zero_points(op),
        *(("a_multiplier", a[0]), ("b_multiplier", b[0]), ("a_shift", a[1]), ("b_shift", b[1])),
        *(("multiplier", multiplier), ("shift", shift + WIDE)),
    )
    return binary_call(op, constants, _kernel_of(op), fields)


@kernel(BinaryOp, lambda op: ", ".join(op.C), rows=own_rows)
@kernel(DivOp, "i64", rows=own_rows)
@kernel(FloorDivOp, "i32", rows=own_rows)
@kernel(FloorModOp, "f32, i32, i64", rows=own_rows)
def function_of_two(op: BinaryOp, constants: Constants) -> KernelCall:
    """Return the call of the kernel of the operation's own name, which clamps nothing."""
    if isinstance(op, SelectOp):
        need_same_numbers(op, op.lhs, op.rhs, op.result)
        if activation_of(op):
            raise refuse(op, "a fused activation")
    elif activation_of(op) or any(is_stored(v) for v in (op.lhs, op.rhs, op.result)):
        raise refuse(op, "a fused activation, or quantized int32")
    return binary_call(op, constants, _kernel_of(op), ())


@kernel(ComparisonOp, "f32 to bool, i32 to bool, i64 to bool, bool, s16 to bool", rows=own_rows)
def compared(op: ComparisonOp, constants: Constants) -> KernelCall:
    if is_stored(op.lhs) or is_stored(op.rhs):
        raise refuse(op, "quantized integers of more than a byte")
    return _compared_as_they_are(op, constants)


def _compared_as_they_are(op: ComparisonOp, constants: Constants) -> KernelCall:
    kind = element_kind(op.lhs)
    name = PLAIN_BYTES.get(kind, kind)
    return binary_call(op, constants, f"compare_{name}", (("relation", op.RELATION),))


PLAIN_BYTES = {"u8": "bool", "s8": "plain_s8"}
"""Kernels of bytes that stand for themselves; others bring both to a common scale."""


@kernel(ComparisonOp, "s8 to bool, u8 to bool", rounding="tflm_double", rows=own_rows)
def compared_stored(op: ComparisonOp, constants: Constants) -> KernelCall:
    if not is_stored(op.lhs) and not is_stored(op.rhs):
        return _compared_as_they_are(op, constants)
    a, b = op.multipliers
    fields = (
        ("left_shift", op.LEFT_SHIFT),
        *_zero_points(op),
        *(("a_multiplier", a[0]), ("b_multiplier", b[0]), ("a_shift", a[1]), ("b_shift", b[1])),
        ("relation", op.RELATION),
    )
    return binary_call(op, constants, f"compare_{element_kind(op.lhs)}", fields)


@kernel((LogicalAndOp, LogicalOrOp), "bool", rows=own_rows)
def logical(op: LogicalOp, constants: Constants) -> KernelCall:
    """The smaller or the larger of 0 and 1."""
    name = "minimum_u8" if isinstance(op, LogicalAndOp) else "maximum_u8"
    return binary_call(op, constants, name, ())


@kernel((AddOp, SubOp, MulOp, DivOp), "f32", rows=own_rows)
def binary_f32(op: BinaryOp, constants: Constants) -> KernelCall:
    """Their kernels are called as they are; without an activation what is infinite stays so."""
    ends: Fields = (("act_min", "-INFINITY"), ("act_max", "INFINITY"))
    if activation_of(op):
        ends = float_result_range(op)
    return binary_call(op, constants, _kernel_of(op), ends)
