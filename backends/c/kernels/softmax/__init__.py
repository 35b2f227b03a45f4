"""SOFTMAX over the last axis, of float32 over any."""

from math import prod

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    Table,
    element_kind,
    per_tensor,
    refuse,
    size_of,
)
from memopt.backends.c.emit.int8 import WIDE
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.rows.row_calls import own_rows
from memopt.dialects.arithmetic.even_rounding import rounds_even
from memopt.dialects.arithmetic.int16_tables import exponential_table, reciprocal_table
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import softmax_exponentials
from memopt.dialects.arithmetic.stored import limits_of
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.softmax import EXPONENTIAL_BITS, SoftmaxOp


def _softmax_call(
    op: SoftmaxOp, kernel: str, fields: tuple[tuple[str, int | float | Table], ...]
) -> KernelCall:
    shape = shape_of(op.input)
    if op.axis.value.data != len(shape) - 1:
        raise refuse(op, f"softmax over axis {op.axis.value.data}, only over the last one")
    if 0 in shape:
        raise refuse(op, "a tensor without elements")
    depth = shape[-1]
    return KernelCall(
        kernel,
        (("depth", depth), *fields),
        (op.input,),
        Rows.of(op, size_of(op.input) // depth, depth, depth),
    )


@kernel(SoftmaxOp, "s8, u8, s8 to s16, s8 to u8, u8 to s8", rows=own_rows)
def softmax_of_bytes(op: SoftmaxOp, constants: Constants) -> KernelCall:
    if rounds_even(op):
        return _along(op, f"softmax_even_{element_kind(op.input)}", _even_fields(op))
    op.need_unit_steps()
    numbers = softmax_exponentials(float(op.beta.value.data), per_tensor(op, op.input)[0])
    table = Table("int32_t", np.array(numbers, dtype=np.int32), is_looked_up=True)
    fields = (("entries", len(numbers)), ("exponential", table))
    types = "_".join(dict.fromkeys(element_kind(v) for v in (op.input, op.result)))
    return _softmax_call(op, f"softmax_{types}", fields)


@kernel(SoftmaxOp, "s16", rows=own_rows)
def softmax_s16(op: SoftmaxOp, constants: Constants) -> KernelCall:
    multiplier, shift = op.in_tenths()
    tables = (("exponential", exponential_table()), ("reciprocal", reciprocal_table()))
    fields = (
        *(("multiplier", multiplier), ("shift", shift + WIDE)),
        *(
            (name, Table("int16_t", np.array(table, np.int16), is_looked_up=True))
            for name, table in tables
        ),
    )
    return _softmax_call(op, "softmax_s16", fields)


@kernel(SoftmaxOp, "f32", rows=own_rows)
def softmax_f32(op: SoftmaxOp, constants: Constants) -> KernelCall:
    shape, axis, beta = shape_of(op.input), op.axis.value.data, float(op.beta.value.data)
    if axis == len(shape) - 1 or 0 in shape:
        return _softmax_call(op, "softmax_f32", (("beta", beta),))
    return _along(op, "softmax_along_f32", (("beta", beta),))


def _along(
    op: SoftmaxOp, kernel: str, fields: tuple[tuple[str, int | float | Table], ...]
) -> KernelCall:
    """Return the call of a kernel whose vectors stand along any axis."""
    shape, axis = shape_of(op.input), op.axis.value.data
    if 0 in shape:
        raise refuse(op, "a tensor without elements")
    inner = prod(shape[axis + 1 :])
    size = shape[axis] * inner
    rows = Rows.of(op, prod(shape[:axis]), size, size)
    fields = (("depth", shape[axis]), ("inner", inner), *fields)
    return KernelCall(kernel, fields, (op.input,), rows)


def _even_fields(op: SoftmaxOp) -> tuple[tuple[str, int | float | Table], ...]:
    """Return the table and what is known of the result, whose largest steps are `most`."""
    exponential = op.even_exponentials() << (31 - EXPONENTIAL_BITS)
    scale, zero_point = per_tensor(op, op.result)
    return (
        ("exponential", Table("uint32_t", exponential.astype(np.uint32), is_looked_up=True)),
        ("output_scale", scale),
        ("output_zero_point", zero_point),
        ("most", limits_of(op, op.result)[1] - zero_point),
    )
