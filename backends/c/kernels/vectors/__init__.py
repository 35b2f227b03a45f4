"""Kernels of L2_NORMALIZATION, LOG_SOFTMAX and LOCAL_RESPONSE_NORMALIZATION over the last axis."""

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    Table,
    element_kind,
    per_tensor,
    size_of,
)
from memopt.backends.c.emit.int8 import Fields
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.rows.row_calls import own_rows
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.local_response import LocalResponseNormalizationOp
from memopt.dialects.operators.unit_length import (
    L2NormalizationOp,
    LogSoftmaxOp,
    LogSteps,
    VectorsOp,
    need_unit_scale,
)


def _call(op: VectorsOp, fields: Fields = ()) -> KernelCall:
    """The kernel of the operation's own name."""
    depth, kind = shape_of(op.input)[-1], element_kind(op.input)
    rows = Rows.of(op, size_of(op.input) // depth, depth, depth)
    name = f"{op.name.removeprefix('memgraph.')}_{kind}"
    return KernelCall(name, (("depth", depth), *fields), (op.input,), rows)


@kernel((L2NormalizationOp, LogSoftmaxOp), "f32", rows=own_rows)
def vectors_f32(op: VectorsOp, constants: Constants) -> KernelCall:
    return _call(op)


@kernel(L2NormalizationOp, "s8, u8", rows=own_rows)
def l2_normalization_s8(op: L2NormalizationOp, constants: Constants) -> KernelCall:
    need_unit_scale(op)
    return _call(op, (("input_zero_point", per_tensor(op, op.input)[1]),))


@kernel(LogSoftmaxOp, "s8", rows=own_rows)
def log_softmax_s8(op: LogSoftmaxOp, constants: Constants) -> KernelCall:
    steps = LogSteps.of(op)
    fields: Fields = (
        ("entries", len(steps.exponentials)),
        ("exponential", Table("int32_t", np.array(steps.exponentials, np.int32), (), True)),
        *(("multiplier", steps.fine[0]), ("shift", steps.fine[1])),
        *(("inverse_multiplier", steps.inverse[0]), ("inverse_shift", steps.inverse[1])),
    )
    return _call(op, fields)


@kernel(LocalResponseNormalizationOp, "f32", rows=own_rows)
def local_response_normalization(
    op: LocalResponseNormalizationOp, constants: Constants
) -> KernelCall:
    reals = tuple((name, getattr(op, name).value.data) for name in ("bias", "alpha", "beta"))
    return _call(op, (("radius", op.radius.value.data), *reals))
