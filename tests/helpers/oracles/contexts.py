"""Modules in surroundings: what runs beside them, and perhaps before and after all of them.

Random graphs rarely hold a module with several segments; sequences of random sizes do.
"""

import random
from collections.abc import Sequence
from dataclasses import replace

from oracles import optimum, random_graph, random_order

from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph, ProblemError, profile
from memopt.solvers.theory.chains import Chain, chain_of, contract_chains
from memopt.solvers.theory.fusion import Sides, expand, inside, separable
from memopt.solvers.theory.ideals import renumber
from memopt.solvers.theory.segments import ALL_CHAIN_RULES, ChainRules


def sequences(rng: random.Random, operators: int) -> MemoryGraph:
    """One or two sequences of operators, with dead ends."""
    count = rng.randint(1, operators)
    tails: list[Group | None] = [None] * rng.choice((1, 1, 2))
    groups: list[Group] = []
    predecessors: list[tuple[int, ...]] = []
    for k in range(len(tails)):
        if rng.random() < 0.7:
            tails[k] = Group(f"x{k}", _size(rng), is_input=True)
    for v in range(count):
        k = rng.randrange(len(tails))
        tail = tails[k]
        predecessors.append(tail.writers if tail else ())
        if tail:
            groups.append(replace(tail, readers=(v,)))
        tails[k] = Group(f"t{v}", _size(rng), writers=(v,))
        if rng.random() < 0.3:
            groups.append(Group(f"d{v}", _size(rng), writers=(v,), is_output=rng.random() < 0.7))
    groups += [replace(t, is_output=True) for t in tails if t and t.writers]
    workspace = tuple(rng.choice((0, 0, rng.randint(0, 20))) for _ in range(count))
    names = tuple(f"c{v}" for v in range(count))
    return MemoryGraph(names, tuple(predecessors), tuple(groups), workspace)


def _size(rng: random.Random) -> int:
    return rng.choice((0, 1, 2, 3, 5, 8, 10, 13, 20, rng.randint(0, 30)))


def piece(rng: random.Random, operators: int) -> MemoryGraph:
    """Something to be a module, or to run beside one."""
    if rng.random() < 0.35:
        return random_graph(rng, operators, unread=False)
    return sequences(rng, operators + 1)


def beside(pieces: list[MemoryGraph]) -> tuple[MemoryGraph, list[int]]:
    """All pieces in one graph, with the alignment of the first, and the mask of each."""
    names: list[str] = []
    predecessors: list[tuple[int, ...]] = []
    groups: list[Group] = []
    workspace: list[int] = []
    inplace: list[InPlace] = []
    masks: list[int] = []
    for g in pieces:
        n, m = len(names), len(groups)

        def moved(operators: tuple[int, ...], by: int = n) -> tuple[int, ...]:
            return tuple(v + by for v in operators)

        names += [f"{name}.{len(masks)}" for name in g.names]
        predecessors += map(moved, g.predecessors)
        groups += [replace(x, writers=moved(x.writers), readers=moved(x.readers)) for x in g.groups]
        workspace += g.workspace
        inplace += [InPlace(c.operator + n, c.result + m, c.operand + m) for c in g.inplace]
        masks.append((1 << len(names)) - (1 << n))
    graph = MemoryGraph(
        tuple(names),
        tuple(predecessors),
        tuple(groups),
        tuple(workspace),
        tuple(inplace),
        pieces[0].alignment,
    )
    return graph, masks


def framed(rng: random.Random, graph: MemoryGraph) -> MemoryGraph:
    """With one operator before all, which may write the inputs, and one after all."""
    first, last = len(graph), len(graph) + 1
    groups: list[Group] = []
    for g in graph.groups:
        if g.is_input and rng.random() < 0.7:
            g = replace(g, writers=(first, *g.writers), is_input=False)
        reads = g.is_output and rng.random() < 0.7
        if reads or rng.random() < 0.15:
            g = replace(g, readers=(*g.readers, last), is_output=g.is_output and not reads)
        groups.append(g)
    return MemoryGraph(
        (*graph.names, "first", "last"),
        (*(tuple({*p, first}) for p in graph.predecessors), (), tuple(range(last))),
        tuple(groups),
        (*graph.workspace, rng.choice((0, 5)), rng.choice((0, 5))),
        tuple(c for c in graph.inplace if not groups[c.operand].is_output),
        graph.alignment,
    )


def surrounded(
    rng: random.Random, modules: int, operators: int
) -> tuple[MemoryGraph, list[int]] | None:
    """`modules` pieces and one more beside them, numbered topologically; their masks.

    None if the pieces do not go together.
    """
    graph, masks = beside([piece(rng, operators) for _ in range(modules + 1)])
    if rng.random() < 0.6:
        graph = framed(rng, graph)
    try:
        graph.check()
    except ProblemError:
        return None  # in place that needs another alignment
    graph, old = renumber(graph)
    place = {v: i for i, v in enumerate(old)}
    moved = [sum(1 << place[v] for v in place if mask >> v & 1) for mask in masks]
    return graph, moved[:modules]


def module_in(
    rng: random.Random, rules: ChainRules = ALL_CHAIN_RULES
) -> tuple[MemoryGraph, Chain] | None:
    """A random module in its surroundings, and its chain; None if it is no separable one."""
    drawn = surrounded(rng, 1, 4)
    if drawn is None:
        return None
    graph, (members,) = drawn
    sides = Sides.of(graph)
    if not separable(graph, members, sides):
        return None
    sub, operators = inside(graph, members, sides)
    found = chain_of(sub, rules)
    assert found is not None
    first, *rest = [tuple(operators[v] for v in s.operators) for s in found]
    return graph, (first, *rest)


def contracted(rng: random.Random, graph: MemoryGraph, found: list[Chain]) -> int:
    """The optimum of the contracted problem, any order of which has the peak that it says."""
    small, members = contract_chains(graph, found)
    small.check()
    order = random_order(rng, small)
    assert profile(graph, expand(order, members)).peak == profile(small, order).peak
    return optimum(small)


def contracted_differs(graph: MemoryGraph, found: Sequence[Chain]) -> bool:
    """Whether the contracted problem has another optimum, or no order at all."""
    small, _ = contract_chains(graph, found)
    try:
        return optimum(small) != optimum(graph)
    except KeyError:  # a cycle
        return True
