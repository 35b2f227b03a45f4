"""Functions of one number that runtimes have as activations beside those in unary.py."""

from collections.abc import Callable
from math import erfc, sqrt
from typing import Any, ClassVar

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import opt_prop_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import quantized_range
from memopt.dialects.arithmetic.stored import Array, limits_of, per_tensor, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.operators.base import ROUNDING, TYPES
from memopt.dialects.operators.unary import FunctionOp, by_floats, requantizer


class BoundedOp(FunctionOp):
    """Base of what clamps: stored integers are brought to another quantization on the way
    (activations.cc: QuantizedReluX)."""

    ENDS: ClassVar[tuple[float, float]]
    TAKES_BYTES: ClassVar[bool] = True

    def of_reals(self, x: Array) -> Array:
        return np.clip(x, *self.ENDS)

    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        name = self.name.removeprefix("memgraph.")
        numbers, limits = per_tensor(self, self.result), limits_of(self, self.result)
        return requantizer(self, values, *quantized_range(name, *numbers, *limits))


@operation_definition
class ReluN1To1Op(BoundedOp):
    """x clamped to -1 .. 1, element-wise."""

    name = "memgraph.relu_n1_to_1"
    ENDS: ClassVar[tuple[float, float]] = (-1.0, 1.0)


@operation_definition
class Relu0To1Op(BoundedOp):
    """x clamped to 0 .. 1, element-wise."""

    name = "memgraph.relu_0_to_1"
    ENDS: ClassVar[tuple[float, float]] = (0.0, 1.0)


@operation_definition
class GeluOp(FunctionOp):
    """x times the normal distribution up to x, element-wise; with `approximate` by a tanh."""

    name = "memgraph.gelu"
    approximate = opt_prop_def(UnitAttr)
    assembly_format = "$input (`approximate` $approximate^)?" + ROUNDING + " " + TYPES
    TAKES_BYTES: ClassVar[bool] = True

    def of_reals(self, x: Array) -> Array:
        wide = x.astype(np.float64)
        if self.approximate is not None:
            inner = 0.7978845608028654 * (wide + 0.044715 * wide**3)  # sqrt(2 / pi)
            return 0.5 * wide * (1 + np.tanh(inner))
        return 0.5 * wide * np.vectorize(erfc, otypes=[np.float64])(-wide / sqrt(2))

    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        """gelu.h: GeluTransform and GeluTransformApproximate, float32 in each step, in a table."""
        if bits != 8:
            raise unknown(self, "a gelu of int16")
        return by_floats(self, _by_tanh if self.approximate is not None else _by_erfc)


def _by_erfc(x: Any) -> Any:
    inner = np.float32(erfc(float(x * np.float32(-sqrt(0.5)))))
    return np.float32(0.5) * x * inner


def _by_tanh(x: Any) -> Any:
    cube = np.float32(0.044715) * x * x * x
    inner = np.float32(0.7978845608028654) * (x + cube)
    return np.float32(0.5) * x * (np.float32(1) + np.float32(np.tanh(np.float64(inner))))
