"""CAST between float32, int8, uint8 and int32."""

from memopt.backends.c.call import Constants, KernelCall, element_kind
from memopt.backends.c.registry import kernel
from memopt.backends.c.row_calls import own_rows
from memopt.backends.c.rowwise import rowwise
from memopt.dialects.operators.quantization import CastOp


@kernel(CastOp, "f32 to s8", rows=own_rows)
@kernel(CastOp, "f32 to u8", rows=own_rows)
@kernel(CastOp, "f32 to i32", rows=own_rows)
@kernel(CastOp, "s8 to f32", rows=own_rows)
@kernel(CastOp, "u8 to f32", rows=own_rows)
@kernel(CastOp, "i32 to f32", rows=own_rows)
@kernel(CastOp, "s8 to i32", rows=own_rows)
@kernel(CastOp, "u8 to i32", rows=own_rows)
def cast(op: CastOp, constants: Constants) -> KernelCall:
    """The kernel of the two types."""
    return rowwise(op, f"cast_{element_kind(op.input)}_{element_kind(op.result)}")


@kernel(CastOp, "bool to f32", rows=own_rows)
@kernel(CastOp, "bool to i32", rows=own_rows)
def cast_of_truth(op: CastOp, constants: Constants) -> KernelCall:
    """What is true is a byte of 1."""
    return rowwise(op, f"cast_u8_{element_kind(op.result)}")


@kernel(CastOp, "i32 to s8", rows=own_rows)
@kernel(CastOp, "i32 to u8", rows=own_rows)
def lowest_byte(op: CastOp, constants: Constants) -> KernelCall:
    return rowwise(op, "cast_i32_s8")


@kernel(CastOp, "s8 to u8", rows=own_rows)
@kernel(CastOp, "u8 to s8", rows=own_rows)
@kernel(CastOp, "bool to u8", rows=own_rows)
@kernel(CastOp, "bool to s8", rows=own_rows)
def same_bytes(op: CastOp, constants: Constants) -> KernelCall:
    return rowwise(op, "copy")
