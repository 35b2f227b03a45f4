"""CUMSUM and ADD_N: sums of what comes before, and of many tensors."""

from xdsl.ir import SSAValue

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    element_kind,
    refuse,
    size_of,
    tensor_or_table,
)
from memopt.backends.c.emit.int8 import Fields, zero_points
from memopt.backends.c.emit.registry import kernel
from memopt.dialects.arithmetic.stored import is_stored
from memopt.dialects.operators.add_n import AddNOp
from memopt.dialects.operators.running import CumulativeSumOp


@kernel(CumulativeSumOp, "f32, i32, i64")
def cumulative_sum(op: CumulativeSumOp, constants: Constants) -> KernelCall:
    if is_stored(op.input) or is_stored(op.result):
        raise refuse(op, "quantized integers")
    return _cumulative_sum(op)


@kernel(CumulativeSumOp, "s8")
def cumulative_sum_s8(op: CumulativeSumOp, constants: Constants) -> KernelCall:
    return _cumulative_sum(op, _numbers(op, op.input))


def _numbers(op: AddNOp | CumulativeSumOp, source: SSAValue) -> Fields:
    """Return the fields of a sum of int8."""
    multiplier, shift = op.multiplier
    return (*zero_points(op, source, op.result), ("multiplier", multiplier), ("shift", -shift))


def _cumulative_sum(op: CumulativeSumOp, numbers: Fields = ()) -> KernelCall:
    outer, count, inner = op.sizes
    if not outer * count * inner:
        raise refuse(op, "a tensor without elements")
    fields = (
        *(("count", count), ("inner", inner)),
        *(("exclusive", int(op.exclusive is not None)), ("reverse", int(op.reverse is not None))),
        *numbers,
    )
    rows = Rows.of(op, outer, count * inner, count * inner)
    return KernelCall(f"cumulative_sum_{element_kind(op.input)}", fields, (op.input,), rows)


@kernel(AddNOp, "f32, i32")
def add_n(op: AddNOp, constants: Constants) -> KernelCall:
    if any(is_stored(v) for v in (*op.inputs, op.result)):
        raise refuse(op, "quantized int32")
    return _add_n(op, constants)


@kernel(AddNOp, "s8")
def add_n_s8(op: AddNOp, constants: Constants) -> KernelCall:
    return _add_n(op, constants, _numbers(op, op.inputs[0]))


def _add_n(op: AddNOp, constants: Constants, numbers: Fields = ()) -> KernelCall:
    """All operands at once, each a tensor or a table in flash."""
    operands = tuple(tensor_or_table(op, v, constants) for v in op.inputs)
    size, kind = size_of(op.result), element_kind(op.result)
    fields = (("operands", len(operands)), ("row_n", size), *numbers)
    return KernelCall(f"add_n_{kind}", fields, operands, Rows.of(op, 1, size, size))
