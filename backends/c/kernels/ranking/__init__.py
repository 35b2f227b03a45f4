"""TOPK_V2: a call for the values, one for the indices."""

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    bytes_per_element,
    element_kind,
    refuse,
    size_of,
)
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.emit.rowwise import moved
from memopt.dialects.arithmetic.stored import need_same_numbers
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.top_k import TopKOp


@kernel(
    TopKOp,
    "f32 to f32 and i32, s8 to i32 and s8, u8 to i32 and u8, i32, i64, "
    "f32 to f32 and i64, i32 to i32 and i64, s8 to i64 and s8, u8 to i64 and u8",
)
def top_k(op: TopKOp, constants: Constants) -> list[KernelCall]:
    need_same_numbers(op, op.input, op.values)
    kind, length, k = element_kind(op.input), shape_of(op.input)[-1], shape_of(op.values)[-1]
    if not size_of(op.input):
        raise refuse(op, "a tensor without elements")
    outer, width = size_of(op.input) // length, bytes_per_element(op, op.input)
    calls: list[KernelCall] = []
    wide = bytes_per_element(op, op.indices)
    for number, bytes_each in enumerate((width, wide)):
        fields = (("length", length), ("kept", k), ("indices", number * wide))
        rows = Rows(outer, length * width, k * bytes_each)
        calls.append(moved(KernelCall(f"top_k_{kind}", fields, (op.input,), rows), 0, 0, number))
    return calls
