"""Operators over axes between which others lie: of a copy in scratch in which they are last."""

import math

from memopt.backends.c.emit.call import KernelCall, Rows, refuse
from memopt.backends.c.emit.strided import strided_call
from memopt.dialects.memgraph.tensors import bytes_of, shape_of
from memopt.dialects.operators.over_axes import OverAxesOp


def _axes(op: OverAxesOp) -> list[int]:
    """The axes that count, neighbours if they can be: those of one place say nothing."""
    shape, axes = shape_of(op.input), sorted(op.numbers)
    if axes and math.prod(shape[axes[0] : axes[-1] + 1]) == op.count:
        return axes
    return [a for a in axes if shape[a] != 1] or [len(shape)]


def _lie_apart(op: OverAxesOp) -> bool:
    axes = _axes(op)
    return math.prod(shape_of(op.input)[axes[0] : axes[-1] + 1]) != op.count


def copied_bytes(op: OverAxesOp) -> int:
    """Bytes of scratch for an operation over axes."""
    return (bytes_of(op.input.type) or 0) if _lie_apart(op) else 0


def over_axes(op: OverAxesOp) -> tuple[int, int, int]:
    """(outer, count, inner): what the kernel reads, of whose dimensions the second goes."""
    shape, axes = shape_of(op.input), _axes(op)
    if 0 in shape:
        raise refuse(op, "a tensor without elements")
    if _lie_apart(op):
        return math.prod(shape) // op.count, op.count, 1
    return math.prod(shape[: axes[0]]), op.count, math.prod(shape[axes[-1] + 1 :])


def regrouped(op: OverAxesOp, call: KernelCall) -> KernelCall:
    """The call of a kernel of these three dimensions, of the copy where there is one."""
    if not _lie_apart(op):
        return call
    shape = shape_of(op.input)
    steps = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    order = sorted(range(len(shape)), key=lambda i: i in op.numbers)
    sizes, ways = (tuple(v[i] for i in order) for v in (shape, steps))
    rows = call.rows
    fields = (
        *(("taker", "memopt_strided"), ("walk", strided_call(op, op.input, 0, sizes, ways))),
        *(("kernel", f"memopt_{call.kernel}"), ("params", call)),
        *(("count", rows.end), ("in_stride", rows.in_stride), ("out_stride", rows.out_stride)),
    )
    return KernelCall("regrouped", fields, call.operands, Rows(1, 0, 0))
