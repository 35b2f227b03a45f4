"""BATCH_MATMUL, FULLY_CONNECTED of weights that are only known at run time, and products of each
place that are added up."""

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from memopt.backends.c.emit.broadcast import groups_of, repeated_call
from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    activation_of,
    bytes_per_element,
    element_kind,
    per_tensor,
    refuse,
    tensor_or_table,
)
from memopt.backends.c.emit.int8 import Fields, codes
from memopt.backends.c.emit.int16 import need_zero_points_of_zero, wide_codes
from memopt.backends.c.emit.registry import ROUNDINGS, kernel
from memopt.backends.c.rows.row_calls import Lowered, RowCall, constant_rows, own_rows
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import is_stored
from memopt.dialects.memgraph.tensors import elements_of, encoding_of, rows_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.batch_products import BatchMatmulOp, OuterProductsOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.products import matrix_reals
from memopt.dialects.rows.steps import activations


def _call(
    op: BatchMatmulOp, constants: Constants, more: Fields = (), kernel: str = ""
) -> KernelCall:
    rows, depth, columns = op.sizes
    if 0 in (*shape_of(op.result), depth):
        raise refuse(op, "matrices without elements")
    batches_of = op.batches
    count, left_step, right = batches_of or (1, 1, 1)
    a = (1, rows) if op.adj_x is not None else (depth, 1)
    b = (1, depth) if op.adj_y is not None else (columns, 1)
    if not kernel and element_kind(op.rhs) != element_kind(op.lhs):
        raise refuse(op, f"a product with {element_kind(op.rhs)}")
    operands = tuple(tensor_or_table(op, v, constants) for v in (op.lhs, op.rhs))
    fields = (
        *(("batches", count), ("rows_n", rows), ("depth", depth), ("columns", columns)),
        *(("a_batch", rows * depth * (left_step > 1)), ("a_row", a[0]), ("a_depth", a[1])),
        *(("b_batch", depth * columns * (right > 1)), ("b_depth", b[0]), ("b_column", b[1])),
    )
    width = bytes_per_element(op, op.result)
    size = elements_of(op.result) * width
    kernel = kernel or f"batch_matmul_{element_kind(op.lhs)}"
    call = KernelCall(kernel, (*fields, *more), operands, Rows(1, 0, size))
    if batches_of is not None:
        return call
    batches = groups_of([shape_of(v)[:-2] for v in op.operands], shape_of(op.result)[:-2])
    widths = [bytes_per_element(op, v) for v in op.operands]
    units = [rows * depth * widths[0], depth * columns * widths[1]]
    each = replace(call, operands=())
    repeated = repeated_call(op, each, batches, units, rows * columns * width)
    return replace(repeated, operands=operands)


def matrix_call(op: FullyConnectedOp, constants: Constants) -> KernelCall:
    """Return the call for weights that are only known at run time, as a product of matrices.
    Refuses a bias and an activation, which that has not."""
    if op.bias is not None or activation_of(op):
        raise refuse(op, "weights that are only known at run time, with a bias or an activation")
    columns, depth = shape_of(op.weights)
    rows, kind = elements_of(op.input) // depth, element_kind(op.input)
    fields = (
        *(("batches", 1), ("rows_n", rows), ("depth", depth), ("columns", columns)),
        *(("a_batch", 0), ("a_row", depth), ("a_depth", 1)),
        *(("b_batch", 0), ("b_depth", 1), ("b_column", depth)),
    )
    if is_stored(op.input):
        scales = encoding_of(op.weights).scales
        if len(scales) != 1 or element_kind(op.weights) != "s8":
            raise refuse(op, "weights that are only known at run time, of several scales")
        (real,) = matrix_reals(op, op.input, scales)
        if kind == "s16":
            kind, zero = "s16_s8", per_tensor(op, op.weights)[1]
            need_zero_points_of_zero(op, op.input, op.result)
            numbers = _wide_products(op, depth * 255 << 15, real)
            fields = (*fields, ("b_zero_point", zero), *numbers)
        else:
            fields = (*fields, *_products(op, depth, real, (op.input, op.weights, op.result)))
    first = tensor_or_table(op, op.input, constants)
    size = elements_of(op.result) * bytes_per_element(op, op.result)
    return KernelCall(f"batch_matmul_{kind}", fields, (first, op.weights), Rows(1, 0, size))


def _wide_products(op: Operation, largest: int, real: float) -> Fields:
    """Return the multiplier of a sum of up to `largest` in 64 bits."""
    multiplier, shift = wide_codes(op, np.array([largest]), (real,))
    return (("multiplier", int(multiplier[0])), ("shift", int(shift[0])))


def _products(op: Operation, depth: int, real: float, values: Sequence[SSAValue]) -> Fields:
    """Zero points of the operands and the result, and what a sum is multiplied with."""
    multiplier, code = codes(op, np.array([depth * 255 * 255]), (real,))
    names = zip(("a", "b", "output"), values, strict=True)
    return (
        *((f"{name}_zero_point", per_tensor(op, value)[1]) for name, value in names),
        ("multiplier", int(multiplier[0])),
        ("shift", int(code[0])),
    )


@kernel(BatchMatmulOp, "f32", rows=own_rows)
def batch_matmul_f32(op: BatchMatmulOp, constants: Constants) -> KernelCall:
    if any(is_stored(v) for v in (op.lhs, op.rhs, op.result)):
        raise refuse(op, "a hybrid product")
    return _call(op, constants)


@kernel(BatchMatmulOp, "s8", rounding=ROUNDINGS)
def batch_matmul_s8(op: BatchMatmulOp, constants: Constants) -> KernelCall:
    values = op.lhs, op.rhs, op.result
    return _call(op, constants, _products(op, op.sizes[1], op.real, values))


@kernel(BatchMatmulOp, "s16", rounding="tflm_double")
def batch_matmul_s16(op: BatchMatmulOp, constants: Constants) -> KernelCall:
    return _call(op, constants, _wide_products(op, op.sizes[1] << 30, op.real))


@kernel(BatchMatmulOp, "s8 to i32, u8 to i32")
def batch_matmul_i32(op: BatchMatmulOp, constants: Constants) -> KernelCall:
    kinds = element_kind(op.lhs), element_kind(op.rhs)
    if kinds[1] not in ("s8", "u8") or any(is_stored(v) for v in (op.lhs, op.rhs, op.result)):
        raise refuse(op, f"a product of {kinds[0]} and {kinds[1]} to i32")
    a, b = (128 if kind == "s8" else 0 for kind in kinds)
    return _call(op, constants, (("a_sign", a), ("b_sign", b)), "batch_matmul_i32")


def _both_in_rows(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """Return a call per place: a row of each operand, and behind them what the call before left."""
    parts = rows_of(op.operands[0]) or 0
    taken = {k: number for number, (k, _) in enumerate(activations(op))}
    read = [
        taken[k] if k in taken else constant_rows(op, value, constants)
        for k, value in enumerate(op.operands)
    ]
    operands = (*read, *([len(taken)] if parts > 1 else []))
    fields = (("parts", parts),)
    calls = lowered(op, constants)
    return [RowCall(replace(call, fields=(*call.fields, *fields)), operands) for call in calls]


@kernel(OuterProductsOp, "f32", rows=_both_in_rows)
def outer_products_f32(op: OuterProductsOp, constants: Constants) -> KernelCall:
    if element_kind(op.rhs) != "f32" or elements_of(op.result) == 0:
        raise refuse(op, f"no elements, or a product with {element_kind(op.rhs)}")
    places, depth, width = op.sizes
    sizes = (("places", places), ("groups", op.groups.value.data), ("depth", depth))
    operands = tuple(tensor_or_table(op, v, constants) for v in op.operands)
    return KernelCall("outer_products_f32", (*sizes, ("width", width)), operands, Rows(1, 0, 0))
