"""Orders that do not fit, repaired, against all orders with exact placements."""

from collections.abc import Iterator, Sequence
from itertools import permutations
from random import Random
from typing import Any

import pytest
from oracles import random_graph

from memopt.solvers import clock, joint
from memopt.solvers.joint import repair
from memopt.solvers.placement import coarse, place
from memopt.solvers.placement.coarse import Answer
from memopt.solvers.problems.memory_graph import (
    Group,
    MemoryGraph,
    ProblemError,
    Schedule,
    live_ranges,
    profile,
)
from memopt.solvers.problems.placement import Item, Piece, Placement, PlacementProblem
from memopt.solvers.programs.cp_solver import Limit
from memopt.solvers.scheduling import schedule


def repaired(
    graph: MemoryGraph, order: Sequence[int], height: int, deadline: float | None = None
) -> tuple[tuple[int, ...], Placement] | None:
    """One order, repaired with the work that there is without a time limit."""
    asking = repair.Asking(height, deadline=deadline, left=repair.LEFT)
    return repair.repaired(graph, [order], asking)


def fits_somehow(graph: MemoryGraph, height: int) -> bool:
    """Whether the buffers of any order fit below `height` bytes."""
    for order in permutations(range(len(graph))):
        try:
            if profile(graph, order).peak > height:
                continue
        except ProblemError:
            continue
        if place(live_ranges(graph, order), "exact").arena <= height:
            return True
    return False


@pytest.mark.deep
def test_what_fits_in_another_order_is_found(fuzz: float) -> None:
    """All that fits as it is, and most of what fits in another order; nothing else."""
    random, other, missed, impossible = Random(5), 0, 0, 0
    for _ in range(max(300, int(4_000 * fuzz))):
        graph = random_graph(random, 7)
        order = schedule(graph, "rpo").order
        height = profile(graph, order).peak
        found = repaired(graph, order, height)
        if place(live_ranges(graph, order), "exact").arena <= height:
            assert found is not None and found[0] == order
        elif found is None:
            missed += (possible := fits_somehow(graph, height))
            impossible += not possible
        else:
            other += found[0] != order
        if found is not None:
            assert profile(graph, found[0]).peak <= height
            found[1].verify(live_ranges(graph, found[0]))
            assert found[1].arena <= height
    print(f"{other} in another order, {missed} missed, {impossible} impossible")
    assert other > 10 * missed


def test_what_fits_fits_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A window of an order that fits does: what is live in it holds its bytes, and no more."""
    monkeypatch.setattr(repair, "STRIDE", 3)
    random = Random(6)
    for _ in range(20):
        graph = random_graph(random, 8)
        order = schedule(graph, "search").order
        problem = live_ranges(graph, order)
        asking = repair.Asking(place(problem, "exact").arena, 1)
        everything, live = [i for i in problem.items if i.pieces], repair.Live(problem)
        for lower in range(len(graph)):
            for upper in range(lower + 1, len(graph) + 1):
                items = live.between(lower, upper)
                assert items == repair.clipped(everything, lower, upper)
                assert asking.ask(items).fits is not False


def test_it_ends_with_the_time_and_with_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(Random(7), 12)
    order = schedule(graph, "search").order
    height = profile(graph, order).peak
    assert repaired(graph, order, height) is not None
    with clock.reading(lambda: 5.0):
        assert repaired(graph, order, height, 5.0) is None
    monkeypatch.setattr(repair, "LEFT", 0.0)
    assert repaired(graph, order, height) is None


def test_a_tiny_network_asks_few_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Orders of a few operators are millions, and a question about each takes some milliseconds: a
    repair without an end, where everything fits but the last operator, asks for so many."""
    count, asked = 14, list[int]()
    graph = MemoryGraph(
        tuple(map(str, range(count))),
        ((),) * count,
        tuple(Group(str(v), 1, (v,), is_output=True) for v in range(count)),
    )

    def answer(items: Sequence[Item], *_: object) -> Answer:
        asked.append(len(items))
        fits = len(items) < count
        return Answer(fits, tuple(range(len(items))) if fits else None)

    monkeypatch.setattr(coarse, "ask", answer)
    assert repaired(graph, range(count), count) is None
    assert len(asked) <= repair.LEFT / repair.SENDING + 1


def test_questions_that_are_not_decided_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes CP-SAT as long as tens of those that it decides, and is hardly worth a second."""
    asked: list[float] = []

    def undecided(_: Sequence[Item], __: int, ___: int, limit: Limit, *____: object) -> Answer:
        assert limit.work is not None
        asked.append(limit.work)
        return Answer(None, work=limit.work)

    monkeypatch.setattr(coarse, "ask", undecided)
    graph = random_graph(Random(7), 60)
    order = schedule(graph, "search").order
    asking = repair.Asking(profile(graph, order).peak, left=repair.LEFT)
    assert repair.repaired(graph, [order] * 50, asking) is None
    assert 0 < sum(asked) <= repair.LEFT / repair.SOLVING + max(asked)


def rows_of_many(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[MemoryGraph, Schedule]]:
    """Small graphs, taken as rows of very many operators, that do not fit at once."""
    monkeypatch.setattr(joint, "MANY", 5)
    monkeypatch.setattr(joint, "TOO_MANY", 5)
    random = Random(5)
    for _ in range(60):
        graph = random_graph(random, 16)
        start = schedule(graph, "auto")
        if len(graph) > joint.MANY and place(live_ranges(graph, start.order)).arena > start.peak:
            yield graph, start


def solved(graph: MemoryGraph, start: Schedule) -> joint.Joint:
    return joint.solve(graph, start.order, start.lower_bound, exact_operators=0, calm_first=True)


@pytest.mark.deep
def test_many_rows_hardly_above_their_bound_are_not_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither CP-SAT nor another order is asked for the last percent of hundreds of operators."""
    asked: list[int] = []
    ask = coarse.ask

    def counted(items: Sequence[Item], *rest: Any) -> Answer:
        asked.append(len(items))
        return ask(items, *rest)

    monkeypatch.setattr(coarse, "ask", counted)
    cases = list(rows_of_many(monkeypatch))
    for graph, start in cases:
        solved(graph, start)
    assert asked
    asked.clear()
    monkeypatch.setattr(joint, "CLOSE", 10.0)  # everything is hardly above the bound
    assert [solved(graph, start).schedules for graph, start in cases] == [1] * len(cases)
    assert not asked


@pytest.mark.deep
def test_many_rows_are_asked_about_window_by_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """CP-SAT is never asked about all rows at once, and what is no better than a calm order of
    theirs is not searched, but where none is."""
    searched: list[int] = []

    def never(*_: object) -> None:
        raise AssertionError("all rows in one question")

    def counted(problem: PlacementProblem, *rest: Any) -> Placement:
        searched.append(len(problem.items))
        return place(problem, *rest)

    monkeypatch.setattr(coarse, "fits", never)
    monkeypatch.setattr(joint, "place", counted)
    calmer = others = 0
    for graph, start in rows_of_many(monkeypatch):
        searched.clear()
        found = solved(graph, start)
        found.placement.verify(live_ranges(graph, found.order))
        calmer += not found.settled and not searched
        others += bool(searched)
        assert len(searched) <= 1
    assert calmer and others


def test_rows_of_an_order_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An order that is asked about for one height after the other stays the same problem."""
    read: list[tuple[int, ...]] = []

    def counted(graph: MemoryGraph, order: Sequence[int]) -> PlacementProblem:
        read.append(tuple(order))
        return live_ranges(graph, order)

    cases, asked = list(rows_of_many(monkeypatch)), 0
    monkeypatch.setattr(joint, "live_ranges", counted)
    monkeypatch.setattr(repair, "live_ranges", counted)
    monkeypatch.setattr(repair, "MARGINS", ())  # no other order is tried
    for graph, start in cases[:20]:
        read.clear()
        asked += solved(graph, start).schedules > 1
        assert not [o for o in {*read} if o != start.order and read.count(o) > 1]
    assert asked


@pytest.mark.deep
def test_order_and_offsets_together_come_to_it_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no order is placed by one question, and none a move away, one is repaired."""

    def never(*_: object) -> None:
        return None

    def none(*_: object) -> tuple[tuple[int, ...], ...]:
        return ()

    monkeypatch.setattr(coarse, "fits", never)
    monkeypatch.setattr(joint, "reorderings", none)
    random, found = Random(5), 0
    for _ in range(400):
        graph = random_graph(random, 7)
        start = schedule(graph, "rpo")
        answer = joint.solve(graph, start.order, start.peak, exact_operators=0, calm_first=True)
        with monkeypatch.context() as without:
            without.setattr(repair, "repaired", never)
            other = joint.solve(graph, start.order, start.peak, exact_operators=0, calm_first=True)
        found += answer.placement.arena == start.peak < other.placement.arena
    assert found


def test_a_part_that_is_asked_about_leaves_room_for_the_others() -> None:
    """Of two rows that come one above the other only the first is there yet: it cannot lie above
    what lies at 0, for the second would end above the capacity."""
    rows = Item(0, (0, 1), (Piece(0, 1, 10, 0),), 0, 1, 20, 1, None)
    other = Item(1, (2,), (Piece(0, 1, 10, 0),), 0, 1, 10, 1, 0)
    limit = Limit(None, 1.0, always=True)
    assert coarse.ask([rows, other], 20, 10, limit).fits is False
    assert coarse.ask([rows, other], 30, 10, limit).offsets == (10, 0)


def test_many_rows_that_outlive_a_window_are_one_rectangle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """CP-SAT takes seconds, which it does not count, for the steps of a window in which hundreds of
    rows lie one above the other."""
    monkeypatch.setattr(coarse, "FEW", 0)
    times = ((0, 2), (0, 3), (0, 3), (1, 3), (0, 3), (0, 3))
    pieces = tuple(Piece(*lived, 10, k, 10 * k) for k, lived in enumerate(times))
    rows = Item(0, tuple(range(6)), pieces, 0, 3, 60, 1, None)
    expected = [(0, 2, 0, 1), (0, 3, 1, 2), (1, 3, 3, 1), (0, 3, 4, 2)]
    assert coarse.rectangles_of(rows, 10) == expected
    random = Random(0)
    for _ in range(200):
        lives = [(random.randrange(3), random.randrange(3, 6)) for _ in range(random.randrange(9))]
        ends = [random.randrange(1, 4) for _ in lives]
        pieces = tuple(
            Piece(*lived, 2 * size, k, 2 * sum(ends[:k]))
            for k, (lived, size) in enumerate(zip(lives, ends, strict=True))
        )
        item = Item(0, tuple(range(len(pieces))), pieces, 0, 6, 2 * sum(ends), 1, None)
        points = [
            (step, byte)
            for lower, upper, at, size in coarse.rectangles_of(item, 2)
            for step in range(lower, upper)
            for byte in range(at, at + size)
        ]
        assert sorted(points) == sorted(
            (step, byte)
            for p in pieces
            for step in range(p.lower, p.upper)
            for byte in range(p.at // 2, (p.at + p.size) // 2)
        )


def test_buffers_without_a_byte() -> None:
    groups = tuple(Group(name, 0, (v,), is_output=True) for v, name in enumerate("ab"))
    graph = MemoryGraph(("a", "b"), ((), (0,)), groups)
    found = repaired(graph, (0, 1), 8)
    assert found is not None
    assert found[1].arena == 0
