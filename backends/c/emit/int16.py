"""Fields that kernels of int16 share: those of `memopt_wide_sum_s16`, a table of functions."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from memopt.backends.c.emit.call import Array, Constants, Table, per_tensor, refuse
from memopt.backends.c.emit.int8 import Fields, codes, int8_range, int8_weights, int32_bias
from memopt.dialects.arithmetic.int16_tables import sigmoid_table
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import INT32_MAX, quantize_multiplier

WIDEST = 1 << 46  # of a sum, whose product with 16 bits is rounded in 64


def sigmoids() -> Table:
    """The table of memopt_sigmoid_s16.h."""
    return Table("uint16_t", np.array(sigmoid_table(), np.uint16), is_looked_up=True)


def need_zero_points_of_zero(op: Operation, *values: SSAValue) -> None:
    """Refuse int16 with a zero point, which no runtime of ours takes."""
    if any(per_tensor(op, v)[1] for v in values):
        raise refuse(op, "int16 with a zero point other than 0")


def wide_codes(op: Operation, largest: Array, reals: Sequence[float]) -> tuple[Array, Array]:
    """Multipliers of 16 bits and shifts to the right, as memopt_wide_steps takes them, of sums
    whose absolute values are up to `largest`."""
    pairs = [quantize_multiplier(real) for real in reals]
    if (largest >= WIDEST).any() or max(s for _, s in pairs) > 14:
        raise refuse(op, "the int64 accumulator could overflow")
    reduced = [(m + (1 << 15)) >> 16 if m < 0x7FFF0000 else 0x7FFF for m, _ in pairs]
    right = np.array([15 - s for _, s in pairs], np.int8)
    worst = largest.reshape(len(pairs), -1).max(axis=1)
    if (worst * np.array(reduced, np.int64) >> right > INT32_MAX).any():  # which TFLM cuts off
        raise refuse(op, "a result in steps of its scale that could leave an int32")
    return np.array(reduced, np.int32), right


def wide_sums(
    op: Operation,
    operands: tuple[SSAValue, SSAValue, SSAValue | None],
    axes: tuple[int, ...],
    reals: Sequence[float],
    constants: Constants,
    narrow: bool = False,
) -> Fields:
    """Return the fields of an operator that sums products of the input with weights over `axes`,
    beside a bias.

    `reals` are the multipliers of the channels. Sums have 64 bits, but with a bias of 32 as many as
    it, if the operator has such (`narrow`), which are refused where they could overflow.
    """
    source, filters, bias = operands
    weights, _ = int8_weights(op, filters, len(reals), constants)
    need_zero_points_of_zero(op, source, op.results[0])
    values = None if bias is None else constants(bias)
    wide = bias is None or (values is not None and str(values.dtype) == "int64")
    if not wide and not narrow:
        raise refuse(op, "int16 with a bias of 32 bits, which no runtime of ours has")
    if values is not None and wide:
        total = values.reshape(-1).astype(np.int64)
    else:
        total = int32_bias(op, bias, len(reals), constants)
    largest = np.abs(total) + (np.abs(weights.astype(np.int64)).sum(axis=axes) << 15)
    if not wide:
        multiplier, shift = codes(op, largest, reals)
    else:
        multiplier, shift = wide_codes(op, largest, reals)
    return (
        ("sums.wide", int(wide)),
        *((f"sums.{name}", value) for name, value in int8_range(op, op.results[0])),
        ("sums.weights", Table("int8_t", weights)),
        ("sums.bias", Table("int64_t", total)),
        ("sums.multiplier", Table("int32_t", multiplier)),
        ("sums.shift", Table("int8_t", shift)),
    )
