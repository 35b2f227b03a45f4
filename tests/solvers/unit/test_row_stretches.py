"""Stretches of operators, in each rows on demand: against all ways to cut a chain into them."""

import random
from itertools import combinations, pairwise

from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph, profile
from memopt.solvers.scheduling import row_stretches

FULL = 5_000
ABOVE = 1 << 30


def rows_of_a_chain(rng: random.Random) -> tuple[MemoryGraph, list[int]]:
    """Draw operators of windows of three rows, some with a stride of two, some with a sum of what
    stands further before, in place; return their graph, operator by operator, and the first step of
    each and behind the last."""
    counts = [12]
    for _ in range(rng.randint(1, 5)):
        counts.append(counts[-1] // rng.choice((1, 1, 2)) if counts[-1] >= 6 else counts[-1])
    sizes = [rng.choice((1, 2, 4, 8, 24)) for _ in counts]
    starts = [sum(counts[:k]) for k in range(len(counts) + 1)]
    reads: list[list[int]] = []
    inplace: list[InPlace] = []
    for k, count in enumerate(counts):
        stride = counts[k - 1] // count if k else 1
        skip = next((j for j in range(k - 2, -1, -1) if counts[j] == count), None)
        is_sum = skip is not None and rng.random() < 0.3
        for r in range(count):
            window = range(max(0, stride * r - 1), min(counts[k - 1], stride * r + 2)) if k else ()
            reads.append([starts[k - 1] + q for q in window])
            if is_sum and skip is not None:
                reads[-1].append(starts[skip] + r)
                if sizes[skip] >= sizes[k]:
                    inplace.append(InPlace(len(reads) - 1, len(reads) - 1, starts[skip] + r))
    groups = [
        Group(
            str(v),
            sizes[k],
            (v,),
            tuple(r for r, read in enumerate(reads) if v in read),
            is_output=k == len(counts) - 1,
        )
        for k in range(len(counts))
        for v in range(starts[k], starts[k + 1])
    ]
    before = [(*read, *([] if v in starts else [v - 1])) for v, read in enumerate(reads)]
    names = tuple(map(str, range(len(reads))))
    graph = MemoryGraph(names, tuple(before), tuple(groups), inplace=tuple(inplace))
    graph.check()
    return graph, starts


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
        graph, starts = rows_of_a_chain(random.Random(seed))
        order = row_stretches.order(graph, ABOVE)
        assert order is not None and sorted(order) == list(range(len(graph)))
        peak, least = profile(graph, order).peak, least_peak(graph, starts)
        assert peak == least, seed
        single = profile(graph, order_of(graph, starts, ())).peak
        kinds.add("one" if peak == single else "several")
        assert row_stretches.order(graph, least) is None
        assert row_stretches.order(graph, least + 1) == order
    assert kinds == {"one", "several"}


def test_there_are_none_of_whole_operators_nor_of_steps_in_another_order() -> None:
    chain = MemoryGraph(
        ("a", "b"), ((), (0,)), (Group("t", 4, (0,), (1,)), Group("y", 1, (1,), is_output=True))
    )
    assert row_stretches.order(chain, ABOVE) is None
    graph, _ = rows_of_a_chain(random.Random(0))
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
