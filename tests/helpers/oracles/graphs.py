"""The JSON graphs of shared/graphs as memory graphs, with their MANIFEST's conventions.

A second reading of the format beside the project's own frontend, so that the solvers are tested
without it: `frelu` merges a Relu into its producer where it is the only reader, `view` makes
Unsqueeze, Squeeze, Reshape and Flatten free aliases. Alignment 1. In place only if asked for: the
HMCOS rule, by which an Add overwrites its first operand of the same size that dies there.
"""

import json
from pathlib import Path
from typing import Any

from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph

VIEWS = {"Unsqueeze", "Squeeze", "Reshape", "Flatten"}


def optima(shared: Path) -> list[dict[str, Any]]:
    """The rows of optima.json: graph, prepare, operators, rpo, lower_bound, optimum, ..."""
    rows: list[dict[str, Any]] = json.loads((shared / "graphs" / "optima.json").read_text())
    return rows


def load(shared: Path, name: str, prepare: str, *, inplace: bool = False) -> MemoryGraph:
    """The graph `name` under `prepare` ("", "frelu" or "frelu,view")."""
    data: dict[str, Any] = json.loads((shared / "graphs" / f"{name}.json").read_text())
    return from_json(data, set(filter(None, prepare.split(","))), inplace)


def from_json(data: dict[str, Any], prepare: set[str], inplace: bool = False) -> MemoryGraph:
    """The memory graph of a decoded JSON graph."""
    tensors: dict[str, dict[str, Any]] = {
        t["name"]: t for t in data["tensors"] if not t.get("is_weight")
    }
    outputs: list[str] = data["graph_outputs"]
    nodes = [
        (n["name"], n["op"], [i for i in n["inputs"] if i in tensors], list(n["outputs"]))
        for n in data["nodes"]
    ]
    nodes = [n for n in nodes if n[2] or any(o in tensors for o in n[3])]
    readers: dict[str, int] = {}
    for _, _, ins, _ in nodes:
        for i in set(ins):
            readers[i] = readers.get(i, 0) + 1
    alias: dict[str, str] = {}

    def root(tensor: str) -> str:
        while tensor in alias:
            tensor = alias[tensor]
        return tensor

    made = {o for _, _, _, outs in nodes for o in outs}
    kept: list[tuple[str, list[str], list[str]]] = []
    adds: set[str] = set()
    for name, op, ins, outs in nodes:
        alone = op == "Relu" and readers[ins[0]] == 1 and ins[0] in made and ins[0] not in outputs
        if ("frelu" in prepare and alone) or ("view" in prepare and op in VIEWS):
            alias[outs[0]] = ins[0]
        else:
            kept.append((name, ins, outs))
            if op == "Add":
                adds.add(name)
    producer = {o: v for v, (_, _, outs) in enumerate(kept) for o in outs}
    writers: dict[str, list[int]] = {}
    reads: dict[str, list[int]] = {}
    for v, (_, ins, outs) in enumerate(kept):
        for o in outs:
            writers.setdefault(o, []).append(v)
        for i in ins:
            reads.setdefault(root(i), []).append(v)
    held = {root(o) for o in outputs}
    groups = tuple(
        Group(
            t,
            info["bytes"],
            tuple(writers.get(t, ())),
            tuple(dict.fromkeys(reads.get(t, ()))),
            t in data["graph_inputs"],
            t in held,
        )
        for t, info in tensors.items()
        if t not in alias and (t in writers or t in data["graph_inputs"])
    )
    predecessors = tuple(
        tuple(dict.fromkeys(producer[root(i)] for i in ins if root(i) in producer))
        for _, ins, _ in kept
    )
    names = tuple(name for name, _, _ in kept)
    number = {g.name: i for i, g in enumerate(groups)}
    candidates = tuple(
        InPlace(v, number[outs[0]], number[root(i)])
        for v, (name, ins, outs) in enumerate(kept)
        for i in dict.fromkeys(ins)
        if name in adds and groups[number[root(i)]].size == groups[number[outs[0]]].size
    )
    return MemoryGraph(names, predecessors, groups, (), candidates if inplace else ())
