"""Operators that pick stretches along each dimension, as terms of `memgraph.picked`."""

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.ir import Attribute, Operation, SSAValue

from memopt.dialects.attributes.quick import numbers
from memopt.dialects.operators.picked import Term, picks_along
from memopt.frontends.core.node import Node
from memopt.frontends.core.typed import build, need

Kind = type[Operation]


def terms_of(
    shape: Sequence[int], sizes: Sequence[int], terms: Sequence[Term]
) -> Mapping[str, Attribute]:
    """Return the properties of a way each for the indices of the result's stretches; those of the
    operand are `shape`."""
    return {
        "shape": numbers(shape),
        "sizes": numbers(sizes),
        "terms": numbers([v for term in terms for v in (term.way, term.dimension)]),
        "numbers": numbers([v for term in terms for v in term.numbers]),
    }


def picked(
    node: Node, kind: Kind, properties: Mapping[str, Attribute], fill: SSAValue | None = None
) -> Operation:
    need(prod(node.shape(0)) > 0, "no elements")
    need(len(node.shape(0)) <= 6, f"{len(node.shape(0))} dimensions (up to 6 have one)")
    return build(kind, (node.operand(0), fill), node.results, properties)


def along(
    node: Node, kind: Kind, places: Sequence[Sequence[int]], fill: SSAValue | None = None
) -> Operation:
    """Build the operation that picks these indices of the operand along each dimension."""
    sizes = [len(v) for v in places]
    need(sizes == list(node.result.get_shape()), f"a result of another shape than {sizes}")
    return picked(node, kind, picks_along(node.shape(0), places), fill)
