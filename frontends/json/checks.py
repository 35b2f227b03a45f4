"""What must hold of the nodes and tensors of a JSON graph, and an order in which nodes can run."""

import heapq
from collections.abc import Sequence

from memopt.dialects.errors import MemoptError
from memopt.frontends.json.file import Node, Tensor


def producers_of(nodes: Sequence[Node], tensors: dict[str, Tensor]) -> dict[str, Node]:
    """Tensor -> the one node that makes it. Raises MemoptError."""
    found: dict[str, Node] = {}
    for node in nodes:
        for output in node.outputs:
            if output not in tensors:
                raise MemoptError(f"output {output!r} is not in the list of tensors", node.place)
            if output in found:
                text = f"{output!r} is made by node {found[output].index} too"
                raise MemoptError(text, node.place)
            if tensors[output].is_weight:
                raise MemoptError(f"makes {output!r}, which is a weight", node.place)
            found[output] = node
    return found


def check_ends(
    inputs: Sequence[str],
    outputs: Sequence[str],
    tensors: dict[str, Tensor],
    producers: dict[str, Node],
    file: str,
) -> None:
    """The graph's inputs and outputs are tensors of their kind. Raises MemoptError."""
    for what, ends in (("graph_inputs", inputs), ("graph_outputs", outputs)):
        seen = set[str]()
        for i, name in enumerate(ends):
            place = f"{file}: {what} {i}"
            if name not in tensors:
                raise MemoptError(f"{name!r} is not in the list of tensors", place)
            if name in seen:
                raise MemoptError(f"{name!r} is there twice", place)
            if tensors[name].is_weight:
                raise MemoptError(f"{name!r} is a weight", place)
            seen.add(name)
    for i, name in enumerate(inputs):
        if name in producers:
            text = f"{name!r} is made by {producers[name].place.removeprefix(f'{file}: ')}"
            raise MemoptError(text, f"{file}: graph_inputs {i}")
    if not outputs:
        raise MemoptError("the graph has no outputs", f"{file}: graph_outputs")
    for i, name in enumerate(outputs):
        if name not in producers and name not in inputs:
            raise MemoptError(f"nothing makes {name!r}", f"{file}: graph_outputs {i}")


def check_reads(
    nodes: Sequence[Node],
    tensors: dict[str, Tensor],
    producers: dict[str, Node],
    inputs: set[str],
) -> None:
    """Whatever is read is made, given or a weight. Raises MemoptError."""
    for node in nodes:
        for name in node.inputs:
            if name not in tensors:
                raise MemoptError(f"input {name!r} is not in the list of tensors", node.place)
            if name not in producers and name not in inputs and not tensors[name].is_weight:
                raise MemoptError(f"nothing makes its input {name!r}", node.place)


def in_order(nodes: Sequence[Node], producers: dict[str, Node]) -> list[Node]:
    """Topological order that keeps the file's where it can. Raises MemoptError for a cycle."""
    before = [{producers[i].index for i in n.inputs if i in producers} for n in nodes]
    after: list[list[int]] = [[] for _ in nodes]
    left = [len(b) for b in before]
    for index, sources in enumerate(before):
        for source in sources:
            after[source].append(index)
    ready = [i for i, count in enumerate(left) if count == 0]
    order: list[Node] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(nodes[index])
        for reader in after[index]:
            left[reader] -= 1
            if left[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(nodes):
        seen: list[int] = []
        at = next(i for i, count in enumerate(left) if count)
        while at not in seen:
            seen.append(at)
            at = next(i for i in sorted(before[at]) if left[i])
        ring = " <- ".join(str(i) for i in [*seen[seen.index(at) :], at])
        raise MemoptError(f"depends on itself: nodes {ring}", nodes[at].place)
    return order
