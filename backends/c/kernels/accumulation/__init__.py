"""Sums of integers that several operators have added up, as int8."""

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    Table,
    per_tensor,
    refuse,
    split_rows,
)
from memopt.backends.c.emit.int8 import (
    int8_range,
    int8_weights,
    int32_bias,
    need_int32,
    requantization,
)
from memopt.backends.c.emit.registry import ROUNDINGS, kernel
from memopt.backends.c.rows.row_calls import sum_rows
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.accumulation import AccumulateOp
from memopt.dialects.operators.weighing import WeighingOp


@kernel(AccumulateOp, "i32 to s8", "nhwc", rounding=ROUNDINGS, rows=sum_rows)
def finish_sum_s8(op: AccumulateOp, constants: Constants) -> KernelCall:
    """With bias and multiplier of each channel; beside the sums or, element by element, over them.

    The sum with the bias is the accumulator of the operation that was taken apart, so the bound is
    that of `accumulation`: what overflows here would have overflowed there. Sums of some of the
    products are bounded without the bias.
    """
    shape = shape_of(op.result)
    channels = shape[-1]
    if 0 in shape or op.input is None:
        raise refuse(op, "a tensor without elements")
    zero, signed, sizes = op.input.zero_points[0], 0, 0
    for value in op.sums:
        maker = value.owner
        assert isinstance(maker, WeighingOp)
        wide = int8_weights(maker, maker.operands[1], channels, constants)[0].astype(np.int64)
        filters = np.moveaxis(wide, maker.filter_axis, 0).reshape(channels, -1)
        signed, sizes = signed + filters.sum(1), sizes + np.abs(filters).sum(1)
    bias = int32_bias(op, op.bias, channels, constants)
    need_int32(op, max(128 + zero, 127 - zero) * sizes)
    reals = op.reals()
    reals = reals if len(reals) == channels else reals * channels
    rows, row_n = split_rows(shape)
    return KernelCall(
        "finish_sum_s8",
        (
            ("row_n", row_n),
            ("channels", channels),
            ("output_zero_point", per_tensor(op, op.result)[1]),
            *int8_range(op, op.result),
            ("bias", Table("int32_t", bias.astype(np.int32))),
            *requantization(op, np.abs(bias - zero * signed) + 128 * sizes, reals),
        ),
        (op.sums[0],),
        Rows.of(op, rows, row_n, row_n),
    )
