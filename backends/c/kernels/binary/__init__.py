"""ADD and MUL."""

import math

from xdsl.ir import SSAValue

from memopt.backends.c.call import (
    C_TYPES,
    Constants,
    KernelCall,
    Rows,
    Table,
    element_kind,
    per_tensor,
    refuse,
    split_rows,
)
from memopt.backends.c.float32 import float_result_range
from memopt.backends.c.int8 import WIDE, int8_range
from memopt.backends.c.registry import kernel
from memopt.dialects.arithmetic import (
    quantize_multiplier,
)
from memopt.dialects.operators.binary import AddOp, BinaryOp, MulOp
from memopt.dialects.tensors import shape_of

Fields = tuple[tuple[str, int], ...]


def _steps(shape: tuple[int, ...], out: tuple[int, ...]) -> tuple[int, int, int] | None:
    """(element step, row step, elements of a row or 0 if any will do) of an operand; None if none.

    Same shape: 1, 1. One element: 0, 0. The last dimensions of the result: 1, 0, and the operand
    is the row.
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
    return None


def binary_steps(
    op: BinaryOp, constants: Constants
) -> tuple[int, Rows, tuple[SSAValue | Table, ...], Fields]:
    """(elements of a row, rows, operands, step fields) of an element-wise operator of two operands.

    Refuses broadcasts other than of one element or along leading dimensions.
    """
    out = shape_of(op.result)
    a, b = _steps(shape_of(op.lhs), out), _steps(shape_of(op.rhs), out)
    if a is None or b is None or (a[2] and b[2] and a[2] != b[2]):
        raise refuse(op, f"the broadcast {shape_of(op.lhs)} with {shape_of(op.rhs)}")
    rows, row_n = split_rows(out)
    if row := a[2] or b[2]:
        rows, row_n = math.prod(out) // row, row
    operands: list[SSAValue | Table] = []
    for value in (op.lhs, op.rhs):
        array = constants(value)
        kind = C_TYPES[element_kind(value)]
        operands.append(value if array is None else Table(kind, array))
    steps = (
        ("a_step", a[0]),
        ("b_step", b[0]),
        ("a_row_step", a[1]),
        ("b_row_step", b[1]),
    )
    return row_n, Rows.of(op, rows, row_n, row_n), tuple(operands), steps


@kernel(AddOp, "s8", rounding="tflm_double")
def add_s8(op: AddOp, constants: Constants) -> KernelCall:
    left_shift = 20
    (a_scale, a_zero), (b_scale, b_zero) = per_tensor(op, op.lhs), per_tensor(op, op.rhs)
    out_scale, out_zero = per_tensor(op, op.result)
    twice = 2 * max(a_scale, b_scale)
    reals = (a_scale / twice, b_scale / twice, twice / ((1 << left_shift) * out_scale))
    if not all(0 < r < 1 for r in reals):
        raise refuse(op, "the scales need an output multiplier of 1 or more")
    numbers = tuple(quantize_multiplier(r) for r in reals)
    row_n, rows, operands, steps = binary_steps(op, constants)
    return KernelCall(
        kernel="add_s8",
        fields=(
            ("row_n", row_n),
            ("left_shift", left_shift),
            ("a_zero_point", a_zero),
            ("b_zero_point", b_zero),
            ("output_zero_point", out_zero),
            ("a_multiplier", numbers[0][0]),
            ("b_multiplier", numbers[1][0]),
            ("output_multiplier", numbers[2][0]),
            ("a_shift", numbers[0][1]),
            ("b_shift", numbers[1][1]),
            ("output_shift", numbers[2][1]),
            *int8_range(op, op.result),
            *steps,
        ),
        operands=operands,
        rows=rows,
    )


@kernel(AddOp, "f32")
def add_f32(op: AddOp, constants: Constants) -> KernelCall:
    row_n, rows, operands, steps = binary_steps(op, constants)
    return KernelCall(
        kernel="add_f32",
        fields=(("row_n", row_n), *float_result_range(op), *steps),
        operands=operands,
        rows=rows,
    )


@kernel(MulOp, "s8", rounding="tflm_double")
def mul_s8(op: MulOp, constants: Constants) -> KernelCall:
    (a_scale, a_zero), (b_scale, b_zero) = per_tensor(op, op.lhs), per_tensor(op, op.rhs)
    out_scale, out_zero = per_tensor(op, op.result)
    multiplier, shift = quantize_multiplier(a_scale * b_scale / out_scale)
    if shift > 14:
        raise refuse(op, "an output scale so small that the product could overflow")
    row_n, rows, operands, steps = binary_steps(op, constants)
    return KernelCall(
        kernel="mul_s8",
        fields=(
            ("row_n", row_n),
            ("a_zero_point", a_zero),
            ("b_zero_point", b_zero),
            ("output_zero_point", out_zero),
            ("multiplier", multiplier),
            ("shift", shift + WIDE if shift >= 0 else shift),
            *int8_range(op, op.result),
            *steps,
        ),
        operands=operands,
        rows=rows,
    )


@kernel(MulOp, "f32")
def mul_f32(op: MulOp, constants: Constants) -> KernelCall:
    row_n, rows, operands, steps = binary_steps(op, constants)
    return KernelCall(
        kernel="mul_f32",
        fields=(("row_n", row_n), *float_result_range(op), *steps),
        operands=operands,
        rows=rows,
    )
