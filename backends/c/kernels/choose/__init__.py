"""SELECT and SELECT_V2."""

import math

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    bytes_per_element,
    refuse,
    tensor_or_table,
)
from memopt.backends.c.emit.registry import ANY, kernel
from memopt.dialects.arithmetic.stored import need_same_numbers
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.comparison import ChooseOp

DIMENSIONS = 6  # of memopt_choose_params


@kernel(ChooseOp, ANY)
def choose(op: ChooseOp, constants: Constants) -> KernelCall:
    need_same_numbers(op, op.lhs, op.rhs, op.result)
    out = shape_of(op.result)
    if len(out) > DIMENSIONS or 0 in out:
        raise refuse(op, f"a choice of {len(out)} dimensions, or of none")
    size = (1,) * (DIMENSIONS - len(out)) + out
    operands = tuple(tensor_or_table(op, v, constants) for v in op.operands)
    steps: list[str] = []
    for k in range(len(op.operands)):
        read = op.shape_read(k)
        shape = (1,) * (DIMENSIONS - len(read)) + read
        each = [0 if n == 1 else math.prod(shape[i + 1 :]) for i, n in enumerate(shape)]
        steps.append("{" + ", ".join(map(str, each)) + "}")
    width = bytes_per_element(op, op.result)
    fields = (
        ("bytes", width),
        ("size", "{" + ", ".join(map(str, size)) + "}"),
        ("step", "{" + ", ".join(steps) + "}"),
    )
    return KernelCall("choose", fields, tuple(operands), Rows(1, 0, math.prod(out) * width))
