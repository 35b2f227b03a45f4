"""A traced graph, run node by node in any order of its operators.

Views and other nodes that make no buffer run just before the first operator that needs them, and
every value is let go after its last use, so memory is used as the order says.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memopt.dialects.memgraph.errors import MemoptError
from memopt.torch.graph import attribute_of, tensors_in
from memopt.torch.lazy import pytorch
from memopt.torch.trace import Traced


@dataclass(frozen=True)
class Line:
    """A node to run, and the nodes whose values nobody needs after it."""

    node: Any
    dropped: tuple[Any, ...]


@dataclass(frozen=True)
class Program:
    """The nodes of a graph in the order in which they run."""

    traced: Traced
    lines: tuple[Line, ...]


Call = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
"""What is done with a node and the values of its arguments; it returns the node's value."""


def program_of(traced: Traced, order: Sequence[str] | None = None) -> Program:
    """Return the program that runs the named nodes in their order, and all that these and the
    result need of the others; without an order, in the graph's. Raises MemoptError for an order
    in which a node comes before one that it needs."""
    graph = traced.graph_module.graph
    nodes = {node.name: node for node in graph.nodes if node.op.startswith("call_")}
    sequence: dict[Any, None] = {}
    result = next(node for node in graph.nodes if node.op == "output")
    ordered = list(nodes) if order is None else order
    fixed = set(ordered)
    for name in ordered:
        for node in _needed(nodes[name], sequence, fixed):
            sequence[node] = None
        sequence[nodes[name]] = None
    for operand in result.all_input_nodes:
        if operand.op.startswith("call_"):
            for node in _needed(operand, sequence, fixed):
                sequence[node] = None
            sequence[operand] = None
    last: dict[Any, Any] = {}
    for node in sequence:
        last[node] = node
        last |= dict.fromkeys(node.all_input_nodes, node)
    for operand in result.all_input_nodes:
        last.pop(operand, None)
    dropped: dict[Any, list[Any]] = {}
    for node, end in last.items():
        dropped.setdefault(end, []).append(node)
    return Program(traced, tuple(Line(n, tuple(dropped.get(n, ()))) for n in sequence))


def _needed(node: Any, sequence: dict[Any, None], fixed: set[str]) -> Iterator[Any]:
    """Yield what has to run before a node and has not, each after what it needs."""
    seen: set[Any] = set()
    open_: list[tuple[Any, bool]] = [(node, False)]
    while open_:
        inner, is_done = open_.pop()
        if is_done:
            if inner is not node:
                yield inner
            continue
        if inner in seen or inner in sequence or not inner.op.startswith("call_"):
            continue
        if inner is not node and inner.name in fixed:
            raise MemoptError(f"the order has {node.name} before {inner.name}, which it needs")
        seen.add(inner)
        open_.append((inner, True))
        open_ += [(operand, False) for operand in reversed(inner.all_input_nodes)]


def run_program(program: Program, leaves: Sequence[Any], call: Call) -> Any:
    """Run a program on the leaves of the step's state and inputs, each node by `call`; return what
    the step returns."""
    module = program.traced.graph_module
    map_arg = pytorch("torch.fx").node.map_arg
    values: dict[Any, Any] = {}
    given = iter(leaves)
    for node in module.graph.nodes:
        if node.op == "placeholder":
            values[node] = next(given)
        elif node.op == "get_attr":
            values[node] = attribute_of(module, node.target)
    for node, dropped in ((line.node, line.dropped) for line in program.lines):
        args = map_arg(node.args, values.__getitem__)
        kwargs = map_arg(node.kwargs, values.__getitem__)
        values[node] = call(node, args, kwargs)
        del args, kwargs
        for dead in dropped:
            del values[dead]
    result = next(node for node in module.graph.nodes if node.op == "output")
    return module.graph.process_outputs(map_arg(result.args[0], values.__getitem__))


def pairs_of(node: Any, value: Any) -> list[tuple[Any, Any]]:
    """Return each fake tensor that a node makes beside the real one. Raises MemoptError."""
    fake, real = list(tensors_in(node.meta.get("val"))), list(tensors_in(value))
    if len(fake) != len(real):
        raise MemoptError(f"{node.name} gives {len(real)} tensors, by its trace {len(fake)}")
    return list(zip(fake, real, strict=True))


def address_of(tensor: Any) -> int:
    """Return the address of a tensor's storage, 0 for one without bytes."""
    return tensor.untyped_storage().data_ptr()


def copied(nest: Any) -> Any:
    """Return a nest of tensors in storages of their own; those that share one share one again."""
    torch, tree = pytorch(), pytorch("torch.utils._pytree")
    storages: dict[int, Any] = {}

    def copy(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        storage = leaf.untyped_storage()
        if storage._cdata not in storages:
            storages[storage._cdata] = storage.clone()
        base = storages[storage._cdata]
        fresh = torch.empty(0, dtype=leaf.dtype, device=leaf.device)
        return fresh.set_(base, leaf.storage_offset(), leaf.size(), leaf.stride())

    return tree.tree_map(copy, nest)
