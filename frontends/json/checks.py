"""Checks of the nodes and tensors of a JSON graph, and an order in which nodes can run."""

import heapq
from collections.abc import Sequence

from memopt.dialects.memgraph.errors import MemoptError
from memopt.frontends.json.file import OVER, Node, Tensor


def producers_of(nodes: Sequence[Node], tensors: dict[str, Tensor]) -> dict[str, Node]:
    """Tensor -> the one node that makes it. Raises MemoptError."""
    producers: dict[str, Node] = {}
    for node in nodes:
        for output in node.outputs:
            if output not in tensors:
                raise MemoptError(f"output {output!r} is not in the list of tensors", node.place)
            if output in producers:
                text = f"{output!r} is made by node {producers[output].number} too"
                raise MemoptError(text, node.place)
            if tensors[output].is_weight:
                raise MemoptError(f"makes {output!r}, which is a weight", node.place)
            if tensors[output].persistent:
                text = f"makes {output!r}, which is persistent: it can only mutate it"
                raise MemoptError(text, node.place)
            producers[output] = node
    return producers


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
            if tensors[name].persistent:
                text = f"{name!r} is persistent, so it neither comes in nor goes out"
                raise MemoptError(text, place)
            seen.add(name)
    given: dict[str, str] = {}
    for i, name in enumerate(inputs):
        other = given.setdefault(tensors[name].storage, name)
        if other != name:
            text = f"{name!r} lies in one storage with {other!r}, so they are one input"
            raise MemoptError(text, f"{file}: graph_inputs {i}")
        if name in producers:
            text = f"{name!r} is made by {producers[name].place.removeprefix(f'{file}: ')}"
            raise MemoptError(text, f"{file}: graph_inputs {i}")
    if not outputs:
        raise MemoptError("the graph has no outputs", f"{file}: graph_outputs")
    available = {tensors[name].storage for name in (*inputs, *producers)}
    for i, name in enumerate(outputs):
        if tensors[name].storage not in available:
            raise MemoptError(f"nothing makes {name!r}", f"{file}: graph_outputs {i}")


def check_reads(
    nodes: Sequence[Node], tensors: dict[str, Tensor], producers: dict[str, Node], inputs: set[str]
) -> None:
    """Whatever is read is made, given, persistent or a weight, and who mutates a tensor reads it.
    Raises MemoptError."""
    available = {tensors[name].storage for name in (*inputs, *producers)}
    for node in nodes:
        for name in node.inputs:
            if name not in tensors:
                raise MemoptError(f"input {name!r} is not in the list of tensors", node.place)
            tensor = tensors[name]
            if tensor.storage not in available and not (tensor.is_weight or tensor.persistent):
                raise MemoptError(f"nothing makes its input {name!r}", node.place)
        for name in node.mutates:
            if name not in node.inputs:
                raise MemoptError(f"mutates {name!r}, which is no input of it", node.place)
            if tensors[name].is_weight:
                raise MemoptError(f"mutates {name!r}, which is a weight", node.place)
        for name in node.may_overwrite:
            if name not in node.inputs:
                raise MemoptError(f"{OVER}: {name!r} is no input of it", node.place)
            if tensors[name].is_weight or tensors[name].persistent:
                raise MemoptError(f"{OVER}: {name!r} is not in the arena", node.place)


def in_order(nodes: Sequence[Node], before: Sequence[set[int]]) -> list[Node]:
    """Topological order that keeps the file's where it can; node i runs after those in
    `before[i]`. Raises MemoptError for a cycle."""
    after: list[list[int]] = [[] for _ in nodes]
    waiting_for = [len(b) for b in before]
    for index, sources in enumerate(before):
        for source in sources:
            after[source].append(index)
    ready = [i for i, count in enumerate(waiting_for) if count == 0]
    order: list[Node] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(nodes[index])
        for reader in after[index]:
            waiting_for[reader] -= 1
            if waiting_for[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(nodes):
        seen: list[int] = []
        at = next(i for i, count in enumerate(waiting_for) if count)
        while at not in seen:
            seen.append(at)
            at = next(i for i in sorted(before[at]) if waiting_for[i])
        ring = " <- ".join(str(i) for i in [*seen[seen.index(at) :], at])
        raise MemoptError(f"depends on itself: nodes {ring}", nodes[at].place)
    return order
