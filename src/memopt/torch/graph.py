"""A traced graph as a JSON graph (docs/reference/json-graph.md).

No table of operators is needed. Which tensors are one buffer, the fake tensors say: each has an
`untyped_storage()`, and views share it, so a node whose results lie in storages that are there
already and that writes none costs nothing and is left out. What is overwritten, the operators'
schemas say: `Tensor(a!)`. What draws random numbers keeps its order, by its tag.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memopt.dialects.memgraph.errors import MemoptError
from memopt.torch.lazy import pytorch
from memopt.torch.trace import Traced

MADE_BY = "memopt capture"


@dataclass
class _Drawing:
    """Storages by what PyTorch knows them by, and the JSON so far."""

    name_of: dict[int, str] = field(default_factory=dict[int, str])
    tensors: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    nodes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    random: str = ""  # the last node that drew random numbers

    def known(self, tensor: Any) -> str | None:
        """The name of the storage of a tensor, if there is one already."""
        return self.name_of.get(key(tensor))

    def new(self, tensor: Any, name: str, persistent: bool = False) -> str:
        """Name a storage that nobody has seen."""
        if name in self.tensors:
            raise MemoptError(f"two tensors are called {name!r}")
        self.name_of[key(tensor)] = name
        self.tensors[name] = {"name": name, "bytes": _bytes(tensor, name)}
        if persistent:
            self.tensors[name]["persistent"] = True
        return name

    def names(self, tensors: Iterator[Any]) -> list[str]:
        """The storages of tensors that exist, each once."""
        return list(dict.fromkeys(self.name_of[key(t)] for t in tensors))


@dataclass(frozen=True)
class Drawn:
    """A traced graph as a JSON graph, and the names of the storages in it."""

    traced: Traced
    graph: dict[str, Any]
    name_of: Mapping[int, str]

    def name(self, fake: Any) -> str:
        """Return the name of the storage of a fake tensor of the traced graph."""
        return self.name_of[key(fake)]


def graph_of(traced: Traced, name: str) -> dict[str, Any]:
    """Return the JSON graph. Raises MemoptError as `drawn`."""
    return drawn(traced, name).graph


def drawn(traced: Traced, name: str) -> Drawn:
    """Return the JSON graph: one tensor per storage, one node per operator that makes or overwrites
    one.

    Raises MemoptError for sizes that depend on data, operators that have a graph inside, and a
    graph that returns nothing.
    """
    drawing = _Drawing()
    given: list[str] = []
    returned: list[str] = []
    entries = iter(zip(traced.names, traced.persistent, strict=True))
    for node in traced.graph_module.graph.nodes:
        if node.op == "placeholder":
            title, persistent = next(entries)
            for tensor in tensors_in(node.meta.get("val")):
                if drawing.known(tensor) is None:
                    drawing.new(tensor, title, persistent)
                    given += [] if persistent else [title]
        elif node.op == "get_attr":
            value = attribute_of(traced.graph_module, node.target)
            node.meta.setdefault("val", value)
            for tensor in tensors_in(node.meta["val"]):
                if drawing.known(tensor) is None:
                    drawing.new(tensor, node.name, persistent=True)
        elif node.op == "output":
            returned = drawing.names(_operands(node))
        else:
            _add(drawing, node)
    returned = [n for n in returned if not drawing.tensors[n].get("persistent")]
    if not returned:
        raise MemoptError(f"{name} returns nothing that it makes, such as a loss")
    graph = {
        "name": name,
        "source": MADE_BY,
        "tensors": list(drawing.tensors.values()),
        "nodes": drawing.nodes,
        "graph_inputs": given,
        "graph_outputs": returned,
    }
    return Drawn(traced, graph, drawing.name_of)


def _add(drawing: _Drawing, node: Any) -> None:
    reads = drawing.names(_operands(node))
    fresh: list[str] = []
    tensors = list(tensors_in(node.meta.get("val")))
    for tensor in tensors:
        if drawing.known(tensor) is None:
            title = node.name if len(tensors) == 1 else f"{node.name}:{len(fresh)}"
            fresh.append(drawing.new(tensor, title))
    mutated = drawing.names(_overwritten(node))
    if not fresh and not mutated:
        return  # a view, or no tensor at all
    entry: dict[str, Any] = {
        "name": node.name,
        "op": str(node.target),
        "inputs": reads,
        "outputs": fresh,
    }
    if mutated:
        entry["mutates"] = mutated
    if pytorch().Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
        if drawing.random:
            entry["after"] = [drawing.random]
        drawing.random = node.name
    drawing.nodes.append(entry)


def _overwritten(node: Any) -> Iterator[Any]:
    """The tensors among the operands that the schema says are written."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        if getattr(node.target, "__module__", "") == "_operator":  # getitem of several results
            return
        raise MemoptError(f"{node.target} has no schema, so what it overwrites is not known")
    for index, argument in enumerate(schema.arguments):
        alias = argument.alias_info
        if alias is None or not alias.is_write:
            continue
        value = node.args[index] if index < len(node.args) else node.kwargs.get(argument.name)
        for operand in _entries(value) if isinstance(value, list | tuple) else [value]:
            if operand is not None:
                yield from tensors_in(operand.meta.get("val"))


def _operands(node: Any) -> Iterator[Any]:
    for operand in node.all_input_nodes:
        yield from tensors_in(operand.meta.get("val"))


def tensors_in(value: Any) -> Iterator[Any]:
    """The tensors of a result, which may be one, several or none."""
    if isinstance(value, pytorch().Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for entry in _entries(value):
            yield from tensors_in(entry)


def _entries(value: Any) -> list[Any]:
    return list(value)


def key(tensor: Any) -> int:
    """Return the key that all tensors of one storage share, while one of them is there."""
    reductions = pytorch("torch.multiprocessing.reductions")
    return reductions.StorageWeakRef(tensor.untyped_storage()).cdata


def _bytes(tensor: Any, name: str) -> int:
    size = tensor.untyped_storage().nbytes()
    if not isinstance(size, int):
        raise MemoptError(f"{name} has a size that depends on data: {size}")
    return size


def attribute_of(module: Any, target: str) -> Any:
    for part in target.split("."):
        module = getattr(module, part)
    return module
