"""Between which float32 numbers the results of float kernels are, whatever rounds on the way.

A kernel may add products in any order, fused or each rounded by itself: of n numbers that it adds
the sum is off by at most g = n u / (1 - n u) times the sum of what they are without their signs,
u = 2**-24 (Higham, Accuracy and Stability of Numerical Algorithms, 3.1), and a product that is too
small for a float32's exponent by half of the smallest float32. `SPARE` doubles that: what is
computed here is float64 and rounded too, and whoever derives it again in another order must find
less. What is a sum of zeros is zero: no margin is added there, so exact zeros stay so; and what is
chosen or clamped among numbers is one of them.

Numbers are finite here, of which none is a NaN; a kernel that could overflow on the way has no
bounds. The sign of a zero is not told.
"""

from collections.abc import Sequence

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, is_stored
from memopt.dialects.attributes.input_range import LARGEST
from memopt.dialects.memgraph.tensors import channel_axis, shape_of
from memopt.dialects.operators.base import ComputeOp, Range

ROUNDOFF, SMALLEST = 2.0**-24, 2.0**-149
SPARE = 2
OTHERS = 8  # roundings beside those of the additions: bias, division, interpolation
MOST = 1 << 20  # numbers in one sum, of which g stays small


def of_reals(op: ComputeOp, operands: Sequence[Array]) -> bool:
    """Return whether an operation computes float32 of float32 numbers alone."""
    if any(is_stored(v) for v in (*op.operands, *op.results)):
        return False
    return all(str(a.dtype) == "float32" for a in operands)


def outwards(low: Array, high: Array) -> Range:
    """Float64 numbers as float32, the least not above and the greatest not below."""
    least: Array = low.astype(np.float32)
    greatest: Array = high.astype(np.float32)
    with np.errstate(over="ignore"):
        np.nextafter(least, np.float32(-np.inf), out=least, where=least > low)
        np.nextafter(greatest, np.float32(np.inf), out=greatest, where=greatest < high)
    return least, greatest


def sums_off(low: Array, high: Array, size: Array, terms: int) -> Range | None:
    """The ends of sums of `terms` numbers that are between `low` and `high` if nothing is rounded;
    `size` is the sum of the numbers without their signs. None where a sum could overflow."""
    count = SPARE * (terms + OTHERS)
    if count > MOST or not (size * (1 + 4 * count * ROUNDOFF) < LARGEST).all():
        return None  # also for a NaN
    slack = size * (count * ROUNDOFF / (1 - count * ROUNDOFF)) + count * SMALLEST
    slack = np.where(size > 0, slack, 0)
    return outwards(low - slack, high + slack)


def products_off(
    low: Array, high: Array, size: Array, bias: Array | None, terms: int
) -> Range | None:
    """Return the ends of sums of products, a bias added: where all products are zero it is the
    bias, exactly."""
    given = np.zeros(1) if bias is None else bias.reshape(-1).astype(np.float64)
    if not np.isfinite(given).all():
        return None
    bounds = sums_off(low + given, high + given, np.where(size > 0, size + abs(given), size), terms)
    if bounds is None:
        return None
    is_bias = np.broadcast_to(size == 0, bounds[0].shape)
    exact = np.broadcast_to(given, bounds[0].shape).astype(np.float32)
    return np.where(is_bias, exact, bounds[0]), np.where(is_bias, exact, bounds[1])


def means_between(op: ComputeOp, least: Array, greatest: Array, terms: int) -> list[Range] | None:
    """The ends of an operation whose results are means, weighted or not, of up to `terms` elements
    of its only operand; of one channel where it reads channels one by one."""
    if not of_reals(op, (least, greatest)):
        return None
    size = np.maximum(abs(least), abs(greatest)).astype(np.float64)
    read = op.channels_read(0, 0)
    if read is None:
        largest = size.max()
        least, greatest = np.full_like(least, least.min()), np.full_like(greatest, greatest.max())
    else:
        source, result = op.operands[0], op.results[0]
        axis = channel_axis(source)
        by_channel = np.moveaxis(size, axis, 0).reshape(size.shape[axis], -1).max(1)[list(read)]
        wide = [1] * len(shape_of(result))
        wide[channel_axis(result)] = -1
        largest = by_channel.reshape(wide)
    largest = np.broadcast_to(largest, shape_of(op.results[0]))
    if not (terms * largest < LARGEST).all():
        return None
    (low,), (high,) = op.evaluate([least]), op.evaluate([greatest])
    # a mean of numbers up to `largest` is one of `terms` parts, each of which is off by its share
    bounds = sums_off(low.astype(np.float64), high.astype(np.float64), 4 * largest, terms)
    return None if bounds is None else [(op.activated(bounds[0]), op.activated(bounds[1]))]
