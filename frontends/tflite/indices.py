"""Operators that make indices, write where indices say, or add up what comes before one."""

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from memopt.dialects.attributes.quick import number
from memopt.frontends.core.typed import axis_of, build, need
from memopt.frontends.tflite.node import Kind, Node


def cumulative_sum(node: Node, kind: Kind) -> Operation:
    axes = node.constant(1)
    need(len(axes) == 1, f"{len(axes)} axes (1 has one)")
    need(node.element(0) == node.result.element_type, "another type than its operand")
    properties = {
        "axis": number(axis_of(axes[0], len(node.shape(0)))),
        "exclusive": UnitAttr() if node.options["exclusive"] else None,
        "reverse": UnitAttr() if node.options["reverse"] else None,
    }
    return build(kind, (node.operand(0),), node.results, properties)


def top_k(node: Node, kind: Kind) -> Operation:
    """How many is known, and is what the results have."""
    count = node.constant(1)
    fits = len(node.results) == 2 and count == [node.results[0].get_shape()[-1]]
    need(fits, f"k = {count}, which its results have not")
    return build(kind, (node.operand(0),), node.results, {})


def one_hot(node: Node, kind: Kind) -> Operation:
    """Operands are indices, how many there are, on and off."""
    axis = axis_of(node.options["axis"], len(node.result.get_shape()))
    depth = node.constant(1)
    need(depth == [node.result.get_shape()[axis]], f"a depth of {depth}")
    operands = (node.operand(0), node.operand(2), node.operand(3))
    return build(kind, operands, node.results, {"axis": number(axis)})


def scatter(node: Node, kind: Kind) -> Operation:
    """Operands are indices, updates and the result's shape."""
    shape = node.constant(2)
    need(tuple(shape) == node.result.get_shape(), f"a shape of {shape}, which its result has not")
    need(node.element(1) == node.result.element_type, "another type than its updates")
    return build(kind, (node.operand(0), node.operand(1)), node.results, {})
