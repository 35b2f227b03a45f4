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
from memopt.dialects.arithmetic.int16_tables import exponential_table, reciprocal_table
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import softmax_exponentials
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.softmax import SoftmaxOp


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


@kernel(SoftmaxOp, "s8, u8, s8 to s16", rows=own_rows)
def softmax_of_bytes(op: SoftmaxOp, constants: Constants) -> KernelCall:
    op.need_unit_steps()
    numbers = softmax_exponentials(float(op.beta.value.data), per_tensor(op, op.input)[0])
    table = Table("int32_t", np.array(numbers, dtype=np.int32))
    fields = (("entries", len(numbers)), ("exponential", table))
    types = "_".join(dict.fromkeys(element_kind(v) for v in (op.input, op.result)))
    return _softmax_call(op, f"softmax_{types}", fields)


@kernel(SoftmaxOp, "s16", rows=own_rows)
def softmax_s16(op: SoftmaxOp, constants: Constants) -> KernelCall:
    multiplier, shift = op.in_tenths()
    tables = (("exponential", exponential_table()), ("reciprocal", reciprocal_table()))
    fields = (
        *(("multiplier", multiplier), ("shift", shift + WIDE)),
        *((name, Table("int16_t", np.array(table, np.int16))) for name, table in tables),
    )
    return _softmax_call(op, "softmax_s16", fields)


@kernel(SoftmaxOp, "f32", rows=own_rows)
def softmax_f32(op: SoftmaxOp, constants: Constants) -> KernelCall:
    shape, axis, beta = shape_of(op.input), op.axis.value.data, float(op.beta.value.data)
    if axis == len(shape) - 1 or 0 in shape:
        return _softmax_call(op, "softmax_f32", (("beta", beta),))
    inner = prod(shape[axis + 1 :])
    fields = (("depth", shape[axis]), ("inner", inner), ("beta", beta))
    size = shape[axis] * inner
    rows = Rows.of(op, prod(shape[:axis]), size, size)
    return KernelCall("softmax_along_f32", fields, (op.input,), rows)
