"""Changes after which a certificate has not the one form that there is, one for each rule of it."""

from collections.abc import Callable
from typing import Any


def change(*where: str | int, to: Any) -> Callable[[dict[str, Any]], None]:
    """Sets what is at `where`."""

    def act(found: dict[str, Any]) -> None:
        inside: Any = found
        for key in where[:-1]:
            inside = inside[key]
        inside[where[-1]] = to

    return act


def add(*where: str | int, entry: Any) -> Callable[[dict[str, Any]], None]:
    """Appends to the list at `where`."""

    def act(found: dict[str, Any]) -> None:
        inside: Any = found
        for key in where:
            inside = inside[key]
        inside.append(entry)

    return act


SEARCH: dict[str, Any] = {"kind": "search", "states": [[0, 0]], "commits": [[0, [0]]]}
G = "graph"
FLOW = ("proof", "flows", 0, "flow")
MALFORMED: dict[str, Callable[[dict[str, Any]], None]] = {
    "unknown key": change("note", to=1),
    "unknown key in graph": change(G, "note", to=1),
    "unknown key in group": change(G, "groups", 0, "note", to=1),
    "unknown key in proof": change("proof", "note", to=1),
    "unknown key in flow": change("proof", "flows", 0, "note", to=1),
    "both kinds": change("proof", "states", to=[]),
    "format": change("format", to="memopt certificate 2"),
    "format no text": change("format", to=1),
    "hash no text": change("sha256", to=1),
    "graph no object": change(G, to=[]),
    "order no list": change("order", to={}),
    "order short": change("order", to=[0, 1, 2]),
    "order twice": change("order", to=[0, 1, 2, 2]),
    "order beyond": change("order", to=[0, 1, 2, 4]),
    "peak negative": change("peak", to=-1),
    "peak beyond": change("peak", to=1 << 63),
    "bound negative": change("lower_bound", to=-1),
    "bound null": change("lower_bound", to=None),
    "alignment 0": change(G, "alignment", to=0),
    "alignment true": change(G, "alignment", to=True),
    "names no text": change(G, "names", 0, to=1),
    "names more": add(G, "names", entry="e"),
    "predecessors fewer": change(G, "predecessors", to=[[], [], [0]]),
    "predecessor twice": change(G, "predecessors", 2, to=[0, 0]),
    "predecessors descend": change(G, "predecessors", 3, to=[1, 0]),
    "predecessor negative": change(G, "predecessors", 3, to=[-3]),
    "predecessor beyond": change(G, "predecessors", 3, to=[4]),
    "groups an object": change(G, "groups", to={}),
    "group name": change(G, "groups", 0, "name", to=None),
    "size negative": change(G, "groups", 0, "size", to=-1),
    "size beyond": change(G, "groups", 0, "size", to=1 << 63),
    "flag 1": change(G, "groups", 0, "is_input", to=1),
    "flag null": change(G, "groups", 0, "is_output", to=None),
    "writers twice": change(G, "groups", 1, "writers", to=[0, 0]),
    "readers descend": change(G, "groups", 0, "readers", to=[1, 0]),
    "reader true": change(G, "groups", 0, "readers", to=[0, True]),
    "workspace short": change(G, "workspace", to=[0, 0, 0]),
    "workspace beyond": change(G, "workspace", 0, to=-(1 << 63) - 1),
    "workspace false": change(G, "workspace", 0, to=False),
    "choice of two": change(G, "inplace", to=[[2, 3]]),
    "choice twice": change(G, "inplace", to=[[2, 3, 1], [2, 3, 1]]),
    "choice beyond": change(G, "inplace", to=[[2, 3, 5]]),
    "operator in place beyond": change(G, "inplace", to=[[4, 3, 1]]),
    "kind": change("proof", "kind", to="search"),
    "kind null": change("proof", "kind", to=None),
    "operator beyond": change("proof", "operator", to=4),
    "operator negative": change("proof", "operator", to=-2),
    "operand text": change("proof", "flows", 0, "operand", to="0"),
    "operand false": change("proof", "flows", 0, "operand", to=False),
    "operand beyond": change("proof", "flows", 0, "operand", to=5),
    "operand twice": add("proof", "flows", entry={"operand": None, "flow": []}),
    "arc twice": add(*FLOW, entry=[4, 5, 0]),
    "arc of two": add(*FLOW, entry=[4, 6]),
    "arc of four": add(*FLOW, entry=[4, 6, 0, 0]),
    "arc beyond": add(*FLOW, entry=[4, 16, 0]),
    "arc negative": add(*FLOW, entry=[-1, 5, 0]),
    "amount beyond": change(*FLOW, 0, 2, to=1 << 63),
    "amount true": change(*FLOW, 0, 2, to=True),
    "parent beyond": change("proof", to=SEARCH | {"states": [[1, 0]]}),
    "parent negative": change("proof", to=SEARCH | {"states": [[-1, 0]]}),
    "parent true": change("proof", to=SEARCH | {"states": [[0, 0], [True, 1]]}),
    "state empty": change("proof", to=SEARCH | {"states": [[]]}),
    "state no list": change("proof", to=SEARCH | {"states": [0]}),
    "operators of a state twice": change("proof", to=SEARCH | {"states": [[0, 0, 0]]}),
    "operators of a state beyond": change("proof", to=SEARCH | {"states": [[0, 4]]}),
    "commit twice": change("proof", to=SEARCH | {"commits": [[0, [0]], [0, [0]]]}),
    "commit of one": change("proof", to=SEARCH | {"commits": [[0]]}),
    "commit of none": change("proof", to=SEARCH | {"commits": [[]]}),
    "commit of four": change("proof", to=SEARCH | {"commits": [[0, [0], [], []]]}),
    "commit of nobody": change("proof", to=SEARCH | {"commits": [[2, [0]]]}),
    "operators of a commit twice": change("proof", to=SEARCH | {"commits": [[0, [0, 0]]]}),
    "arc of a commit": change("proof", to=SEARCH | {"commits": [[0, [0], [[4, 5]]]]}),
    "arc of a commit twice": change(
        "proof", to=SEARCH | {"commits": [[0, [0], [[4, 5, 0], [4, 5, 0]]]]}
    ),
    "backward 1": change("proof", to=SEARCH | {"backward": 1}),
    "states missing": change("proof", to={"kind": "search", "commits": []}),
    "proof a list": change("proof", to=["flows"]),
}
