"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR. Where rows and columns come from is in tables."""

from dataclasses import replace

from memopt.backends.c.emit.call import (
    Array,
    Constants,
    KernelCall,
    Table,
    bytes_per_element,
    element_kind,
    refuse,
)
from memopt.backends.c.emit.registry import ANY, kernel
from memopt.backends.c.emit.rowwise import image_call
from memopt.backends.c.rows.row_calls import Lowered, RowCall
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import need_same_numbers
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.resize import ResizeBase, ResizeBilinearOp, ResizeNearestOp


def resized_rows(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """The rows that a row lies between are its operands, one row of the result a call."""
    operands = (0, 1) if isinstance(op, ResizeBilinearOp) else (0,)
    return [
        RowCall(
            replace(call, fields=(*call.fields, ("by_rows", 1)), rows=replace(call.rows, end=1)),
            operands,
            takes_last_again=True,
        )
        for call in lowered(op, constants)
    ]


def _places(op: ResizeBase, values: Array) -> Table:
    """A table of rows or columns of the operand."""
    if max(shape_of(op.input)) > np.iinfo(np.int16).max:
        raise refuse(op, f"a resize of {max(shape_of(op.input))} rows or columns")
    return Table("int16_t", values.astype(np.int16))


@kernel(ResizeNearestOp, ANY, "nhwc", rows=resized_rows)
def resize_nearest(op: ResizeNearestOp, constants: Constants) -> KernelCall:
    need_same_numbers(op, op.input, op.result)
    rows, columns = (_places(op, op.nearest(*size)) for size in op.sizes())
    out = shape_of(op.result)
    fields = (
        ("out_w", out[2]),
        ("pixel_bytes", out[3] * bytes_per_element(op, op.result)),
        ("row_at", rows),
        ("column_at", columns),
    )
    return image_call(op, "resize_nearest", fields)


@kernel(ResizeBilinearOp, "s8, s16, u8, f32", "nhwc", rows=resized_rows)
def resize_bilinear(op: ResizeBilinearOp, constants: Constants) -> KernelCall:
    need_same_numbers(op, op.input, op.result)
    stored, out = op.is_exact, shape_of(op.result)
    rule = op.neighbours_in_1024 if stored else op.neighbours
    c_type, dtype = ("int16_t", np.int16) if stored else ("float", np.float32)
    fields: list[tuple[str, int | Table]] = [("out_w", out[2]), ("channels", out[3])]
    kind = element_kind(op.input)
    largest, furthest = 128, 0
    for name, size in zip(("row", "column"), op.sizes(), strict=True):
        low, high, part = rule(*size)
        high[part == 0] = low[part == 0]  # what has no part is not read
        largest *= int((abs(1024 - part) + abs(part)).max())
        furthest = max(furthest, int(abs(part).max()))
        fields += (
            (f"{name}_low", _places(op, low)),
            (f"{name}_high", _places(op, high)),
            (f"{name}_part", Table(c_type, part.astype(dtype))),
        )
    too_large = largest >= 1 << 30 if kind == "s8" else furthest >= 1 << 15
    if stored and too_large:  # int16 are added up in 64 bits, tables have 16
        raise refuse(op, "a resize to so many elements that its sums could overflow")
    return image_call(op, f"resize_bilinear_{kind}", tuple(fields))
