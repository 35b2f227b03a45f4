"""Kernels that use the toy board's instructions."""

from memopt.backends.c.emit.call import Constants, KernelCall
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.emit.rowwise import rowwise
from memopt.backends.c.rows.row_calls import own_rows
from memopt.dialects.operators.unary import ReluOp


@kernel(ReluOp, "f32", isa="toy", rows=own_rows)
def toy_relu_f32(op: ReluOp, constants: Constants) -> KernelCall:
    """Half of the sum with the absolute value, which the board has an instruction for."""
    return rowwise(op, "toy_relu_f32")
