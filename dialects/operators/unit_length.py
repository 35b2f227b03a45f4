"""Vectors along the last axis: of length 1, and logarithms of what softmax makes of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.irdl import traits_def

from memopt.dialects.arithmetic.fixed_point import by_table, rescale
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import (
    INT32_MAX,
    INT32_MIN,
    high_mul,
    log_at_least_one,
    multiply,
    quantize_multiplier,
    round_shift,
    saturate,
    softmax_exponentials,
    softmax_scaling,
)
from memopt.dialects.arithmetic.stored import (
    Array,
    is_stored,
    is_unsigned,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import OfOneOp
from memopt.dialects.operators.traits import Alike


class VectorsOp(OfOneOp):
    """Base of these."""

    traits = traits_def(Alike())

    def verify_(self) -> None:
        shape = shape_of(self.input)
        self.require(shape == shape_of(self.result), "shapes differ")
        self.require(bool(shape) and 0 not in shape, "vectors without elements")

    def rows_read(self, operand: int, r: int) -> range | None:
        return range(r, r + 1)


@operation_definition
class L2NormalizationOp(VectorsOp):
    """Vectors along the last axis divided by their length."""

    name = "memgraph.l2_normalization"

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if not is_stored(self.input) and not is_stored(self.result):
            wide = operands[0].astype(np.float64)
            length = np.sqrt((wide * wide).cumsum(-1)[..., -1:])
            return [(wide / np.maximum(length, 1e-6)).astype(operands[0].dtype)]
        need_unit_scale(self)
        values = operands[0].astype(np.int64) - per_tensor(self, self.input)[1]
        squares = (values * values).sum(-1, keepdims=True)
        multiplier = by_table(squares, lambda v: inverse_root(v)[0])
        shift = by_table(squares, lambda v: inverse_root(v)[1])
        if is_unsigned(self.input):  # whose kernel multiplies first
            integers = rescale(self, 128 * values, multiplier, shift) + 128
            return [np.clip(integers, 0, 255).astype(np.uint8)]
        integers = rescale(self, values, multiplier, shift + 7)
        return [np.clip(integers, -128, 127).astype(np.int8)]


def need_unit_scale(op: L2NormalizationOp) -> None:
    """Raise MemoptError for other stored integers than the reference kernel has (l2norm.cc)."""
    bits = stored_bits(op, op.input, op.result, unsigned=True)
    zero = 128 if is_unsigned(op.result) else 0
    alike = is_unsigned(op.input) == is_unsigned(op.result)
    if bits != 8 or not alike or per_tensor(op, op.result) != (1 / 128, zero):
        raise unknown(op, "bytes of length 1 need scale 1/128 and zero point 0, 128 of uint8")
    if shape_of(op.input)[-1] > 1 << 15:
        raise unknown(op, "a vector whose squares could overflow")


def inverse_root(value: int) -> tuple[int, int]:
    """(multiplier, shift) of 1 / sqrt(value): Newton's method on numbers with 3 bits before the
    point (quantization_util.h: GetInvSqrtQuantizedMultiplierExp)."""
    if value <= 1:
        return INT32_MAX, 0
    shift = 11
    while value >= 1 << 29:
        value, shift = value // 4, shift + 1
    pairs = (31 - value.bit_length()) // 2 - 1
    shift, value = shift - pairs, value << 2 * pairs
    half = (value >> 1) + 1 >> 1
    x = 1 << 28
    for _ in range(5):
        cube = _widened(high_mul(high_mul(x, x), x), 6)
        x = _widened(high_mul((1 << 28) + (1 << 27), x) - high_mul(half, cube), 3)
    root = high_mul(x, 1518500250)  # sqrt(1 / 2)
    return (root << max(-shift, 0)), -max(shift, 0)


def _widened(value: int, bits: int) -> int:
    return saturate(value << bits, -INT32_MAX - 1, INT32_MAX)


@operation_definition
class LogSoftmaxOp(VectorsOp):
    """x - log(sum(exp(x))) of vectors along the last axis."""

    name = "memgraph.log_softmax"

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if is_stored(self.input) or is_stored(self.result):
            return [self._of_stored(operands[0])]
        wide = operands[0].astype(np.float64)
        below = wide - wide.max(-1, keepdims=True)
        logarithms = below - np.log(np.exp(below).cumsum(-1)[..., -1:])
        return [logarithms.astype(operands[0].dtype)]

    def _of_stored(self, x: Array) -> Array:
        """log_softmax.h: LogSoftmaxQuantized."""
        steps = LogSteps.of(self)
        below = x.max(-1, keepdims=True).astype(np.int64) - x
        table = np.array([*steps.exponentials, 0], np.int64)
        total = table[np.minimum(below, len(table) - 1)].sum(-1, keepdims=True)
        log = by_table(total, log_at_least_one)
        seen = by_table(log, lambda v: -multiply(v + INT32_MIN, *steps.inverse))
        is_counted = below < np.minimum(seen, len(steps.exponentials))
        fine = by_table(below, lambda d: multiply(-d, *steps.fine))
        integers = by_table(fine - log, lambda v: round_shift(v, 22)) + 127
        return np.where(is_counted, np.clip(integers, -128, 127), -128).astype(np.int8)


@dataclass(frozen=True)
class LogSteps:
    """Numbers of a LOG_SOFTMAX of int8: exp of 0, 1, ... steps down in Q12.19, as far as the
    runtime looks, and (multiplier, shift) from steps to Q5.26 and back."""

    exponentials: tuple[int, ...]
    fine: tuple[int, int]
    inverse: tuple[int, int]

    @staticmethod
    def of(op: LogSoftmaxOp) -> "LogSteps":
        """Raises MemoptError for other stored integers than log_softmax.cc has."""
        if stored_bits(op, op.input, op.result) != 8 or per_tensor(op, op.result) != (1 / 16, 127):
            raise unknown(op, "an int8 logarithm of softmax needs scale 1/16 and zero point 127")
        if shape_of(op.input)[-1] >= 1 << 12:
            raise unknown(op, "a vector so long that the sum could overflow")
        scale = per_tensor(op, op.input)[0]
        if scale * (1 << 26) <= 1:
            raise unknown(op, "an input scale of 2**-26 or less")
        multiplier, shift = softmax_scaling(1.0, scale)
        inverse = quantize_multiplier((1 << (31 - shift)) / multiplier)
        numbers = (round_shift(e, 12) for e in softmax_exponentials(1.0, scale))
        return LogSteps(tuple(numbers), (multiplier, shift), inverse)
