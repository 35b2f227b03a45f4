"""The order in which nodes can run, where a file has another one.

Tools that edit graphs append nodes; runtimes sort them, and ONNX's checker refuses them.
"""

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from onnx import AttributeProto, GraphProto, NodeProto

from memopt.dialects.memgraph.errors import MemoptError

Numbered = tuple[int, NodeProto]


def subgraphs(node: NodeProto) -> Iterator[GraphProto]:
    for a in node.attribute:
        if a.type == AttributeProto.GRAPH:
            yield a.g
        elif a.type == AttributeProto.GRAPHS:
            yield from a.graphs


def captured(node: NodeProto) -> Iterator[str]:
    """Names that a node's subgraphs use and do not define."""
    for graph in subgraphs(node):
        own = {v.name for v in graph.input} | {t.name for t in graph.initializer}
        own |= {o for n in graph.node for o in n.output}
        used = [i for n in graph.node for i in (*n.input, *captured(n))]
        used += [v.name for v in graph.output]
        yield from (name for name in used if name and name not in own)


def in_order(nodes: Sequence[NodeProto], place: str) -> list[Numbered]:
    """Return (index in the file, node) such that every node follows those whose results it reads,
    otherwise in the file's order. Raises MemoptError that names a cycle."""
    makers = {o: i for i, node in enumerate(nodes) for o in node.output if o}
    if _is_sorted(nodes, makers):
        return list(enumerate(nodes))
    waits: list[set[int]] = [
        {makers[name] for name in (*node.input, *captured(node)) if name in makers}
        for node in nodes
    ]
    readers: list[list[int]] = [[] for _ in nodes]
    for reader, makes in enumerate(waits):
        for maker in makes:
            readers[maker].append(reader)
    ready = [i for i, makes in enumerate(waits) if not makes]
    order: list[int] = []
    while ready:
        maker = heappop(ready)
        order.append(maker)
        for reader in readers[maker]:
            waits[reader].discard(maker)
            if not waits[reader]:
                heappush(ready, reader)
    if len(order) < len(nodes):
        raise MemoptError(f"the nodes form a cycle: {_cycle(nodes, waits)}", place)
    return [(i, nodes[i]) for i in order]


def _is_sorted(nodes: Sequence[NodeProto], makers: dict[str, int]) -> bool:
    return all(
        makers.get(name, -1) < i
        for i, node in enumerate(nodes)
        for name in (*node.input, *captured(node))
    )


def _cycle(nodes: Sequence[NodeProto], waits: Sequence[set[int]]) -> str:
    """The results along one cycle, each read by the next one's maker."""
    index = next(i for i, makes in enumerate(waits) if makes)
    path: list[int] = []
    while index not in path:  # each of these waits for one that waits
        path.append(index)
        index = min(waits[index])
    ring = [*path[path.index(index) :], index][::-1]
    return " -> ".join(repr(next(o for o in nodes[i].output if o)) for i in ring)


def sort_subgraphs(nodes: Sequence[NodeProto], place: str) -> bool:
    """Bring the nodes of all graphs that are attributes into an order that can run; return whether
    any was not."""
    changed = False
    for node in nodes:
        for graph in subgraphs(node):
            changed = sort_subgraphs(graph.node, place) or changed
            order = [i for i, _ in in_order(graph.node, place)]
            if order != sorted(order):
                graph.CopyFrom(with_nodes(graph, order))
                changed = True
    return changed


def with_nodes(graph: GraphProto, order: Sequence[int]) -> GraphProto:
    """A copy that has the nodes of these indices."""
    reordered = GraphProto()
    reordered.CopyFrom(graph)
    del reordered.node[:]
    reordered.node.extend(graph.node[i] for i in order)
    return reordered
