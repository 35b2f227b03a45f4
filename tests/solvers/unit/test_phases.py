"""Orders phase by phase: of rows that others read as a whole."""

import random

import pytest
from oracles import optimum, random_graph

from memopt.solvers.problems.memory_graph import Group, MemoryGraph, profile
from memopt.solvers.scheduling import phases
from memopt.solvers.scheduling.methods import auto, fwd_rpo, greedy, rpo

ROWS = 12
BYTES = 8
GRAPHS = 2_000


def attention(layers: int) -> MemoryGraph:
    """Layers that normalize each row twice, for its key and for its query, which reads all keys and
    makes a row of the next layer with the row itself."""
    before: list[tuple[int, ...]] = []

    def add(*read: int) -> int:
        before.append(read)
        return len(before) - 1

    rows = [add() for _ in range(ROWS)]
    for _ in range(layers):
        keys = [add(add(row)) for row in rows]
        queries = [add(add(row)) for row in rows]
        rows = [add(*pair, *keys) for pair in zip(rows, queries, strict=True)]
    last = add(*rows)
    groups = [
        Group(
            str(v),
            BYTES,
            writers=(v,),
            readers=tuple(r for r, read in enumerate(before) if v in read),
            is_output=v == last,
        )
        for v in range(len(before))
    ]
    return MemoryGraph(tuple(map(str, range(len(before)))), tuple(before), tuple(groups))


def test_rows_of_two_layers_take_no_more_than_keys_and_rows() -> None:
    """Queries wait for no key, nor keys of the second layer for those of the first to die."""
    graph = attention(2)
    order = phases.order(graph)
    assert order is not None and sorted(order) == list(range(len(graph)))
    peak = profile(graph, order).peak
    assert peak == (2 * ROWS + 2) * BYTES
    others = [method.order(graph) for method in (greedy, rpo, fwd_rpo)]
    assert min(profile(graph, other).peak for other in others) >= (3 * ROWS) * BYTES
    assert profile(graph, auto.heuristics(graph)[0]).peak == peak


def test_phases_of_what_reads_few_tensors_are_one() -> None:
    assert phases.order(attention(0)) is None


def test_orders_are_orders(fuzz: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of groups with several writers and of what nobody reads; never below the optimum."""
    monkeypatch.setattr(phases, "MANY", 2)
    found = 0
    for seed in range(max(100, int(GRAPHS * fuzz))):
        graph = random_graph(random.Random(seed))
        order = phases.order(graph)
        if order is not None:
            found += 1
            assert profile(graph, order).peak >= optimum(graph)
    assert found > 10
