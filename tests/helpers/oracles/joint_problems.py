"""Random problems of an order with its placement."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product

from memopt.solvers.problems.memory_graph import (
    InPlace,
    MemoryGraph,
    ProblemError,
    check_order,
)


def orders(graph: MemoryGraph) -> list[tuple[int, ...]]:
    """All of them."""
    result: list[tuple[int, ...]] = []
    for order in permutations(range(len(graph))):
        try:
            check_order(graph, order)
        except ProblemError:
            continue
        result.append(order)
    return result


def choices(graph: MemoryGraph, order: tuple[int, ...]) -> Iterator[MemoryGraph]:
    """The graph with every choice of what is in place: of each operator one of the candidates whose
    operand is touched last by it, or none."""
    of_each: list[list[InPlace | None]] = []
    for at, v in enumerate(order):
        later = set(order[at + 1 :])
        mine = [c for c in graph.inplace if c.operator == v]
        dying = [c for c in mine if later.isdisjoint(graph.touchers[c.operand])]
        of_each.append([None, *dying] if not any(c.forced for c in mine) else [*mine])
    for picked in product(*of_each):
        yield replace(graph, inplace=tuple(c for c in picked if c is not None))
