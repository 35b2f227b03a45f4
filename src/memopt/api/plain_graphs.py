"""JSON graphs straight to memory graphs, for sweeps: reading every field with its place and making
IR of it takes ten times as long.

Only where that says the same: nodes with names, each behind those that make what it reads, tensors
that share no storage, attributes that IR can say. All else, and whatever is wrong with a file, is
left to the way through IR, which says so.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import FileIO
from typing import Any, NamedTuple, cast

from memopt.dialects.memgraph.plan import GENERIC
from memopt.dialects.memgraph.tensors import MAX_BYTES, stored_bytes
from memopt.frontends.json.file import DTYPES, MAX_RANK
from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.memory_graph import Group, MemoryGraph, round_up

INT64 = 1 << 63
CAPTURED = ("storage", "offset", "persistent", "mutates", "after", "may_overwrite")
"""Keys that only captures have."""


class GraphWork(NamedTuple):
    """Multiplications, and bytes of the constants that operators read, each once; None where nobody
    knows. Of a JSON graph these are the sum of `macs` in its nodes' attributes, and its weights."""

    macs: int | None
    weights: int | None


@dataclass(frozen=True)
class Plain:
    """A memory graph, and what it says of its work."""

    graph: MemoryGraph
    work: GraphWork


def json_text(source: Any, most: int | None = None) -> bytes | None:
    """Return the text of a JSON graph; None for another source, for what cannot be read, and for a
    file of more than `most` bytes, which is not read."""
    try:
        if isinstance(source, str | os.PathLike):
            path = os.fspath(cast("str | os.PathLike[str]", source))
            if not path.endswith(".json"):
                return None
            with FileIO(path) as file:  # Path.read_bytes takes twice as long
                is_large = most is not None and os.fstat(file.fileno()).st_size > most
                return None if is_large else file.read()
        if isinstance(source, Mapping):
            return json.dumps(dict(cast("Mapping[str, Any]", source))).encode()
        return source if isinstance(source, bytes) and source[:1] == b"{" else None
    except (OSError, ValueError, TypeError, RecursionError):
        return None


def plain_graph(source: Any) -> Plain | None:
    """Return the numbers that `extract` makes of the import of a JSON graph under the default
    memory model; None for any other source, and where IR is needed. Its names are those of the
    nodes."""
    text = json_text(source)
    return None if text is None else plain_graph_of(text)


def plain_graph_of(text: bytes) -> Plain | None:
    """`plain_graph` of a text."""
    try:
        plain = _memory_graph(json.loads(text))
        if plain is not None:
            plain.graph.check()
    except (ProblemError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return plain


class _OddError(ValueError):
    """Sign that a graph is left to the way through IR."""


def _need(*conditions: bool) -> None:
    if not all(conditions):
        raise _OddError


def _words(values: Any) -> list[str]:
    """A list of names, of which none is unusual."""
    _need(isinstance(values, list))
    for value in values:
        if type(value) is not str or not value.isascii():
            raise _OddError
    return values


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_BYTES


def _is_scalar(value: Any) -> bool:
    if isinstance(value, int):
        return -INT64 <= value < INT64
    return isinstance(value, float) or (isinstance(value, str) and value.isascii())


def _sizes(entries: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Name -> bytes of each tensor, -1 for a weight."""
    sizes: dict[str, int] = {}
    for entry in entries:
        name, size, weight = entry["name"], entry["bytes"], entry.get("is_weight", False)
        if type(name) is not str or not name.isascii() or not _is_size(size) or name in sizes:
            raise _OddError
        if type(weight) is not bool or any(key in entry for key in CAPTURED):
            raise _OddError
        if "dtype" in entry or "shape" in entry:
            _need(_is_type(size, entry.get("shape"), entry.get("dtype")))
        sizes[name] = -1 if weight else size
    return sizes


def _is_type(size: int, shape: Any, dtype: Any) -> bool:
    """Return whether shape and dtype, None if they are not said, are those of so many bytes."""
    if dtype is not None and dtype not in DTYPES:
        return False
    if shape is None:
        return True
    if not isinstance(shape, list) or not all(map(_is_size, cast("list[Any]", shape))):
        return False
    dims = cast("list[int]", shape)
    return len(dims) <= MAX_RANK and (dtype is None or stored_bytes(DTYPES[dtype], dims) == size)


def _workspace(entry: dict[str, Any], alignment: int) -> int:
    said = entry["workspace"]
    sizes = cast("list[Any]", said) if isinstance(said, list) else [said]
    _need(*map(_is_size, sizes))
    return sum(round_up(size, alignment) for size in sizes)


def _memory_graph(graph: dict[str, Any]) -> Plain | None:
    alignment = GENERIC.alignment.data
    sizes = _sizes(graph["tensors"])
    inputs, outputs = _words(graph["graph_inputs"]), _words(graph["graph_outputs"])
    for tensors in (inputs, outputs):
        _need(len(set(tensors)) == len(tensors), all(sizes[name] >= 0 for name in tensors))
    maker: dict[str, int] = dict.fromkeys(inputs, -1)
    readers: dict[str, list[int]] = {name: [] for name in inputs}
    names: list[str] = []
    before: list[tuple[int, ...]] = []
    workspace: list[int] = []
    macs: list[int] = []
    for i, entry in enumerate(graph["nodes"]):
        name, attrs = entry["name"], entry.get("attrs", {})
        results, read = _words(entry["outputs"]), _words(entry["inputs"])
        named = bool(_words([name, entry["op"]])[0]) and bool(results)
        # its title says what it makes
        _need(named, results != [name], *(key not in entry for key in CAPTURED))
        _need(*map(_is_scalar, attrs.values()), *(key.isascii() for key in attrs))
        if type(attrs.get("macs")) is int:
            macs.append(attrs["macs"])
        buffers = dict.fromkeys(n for n in read if sizes[n] >= 0)
        if not buffers:
            raise _OddError  # a constant expression, or nothing that has to wait
        for buffer in buffers:
            readers[buffer].append(i)  # KeyError: it is made later, or by nobody
        before.append(tuple(dict.fromkeys(m for n in buffers if (m := maker[n]) >= 0)))
        for result in results:
            if result in maker or sizes[result] < 0:
                raise _OddError
            maker[result], readers[result] = i, []
        names.append(name)
        workspace.append(_workspace(entry, alignment) if "workspace" in entry else 0)
    _need(bool(outputs), all(name in maker for name in outputs), len(set(names)) == len(names))
    ends = set(outputs)
    groups = tuple(
        Group(name, sizes[name], (i,) if i >= 0 else (), tuple(readers[name]), i < 0, name in ends)
        for name, i in maker.items()
    )
    problem = MemoryGraph(
        tuple(names), tuple(before), groups, tuple(workspace), (), alignment, alignment
    )
    return Plain(problem, GraphWork(sum(macs) if macs else None, weights_of(graph)))


def weights_of(graph: Mapping[str, Any]) -> int:
    """Return the bytes of the weights that nodes of a decoded JSON graph read, each once."""
    read = {name for node in graph["nodes"] for name in node["inputs"]}
    tensors = (t for t in graph["tensors"] if t.get("is_weight") and t["name"] in read)
    return sum(t["bytes"] for t in tensors)
