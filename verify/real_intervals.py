"""Intervals of float32 numbers for the verifier: rounding errors of kernels, and functions of them.

A sum of n rounded numbers, in whatever order, is off by less than 1.01 n 2**-24 times the sum of
what they are without signs, for n below 2**17, and n times the smallest float32 for what is too
small to be a product. Everything is finite, or nothing is known: 0 times infinity is no number.
What adds up zeros is zero, whose sign is not told.
"""

from functools import singledispatch
from typing import Any

from xdsl.ir import SSAValue

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, element_of, is_stored
from memopt.dialects.attributes.input_range import LARGEST
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.binary import AddOp, BinaryOp, MaximumOp, MinimumOp, MulOp, SubOp
from memopt.dialects.operators.unary import (
    HardSwishOp,
    LogisticOp,
    Relu6Op,
    ReluOp,
    TanhOp,
    UnaryOp,
)
from memopt.verify.requantizing import ENDS

MANY = 1 << 17
EXTRA = 6  # a bias, a quotient, parts of a mean

Ends = tuple[Array, Array]


def is_real(value: SSAValue) -> bool:
    """Return whether elements are float32 numbers that stand for themselves."""
    return not is_stored(value) and str(element_of(value)) == "f32"


def unbounded(count: int) -> Ends:
    """Any number of so many channels, infinite ones and those that are none too."""
    return np.full(count, -np.inf), np.full(count, np.inf)


def are_finite(*ends: Array) -> bool:
    return all(bool(np.isfinite(end).all()) for end in ends)


def as_float32(low: Array, high: Array) -> Ends:
    """The float32 numbers that are next outwards, as float64."""
    down: Array = low.astype(np.float32)
    up: Array = high.astype(np.float32)
    down[down > low] = np.nextafter(down[down > low], -np.float32(np.inf))
    up[up < high] = np.nextafter(up[up < high], np.float32(np.inf))
    return down.astype(np.float64), up.astype(np.float64)


def rounded_sum(low: Array, high: Array, size: Array, count: int) -> Ends | None:
    """Ends of a float32 sum of `count` numbers; `size`: of what they are without signs, all zero
    where that is. None where it may be infinite."""
    n = count + EXTRA
    if n >= MANY or not are_finite(low, high, size) or float((size * 1.02).max()) >= LARGEST:
        return None
    off = np.where(size == 0, 0.0, 1.01 * n * 2.0**-24 * size + n * 2.0**-149)
    return as_float32(low - off, high + off)


def clamped(op: ComputeOp, low: Array, high: Array) -> Ends | None:
    """Numbers after the operation's activation, None for one that is not known."""
    if op.activation_name not in ENDS or not are_finite(low, high):
        return None
    least, greatest = ENDS[op.activation_name]
    if least is None and greatest is None:
        return low, high
    return np.clip(low, least, greatest), np.clip(high, least, greatest)


def mean_of(low: Array, high: Array, count: int) -> Ends | None:
    """A mean, of any weights that make 1, of up to `count` numbers between these."""
    size = np.maximum(abs(low), abs(high))
    if not are_finite(size) or float((size * max(count, 1)).max()) >= LARGEST:
        return None
    return rounded_sum(low, high, 3 * size, count)


def function_of(op: UnaryOp, low: Array, high: Array) -> Ends | None:
    """A function of numbers between these, None for one that is not known."""
    return _function(op, low, high) if are_finite(low, high) else None


@singledispatch
def _function(op: UnaryOp, low: Array, high: Array) -> Ends | None:
    return None


@_function.register
def _relu(op: ReluOp, low: Array, high: Array) -> Ends | None:
    return np.maximum(low, 0), np.maximum(high, 0)


@_function.register
def _relu6(op: Relu6Op, low: Array, high: Array) -> Ends | None:
    return low.clip(0, 6), high.clip(0, 6)


@_function.register
def _logistic(op: LogisticOp, low: Array, high: Array) -> Ends | None:
    return np.zeros_like(low), np.ones_like(low)


@_function.register
def _tanh(op: TanhOp, low: Array, high: Array) -> Ends | None:
    return -np.ones_like(low), np.ones_like(low)


@_function.register
def _hard_swish(op: HardSwishOp, low: Array, high: Array) -> Ends | None:
    if float(max(abs(low).max(), abs(high).max())) >= 1e37:
        return None
    down = np.minimum(low, 0) * (high > -3) * (1 + 2.0**-20)
    return as_float32(down, np.maximum(high, 0) * (1 + 2.0**-20))


def of_two(op: BinaryOp, first: Ends, second: Ends) -> Ends | None:
    """The ends of a function of two numbers between these, None for one that is not known."""
    rule = _rule(op)
    if rule is None or not are_finite(*first, *second):
        return None
    with np.errstate(over="ignore"):
        corners = [rule(a.astype(np.float32), b.astype(np.float32)) for a in first for b in second]
    low, high = (f(corners).astype(np.float64) for f in (np.minimum.reduce, np.maximum.reduce))
    return clamped(op, low, high)


@singledispatch
def _rule(op: BinaryOp) -> Any:
    """The function of two arrays that an operation is, None where rounding makes it another."""
    return None


@_rule.register
def _add(op: AddOp) -> Any:
    return np.add


@_rule.register
def _sub(op: SubOp) -> Any:
    return np.subtract


@_rule.register
def _mul(op: MulOp) -> Any:
    return np.multiply


@_rule.register
def _maximum(op: MaximumOp) -> Any:
    return np.maximum


@_rule.register
def _minimum(op: MinimumOp) -> Any:
    return np.minimum
