"""Sums of products, the core of convolutions and matrices: floats in order, integers exactly."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from memopt.dialects.arithmetic.even_rounding import multiplier, rescaled, rounds_even
from memopt.dialects.arithmetic.fixed_point import multipliers, need_int32, rescale, rescale_wide
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import float32
from memopt.dialects.arithmetic.stored import (
    Array,
    element_of,
    finite,
    integer_type,
    is_stored,
    need_rounding,
    need_scales,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.memgraph.tensors import encoding_of
from memopt.dialects.operators.base import Range


def real_products(rows: Array, filters: Array) -> Array:
    """rows (n x k) times filters (m x k), summed from the first to the last product in float64:
    an element does not depend on how many others are computed with it."""
    total = np.zeros((len(rows), len(filters)))
    for x, w in zip(rows.T.astype(np.float64), filters.T.astype(np.float64), strict=True):
        total += np.multiply.outer(x, w)
    return total


def whole_products(rows: Array, filters: Array) -> Array:
    """Return the products of integers of up to 16 and 8 bits: exact, for a float64 holds every
    sum."""
    return (rows.astype(np.float64) @ filters.astype(np.float64).T).astype(np.int64)


def products_between(matrix: Array, low: Array, high: Array) -> Range:
    """Return the least and the greatest products of a matrix with vectors of integers between those
    of `low` and of `high`; of vectors that are all alike, as those of one range are, once."""
    vectors = len(low)
    if (low == low[:1]).all() and (high == high[:1]).all():
        low, high = low[:1], high[:1]
    rises, falls = np.maximum(matrix, 0), np.minimum(matrix, 0)
    least = whole_products(low, rises) + whole_products(high, falls)
    greatest = whole_products(high, rises) + whole_products(low, falls)
    shape = vectors, len(matrix)
    return np.broadcast_to(least, shape), np.broadcast_to(greatest, shape)


def requantized(
    op: Operation, sums: Array, bias: Array | None, reals: Sequence[float], bits: int
) -> Array:
    """Sums (channel last) plus bias, times a real number or one per channel, rounded as the runtime
    does: sums of int16, but with a bias of int32, by 16 bits of the multiplier."""
    total = sums if bias is None else sums + bias.reshape(-1).astype(np.int64)
    if rounds_even(op):
        need_int32(op, total)
        return rescaled(total, reals)
    factors, shift = multipliers(list(reals))
    if bits == 16 and (bias is None or str(bias.dtype) == "int64"):
        steps = rescale_wide(total, factors, shift)
        need_int32(op, steps)  # of which the reference kernel keeps 32 bits
        return steps
    need_int32(op, total)
    return rescale(op, total, factors, shift)


def need_products(
    op: Operation, source: SSAValue, weights: SSAValue, result: SSAValue, channels: int
) -> tuple[int, tuple[float, ...]]:
    """(bits of the activations, scales of the weights). Raises MemoptError for stored tensors that
    the reference kernels do not multiply so."""
    bits = stored_bits(op, source, result, unsigned=True)
    unsigned = integer_type(element_of(source)) == (8, True)
    known = ((8, True),) if unsigned else ((8, False), (4, False))
    if rounds_even(op):
        known = ((8, True), (8, False))
    else:
        need_rounding(op)
    if integer_type(element_of(weights)) not in known or not is_stored(weights):
        raise unknown(op, f"weights of {element_of(weights)}")
    encoding = encoding_of(weights)
    if len(encoding.scales) not in (1, channels):
        raise unknown(op, f"{len(encoding.scales)} weight scales for {channels} channels")
    need_scales(op, weights)
    if len(encoding.scales) > 1 and any(encoding.zero_points):
        raise unknown(op, "weights with a zero point per channel")
    return bits, encoding.scales


def convolution_reals(op: Operation, source: SSAValue, scales: Sequence[float]) -> list[float]:
    """The real multipliers of a convolution (PopulateConvolutionQuantizationParams; ONNX's). Those
    of uint8 are the ones of matrices."""
    return _reals(op, source, scales, integer_type(element_of(source)) == (8, True))


def matrix_reals(op: Operation, source: SSAValue, scales: Sequence[float]) -> list[float]:
    """Return the multipliers of a matrix, where one scale of the weights is multiplied as floats
    (GetQuantizedConvolutionMultipler)."""
    if len(scales) > 1:
        return convolution_reals(op, source, scales)
    return _reals(op, source, scales, as_floats=True)


def _reals(
    op: Operation, source: SSAValue, scales: Sequence[float], as_floats: bool
) -> list[float]:
    in_scale, out_scale = per_tensor(op, source)[0], per_tensor(op, op.results[0])[0]
    if rounds_even(op):
        return [multiplier(in_scale, s, out_scale) for s in scales]
    products = (float32(in_scale * s) if as_floats else in_scale * s for s in scales)
    return list(finite(op, *(product / out_scale for product in products)))


def sums_between(kernel: Array, low: Array, high: Array, seen: Array) -> Range:
    """The least and the greatest sums of filters (filter, depth, tap) of integers between `low` and
    `high` (filter, depth), a row for each set of taps that are `seen`."""
    rises, falls = np.maximum(kernel, 0), np.minimum(kernel, 0)
    first, last = low[:, :, None], high[:, :, None]
    least = (rises * first + falls * last).sum(1)
    greatest = (rises * last + falls * first).sum(1)
    return seen.astype(np.int64) @ least.T, seen.astype(np.int64) @ greatest.T


def need_room(op: Operation, kernel: Array, largest: Array, bias: Array | None) -> None:
    """Raise MemoptError unless sum(|w| |x|) + |bias| is an int32 for each filter (filter, depth,
    tap) of integers up to `largest` (filter, depth): then so is every sum of some of it."""
    total = (abs(kernel) * largest[:, :, None]).sum((1, 2))
    need_int32(op, total if bias is None else total + abs(bias.reshape(-1).astype(np.int64)))
