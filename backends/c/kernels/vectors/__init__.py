"""L2_NORMALIZATION and LOG_SOFTMAX over the last axis."""

from memopt.backends.c.call import Constants, KernelCall, Rows, element_kind, per_tensor, size_of
from memopt.backends.c.registry import kernel
from memopt.backends.c.row_calls import own_rows
from memopt.dialects.operators.unit_length import (
    L2NormalizationOp,
    LogSoftmaxOp,
    VectorsOp,
    need_unit_scale,
)
from memopt.dialects.tensors import shape_of


def _call(op: VectorsOp) -> KernelCall:
    """The kernel of the operation's own name."""
    depth, kind = shape_of(op.input)[-1], element_kind(op.input)
    rows = Rows.of(op, size_of(op.input) // depth, depth, depth)
    name = f"{op.name.removeprefix('memgraph.')}_{kind}"
    zero = (("input_zero_point", per_tensor(op, op.input)[1]),) if kind == "s8" else ()
    return KernelCall(name, (("depth", depth), *zero), (op.input,), rows)


@kernel(L2NormalizationOp, "f32", rows=own_rows)
@kernel(LogSoftmaxOp, "f32", rows=own_rows)
def vectors_f32(op: VectorsOp, constants: Constants) -> KernelCall:
    return _call(op)


@kernel(L2NormalizationOp, "s8", rows=own_rows)
def l2_normalization_s8(op: L2NormalizationOp, constants: Constants) -> KernelCall:
    need_unit_scale(op)
    return _call(op)
