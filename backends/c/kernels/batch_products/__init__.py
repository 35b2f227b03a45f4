"""BATCH_MATMUL."""

from xdsl.ir import SSAValue

from memopt.backends.c.call import (
    C_TYPES,
    Constants,
    KernelCall,
    Rows,
    Table,
    bytes_per_element,
    element_kind,
    per_tensor,
    refuse,
)
from memopt.backends.c.int8 import WIDE, Fields
from memopt.backends.c.registry import kernel
from memopt.dialects.operators.batch_products import BatchMatmulOp
from memopt.dialects.stored import is_stored
from memopt.dialects.tensors import elements_of


def _call(op: BatchMatmulOp, constants: Constants, more: Fields = ()) -> KernelCall:
    found = op.batches
    if found is None or 0 in (*found, *op.sizes):
        raise refuse(op, "matrices of which some dimensions broadcast, or without elements")
    (count, left, right), (rows, depth, columns) = found, op.sizes
    a = (1, rows) if op.adj_x is not None else (depth, 1)
    b = (1, depth) if op.adj_y is not None else (columns, 1)
    operands: list[SSAValue | Table] = []
    for value in (op.lhs, op.rhs):
        array = constants(value)
        kind = C_TYPES[element_kind(op.lhs)]
        if element_kind(value) != element_kind(op.lhs):
            raise refuse(op, f"a product with {element_kind(value)}")
        operands.append(value if array is None else Table(kind, array))
    fields = (
        *(("batches", count), ("rows_n", rows), ("depth", depth), ("columns", columns)),
        *(("a_batch", rows * depth * (left > 1)), ("a_row", a[0]), ("a_depth", a[1])),
        *(("b_batch", depth * columns * (right > 1)), ("b_depth", b[0]), ("b_column", b[1])),
    )
    size = elements_of(op.result) * bytes_per_element(op, op.result)
    kernel = f"batch_matmul_{element_kind(op.lhs)}"
    return KernelCall(kernel, (*fields, *more), tuple(operands), Rows(1, 0, size))


@kernel(BatchMatmulOp, "f32")
def batch_matmul_f32(op: BatchMatmulOp, constants: Constants) -> KernelCall:
    if any(is_stored(v) for v in (op.lhs, op.rhs, op.result)):
        raise refuse(op, "a hybrid product")
    return _call(op, constants)


@kernel(BatchMatmulOp, "s8", rounding="tflm_double")
def batch_matmul_s8(op: BatchMatmulOp, constants: Constants) -> KernelCall:
    multiplier, shift = op.multiplier
    largest = op.sizes[1] * 255 * 255 << max(shift, 0)
    if largest >= 1 << 31:
        raise refuse(op, "the int32 accumulator could overflow")
    names = (("a", op.lhs), ("b", op.rhs), ("output", op.result))
    fields = (
        *((f"{name}_zero_point", per_tensor(op, value)[1]) for name, value in names),
        ("multiplier", multiplier),
        ("shift", shift + WIDE if shift >= 0 or largest >= 1 << 30 else shift),
    )
    return _call(op, constants, fields)
