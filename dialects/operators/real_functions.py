"""Functions of real numbers that no runtime of ours has of stored integers in one way."""

from collections.abc import Callable, Sequence
from math import erf, sqrt
from typing import Any, ClassVar

from xdsl.irdl import traits_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import (
    INT32_MAX,
    float32,
    multiply,
    quantize_multiplier,
    saturate,
)
from memopt.dialects.arithmetic.stored import (
    Array,
    limits_of,
    need_zero_points_of_zero,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.operators.base import derived
from memopt.dialects.operators.traits import RealsOnly
from memopt.dialects.operators.unary import FunctionOp, by_floats
from memopt.dialects.operators.unit_length import inverse_root


class RealFunctionOp(FunctionOp):
    """Base of functions of real numbers alone; what is not finite is as in C."""

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        with np.errstate(all="ignore"):
            return super().evaluate(operands)

    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        raise unknown(self, "stored integers")


def real_function(
    name: str, words: str, real: Callable[[Array], Array], c: str, tflite: str = "", onnx: str = ""
) -> type[RealFunctionOp]:
    """Return the operation `memgraph.<name>` of float32 alone, the function `real`; the others are
    as FunctionOp has them."""

    def of_reals(op: RealFunctionOp, x: Array) -> Array:
        return real(x)

    fields = {"C": c, "TFLITE": tflite, "ONNX": onnx, "traits": traits_def(RealsOnly())}
    words = f"{words}, element-wise."
    return derived(RealFunctionOp, name, words, of_reals=of_reals, **fields)


SignOp = real_function(
    "sign",
    "1 above zero, -1 below, else 0",
    lambda x: np.sign(x),
    c="x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x - x",
    tflite="SIGN",
)
SquareOp = real_function("square", "x * x", lambda x: x * x, c="x * x", tflite="SQUARE")
FloorOp = real_function(
    "floor",
    "The largest whole number that is not above x",
    lambda x: np.floor(x),
    c="floorf(x)",
    tflite="FLOOR",
    onnx="Floor",
)
CeilOp = real_function(
    "ceil",
    "The smallest whole number that is not below x",
    lambda x: np.ceil(x),
    c="ceilf(x)",
    tflite="CEIL",
    onnx="Ceil",
)
RoundOp = real_function(
    "round",
    "The nearest whole number, halves to the even one",
    lambda x: np.rint(x),
    c="rintf(x)",
    tflite="ROUND",
    onnx="Round",
)
SinOp = real_function(
    "sin", "The sine", lambda x: np.sin(x.astype(np.float64)), c="sinf(x)", tflite="SIN", onnx="Sin"
)
CosOp = real_function(
    "cos",
    "The cosine",
    lambda x: np.cos(x.astype(np.float64)),
    c="cosf(x)",
    tflite="COS",
    onnx="Cos",
)
AtanOp = real_function(
    "atan",
    "The angle between -pi/2 and pi/2 whose tangent is x",
    lambda x: np.arctan(x.astype(np.float64)),
    c="atanf(x)",
    onnx="Atan",
)
ErfOp = real_function(
    "erf",
    "The error function",
    lambda x: np.vectorize(erf, otypes=[np.float64])(x.astype(np.float64)),
    c="erff(x)",
    onnx="Erf",
)


@operation_definition
class AbsOp(RealFunctionOp):
    """The absolute value, element-wise."""

    name = "memgraph.abs"
    C: ClassVar[str] = "fabsf(x)"
    ALSO: ClassVar[tuple[str, ...]] = ("i",)

    def of_reals(self, x: Array) -> Array:
        return np.abs(x)

    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        """elementwise.cc: AbsEvalQuantized, which scales only where scales differ."""
        (scale, zero), (out_scale, out_zero) = (
            per_tensor(self, v) for v in (self.input, self.result)
        )
        need_zero_points_of_zero(self, bits, self.input, self.result)
        numbers, same = quantize_multiplier(scale / out_scale), scale == out_scale
        largest, limits = (255 if bits == 8 else 1 << 15), limits_of(self, self.result)
        if largest << max(numbers[1], 0) > INT32_MAX:
            raise unknown(self, "an output scale so small that the product could overflow")

        def of_one(x: int) -> int:
            size = abs(x - zero)
            return saturate((size if same else multiply(size, *numbers)) + out_zero, *limits)

        return of_one


@operation_definition
class NegOp(RealFunctionOp):
    """-x, element-wise."""

    name = "memgraph.neg"
    C: ClassVar[str] = "-x"
    traits = traits_def(RealsOnly())
    ALSO: ClassVar[tuple[str, ...]] = ("i",)

    def of_reals(self, x: Array) -> Array:
        return -x


@operation_definition
class SqrtOp(RealFunctionOp):
    """The square root, element-wise. Of a stored integer below its zero point, which runtimes
    refuse, it is that of zero."""

    name = "memgraph.sqrt"
    C: ClassVar[str] = "sqrtf(x)"

    def of_reals(self, x: Array) -> Array:
        return np.sqrt(x)

    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        """elementwise.cc of LiteRT: SqrtEvalQuantized, which cuts off what is no whole number."""
        if bits != 8:
            raise unknown(self, "a root of int16")
        (scale, zero), (out_scale, out_zero) = (
            per_tensor(self, v) for v in (self.input, self.result)
        )

        def of_one(x: int) -> int:
            root = float32(sqrt(float32(float32(scale) * max(x - zero, 0))))
            return saturate(int(float32(root / float32(out_scale))) + out_zero)

        return of_one


@operation_definition
class RsqrtOp(RealFunctionOp):
    """1 over the square root, element-wise. Of a stored integer below its zero point, which
    runtimes refuse, it is the largest, as of zero. Where no root is half a step of the result, and
    runtimes may shift by 32 bits and more, which C leaves open, roots are 0."""

    name = "memgraph.rsqrt"
    C: ClassVar[str] = "1.0f / sqrtf(x)"

    def of_reals(self, x: Array) -> Array:
        return 1 / np.sqrt(x)

    FINER: ClassVar[int] = 20  # bits that the root has more

    @property
    def multiplier(self) -> tuple[int, int]:
        """(multiplier, shift) of the finer root (elementwise.cc: SetRsqrtOutputMultiplier). Raises
        MemoptError for numbers with which the runtime has none."""
        bits = stored_bits(self, self.input, self.result)
        need_zero_points_of_zero(self, bits, self.input, self.result)
        scale, out_scale = (per_tensor(self, v)[0] for v in (self.input, self.result))
        multiplier, shift = quantize_multiplier(1 / (sqrt(scale) * out_scale))
        if shift > self.FINER:
            raise unknown(self, "an output scale so small that the product could overflow")
        return multiplier, shift - self.FINER

    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        """elementwise.cc: RsqrtEvalQuantized."""
        zero, out_zero = (per_tensor(self, v)[1] for v in (self.input, self.result))
        number, limits = self.multiplier, limits_of(self, self.result)

        def of_one(x: int) -> int:
            if x <= zero:
                return limits[1]
            inverse, places = inverse_root(x - zero)
            fine = multiply(1, inverse, places + self.FINER)
            return saturate(multiply(fine, *number) + out_zero, *limits)

        return of_one


@operation_definition
class ExpOp(RealFunctionOp):
    """e to the power of x, element-wise."""

    name = "memgraph.exp"
    C: ClassVar[str] = "expf(x)"

    def of_reals(self, x: Array) -> Array:
        return np.exp(x.astype(np.float64))

    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        """elementwise.cc: a table of float32."""
        if bits != 8:
            raise unknown(self, "a function of int16")
        return by_floats(self, _exp)


@operation_definition
class LogOp(RealFunctionOp):
    """The natural logarithm, element-wise."""

    name = "memgraph.log"
    C: ClassVar[str] = "logf(x)"

    def of_reals(self, x: Array) -> Array:
        return np.log(x.astype(np.float64))

    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        """elementwise.cc: a table of float32, of what is not above 0 the least."""
        if bits != 8:
            raise unknown(self, "a function of int16")
        return by_floats(self, _log)


def _exp(x: Any) -> Any:
    """Return the exponential of a float32, rounded to one."""
    with np.errstate(over="ignore"):
        return np.float32(np.exp(np.float64(x)))


def _log(x: Any) -> Any:
    """Return the logarithm of a float32, rounded to one; far below everything where there is
    none."""
    return np.float32(np.log(np.float64(x)) if x > 0 else -1e9)
