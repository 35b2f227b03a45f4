"""How sums of stored integers are rescaled and clamped: the verifier's own copy."""

from collections.abc import Callable

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import multiply, quantize_multiplier
from memopt.dialects.memgraph.errors import MemoptError

ENDS = {"": (None, None), "relu": (0, None), "relu6": (0, 6), "relu_n1_to_1": (-1, 1)}
"""What an activation leaves of the real numbers; None for no end."""


def even_range(
    activation: str, scale: float, zero_point: int, low: int, high: int
) -> tuple[int, int]:
    """Return the part of low .. high that an activation leaves, where 6 and the like are rounded to
    even."""
    least, greatest = ENDS[activation]

    def of(real: int) -> int:
        return zero_point + round(float(np.float32(real) / np.float32(scale)))

    return (
        low if least is None else max(low, of(least)),
        high if greatest is None else min(high, of(greatest)),
    )


def even_requantizer(source: float, weights: float, result: float) -> Callable[[int], int]:
    """Return the function that rescales a sum as onnxruntime does: in float32, halves to the even
    integer."""
    real = np.float32(source) * np.float32(weights) / np.float32(result)
    return lambda value: round(float(np.float32(value) * real))


def requantizers(real: float, once: bool) -> list[Callable[[int], int]]:
    """Return how a sum is rescaled: twice rounded, or once too."""
    multiplier, shift = quantize_multiplier(real)

    def twice(value: int) -> int:
        if abs(value) << max(shift, 0) >= 1 << 31:
            raise MemoptError("a sum that leaves an int32 where it is rescaled")
        return multiply(value, multiplier, shift)

    def one(value: int) -> int:
        return (value * multiplier + (1 << (30 - shift))) >> (31 - shift)

    return [twice, one] if once else [twice]
