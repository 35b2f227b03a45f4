"""CAST."""

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    bytes_per_element,
    element_kind,
    split_rows,
)
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.emit.rowwise import copy_call, rowwise
from memopt.backends.c.rows.row_calls import own_rows
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.quantization import CastOp


@kernel(
    CastOp,
    "f32 to s8, f32 to u8, f32 to i32, s8 to f32, u8 to f32, i32 to f32, s8 to i32, u8 to i32",
    rows=own_rows,
)
def cast(op: CastOp, constants: Constants) -> KernelCall:
    """The kernel of the two types."""
    return rowwise(op, f"cast_{element_kind(op.input)}_{element_kind(op.result)}")


@kernel(CastOp, "bool to f32, bool to i32", rows=own_rows)
def cast_of_truth(op: CastOp, constants: Constants) -> KernelCall:
    """Return the call for an operand that is true or false: a byte of 1 or 0."""
    return rowwise(op, f"cast_u8_{element_kind(op.result)}")


@kernel(CastOp, "i32 to s8, i32 to u8", rows=own_rows)
def lowest_byte(op: CastOp, constants: Constants) -> KernelCall:
    return rowwise(op, "cast_i32_s8")


@kernel(CastOp, "s8 to u8, u8 to s8, bool to u8, bool to s8", rows=own_rows)
def same_bytes(op: CastOp, constants: Constants) -> KernelCall:
    return rowwise(op, "copy")


TYPES = ("f32", "s8", "u8", "s16", "i32", "i64", "bool")  # CAST_... of memopt_cast_any.c


def any_cast(op: CastOp, constants: Constants) -> KernelCall:
    """Return the call for types of which a pair is rare."""
    fields = tuple(
        (name, TYPES.index(element_kind(value)))
        for name, value in (("from", op.input), ("to", op.result))
    )
    return rowwise(op, "cast_any", fields)


@kernel(CastOp, "i32 to ui32, ui32 to i32", rows=own_rows)
def same_type(op: CastOp, constants: Constants) -> KernelCall:
    """One type, or two of the same bits."""
    rows, row_n = split_rows(shape_of(op.result))
    size = row_n * bytes_per_element(op, op.result)
    return copy_call(op.input, rows, size, (size, size))


def _is_common(before: str, after: str) -> bool:
    """Return whether one of the kernels above is for the pair."""
    return {before, after} <= {"f32", "s8", "u8", "i32", "bool"} and after != "bool"


for _before in TYPES:
    for _after in TYPES:
        if _before == _after:
            kernel(CastOp, _before, rows=own_rows)(same_type)
        elif not _is_common(_before, _after):
            kernel(CastOp, f"{_before} to {_after}", rows=own_rows)(any_cast)
