"""The network as a picture: a box for each operator, a line for each tensor from one to the next.

    network_svg(network_of(memory))

Each operator stands in a layer below all whose results it reads; networkx finds the layers and the
places in them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any

from xdsl.ir import Operation, SSAValue

from memopt.analysis.storage_groups import BlockMemory
from memopt.backends.report.numbering import numbers_of, title
from memopt.backends.report.scale import number
from memopt.backends.report.wording import short, xml
from memopt.dialects.memgraph.names import operator_kind

MOST = 400  # operators that are drawn
BOX, HIGH, LAYER, COLUMN, MARGIN = 176.0, 30.0, 52.0, 196.0, 12.0
BEND = 40.0  # how far a line that passes a layer keeps from the boxes in it


@dataclass(frozen=True)
class Network:
    """Operators as (number and kind, name), and which reads a result of which, by place."""

    operators: tuple[tuple[str, str], ...]
    edges: tuple[tuple[int, int], ...]


def network_of(memory: BlockMemory) -> Network:
    """Return the operators of a block in their order; what costs nothing, such as a view, is passed
    through."""
    operations = memory.operations
    place = {op: i for i, op in enumerate(operations)}
    numbers = numbers_of(operations)
    edges = [
        (source, target)
        for target, op in enumerate(operations)
        for source in sorted({*_makers(op, place)})
    ]
    return Network(
        tuple(
            (f"{n} {operator_kind(op)}", title(op))
            for n, op in zip(numbers, operations, strict=True)
        ),
        tuple(edges),
    )


def _makers(op: Operation, place: dict[Operation, int]) -> Iterator[int]:
    """Yield the places of the operators whose results `op` reads."""
    todo: list[SSAValue] = [*op.operands]
    while todo:
        owner = todo.pop().owner
        if not isinstance(owner, Operation):
            continue
        if owner in place:
            yield place[owner]
        else:
            todo += owner.operands


def network_svg(network: Network) -> str:
    """Return the drawing for a page that has the style; "" of no or more than `MOST` operators."""
    count = len(network.operators)
    if not 0 < count <= MOST:
        return ""
    at = _places(network)
    right = max(x for x, _ in at) + BOX / 2 + MARGIN + BEND
    foot = max(y for _, y in at) + HIGH / 2 + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="mo net" role="img" '
        f'viewBox="0 0 {number(right)} {number(foot)}" '
        f'width="{number(right)}" height="{number(foot)}">',
        f"<title>{count} operators, {len(network.edges)} tensors between them</title>",
    ]
    parts += [_line(*at[a], *at[b]) for a, b in network.edges]
    for (kind, name), (x, y) in zip(network.operators, at, strict=True):
        middle = number(x)
        parts.append(
            f'<g><title>{xml(name)}</title><rect x="{number(x - BOX / 2)}" '
            f'y="{number(y - HIGH / 2)}" width="{number(BOX)}" height="{number(HIGH)}" rx="5"/>'
            f'<text x="{middle}" y="{number(y - 2)}">{xml(short(kind, 28))}</text>'
            f'<text class="of" x="{middle}" y="{number(y + 10)}">{xml(short(name, 30))}</text></g>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _places(network: Network) -> list[tuple[float, float]]:
    """Return the middle of each box."""
    networkx: Any = import_module("networkx")
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(network.operators)))
    graph.add_edges_from(network.edges)
    layers: list[list[int]] = [sorted(layer) for layer in networkx.topological_generations(graph)]
    layer_of = {i: k for k, layer in enumerate(layers) for i in layer}
    networkx.set_node_attributes(graph, layer_of, "layer")
    drawn = networkx.multipartite_layout(graph, "layer", "horizontal", scale=len(layer_of))
    across = {i: float(drawn[i][0]) for i in layer_of}
    apart = [b - a for layer in layers for a, b in pairwise(sorted(across[i] for i in layer))]
    unit = COLUMN / min(apart, default=1.0)
    first = min(across.values())
    return [
        (MARGIN + BOX / 2 + (across[i] - first) * unit, MARGIN + HIGH / 2 + layer_of[i] * LAYER)
        for i in range(len(network.operators))
    ]


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    """A line from the foot of a box to the head of another; past the boxes between them."""
    start, end = y + HIGH / 2, to_y - HIGH / 2
    aside = BOX / 2 + BEND if to_y - y > LAYER and x == to_x else 0.0
    middle = (start + end) / 2
    path = f"M{number(x)} {number(start)}C{number(x + aside * 4 / 3)} {number(middle)} " + (
        f"{number(to_x + aside * 4 / 3)} {number(middle)} {number(to_x)} {number(end)}"
    )
    return f'<path d="{path}"/>'
