"""Zhong's Table VI on the shared graphs, and a graph of 10,000 operators."""

import random
from pathlib import Path

import pytest
from benchmarks.partition_table import table
from graphs import load, optima
from printed_parts import as_printed

from memopt.solvers.partitioning import partition
from memopt.solvers.partitioning.parts import price
from memopt.solvers.problems.memory_graph import Group, MemoryGraph
from memopt.solvers.published.fusion import zhong
from memopt.solvers.scheduling import partitioned
from memopt.solvers.theory.fusion import contract

OPTIMA = {"hrnet_w18_small_v1": 6368 * 1024, "nasnet_a_imagenet": 4_619_904}


@pytest.mark.parametrize("name", OPTIMA)
def test_table_vi(shared: Path, name: str) -> None:
    """K = 1..6: the optimum at every K, and never worse than the naive partition.

    Zhong: HRNet 6368 KB up to K = 5 and 6400 KB at K = 6; NASNet 3943 KB throughout.
    """
    row = next(r for r in optima(shared) if r["graph"] == name)
    assert row["optimum"] == OPTIMA[name]
    rows = list(table(load(shared, name, "frelu"), range(1, 7)))
    assert [(r.k, r.partition) for r in rows] == [
        (k, kind) for k in range(1, 7) for kind in ("multilevel", "naive")
    ]
    for ours, plain in zip(rows[::2], rows[1::2], strict=True):
        assert ours.peak == OPTIMA[name] and ours.exact, ours
        assert ours.peak <= plain.peak and ours.cuts <= plain.cuts, (ours, plain)
        assert len(ours.operators) == ours.k and sum(ours.operators) == sum(plain.operators)


@pytest.mark.parametrize("name", OPTIMA)
def test_table_vi_by_algorithm_2_to_the_letter(shared: Path, name: str) -> None:
    """One part alone holds the peak of the reverse post-order, and solving it is enough here."""
    graph = load(shared, name, "frelu")
    small, _ = contract(graph, zhong.modules(graph))
    for k in range(1, 7):
        found = as_printed(small, partition(small, k))
        assert max(found.peaks) == OPTIMA[name], k
        assert len(found.solved) == 1


def test_a_partition_can_cost(shared: Path) -> None:
    """The naive one does: HRNet in five parts, 7 % above the optimum."""
    graph = load(shared, "hrnet_w18_small_v1", "frelu")
    naive = next(r for r in table(graph, (5,)) if r.partition == "naive")
    assert naive.exact and naive.peak > OPTIMA["hrnet_w18_small_v1"]


@pytest.mark.parametrize("prepare", ["frelu", "frelu,view"])
def test_in_place_and_source_graphs(shared: Path, prepare: str) -> None:
    """HRNet with in-place Add: 5120 KB (theory.md section 3), also in four parts."""
    graph = load(shared, "hrnet_w18_small_v1", prepare, inplace=True)
    found = partitioned.solve(graph, partition(graph, 4))
    assert (found.peak, found.optimal) == (5120 * 1024, True)


def long_graph(operators: int, reach: int = 40) -> MemoryGraph:
    rng = random.Random(operators)
    readers: list[list[int]] = [[] for _ in range(operators)]
    predecessors: list[tuple[int, ...]] = [()]
    for v in range(1, operators):
        count = rng.choice((1, 1, 2, 3))
        before = sorted({rng.randrange(max(0, v - reach), v) for _ in range(count)})
        predecessors.append(tuple(before))
        for u in before:
            readers[u].append(v)
    groups = tuple(
        Group(f"t{v}", rng.randrange(1, 1000), (v,), tuple(rs), is_output=not rs)
        for v, rs in enumerate(readers)
    )
    return MemoryGraph(tuple(map(str, range(operators))), tuple(predecessors), groups)


@pytest.mark.deep
def test_ten_thousand_operators() -> None:
    graph = long_graph(10_000)
    found = partition(graph, 8)
    assert price(graph, found) <= 0.8 * price(graph, partition(graph, 8, "naive"))
    assert max(found.sizes) <= 1875 and min(found.sizes) > 0
    assert partition(graph, "auto", "naive").k == 79
