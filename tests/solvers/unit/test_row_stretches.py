"""Stretches of operators, in each rows on demand: against all ways to cut a chain into them."""

import random
from itertools import combinations, pairwise

from row_chains import counts_of_rows, rows_of_a_chain

from memopt.solvers.problems.memory_graph import Group, MemoryGraph, profile
from memopt.solvers.scheduling import row_stretches
from memopt.solvers.scheduling.methods import auto

FULL = 5_000
ABOVE = 1 << 30


def least_peak(graph: MemoryGraph, starts: list[int]) -> int:
    """Return the least peak of all ways to cut the operators into stretches."""
    inner = starts[1:-1]
    cuts = (cut for size in range(len(inner) + 1) for cut in combinations(inner, size))
    return min(profile(graph, order_of(graph, starts, cut)).peak for cut in cuts)


def order_of(graph: MemoryGraph, starts: list[int], cut: tuple[int, ...]) -> list[int]:
    """Return the order of these stretches, from their last operators back."""
    order: list[int] = []

    def run(v: int, first: int) -> None:
        if v not in order:
            for p in graph.predecessors[v]:
                if p >= first:
                    run(p, first)
            order.append(v)

    for first, end in pairwise((0, *cut, starts[-1])):
        for start, stop in reversed(list(pairwise(starts))):
            for v in range(start, stop) if first <= start < end else ():
                run(v, first)
    return order


def test_no_cut_into_stretches_has_a_lower_peak(fuzz: float) -> None:
    """Some networks need one stretch, some several."""
    kinds: set[str] = set()
    for seed in range(round(FULL * fuzz)):
        graph, starts = rows_of_a_chain(rng := random.Random(seed), counts_of_rows(rng))
        order = row_stretches.order(graph, ABOVE)
        assert order is not None and sorted(order) == list(range(len(graph)))
        peak, least = profile(graph, order).peak, least_peak(graph, starts)
        assert peak == least, seed
        single = profile(graph, order_of(graph, starts, ())).peak
        kinds.add("one" if peak == single else "several")
        assert row_stretches.order(graph, least) is None
        assert row_stretches.order(graph, least + 1) == order
    assert kinds == {"one", "several"}


def test_whole_operators_are_no_rows() -> None:
    """Rows of one number of operators, four of each and one fewer."""
    for rows, is_asked in ((row_stretches.FEWEST_ROWS, True), (3, False)):
        graph, _ = rows_of_a_chain(random.Random(1), (rows,) * 6)
        assert (row_stretches.order(graph, ABOVE) is not None) == is_asked
    assert row_stretches.FEWEST_ROWS == 4


def test_a_search_that_begins_there_ends_lower() -> None:
    """So few states of its 1,200 steps are searched that the incumbent decides."""
    graph, _ = rows_of_a_chain(random.Random(4), (48,) * 10 + (24,) * 30)
    peaks = [
        auto.solve(graph, max_states=100, local=False, stretches=on).peak for on in (True, False)
    ]
    assert peaks[0] < peaks[1]


def test_there_are_none_of_whole_operators_nor_of_steps_in_another_order() -> None:
    chain = MemoryGraph(
        ("a", "b"), ((), (0,)), (Group("t", 4, (0,), (1,)), Group("y", 1, (1,), is_output=True))
    )
    assert row_stretches.order(chain, ABOVE) is None
    graph, _ = rows_of_a_chain(random.Random(0), (12, 6, 6))
    last = len(graph) - 1
    groups = [
        Group(
            g.name, g.size, tuple(last - v for v in g.writers), tuple(last - v for v in g.readers)
        )
        for g in graph.groups
    ]
    before = [tuple(last - p for p in graph.predecessors[last - v]) for v in range(len(graph))]
    reversed_graph = MemoryGraph(graph.names, tuple(before), tuple(groups))
    assert row_stretches.order(reversed_graph, ABOVE) is None
