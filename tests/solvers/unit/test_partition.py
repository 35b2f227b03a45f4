"""What partitions refuse, and small facts that a person can check by hand."""

from typing import Any

import pytest

from memopt.solvers.partitioning import Partition, cut_levels, partition, split
from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph, ProblemError, profile
from memopt.solvers.scheduling import partitioned


def chain(*sizes: int) -> MemoryGraph:
    """x0 -> 0 -> x1 -> 1 -> ... with these sizes in bytes."""
    n = len(sizes) - 1
    groups = [Group("x0", sizes[0], (), (0,), is_input=True)]
    groups += [
        Group(f"x{v + 1}", sizes[v + 1], (v,), (v + 1,) if v + 1 < n else (), is_output=v + 1 == n)
        for v in range(n)
    ]
    return MemoryGraph(
        tuple(f"op{v}" for v in range(n)),
        tuple((v - 1,) if v else () for v in range(n)),
        tuple(groups),
    )


def test_the_cheapest_balanced_cut_is_taken() -> None:
    graph = chain(9, 8, 7, 1, 6, 5, 4)
    found = partition(graph, 2)
    assert found == Partition((0, 0, 0, 1, 1, 1), 2)
    assert cut_levels(graph, found) == (1,)
    assert partition(graph, 2, "naive") == found  # three each
    # 1 B is also the cheapest place where the smaller part may have one operator
    assert partition(chain(9, 1, 7, 8, 6, 5, 4), 2, balance=1.0).sizes == (1, 5)
    assert partition(chain(9, 1, 7, 8, 6, 5, 4), 2, balance=0.0).sizes == (3, 3)


def test_a_group_counts_once_per_cut_whoever_reads_it() -> None:
    """x is read in part 1 twice and in part 2, and y is the output: x at both cuts, y at one."""
    graph = MemoryGraph(
        ("make", "a", "b", "c"),
        ((), (0,), (0,), (0,)),
        (Group("x", 100, (0,), (1, 2, 3)), Group("y", 7, (1,), (), is_output=True)),
    )
    found = Partition((0, 1, 1, 2), 3)
    assert cut_levels(graph, found) == (100, 107)
    parts = split(graph, found)
    assert [p.passing for p in parts] == [0, 0, 7]
    assert [p.graph.level(0) for p in parts] == [0, 100, 107]


def test_the_peak_of_a_part_counts_what_passes_through() -> None:
    """50 B made in part 0 for part 2 lie there while part 1 runs its 30 B."""
    graph = MemoryGraph(
        ("first", "second", "third"),
        ((), (0,), (0, 1)),
        (
            Group("skip", 50, (0,), (2,)),
            Group("a", 1, (0,), (1,)),
            Group("b", 2, (1,), (2,)),
            Group("y", 3, (2,), (), is_output=True),
        ),
        (0, 30, 0),
    )
    found = partitioned.solve_parts(graph, Partition((0, 1, 2), 3))
    assert found.peaks == (51, 50 + 1 + 2 + 30, 50 + 2 + 3)
    assert found.solved == (1,) and found.exact


def test_in_place_ends_at_a_cut_that_a_later_part_reads_behind() -> None:
    """relu may write over x only if nobody reads x any more, in this part or a later one."""
    graph = MemoryGraph(
        ("relu", "other"),
        ((), ()),
        (
            Group("x", 8, (), (0, 1), is_input=True),
            Group("y", 8, (0,), (), is_output=True),
            Group("z", 1, (1,), (), is_output=True),
        ),
        (),
        (InPlace(0, 1, 0),),
    )
    assert split(graph, Partition((0, 1), 2))[0].graph.inplace == ()
    assert split(graph, Partition((1, 0), 2))[1].graph.inplace == (InPlace(0, 1, 0),)
    assert partitioned.solve(graph, Partition((1, 0), 2)).peak == 9
    assert partitioned.solve(graph, Partition((0, 1), 2)).peak == 17


def test_what_is_proven_is_only_what_holds_for_all_orders() -> None:
    """10 first is the better order, and the partition forbids it: no proof, and a true bound."""
    graph = MemoryGraph(
        ("wide", "narrow"),
        ((), ()),
        (
            Group("a", 10, (), (0,), is_input=True),
            Group("b", 1, (0,), (), is_output=True),
            Group("c", 9, (1,), (), is_output=True),
        ),
        (5, 0),
    )
    good = partitioned.solve(graph, Partition((0, 1), 2))
    bad = partitioned.solve(graph, Partition((1, 0), 2))
    assert (good.peak, good.optimal) == (16, True)
    assert (bad.peak, bad.lower_bound, bad.proof, bad.optimal) == (25, 16, "none", False)


def test_no_operators_and_one_operator() -> None:
    empty = MemoryGraph((), (), (Group("x", 5, is_input=True, is_output=True),))
    assert partition(empty) == Partition((), 1)
    assert partitioned.solve(empty, partition(empty)).peak == 5
    assert partition(chain(3, 4)) == Partition((0,), 1)
    with pytest.raises(ProblemError, match="0 operators cannot be cut into 2 parts"):
        partition(empty, 2)


def test_refusals_say_what_is_wrong() -> None:
    graph = chain(1, 2, 3)
    refused: list[tuple[int | str, dict[str, Any], str]] = [
        (3, {}, "2 operators cannot be cut into 3 parts"),
        (0, {}, "k=0: a positive number of parts, or auto"),
        (-1, {}, "k=-1: a positive number"),
        ("many", {}, "k=many: a positive number of parts, or auto"),
        (2, {"balance": -0.1}, "balance=-0.1 is negative"),
        (2, {"method": "metis"}, "unknown method 'metis': one of best-order, multilevel, naive"),
        (2, {"method": "naive", "balance": 0.2}, "method 'naive' has no option 'balance'"),
        ("many", {"method": "naive"}, "k=many: a positive number of parts, or auto"),
    ]
    for k, options, text in refused:
        with pytest.raises(ProblemError) as caught:
            partition(graph, k, **options)
        assert text in str(caught.value)
    for wrong, text in (
        (Partition((1, 0), 2), "'op1' is in part 0 but needs 'op0' of part 1"),
        (Partition((0, 0), 2), "part 1 of 2 is empty"),
        (Partition((0, 2), 2), "a part is not within 0..1"),
        (Partition((0,), 1), "1 parts given for 2 operators"),
    ):
        with pytest.raises(ProblemError) as caught:
            partitioned.solve(graph, wrong)
        assert text in str(caught.value)
    with pytest.raises(ProblemError, match="unknown method 'best'"):
        partitioned.solve(graph, Partition((0, 1), 2), "best")


def test_a_time_limit_of_nothing_still_answers() -> None:
    graph = chain(*range(1, 30))
    answer = partitioned.solve(graph, partition(graph, 3), "search", 0.0)
    assert answer.peak == profile(graph, answer.order).peak and answer.lower_bound <= answer.peak
