"""Operators of two tensors, element by element, and choices between them."""

from collections.abc import Callable
from math import frexp

from xdsl.dialects.builtin import Float32Type, IntegerType, StringAttr, UnitAttr
from xdsl.ir import Operation

from memopt.dialects.attributes.operators import RoundingAttr
from memopt.dialects.operators.binary import BinaryOp, DivOp
from memopt.frontends.core.typed import build, need
from memopt.frontends.core.types import ELEMENTS, is_quantized
from memopt.frontends.tflite.node import Kind, Node, activation, rounding


def one_type(node: Node) -> None:
    """Raise NotTyped unless both operands and the result are of one type."""
    types = node.element(0), node.element(1), node.result.element_type
    need(len(set(types)) == 1, f"on {types[0]} and {types[1]} to {types[2]} (one type has one)")


def binary(node: Node, kind: Kind) -> Operation:
    one_type(node)
    if node.result.element_type == IntegerType(16) and node.options.get("potScaleInt16"):
        types = node.type(0), node.type(1), node.result
        scales = [s for t in types for s in getattr(t.encoding, "scales", ())]
        powers = all(frexp(s)[0] == 0.5 for s in scales)
        need(bool(scales) and not powers, "potScaleInt16 = true of powers of two (others have one)")
    properties = {"activation": activation(node), "rounding": rounding(node)}
    return build(kind, (node.operand(0), node.operand(1)), node.results, properties)


def whole_quotient(node: Node, kind: Kind) -> Operation:
    """Return the division of float32, or of int32 without a quantization."""
    plain = node.result.element_type == IntegerType(32) and not is_quantized(node.result)
    known = plain or isinstance(node.result.element_type, Float32Type)
    need(known, f"on {node.result.element_type} (f32 has one)")
    return binary(node, kind)


def quotient(node: Node, kind: Kind) -> Operation:
    """Return the division of bytes with a quantization, or the `whole_quotient` of others."""
    is_byte = node.result.element_type in (ELEMENTS["int8"], ELEMENTS["uint8"])
    return (binary if is_byte and is_quantized(node.result) else whole_quotient)(node, kind)


def power(node: Node, kind: Kind) -> Operation:
    """Return the operation of float32 alone."""
    element = node.result.element_type
    need(isinstance(element, Float32Type), f"on {element} (f32 has one)")
    return binary(node, kind)


def truth(node: Node, kind: Kind) -> Operation:
    """Return the comparison of two of one type; stored integers are rounded as runtimes do."""
    need(node.element(0) == node.element(1), f"on {node.element(0)} and {node.element(1)}")
    stored = any(is_quantized(node.type(i)) for i in (0, 1))
    rule = RoundingAttr.new((StringAttr("tflm_double"),)) if stored else None
    return build(kind, (node.operand(0), node.operand(1)), node.results, {"rounding": rule})


def built_by(kind: type[BinaryOp]) -> Callable[..., Operation]:
    """Return what builds a function of two numbers that names its operator."""
    if kind.REALS is not None:
        return power if kind.REALS else whole_quotient
    if kind.IS_TRUTH:
        return truth
    return quotient if kind is DivOp else binary


def plain(node: Node, kind: Kind) -> Operation:
    """Return the operation of all operands, without attributes."""
    return build(kind, node.operands, node.results, {})


def choice(node: Node, kind: Kind) -> Operation:
    """Return the choice; a vector of conditions (SELECT) takes the first dimension, no
    broadcast."""
    same = node.shape(1) == node.shape(2) == node.result.get_shape()
    need(same, "operands of different shapes")
    rows = node.shape(0) == node.shape(1)[:1] != node.shape(1)
    fits = rows or node.shape(0) == node.shape(1) or not node.shape(0)
    need(fits, f"a condition of shape {list(node.shape(0))}")
    properties = {"of_rows": UnitAttr() if rows else None}
    return build(kind, node.operands, node.results, properties)
