"""Variables that another subgraph sets once: what each holds before the first run.

    first_values(data, model, "net.tflite")    # {("", "state"): First(subgraph=1, tensor=0)}

CALL_ONCE runs a subgraph before anything else, in which ASSIGN_VARIABLE gives constants to
variables that VAR_HANDLE finds by name. Where that is all that a file does with subgraphs, its main
one is the function, with `memgraph.variable` that begin so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memopt.formats.tflite import Model, Operator, Subgraph, Tensor
from memopt.frontends.tflite.node import read_options

USERS = frozenset({"ASSIGN_VARIABLE", "CALL_ONCE", "READ_VARIABLE", "VAR_HANDLE"})
Name = tuple[str, str]
"""Container and name."""


@dataclass(frozen=True)
class First:
    """A constant of a subgraph."""

    subgraph: int
    tensor: int


def variable_name(options: Mapping[str, Any]) -> Name:
    """The variable that a VAR_HANDLE finds."""
    container, name = (options.get(key) or b"" for key in ("container", "sharedName"))
    return _text(container), _text(name)


def _text(word: bytes | str) -> str:
    return word.decode("utf-8", "backslashreplace") if isinstance(word, bytes) else word


def first_values(data: bytes, model: Model, place: str) -> dict[Name, First]:
    """Return the value with which each variable of the main subgraph begins; none if the file
    does anything else with subgraphs and variables. Raises MemoptError for options that cannot
    be read."""
    first: dict[Name, First] = {}
    called = _called(data, model.subgraphs[0], f"{place}: subgraph 0")
    if set(called) != set(range(1, len(model.subgraphs))):
        return {}
    for index in called:
        graph = model.subgraphs[index]
        names = _names(data, graph, f"{place}: subgraph {index}")
        if graph.inputs or graph.outputs or names is None:
            return {}
        for operator in graph.operators:
            if operator.name == "VAR_HANDLE":
                continue
            tensor = operator.inputs[1] if operator.name == "ASSIGN_VARIABLE" else -1
            if tensor < 0 or not _is_plain(graph.tensors[tensor]):
                return {}
            first[names[operator.inputs[0]]] = First(index, tensor)
    return first if called and _is_used_so(data, model, first, f"{place}: subgraph 0") else {}


def _called(data: bytes, graph: Subgraph, place: str) -> Sequence[int]:
    """The subgraphs that run once, if they do before variables are used."""
    called: list[int] = []
    for number, operator in enumerate(graph.operators):
        if operator.name in ("READ_VARIABLE", "ASSIGN_VARIABLE"):
            break
        if operator.name == "CALL_ONCE":
            options = read_options(data, operator, f"{place} operator {number} (CALL_ONCE)")
            called.append(int(options.get("initSubgraphIndex", 0)))
    once = sum(o.name == "CALL_ONCE" for o in graph.operators)
    return list(dict.fromkeys(called)) if once == len(called) else ()


def _names(data: bytes, graph: Subgraph, place: str) -> dict[int, Name] | None:
    """The names of a subgraph's handles; None if one is used but to read and assign."""
    names: dict[int, Name] = {}
    for number, operator in enumerate(graph.operators):
        if operator.name == "VAR_HANDLE" and len(operator.outputs) == 1:
            options = read_options(data, operator, f"{place} operator {number} (VAR_HANDLE)")
            names[operator.outputs[0]] = variable_name(options)
            continue
        reads, assigns = (operator.name == f"{n}_VARIABLE" for n in ("READ", "ASSIGN"))
        if _sizes(operator) == ((1, 1) if reads else (2, 0)) and (reads or assigns):
            if operator.inputs[0] not in names or (operator.inputs[-1] in names and assigns):
                return None
        elif names.keys() & {*operator.inputs} or reads or assigns:
            return None
    return None if names.keys() & {*graph.outputs} else names


def _sizes(operator: Operator) -> tuple[int, int]:
    return len(operator.inputs), len(operator.outputs)


def _is_plain(tensor: Tensor) -> bool:
    readable = tensor.quantization is None or tensor.quantization.readable
    return tensor.is_constant and not tensor.is_variable and tensor.sparsity is None and readable


def _is_used_so(data: bytes, model: Model, found: Mapping[Name, First], place: str) -> bool:
    """Return whether all that is read and assigned is of the shape and type that was set."""
    graph = model.subgraphs[0]
    names = _names(data, graph, place)
    if names is None:
        return False
    for operator in graph.operators:
        if operator.name not in ("READ_VARIABLE", "ASSIGN_VARIABLE"):
            continue
        first = found.get(names[operator.inputs[0]])
        tensor = (operator.outputs or operator.inputs)[-1]
        if first is None or tensor < 0:
            return False
        held, used = model.subgraphs[first.subgraph].tensors[first.tensor], graph.tensors[tensor]
        if (held.shape, held.type) != (used.shape, used.type):
            return False
    return True
