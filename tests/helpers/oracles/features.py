"""Which features of the model (theory.md section 1) a problem has, by name.

A view is a further reader (or, where it writes, a further writer) of its base's storage group: in a
problem it shows as `several readers`, `several writers` or `update`. How views become groups is
tested on functions (`test_functions.py`).
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from memopt.solvers.problems.memory_graph import Group, MemoryGraph
from memopt.solvers.theory.ideals import ancestors


def features(graph: MemoryGraph) -> set[str]:
    """All features that `graph` has. Sizes that are 0 bytes count for `0 bytes` alone."""
    found = {name for g in graph.groups if g.size for name in _of_group(graph, g)}
    found |= {name for v in range(len(graph)) for name in _of_operator(graph, v)}
    found |= {"0 bytes" for g in graph.groups if not g.size}
    if any(g.size % graph.alignment for g in graph.groups):
        found.add("alignment")
    results = {c.result for c in graph.inplace}
    if any(c.operand in results for c in graph.inplace):
        found.add("in-place chain")
    return found


def _of_group(graph: MemoryGraph, g: Group) -> Iterator[str]:
    writers, readers = set(g.writers), set(g.readers)
    if g.is_input:
        yield "input"
        if g.is_output:
            yield "kept input"
        if writers:
            yield "updated input"
        if not (g.is_output or writers or readers):
            yield "unread input"
        if len(readers) > 1:
            yield "input read twice"
    else:
        if g.is_output:
            yield "live output, read again" if readers - writers else "live output"
        elif not readers - writers:
            yield "dead output"
        if len(readers) > 1:
            yield "several readers"
    if writers & readers:
        yield "update"
    if len(writers) > 1:
        yield "several writers"
        up = ancestors(graph)
        if any(not up[r] >> w & 1 for r in readers - writers for w in writers):
            yield "read in part"


def _of_operator(graph: MemoryGraph, v: int) -> Iterator[str]:
    made = [g for g in graph.writes[v] if graph.sizes[g]]
    if len(made) > 1:
        yield "several results"
    if not made:
        yield "no results"
    if graph.workspace[v]:
        yield "workspace" if graph.workspace[v] > 0 else "negative workspace"
    offered = {c.operand for c in graph.candidates[v] if graph.sizes[c.result]}
    if offered:
        yield "in place"
    if len(offered) > 1:
        yield "in place of either operand"
    for p in graph.predecessors[v]:
        if p > v:
            yield "numbered otherwise"
        if not set(graph.writes[p]) & {*graph.reads[v], *graph.writes[v]}:
            yield "control edge"


FEATURES = {
    "0 bytes",
    "alignment",
    "control edge",
    "dead output",
    "in place",
    "in place of either operand",
    "in-place chain",
    "input",
    "input read twice",
    "kept input",
    "live output",
    "live output, read again",
    "negative workspace",
    "no results",
    "numbered otherwise",
    "read in part",
    "several readers",
    "several results",
    "several writers",
    "unread input",
    "update",
    "updated input",
    "workspace",
}


def pairs(found: set[str]) -> Counter[frozenset[str]]:
    """Every two of the features."""
    return Counter(map(frozenset, combinations(sorted(found), 2)))
