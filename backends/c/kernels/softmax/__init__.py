"""SOFTMAX over the last axis."""

from memopt.backends.c.call import (
    Constants,
    KernelCall,
    Rows,
    Table,
    per_tensor,
    refuse,
    size_of,
)
from memopt.backends.c.registry import kernel
from memopt.dialects.arithmetic import (
    softmax_exponentials,
)
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.dialects.tensors import shape_of


@kernel(SoftmaxOp, "s8")
def softmax_s8(op: SoftmaxOp, constants: Constants) -> KernelCall:
    import numpy as np

    shape = shape_of(op.input)
    if op.axis.value.data != len(shape) - 1:
        raise refuse(op, f"softmax over axis {op.axis.value.data}, only over the last one")
    if 0 in shape:
        raise refuse(op, "a tensor without elements")
    scale, _ = per_tensor(op, op.input)
    if per_tensor(op, op.result) != (1.0 / 256.0, -128):
        raise refuse(op, "an int8 softmax needs scale 1/256 and zero point -128 after it")
    table = softmax_exponentials(float(op.beta.value.data), scale)
    return KernelCall(
        kernel="softmax_s8",
        fields=(
            ("depth", shape[-1]),
            ("entries", len(table)),
            ("exponential", Table("int32_t", np.array(table, dtype=np.int32))),
        ),
        operands=(op.input,),
        rows=Rows.of(op, size_of(op.input) // shape[-1], shape[-1], shape[-1]),
    )


@kernel(SoftmaxOp, "f32")
def softmax_f32(op: SoftmaxOp, constants: Constants) -> KernelCall:
    shape = shape_of(op.input)
    if op.axis.value.data != len(shape) - 1:
        raise refuse(op, f"softmax over axis {op.axis.value.data}, only over the last one")
    if 0 in shape:
        raise refuse(op, "a tensor without elements")
    return KernelCall(
        kernel="softmax_f32",
        fields=(("depth", shape[-1]), ("beta", float(op.beta.value.data))),
        operands=(op.input,),
        rows=Rows.of(op, size_of(op.input) // shape[-1], shape[-1], shape[-1]),
    )
