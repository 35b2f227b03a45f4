"""Element-wise operations of one operand."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from math import copysign, floor, frexp
from typing import Any, ClassVar

from xdsl.irdl import opt_prop_def, traits_def

from memopt.dialects.arithmetic import int16_tables
from memopt.dialects.arithmetic.even_rounding import rounds_even
from memopt.dialects.arithmetic.fixed_point import by_table
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import (
    INT32_MAX,
    float32,
    input_radius,
    logistic,
    multiply,
    quantize_multiplier,
    quantized_range,
    round_shift,
    saturate,
    tanh,
)
from memopt.dialects.arithmetic.stored import (
    Array,
    dtype_of,
    is_stored,
    is_unsigned,
    limits_of,
    need_double_rounding,
    need_same_numbers,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.attributes.input_range import LARGEST
from memopt.dialects.attributes.operators import RoundingAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import ROUNDING, TYPES, OfOneOp, Range
from memopt.dialects.operators.real_bounds import of_reals, outwards
from memopt.dialects.operators.traits import AsActivation, Elementwise


class UnaryOp(OfOneOp):
    """Element-wise, same shape."""

    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Elementwise())
    assembly_format = "$input" + ROUNDING + " " + TYPES

    def verify_(self) -> None:
        self.require(shape_of(self.input) == shape_of(self.result), "shapes differ")

    def rows_read(self, operand: int, r: int) -> range | None:
        return range(r, r + 1)


class FunctionOp(UnaryOp):
    """Base of functions of one number: of reals, and of stored integers as the runtime does it."""

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if not is_stored(self.input) and not is_stored(self.result):
            if operands[0].dtype.kind not in ("f", *self.ALSO):
                raise unknown(self, f"a function of {operands[0].dtype}")
            return [self.of_reals(operands[0]).astype(operands[0].dtype)]
        if rounds_even(self):
            return self.by_reals(operands)
        bits = stored_bits(self, self.input, self.result, unsigned=self.TAKES_BYTES)
        values = operands[0]
        need_double_rounding(self)
        ends = (int(values.min()), int(values.max())) if values.size else (0, 0)
        results = by_table(values, self.of_stored(bits, ends))
        return [np.asarray(results).astype(dtype_of(self.result), order="C")]

    def extremes(self, least: Sequence[Array], most: Sequence[Array]) -> list[Range] | None:
        """Return the ends of the result: of stored integers of 8 bits, exactly, by a table of all
        of them."""
        if of_reals(self, (*least, *most)):
            return self.real_extremes(least[0], most[0])
        stored = is_stored(self.input)
        if not stored or stored_bits(self, self.input, self.result, unsigned=self.TAKES_BYTES) != 8:
            return None
        return extremes_of_bytes(self, least[0], most[0])

    def real_extremes(self, least: Array, most: Array) -> list[Range] | None:
        """`extremes` of finite float32 numbers, None where nobody knows: kernels may be off."""
        return None

    ALSO: ClassVar[tuple[str, ...]] = ()  # kinds of numpy types other than floats
    TAKES_BYTES: ClassVar[bool] = False  # whether a runtime has it of uint8
    C: ClassVar[str] = ""
    """The expression of a float32 `x`; "" where it is more than one."""
    ONNX: ClassVar[str] = ""
    """The operator of ONNX that is this function of floats, with `ONNX_NUMBERS` as attributes."""
    ONNX_NUMBERS: ClassVar[Mapping[str, float]] = {}

    @abstractmethod
    def of_reals(self, x: Array) -> Array:
        """The function of numbers that stand for themselves."""

    @abstractmethod
    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        """The function of one stored integer of so many bits; `values` are the least and the
        largest that it is asked for."""


def extremes_of_bytes(op: OfOneOp, least: Array, most: Array) -> list[Range]:
    """Return the ends of a function of bytes from `least` to `most`, by a table of all of them."""
    low, high = int(least.min()), int(most.max())
    table = op.evaluate([np.arange(low, high + 1).astype(dtype_of(op.input))])[0]
    first, last = (a.astype(np.int64) - low for a in (least, most))
    least_of, most_of = (np.zeros((len(table),) * 2, table.dtype) for _ in range(2))
    for i in range(len(table)):
        least_of[i, i:] = np.minimum.accumulate(table[i:])
        most_of[i, i:] = np.maximum.accumulate(table[i:])
    return [(least_of[first, last], most_of[first, last])]


def by_floats(op: UnaryOp, real: Callable[[Any], Any]) -> Callable[[int], int]:
    """Return a function of a stored byte by one of float32 (integer_ops/lut.h: LUTPopulate)."""
    (in_scale, in_zero), (scale, zero) = (per_tensor(op, v) for v in (op.input, op.result))
    limits, inverse = limits_of(op, op.result), np.float32(1) / np.float32(scale)

    def of_one(x: int) -> int:
        with np.errstate(over="ignore"):  # an infinite number is the largest
            steps = float(real(np.float32(in_scale) * np.float32(x - in_zero)) * inverse)
        steps = max(-1e9, min(1e9, steps))
        return saturate(int(copysign(floor(abs(steps) + 0.5), steps)) + zero, *limits)

    return of_one


def requantizer(op: UnaryOp, values: tuple[int, int], low: int, high: int) -> Callable[[int], int]:
    """Return the rescaling of a stored integer to low .. high; both tensors have one scale.

    Refuses scales with which the product leaves an int32 for one of `values`, the least and the
    largest.
    """
    need_double_rounding(op)
    (in_scale, in_zero), (out_scale, out_zero) = per_tensor(op, op.input), per_tensor(op, op.result)
    multiplier, shift = quantize_multiplier(in_scale / out_scale)
    if max(abs(v - in_zero) for v in values) << max(shift, 0) > INT32_MAX:
        raise unknown(op, "an output scale so small that the product could overflow")

    def function(x: int) -> int:
        return saturate(multiply(x - in_zero, multiplier, shift) + out_zero, low, high)

    return function


@operation_definition
class ReluOp(FunctionOp):
    """max(x, 0), element-wise."""

    name = "memgraph.relu"
    TFLITE: ClassVar[str] = "RELU"
    traits = traits_def(AsActivation("relu"))
    ALSO: ClassVar[tuple[str, ...]] = ("i", "u")
    TAKES_BYTES: ClassVar[bool] = True

    def of_reals(self, x: Array) -> Array:
        return np.maximum(x, 0)

    def real_extremes(self, least: Array, most: Array) -> list[Range] | None:
        return [(self.evaluate([least])[0], self.evaluate([most])[0])]

    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        """activations_common.cc: ReluQuantized, which requantises."""
        limits = limits_of(self, self.result)
        low, high = quantized_range("relu", *per_tensor(self, self.result), *limits)
        return requantizer(self, values, low, high)


@operation_definition
class Relu6Op(FunctionOp):
    """x clamped to 0 .. 6, element-wise."""

    name = "memgraph.relu6"
    TFLITE: ClassVar[str] = "RELU6"
    traits = traits_def(AsActivation("relu6"))
    ALSO: ClassVar[tuple[str, ...]] = ("i", "u")
    TAKES_BYTES: ClassVar[bool] = True

    def of_reals(self, x: Array) -> Array:
        return np.clip(x, 0, 6)

    def real_extremes(self, least: Array, most: Array) -> list[Range] | None:
        return [(self.evaluate([least])[0], self.evaluate([most])[0])]

    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        """Relu6Quantized clamps stored values, in the quantization of its operand."""
        need_same_numbers(self, self.input, self.result)
        limits = limits_of(self, self.result)
        low, high = quantized_range("relu6", *per_tensor(self, self.input), *limits)
        return lambda x: saturate(x, low, high)


class SigmoidOp(FunctionOp):
    """Base of the functions that gemmlowp has of fixed-point numbers between -16 and 16."""

    TAKES_BYTES: ClassVar[bool] = True
    POWERS: ClassVar[tuple[int, ...]]  # of two, for which its input's scale of int16 is taken

    def in_units(self) -> tuple[int, int]:
        """(multiplier, shift) of what is looked up for an int16. Raises MemoptError for scales that
        the reference kernel does not take."""
        (scale, zero), (out_scale, out_zero) = (
            per_tensor(self, v) for v in (self.input, self.result)
        )
        if zero or out_zero or int16_tables.power_of_two(out_scale) != -15:
            text = "an int16 sigmoid without zero points and with scale 1/32768 after it"
            raise unknown(self, f"only {text} is known")
        return int16_tables.to_units(self, scale, self.POWERS)

    def by_lines(self, function: Callable[[int], int]) -> Callable[[int], int]:
        """`function` of an int16, by a table with lines between its entries."""
        numbers = self.in_units()
        return lambda x: function(int16_tables.in_units(x, *numbers))

    def sigmoid(
        self, function: Callable[[int], int], shift: int, zero: int
    ) -> Callable[[int], int]:
        """`function` (Q4.27 to Q0.31) of an int8, the result shifted by `shift`, plus `zero`."""
        scale, zero_point = per_tensor(self, self.input)
        multiplier, left_shift = quantize_multiplier(scale * (1 << 27), most=62)
        left_shift = left_shift if multiplier or not scale else frexp(scale)[1] + 27
        if left_shift < 0:
            raise unknown(
                self,
                f"an input scale of {scale:g}, with which the kernel shifts by {left_shift} bits",
            )
        radius = input_radius(4, left_shift)

        def of_one(x: int) -> int:
            value = x - zero_point
            if abs(value) >= radius:
                return 127 if value > 0 else -128
            return saturate(
                round_shift(function(multiply(value, multiplier, left_shift)), shift) + zero
            )

        return of_one


@operation_definition
class LogisticOp(SigmoidOp):
    """1 / (1 + exp(-x)), element-wise."""

    name = "memgraph.logistic"
    TFLITE: ClassVar[str] = "LOGISTIC"
    C: ClassVar[str] = "1.0f / (1.0f + expf(-x))"
    POWERS: ClassVar[tuple[int, ...]] = (-12,)

    def of_reals(self, x: Array) -> Array:
        with np.errstate(over="ignore"):
            return 1 / (1 + np.exp(-x.astype(np.float64)))

    def real_extremes(self, least: Array, most: Array) -> list[Range] | None:
        """Whatever exp gives that is not negative."""
        return [(np.zeros_like(least), np.ones_like(most))]

    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        """logistic.h of reference/integer_ops."""
        if bits != 8:
            return self.by_lines(int16_tables.logistic)
        if is_unsigned(self.result):
            return by_floats(self, _logistic_of_float)
        if per_tensor(self, self.result) != (1.0 / 256.0, -128):
            raise unknown(self, "an int8 logistic needs scale 1/256 and zero point -128 after it")
        return self.sigmoid(logistic, 23, -128)


@operation_definition
class TanhOp(SigmoidOp):
    """The hyperbolic tangent, element-wise."""

    name = "memgraph.tanh"
    TFLITE: ClassVar[str] = "TANH"
    C: ClassVar[str] = "tanhf(x)"
    POWERS: ClassVar[tuple[int, ...]] = (-12, -11)

    def of_reals(self, x: Array) -> Array:
        return np.tanh(x.astype(np.float64))

    def real_extremes(self, least: Array, most: Array) -> list[Range] | None:
        """Return -1 and 1: no library goes beyond its limits."""
        return [(-np.ones_like(least), np.ones_like(most))]

    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        """tanh.h of reference/integer_ops."""
        if bits != 8:
            return self.by_lines(int16_tables.tanh)
        if is_unsigned(self.result):
            return by_floats(self, _tanh_of_float)
        if per_tensor(self, self.result) != (1.0 / 128.0, 0):
            raise unknown(self, "an int8 tanh needs scale 1/128 and zero point 0 after it")
        return self.sigmoid(tanh, 24, 0)


@operation_definition
class HardSwishOp(FunctionOp):
    """x * relu6(x + 3) / 6, element-wise."""

    name = "memgraph.hard_swish"
    C: ClassVar[str] = "x * memopt_clamp_f32(x + 3.0f, 0.0f, 6.0f) / 6.0f"
    TAKES_BYTES: ClassVar[bool] = True

    def of_reals(self, x: Array) -> Array:
        wide = x.astype(np.float64)
        return wide * np.clip(wide + 3, 0, 6) / 6

    def real_extremes(self, least: Array, most: Array) -> list[Range] | None:
        """Between zero and the operand, but for roundings; zero up to -3. The product with 6 that
        kernels make on the way must not overflow."""
        low, high = least.astype(np.float64), most.astype(np.float64)
        if max(abs(low).max(), abs(high).max()) > LARGEST / 8:
            return None
        wide = 1 + 2.0**-18
        low = np.where(high <= -3, 0, np.minimum(low, 0) * wide)
        return [outwards(low, np.maximum(high, 0) * wide)]

    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        """hard_swish.h: the operand and relu6(x + 3), both as int16, multiplied."""
        if bits != 8:
            raise unknown(self, "a hard swish of int16")
        (in_scale, in_zero), (out_scale, out_zero) = (
            per_tensor(self, v) for v in (self.input, self.result)
        )
        fine = float32(in_scale / 128)
        multiplier, shift = _multiplier16(float32(fine / float32(out_scale)))
        if shift > 0:
            raise unknown(self, "a hard swish whose output scale is finer than its input's")
        relu_multiplier, relu_shift = _multiplier16(float32(fine / float32(3.0 / 32768.0)))
        limits = limits_of(self, self.result)

        def function(x: int) -> int:
            hires = (x - in_zero) * 128
            factor = hires
            if relu_shift > 0:
                factor = _saturate16(factor << relu_shift - 1)
            factor = _high_mul16(factor, relu_multiplier)
            if relu_shift > 0:
                factor = _saturate16(factor << 1)
            factor = round_shift(factor, max(-relu_shift, 0))
            product = ((factor + (1 << 15)) >> 1) * _high_mul16(hires, multiplier)
            top = (abs(product) >> 15) * (1 if product > 0 else -1)
            return saturate(round_shift(_saturate16(top), -shift) + out_zero, *limits)

        return function


def _logistic_of_float(x: Any) -> Any:
    """Return the logistic function of a float32, each step rounded to one."""
    with np.errstate(over="ignore"):
        return np.float32(1) / (np.float32(1) + np.float32(np.exp(-np.float64(x))))


def _tanh_of_float(x: Any) -> Any:
    """Return the hyperbolic tangent of a float32, rounded to one."""
    return np.float32(np.tanh(np.float64(x)))


def _multiplier16(real: float) -> tuple[int, int]:
    """(multiplier of 16 bits, shift) (DownScaleInt32ToInt16Multiplier)."""
    multiplier, shift = quantize_multiplier(real)
    return min((multiplier + (1 << 15)) >> 16, (1 << 15) - 1), shift


def _saturate16(value: int) -> int:
    return saturate(value, -(1 << 15), (1 << 15) - 1)


def _high_mul16(a: int, b: int) -> int:
    """round(a * b / 2**15), ties upwards (SaturatingRoundingDoublingHighMul of int16)."""
    return min((a * b + (1 << 14)) >> 15, (1 << 15) - 1)
