"""Operators that make indices, write where indices say, or add up what comes before one."""

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from memopt.dialects.quick import number
from memopt.frontends.core.typed import axis_of, build, need
from memopt.frontends.tflite.node import Kind, Node


def cumulative_sum(node: Node, kind: Kind) -> Operation:
    axes = node.constant(1)
    need(len(axes) == 1 and node.element(0) == node.result.element_type)
    properties = {
        "axis": number(axis_of(axes[0], len(node.shape(0)))),
        "exclusive": UnitAttr() if node.options["exclusive"] else None,
        "reverse": UnitAttr() if node.options["reverse"] else None,
    }
    return build(kind, (node.operand(0),), node.results, properties)


def top_k(node: Node, kind: Kind) -> Operation:
    """How many is known, and is what the results have."""
    need(len(node.results) == 2 and node.constant(1) == [node.results[0].get_shape()[-1]])
    return build(kind, (node.operand(0),), node.results, {})


def one_hot(node: Node, kind: Kind) -> Operation:
    """Operands are indices, how many there are, on and off."""
    axis = axis_of(node.options["axis"], len(node.result.get_shape()))
    need(node.constant(1) == [node.result.get_shape()[axis]])
    operands = (node.operand(0), node.operand(2), node.operand(3))
    return build(kind, operands, node.results, {"axis": number(axis)})


def scatter(node: Node, kind: Kind) -> Operation:
    """Operands are indices, updates and the result's shape."""
    need(tuple(node.constant(2)) == node.result.get_shape())
    need(node.element(1) == node.result.element_type)
    return build(kind, (node.operand(0), node.operand(1)), node.results, {})
