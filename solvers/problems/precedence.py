"""A memory graph with other predecessors: what it derived of its groups is handed on."""

from dataclasses import replace

from memopt.solvers.problems.memory_graph import MemoryGraph

# What a graph derives from its groups and sizes alone, whatever runs before what.
OF_GROUPS = (
    "sizes",
    "has_parts",
    "extra",
    "writer_masks",
    "reader_masks",
    "toucher_masks",
    "writes",
    "reads",
    "touches",
    "touchers",
    "candidates",
    "first_level",
    "unread_inputs",
)


def preceded(graph: MemoryGraph, predecessors: tuple[tuple[int, ...], ...]) -> MemoryGraph:
    """Return a graph of the same operators and groups with these predecessors."""
    other = replace(graph, predecessors=predecessors)
    vars(other).update({name: vars(graph)[name] for name in OF_GROUPS if name in vars(graph)})
    return other
