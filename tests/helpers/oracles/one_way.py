"""Certificates by hand, and graphs whose steps differ if they are read from the end."""

from typing import Any

from memopt.solvers.problems.memory_graph import Group, MemoryGraph
from memopt.solvers.theory.certificates import digest, graph_dict

Certificate = dict[str, Any]
NOTHING: Certificate = {"kind": "flow", "operator": 0, "flows": []}  # proves a bound of 0


def claim(
    graph: MemoryGraph, peak: int, bound: int = 0, proof: Certificate = NOTHING
) -> Certificate:
    """A certificate of the order 0, 1, 2, ... in the right form, whatever it says."""
    return {
        "format": "memopt certificate 1",
        "graph": graph_dict(graph),
        "sha256": digest(graph),
        "order": list(range(len(graph))),
        "peak": peak,
        "lower_bound": bound,
        "proof": proof,
    }


def search(states: list[list[int]], commits: list[list[Any]], **more: bool) -> Certificate:
    """The proof of a search, with whatever steps."""
    return {"kind": "search", "states": states, "commits": commits, **more}


UNREAD = MemoryGraph(
    ("a", "b"),
    ((), (0,)),
    (
        Group("unread", 7, is_input=True),
        Group("t", 4, writers=(0,), readers=(1,)),
        Group("y", 5, writers=(1,), is_output=True),
    ),
)
ENDS_ABOVE = MemoryGraph(
    ("v",), ((),), (Group("y", 10, writers=(0,), is_output=True),), workspace=(-5,)
)
READ_BEFORE_WRITTEN = MemoryGraph(
    ("u", "z", "w"),
    ((), (0,), (1,)),
    (Group("g", 10, writers=(2,), readers=(0,)),),
    workspace=(0, 8, 0),
)
