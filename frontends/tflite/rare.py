"""Builtin operators that few networks have."""

from xdsl.ir import Operation

from memopt.dialects.attributes.quick import number, numbers
from memopt.frontends.core.typed import build, need, real, same_padding
from memopt.frontends.core.types import ELEMENTS
from memopt.frontends.tflite.node import Kind, Node, activation


def non_max_suppression(node: Node, kind: Kind) -> Operation:
    """Return the operation of boxes, scores, the largest number of boxes, and limits; that number
    must be known, so that results have that length."""
    limit = node.constant(2)
    need(
        limit == list(node.results[0].get_shape()), f"at most {limit} boxes, which results have not"
    )
    others = [i for i in range(len(node.types)) if i != 2]
    reals = all(node.element(i) == ELEMENTS["float32"] for i in others)
    need(reals, "other numbers than f32")
    return build(kind, [node.operand(i) for i in others], node.results, {})


def local_response(node: Node, kind: Kind) -> Operation:
    o = node.options
    properties = {name: real(o[name]) for name in ("bias", "alpha", "beta")}
    properties |= {"radius": number(o["radius"])}
    need(node.element(0) == ELEMENTS["float32"], f"on {node.element(0)} (f32 has one)")
    return build(kind, (node.operand(0),), node.results, properties)


def segments(node: Node, kind: Kind) -> Operation:
    """Return the sums of segments; the last of three operands is their number, as in the result."""
    need(node.element(0) == node.result.element_type, "another type than its operand")
    return build(kind, (node.operand(0), node.operand(1)), node.results, {})


def convolution_3d(node: Node, kind: Kind) -> Operation:
    o, source, out, kernel = node.options, node.shape(0), node.result.get_shape(), node.shape(1)
    five = len(source) == len(out) == len(kernel) == 5
    need(five, f"{len(source)} dimensions (5 have one)")
    strides, dilations = [o[f"stride{a}"] for a in "DHW"], [o[f"dilation{a}Factor"] for a in "DHW"]
    pad = [0, 0, 0]
    if o["padding"] == 0:  # SAME
        sizes = zip(source[1:4], out[1:4], kernel[:3], strides, dilations, strict=True)
        pad = [same_padding(*each)[0] for each in sizes]
    properties = {
        "strides": numbers(strides),
        "dilations": numbers(dilations),
        "pad": numbers(pad),
        "activation": activation(node),
    }
    operands = (node.operand(0), node.operand(1), node.optional(2))
    return build(kind, operands, node.results, properties)


def spectrum(node: Node, kind: Kind) -> Operation:
    properties = {"sizes": numbers(node.constant(1))}
    return build(kind, (node.operand(0),), node.results, properties)
