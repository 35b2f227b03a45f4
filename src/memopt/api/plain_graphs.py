"""JSON graphs straight to memory graphs, for sweeps: building IR and asking it takes thrice as
long.

Only where that says the same: nodes with names that read a tensor, attributes that IR can say. All
else, and whatever is wrong with a file, is left to the way through IR, which says so.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from memopt.dialects.errors import MemoptError
from memopt.dialects.plan import GENERIC
from memopt.dialects.tensors import bytes_of
from memopt.frontends.json.read import Graph, checked_graph
from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.memory_graph import Group, MemoryGraph, round_up

INT64 = 1 << 63


@dataclass(frozen=True)
class Plain:
    """A memory graph, and the sum of `macs` in its nodes' attributes, None if no node has them."""

    graph: MemoryGraph
    macs: int | None


def plain_graph(source: Any) -> Plain | None:
    """What `extract` makes of the import of a JSON graph under the default memory model; None for
    any other source, and where IR has to be asked. Its names are those of the nodes."""
    try:
        if isinstance(source, str | os.PathLike):
            path = Path(cast("str | os.PathLike[str]", source))
            if path.suffix != ".json":
                return None
            data = path.read_bytes()
        elif isinstance(source, Mapping):
            data = json.dumps(dict(cast("Mapping[str, Any]", source))).encode()
        elif isinstance(source, bytes) and source[:1] == b"{":
            data = source
        else:
            return None
        graph = checked_graph(data, "graph")
        found = _memory_graph(graph) if _is_plain(graph) else None
        if found is not None:
            found.graph.check()
    except (MemoptError, ProblemError, OSError, ValueError, TypeError, RecursionError):
        return None
    return found


def _is_plain(graph: Graph) -> bool:
    if any(graph.tokens) or any(t.persistent or t.storage != n for n, t in graph.tensors.items()):
        return False  # buffers that several nodes write, or that are not in the arena
    for node in graph.nodes:
        if node.mutates:
            return False
        if not node.outputs or (node.name,) in (("",), tuple(node.outputs)):
            return False  # its title says what it makes
        if all(graph.tensors[name].is_weight for name in node.inputs):
            return False  # a constant expression, or nothing that has to wait
        if not all(map(_is_scalar, node.attrs.values())):
            return False
    return all(key.isascii() for node in graph.nodes for key in node.attrs)


def _is_scalar(value: Any) -> bool:
    if isinstance(value, int):
        return -INT64 <= value < INT64
    return isinstance(value, float) or (isinstance(value, str) and value.isascii())


def _memory_graph(graph: Graph) -> Plain:
    alignment = GENERIC.alignment.data
    maker = {name: i for i, node in enumerate(graph.nodes) for name in node.outputs}
    readers: dict[str, list[int]] = {}
    before: list[tuple[int, ...]] = []
    for i, node in enumerate(graph.nodes):
        read = dict.fromkeys(n for n in node.inputs if not graph.tensors[n].is_weight)
        for name in read:
            readers.setdefault(name, []).append(i)
        before.append(tuple(dict.fromkeys(maker[n] for n in read if n in maker)))
    kept = set(graph.outputs)
    names = [*graph.inputs, *(name for node in graph.nodes for name in node.outputs)]
    groups = tuple(
        Group(
            name,
            bytes_of(graph.tensors[name].type) or 0,
            (maker[name],) if name in maker else (),
            tuple(readers.get(name, ())),
            name not in maker,
            name in kept,
        )
        for name in names
    )
    workspace = tuple(sum(round_up(w, alignment) for w in node.workspace) for node in graph.nodes)
    said = [m for node in graph.nodes if type(m := node.attrs.get("macs")) is int]
    problem = MemoryGraph(
        tuple(node.name for node in graph.nodes),
        tuple(before),
        groups,
        workspace,
        (),
        alignment,
        alignment,
    )
    return Plain(problem, sum(said) if said else None)
