"""Quantization whose numbers only the run time knows, or that no type says, and products of
integers, as onnxruntime computes them."""

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final

from onnx import TensorProto

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.frontends.onnx.annotations import quantization_of
from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.scope import BYTES, FLOAT, INT32, INT64, RefusedError, Scope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

LIMITS: Final[
    dict[int, tuple[int, int]]
] = {  # element types that are cast to and from: the least and the largest
    TensorProto.UINT8: (0, 255),
    TensorProto.INT8: (-128, 127),
    TensorProto.INT16: (-32768, 32767),
}


@expands("QuantizeLinear")
def quantize(s: Scope) -> bool:
    """To integers that no type describes: with scales of blocks, or that are computed."""
    stored = s.out_element()
    if quantization_of(s.known, s.node) or s.get("precision") or stored not in LIMITS:
        return False
    if not s.is_float or s.element(1) != FLOAT:
        return False
    scale = s.array(1)
    if scale is not None and not (scale != 0).all():
        raise RefusedError(f"the scale {s.input(1)!r} of its result {s.node.output[0]!r} is 0")
    axis = s.get("axis", 1)
    zero = _along(s, s.input(2), axis) if s.has(2) else ""
    return s.done("Identity", quantized(s, s.x, _along(s, s.input(1), axis), zero, stored))


def quantized(s: Scope, name: str, scale: str, zero: str, stored: int) -> str:
    """The nearest integer, ties to even, of the quotient, if there is a scale, and the zero point;
    what is beyond the type's ends is the end."""
    steps = s.add("Round", s.add("Div", name, scale) if scale else name)
    if zero:
        steps = s.add("Add", steps, s.add("Cast", zero, to=FLOAT))
    low, high = LIMITS[stored]
    within = s.add("Min", s.add("Max", steps, s.const(low)), s.const(high))
    return s.add("Cast", within, to=stored)


@expands("DequantizeLinear")
def dequantize(s: Scope) -> bool:
    """Read integers that no type describes."""
    if quantization_of(s.known, s.node) or s.element() not in (*LIMITS, INT32):
        return False
    if s.out_element() != FLOAT or s.element(1) != FLOAT:
        return False
    axis = s.get("axis", 1)
    steps = s.x if s.element() == INT32 else s.add("Cast", s.x, to=INT32)
    if s.has(2):
        zero = s.add("Cast", s.input(2), to=INT32)
        steps = s.add("Sub", steps, _along(s, zero, axis, s.shape(2)))
    return s.done("Mul", s.add("Cast", steps, to=FLOAT), _along(s, s.input(1), axis, s.shape(1)))


def _along(s: Scope, name: str, axis: int, shape: Sequence[int] | None = None) -> str:
    """Scales or zero points as they broadcast with the operand: those of one axis along it, those
    of blocks each as often as its block is long."""
    shape = s.shape_of(name) if shape is None else shape
    operand_shape = s.shape()
    if len(shape) == 1 and shape[0] != 1:
        sizes = [1] * len(operand_shape)
        sizes[axis % len(operand_shape)] = shape[0]
        return s.reshaped(name, sizes)
    block = s.get("block_size", 0)
    if not block:
        return name
    at = [i // block for i in range(operand_shape[axis % len(operand_shape)])]
    return s.add("Gather", name, s.const(at, INT64), axis=axis % len(operand_shape))


@expands("DynamicQuantizeLinear", floats=True)
def dynamic_quantize(s: Scope) -> bool:
    """To uint8, by the least and the largest element and 0; the scale is 1 where all are 0."""
    zero = s.const(0)
    low = s.add("Min", s.add("ReduceMin", s.x, keepdims=0), zero)
    high = s.add("Max", s.add("ReduceMax", s.x, keepdims=0), zero)
    width = s.add("Sub", high, low)
    scale = s.add("Div", width, s.const(255))
    s.done("Where", s.add("Equal", low, high), s.const(1), scale, result=1)
    scale = s.node.output[1]
    start = s.add("Sub", zero, s.add("Div", low, scale))
    start = s.add("Min", s.add("Max", start, zero), s.const(255))
    s.done("Cast", s.add("Round", start), result=2, to=TensorProto.UINT8)
    return s.done("Identity", quantized(s, s.x, scale, s.node.output[2], TensorProto.UINT8))


@expands("MatMulInteger")
def matmul_integer(s: Scope) -> bool:
    """A product of the stored integers, less what their zero points add to it. Of (a - p)(b - q)
    that is p times the sums of b's columns, q times those of a's rows, less p q for each."""
    if not (s.has(2) or s.has(3)) or min(len(s.shape(0)), len(s.shape(1))) < 2:
        return False
    if s.element(0) not in BYTES or s.element(1) not in BYTES:
        return False
    return s.done("Identity", product(s, [s.input(i) if s.has(i) else "" for i in range(4)]))


def product(s: Scope, names: Sequence[str]) -> str:
    """MatMulInteger of two operands and their zero points, which may be left out."""
    a, b, *zeros = names
    first, second = (_zero(s, name, k) for k, name in enumerate(zeros))
    total = s.add("MatMulInteger", a, b)
    if first:
        columns = _sums(s, b, -2)
        if second:
            depth = s.const(s.shape_of(b)[-2], INT32)
            columns = s.add("Sub", columns, s.add("Mul", second, depth))
        total = s.add("Sub", total, s.add("Mul", first, columns))
    if second:
        total = s.add("Sub", total, s.add("Mul", second, _sums(s, a, -1)))
    return total


def _zero(s: Scope, name: str, k: int) -> str:
    """A zero point of int32 as it broadcasts with the product; empty if it is 0."""
    array = s.known.array(name) if name else None
    if not name or (array is not None and not array.any()):
        return ""
    shape = s.shape_of(name)
    wide = s.add("Cast", name, to=INT32)
    if len(shape) == 1 and shape[0] > 1 and k == 0:  # one for each row
        return s.reshaped(wide, [-1, 1])
    return wide


def _sums(s: Scope, name: str, axis: int) -> str:
    """Add up rows or columns, whose dimension stays as 1; constants to constants."""
    array = s.known.array(name)
    if array is not None:
        return s.const(array.astype("int64").sum(axis=axis, keepdims=True), INT32)
    axis %= len(s.shape_of(name))
    wide = s.add("Cast", name, to=INT32)
    return s.add("ReduceSum", wide, s.const([axis], INT64), keepdims=1)


@expands("com.microsoft.MatMulIntegerToFloat")
def matmul_integer_to_float(s: Scope) -> bool:
    """MatMulInteger times both scales, and a bias."""
    total = product(s, [s.input(i) if s.has(i) else "" for i in (0, 1, 4, 5)])
    return s.done("Identity", real(s, total, s.add("Mul", s.input(2), s.input(3)), 6))


@expands("com.microsoft.DynamicQuantizeMatMul")
def dynamic_quantize_matmul(s: Scope) -> bool:
    """Multiply what DynamicQuantizeLinear makes of the first operand."""
    a, scale, zero = s.several("DynamicQuantizeLinear", 3, s.x)
    total = product(s, [a, s.input(1), zero, s.input(3) if s.has(3) else ""])
    return s.done("Identity", real(s, total, s.add("Mul", scale, s.input(2)), 4))


def real(s: Scope, total: str, scale: str, bias: int) -> str:
    """Return a product of integers times its scale, plus operand `bias`, if there is one."""
    numbers = s.add("Mul", s.add("Cast", total, to=FLOAT), scale)
    return s.add("Add", numbers, s.input(bias)) if s.has(bias) else numbers


@expands("QLinearConv")
def qlinear_convolution(s: Scope) -> bool:
    """One whose weights' zero point is not in the middle (`qlinear.py` reads any other): the
    integers' sums, in steps of the result."""
    total = s.add("ConvInteger", s.x, s.input(3), s.input(2), s.input(5), **s.attributes)
    along = [1, -1, *[1] * (len(s.shape()) - 2)]
    if s.has(8):
        total = s.add("Add", total, s.reshaped(s.input(8), along))
    weights = s.input(4) if s.shape(4) in ((), (1,)) else s.reshaped(s.input(4), along)
    return _stored(s, total, (s.input(1), weights), 6)


@expands("QLinearMatMul")
def qlinear_matmul(s: Scope) -> bool:
    """Expand as `qlinear_convolution` does."""
    if min(len(s.shape(0)), len(s.shape(3))) < 2:
        return s.lacks("a vector as operand")
    total = product(s, [s.input(i) for i in (0, 3, 2, 5)])
    each_row = len(s.shape(1)) == 1 and s.shape(1) != (1,)
    rows = s.reshaped(s.input(1), [-1, 1]) if each_row else s.input(1)
    return _stored(s, total, (rows, s.input(4)), 6)


@expands("com.microsoft.QGemm")
def qgemm(s: Scope) -> bool:
    """Expand as `qlinear_convolution` does; a result without a scale is real."""
    names = [
        s.transposed(s.input(i), (1, 0)) if s.get(f"trans{letter}", 0) else s.input(i)
        for i, letter in ((0, "A"), (3, "B"))
    ]
    total = product(s, [*names, s.input(2), s.input(5)])
    if s.has(6):
        total = s.add("Add", total, s.input(6))
    first = (
        s.input(1)
        if s.get("alpha", 1.0) == 1
        else s.add("Mul", s.input(1), s.const(s.get("alpha")))
    )
    if not s.has(7):
        return s.done("Identity", real(s, total, s.add("Mul", first, s.input(4)), 9))
    return _stored(s, total, (first, s.input(4)), 7)


def _stored(s: Scope, total: str, scales: tuple[str, str], result: int) -> bool:
    """Quantize sums of products whose operands have these scales, as onnxruntime does: by one
    factor. The scale of the node's result is operand `result`, its zero point the next."""
    factor = s.add("Div", s.add("Mul", *scales), s.input(result))
    steps = s.add("Mul", s.add("Cast", total, to=FLOAT), factor)
    zero = s.input(result + 1) if s.has(result + 1) else ""
    stored = s.element(result + 1) if zero else TensorProto.UINT8
    return s.done("Identity", quantized(s, steps, "", zero, stored))


@expands("com.microsoft.QLinearSoftmax")
def qlinear_softmax(s: Scope) -> bool:
    """By onnxruntime's table of exponentials of the distance to the largest element, scaled so that
    their sum just fits a float32; the quotients are counted in steps of 1 / floor(1 / scale)."""
    scales = [s.array(i) for i in (1, 3)]
    if s.element() not in BYTES or any(v is None or v.size != 1 for v in scales):
        return s.lacks("other types than 8 bits, or scales that are computed")
    step, result_step = (np.float32(v.reshape(-1)[0]) for v in scales if v is not None)
    if not (step > 0 and result_step > 0):
        raise RefusedError(f"the scale {s.input(1 if step <= 0 else 3)!r} is not above 0")
    shape, flat = s.shape(), s.get("opset", 13) < 13
    axis: int = s.get("axis", 1 if flat else -1) % len(shape)
    count: int = prod(shape[axis:]) if flat else shape[axis]
    zero = [s.input(2)] if s.has(2) else []
    real = s.add("DequantizeLinear", s.x, s.input(1), *zero)
    steps = s.add("Round", s.add("Div", real, s.const(step)))
    if flat:
        steps, axis = s.reshaped(steps, (prod(shape[:axis]), count)), 1
    below = s.add("Sub", steps, s.add("ReduceMax", steps, s.const([axis], INT64), keepdims=1))
    at = s.add("Cast", s.add("Add", below, s.const(255)), to=INT32)
    each = s.add("Gather", s.const(_exponentials(float(step), count)), at, axis=0)
    total = s.add("ReduceSum", each, s.const([axis], INT64), keepdims=1)
    numerators = s.add("Mul", each, s.const(np.floor(np.float32(1) / result_step)))
    counted = s.add("Mul", s.add("Round", s.add("Div", numerators, total)), s.const(result_step))
    zero = [s.input(4)] if s.has(4) else []
    quotients = s.reshaped(counted, shape) if flat else counted
    return s.done("QuantizeLinear", quotients, s.input(3), *zero)


def _exponentials(step: float, count: int) -> "Array":
    """Return the exponentials of 255 to 0 steps below the largest of so many."""
    room = np.log(float(np.finfo(np.float32).max / np.float32(count))) - 5
    return np.exp((np.arange(256) - 255 + max(0.0, room) / step) * step).astype(np.float32)
