"""Functions of one value, and of several, element by element."""

from onnx import TensorProto

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.scope import BOOL, FLOAT, INT32, INT64, Scope
from memopt.frontends.onnx.types import NAMES


@expands("Pow", "PRelu", "Xor")
def binary(s: Scope) -> bool:
    """A few forms are others."""
    kind = s.node.op_type
    if kind == "Xor":
        return s.done("Not", s.add("Equal", *s.node.input))
    if kind == "PRelu" and _is_older_slope(s):
        slope = s.reshaped(s.input(1), (-1, *(1,) * (len(s.shape()) - 2)))
        return s.done("PRelu", s.x, slope)
    if kind == "Pow" and s.is_float and s.element(1) != FLOAT:
        return s.done("Pow", s.x, s.add("Cast", s.input(1), to=FLOAT))
    return False


@expands("Div", "Mod")
def quotient(s: Scope) -> bool:
    """Expand Div or Mod of integers of 8 and 16 bits into one of 32 bits."""
    if s.element() not in SMALL or s.is_stored:
        return False
    wide = [s.add("Cast", name, to=INT32) for name in s.node.input]
    return s.done("Cast", s.add(s.node.op_type, *wide, fmod=s.get("fmod")), to=s.element())


SMALL = (TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16)


def _is_older_slope(s: Scope) -> bool:
    """A slope of each channel, as it was given before opset 7."""
    shape, slope = list(s.shape()), list(s.shape(1))
    if len(slope) != 1 or len(shape) < 3:
        return False
    return shape[-1] != slope[0] and shape[1] == slope[0] > 1


@expands("Sum", "Max", "Min", "Mean")
def several(s: Scope) -> bool:
    """Expand an operator of any number of operands into operators of two at a time."""
    kind = {"Sum": "Add", "Mean": "Add"}.get(s.node.op_type, s.node.op_type)
    names = list(s.node.input)
    if s.node.op_type in ("Max", "Min") and len(names) == 2:
        return False
    if s.node.op_type == "Mean" and not s.is_float:
        return False
    total = names[0]
    for name in names[1:]:
        total = s.add(kind, total, name)
    if s.node.op_type == "Mean" and len(names) > 1:
        return s.done("Div", total, s.const(len(names)))
    return s.done("Identity", total)


@expands("CastLike")
def cast_like(s: Scope) -> bool:
    """To the type of the second operand."""
    if s.element() == s.element(1):
        return s.done("Identity", s.x)
    return s.done("Cast", s.x, to=s.element(1), saturate=s.get("saturate"))


@expands("Cast")
def cast(s: Scope) -> bool:
    """To its own type nothing is to do."""
    return s.element() == s.out_element() and s.done("Identity", s.x)


@expands("Sign")
def sign(s: Scope) -> bool:
    """Expand to (x > 0) - (x < 0)."""
    if s.element() not in (FLOAT, INT32, INT64):
        return s.lacks(f"on {NAMES[s.element()]} (float32, int32 and int64 have one)")
    zero = s.like(0)
    above, below = (s.add(kind, s.x, zero) for kind in ("Greater", "Less"))
    sides = [s.add("Cast", name, to=s.element()) for name in (above, below)]
    return s.done("Sub", *sides)


@expands("IsInf", floats=True)
def is_inf(s: Scope) -> bool:
    """Expand to: a number, and none once itself is taken from it."""
    rest = s.add("Sub", s.x, s.x)
    is_none = s.add("Not", s.add("Equal", rest, rest))
    infinite = s.add("And", is_none, s.add("Equal", s.x, s.x))
    up, down = s.get("detect_positive", 1), s.get("detect_negative", 1)
    if up and down:
        return s.done("Identity", infinite)
    if not up and not down:
        return s.done("And", infinite, s.add("Not", infinite))
    return s.done("And", infinite, s.add("Greater" if up else "Less", s.x, s.like(0)))


@expands("Clip")
def clip(s: Scope) -> bool:
    """The larger of both ends last, as ONNX has it; to 0 .. and 0 .. 6 there are operations."""
    ends: list[str] = []
    for i, name in ((1, "min"), (2, "max")):
        if name in s.attributes:
            ends.append(s.like(s.attributes[name]))
        else:
            ends.append(s.input(i) if s.has(i) else "")
    low, high = ends
    if s.opset < 11 and s.is_float and s.known.array(low) == 0 and not s.get("max"):
        return s.done("Relu", s.x)
    if s.is_float and _is_relu(s, low, high):
        return s.opset < 11 and s.done("Clip", s.x, low, high)
    if s.element() not in (FLOAT, INT32, INT64, 2, 3):
        return s.lacks(f"on {NAMES[s.element()]} (float32, 8, 32 and 64 bits have one)")
    name = s.x
    if low:
        name = s.add("Max", name, low)
    if high:
        name = s.add("Min", name, high)
    return s.done("Identity", name)


def _is_relu(s: Scope, low: str, high: str) -> bool:
    ends = [s.known.array(name) if name else None for name in (low, high)]
    if not low or ends[0] is None or float(ends[0].reshape(-1)[0]) != 0:
        return False
    return not high or (ends[1] is not None and float(ends[1].reshape(-1)[0]) == 6)


@expands("Elu")
def elu(s: Scope) -> bool:
    """Other slopes than 1."""
    alpha = s.get("alpha", 1.0)
    if not s.is_float or alpha == 1:
        return False
    below = s.add("Elu", s.add("Min", s.x, s.like(0)))
    return s.done("Add", s.add("Max", s.x, s.like(0)), s.add("Mul", below, s.like(alpha)))


@expands("LeakyRelu")
def leaky_relu(s: Scope) -> bool:
    """Expand one with a slope below zero to PRelu."""
    alpha = s.get("alpha", 0.01)
    return s.is_float and alpha < 0 and s.done("PRelu", s.x, s.like(alpha))


@expands("com.microsoft.Gelu", "com.microsoft.FastGelu", "com.microsoft.BiasGelu", floats=True)
def gelu(s: Scope) -> bool:
    """onnxruntime's own: with a bias, or by tanh."""
    x = s.add("Add", s.x, s.input(1)) if s.has(1) else s.x
    fast = s.node.op_type == "FastGelu"
    return s.done("Gelu", x, approximate="tanh" if fast else "none")


@expands("Dropout")
def dropout(s: Scope) -> bool:
    """Nothing, outside training; its mask says that all stays."""
    training = s.array(2) if s.has(2) else None
    ratio = s.array(1) if s.has(1) else None
    runs = s.has(2) and (training is None or bool(training.reshape(-1)[0]))
    if runs and not (ratio is not None and float(ratio.reshape(-1)[0]) == 0):
        return False
    s.done("Identity", s.x)
    if s.returns(1):
        every = s.const(np.ones(s.out_shape(1)), BOOL)
        s.done("Identity", every, result=1)
    return True
