"""Functions of one number."""

from collections.abc import Callable

from xdsl.dialects.builtin import Float32Type, IntegerType, UnitAttr
from xdsl.ir import Operation

from memopt.dialects.attributes.quick import number
from memopt.dialects.operators.base import OfOneOp
from memopt.dialects.operators.traits import RealsOnly
from memopt.dialects.operators.unary import FunctionOp
from memopt.frontends.core.typed import build, need, real
from memopt.frontends.core.types import ELEMENTS, is_quantized
from memopt.frontends.tflite.node import Kind, Node, rounding


def unary(node: Node, kind: Kind) -> Operation:
    return build(kind, (node.operand(0),), node.results, {"rounding": rounding(node)})


def leaky_relu(node: Node, kind: Kind) -> Operation:
    alpha = node.options["alpha"]
    need(0 <= alpha < float("inf"), f"alpha = {alpha}")
    properties = {"alpha": real(alpha), "rounding": rounding(node)}
    return build(kind, (node.operand(0),), node.results, properties)


def real_function(node: Node, kind: Kind) -> Operation:
    """Build a function of float32 alone."""
    need(isinstance(node.element(0), Float32Type), f"on {node.element(0)} (f32 has one)")
    return unary(node, kind)


def function(node: Node, kind: Kind) -> Operation:
    """Build a function of float32, or of int8 with a quantization."""
    stored = node.element(0) == ELEMENTS["int8"] and is_quantized(node.type(0))
    known = isinstance(node.element(0), Float32Type) or (stored and is_quantized(node.result))
    need(known, f"on {node.element(0)} (f32, and i8 with a scale)")
    return unary(node, kind)


def sign(node: Node, kind: Kind) -> Operation:
    """Build a function of float32, and of int32 that stand for themselves; `kind` may have more."""
    plain = node.element(0) == IntegerType(32) and not is_quantized(node.type(0))
    return unary(node, kind) if plain else function(node, kind)


def is_int16(node: Node) -> bool:
    """Return whether operand and result are int16 with a quantization."""
    stored = node.element(0) == ELEMENTS["int16"] and is_quantized(node.type(0))
    return stored and is_quantized(node.result)


def magnitude(node: Node, kind: Kind) -> Operation:
    """Build a function that takes int16 with a quantization, too."""
    return (unary if is_int16(node) else sign)(node, kind)


def reciprocal_root(node: Node, kind: Kind) -> Operation:
    """Build a function that takes int16 with a quantization, too."""
    return (unary if is_int16(node) else function)(node, kind)


def negation(node: Node, kind: Kind) -> Operation:
    """Build a function that takes no stored integers."""
    need(not is_quantized(node.type(0)), "integers with a scale (f32 has one)")
    wide = node.element(0) == IntegerType(64)
    return (unary if wide else sign)(node, kind)


def built_by(kind: type[OfOneOp]) -> Callable[..., Operation]:
    """Return what builds an operation of one operand that names its operator."""
    if issubclass(kind, FunctionOp):
        return real_function if kind.has_trait(RealsOnly) else unary
    return of_options


def of_options(node: Node, kind: type[OfOneOp]) -> Operation:
    """Build an operation with the options that it names."""
    options = kind.TFLITE_OPTIONS.items()
    properties = {name: number(node.options[option]) for name, option in options}
    return build(kind, (node.operand(0),), node.results, properties)


def gelu(node: Node, kind: Kind) -> Operation:
    properties = {
        "approximate": UnitAttr() if node.options["approximate"] else None,
        "rounding": rounding(node),
    }
    return build(kind, (node.operand(0),), node.results, properties)
