"""Memory graphs backwards, for T1 and kill-moves from the end of the graph.

An order read from its last operator to its first takes operators back, one after the other. What
is resident between two of them is what was resident before, so with

    D' = V - D            the operators taken back
    predecessors' = successors, is_input' = is_output, is_output' = is_input
    writers' = all that touch the group, readers' = its writers

t'(D') = t(V - D'), and the step of v is the same from both sides: the groups that are live while v
runs, and its workspace. So every order backwards has the steps of the order, and a search over the
ideals of this graph commits (T1) where theory.md says "mirrored from the end of the graph".

What this needs, and `reversible` asks for:

- A group is over, backwards, when its writers are taken back. So whoever touches a group that is no
  input runs after one of its writers.
- What runs in place saves bytes the sooner the more has run; backwards it would be the less, and
  T1, kill-moves and the bound rest on costs that never grow. So each operator runs in place in
  every order, as behind a sole reader, or in none; what it saves is then workspace it gives back.
- An input that nobody touches exists through the first step only, whatever that is.

The peaks differ in one thing: t(V) instead of t({}) counts beside the steps. With workspaces >= 0
neither is above the steps; otherwise a bound proven backwards holds only where it is above t(V).
"""

from memopt.solvers.problems.memory_graph import Group, MemoryGraph, bits
from memopt.solvers.theory.ideals import ancestors


def reversible(graph: MemoryGraph) -> bool:
    """Return whether every order of `graph` has the same steps backwards in `backward(graph)`."""
    if graph.unread_inputs:
        return False
    up = ancestors(graph)
    saved = always_saved(graph)
    for c in graph.inplace:
        others = graph.toucher_masks[c.operand] & ~(1 << c.operator)
        never = any(up[u] >> c.operator & 1 for u in bits(others))
        if graph.sizes[c.result] and not never and not saved[c.operator]:
            return False
    for g, group in enumerate(graph.groups):
        if not group.is_input and graph.sizes[g]:
            writers = graph.writer_masks[g]
            if any(not up[v] & writers for v in bits(graph.toucher_masks[g] & ~writers)):
                return False
    return True


def always_saved(graph: MemoryGraph) -> list[int]:
    """Bytes that each operator saves in every order, for an operand that it can overwrite is
    touched before it alone; they are those of its result, whichever operand that is."""
    up, saved = ancestors(graph), [0] * len(graph)
    for c in graph.inplace:
        others = graph.toucher_masks[c.operand] & ~(1 << c.operator)
        if not others & ~up[c.operator]:
            saved[c.operator] = graph.sizes[c.result]
    return saved


def backward(graph: MemoryGraph) -> MemoryGraph:
    """A `reversible` graph from its end: operator v is n - 1 - v there, and orders are read from
    their ends. Its operators are numbered topologically if those of `graph` are."""
    last = len(graph) - 1

    def mirrored(operators: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(last - v for v in operators))

    groups = tuple(
        Group(
            g.name,
            g.size,
            mirrored((*g.writers, *g.readers)),
            mirrored(g.writers),
            is_input=g.is_output or not (g.writers or g.readers),  # 0 bytes that nobody touches
            is_output=g.is_input,
        )
        for g in graph.groups
    )
    return MemoryGraph(
        graph.names[::-1],
        tuple(mirrored(s) for s in reversed(graph.successors)),
        groups,
        tuple(e - s for e, s in zip(graph.extra, always_saved(graph), strict=True))[::-1],
        (),
        graph.alignment,
    )


def forward_order(order: tuple[int, ...]) -> tuple[int, ...]:
    """An order of `backward(graph)` as the order of `graph` that it stands for."""
    return tuple(len(order) - 1 - v for v in reversed(order))
