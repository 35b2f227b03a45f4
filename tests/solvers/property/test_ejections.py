"""Placement by ejections: valid, the best of small problems, and alike in Python and natively."""

from dataclasses import replace
from itertools import count
from random import Random

import pytest
from native import needs_native
from placed_parts import random_parts
from random_placements import random_problem, smallest_arena, wrong

from memopt.solvers import clock
from memopt.solvers.placement import place
from memopt.solvers.placement.ejections import FAILED, PAUSED, SOLVED, Ejections
from memopt.solvers.placement.native_ejections import NativeEjections, ejections_of
from memopt.solvers.placement.rectangles import offsets_of, placement_of
from memopt.solvers.problems.placement import Buffer, PlacementProblem

PROBLEMS = 10_000

Facts = list[tuple[int, int, list[int]]]


def moves(
    search: Ejections | NativeEjections, given: list[int], height: int, steps: list[int]
) -> Facts:
    """Return status, work and offsets after each of several calls, each but the first below a
    higher height, and of what is then lifted."""
    search.begin(given, height)
    facts: Facts = []
    for call, step in enumerate(steps):
        if call:
            search.lift(height + call)
        facts.append((search.advance(search.work + step), search.work, list(search.offsets)))
        if facts[-1][0] != PAUSED:
            return facts
    search.lift()
    return [*facts, (search.advance(1 << 62), search.work, list(search.offsets))]


def given_offsets(problem: PlacementProblem) -> list[int]:
    """Offsets of the items by the greedy strategy."""
    return offsets_of(problem, problem.items, place(problem, "greedy-by-size"))


@needs_native
def test_every_move_is_that_of_the_reference(fuzz: float) -> None:
    """Shapes, parts, alignments and fixed offsets, in several calls, lifted or to the end."""
    random, ends = Random(1), set[tuple[int, bool]]()
    for case in range(max(200, int(PROBLEMS * fuzz))):
        draw = (random_problem, random_parts)[case % 2]
        problem = draw(random, random.choice((4, 14, 30)))
        given = given_offsets(problem)
        arena = max((o + i.size for o, i in zip(given, problem.items, strict=True)), default=0)
        height = max(0, arena - random.randint(0, 8))
        steps = [random.randint(1, 400) for _ in range(random.randint(1, 4))]
        native = ejections_of(problem.items)
        assert isinstance(native, NativeEjections)
        facts = moves(Ejections(problem.items), given, height, steps)
        assert moves(native, given, height, steps) == facts, case
        ends.add((facts[-1][0], len(facts) > len(steps)))
    assert ends >= {(SOLVED, False), (SOLVED, True), (FAILED, False)}


def test_answers_are_valid_and_mostly_the_best(fuzz: float) -> None:
    """Judged by checkers that share no code with it; never worse than greedy."""
    random, best, cases = Random(5), 0, max(100, int(1_000 * fuzz))
    for case in range(cases):
        problem = random_problem(random, 6, fancy=case % 4 != 0)
        answer = place(problem, "ejection")
        assert not wrong(problem, answer.offsets, answer.arena), case
        assert answer.arena <= place(problem, "greedy-by-size").arena, case
        best += answer.arena == smallest_arena(problem)
    assert best > 0.9 * cases


def crowd(seed: int, count: int) -> PlacementProblem:
    """Buffers of which greedy strategies waste some bytes."""
    random = Random(seed)
    rows = [(random.randint(1, 40), random.randrange(60)) for _ in range(count)]
    return PlacementProblem(
        tuple(
            Buffer(f"b{k}", size, at, at + random.randint(1, 30), k)
            for k, (size, at) in enumerate(rows)
        )
    )


def test_a_limit_that_strikes_anywhere_leaves_a_whole_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each look at the clock takes a second; a move lies between two of them."""
    for kind in (Ejections, NativeEjections):
        monkeypatch.setattr(kind, "interval", 1)
    problem = crowd(2, 60)
    greedy = place(problem, "greedy-by-size").arena
    arenas = list[int]()
    for limit in range(0, 120, 7):
        ticks = count()
        with clock.reading(lambda: float(next(ticks))):  # noqa: B023
            answer = place(problem, "ejection", float(limit))
        assert next(ticks) <= limit + 6
        assert not wrong(problem, answer.offsets, answer.arena)
        arenas.append(answer.arena)
    assert max(arenas) <= greedy and arenas[-1] < greedy


def test_what_waits_when_time_is_over_lies_on_top_of_what_stands() -> None:
    problem = crowd(3, 80)
    given = given_offsets(problem)
    height = problem.load
    search = Ejections(problem.items)
    search.begin(given, height)
    search.advance(300)
    standing = {i for i, is_placed in enumerate(search.placed) if is_placed}
    offsets = list(search.offsets)
    assert search.waiting and standing
    search.lift()
    assert search.advance(1 << 62) == SOLVED and not search.waiting
    assert all(search.offsets[i] == offsets[i] for i in standing)


@pytest.mark.parametrize("broken", [None, "overlap", "alignment"])
def test_a_search_that_takes_forbidden_offsets_is_noticed(
    monkeypatch: pytest.MonkeyPatch, broken: str | None
) -> None:
    """Mutants of what is legal, in the reference: an offset too low, an alignment forgotten."""
    cheapest = Ejections._cheapest  # pyright: ignore[reportPrivateUsage]

    def lower(search: Ejections, i: int, highest: int) -> tuple[int, int]:
        cost, position = cheapest(search, i, highest)
        return cost, max(0, position - 1)

    if broken == "overlap":
        monkeypatch.setattr(Ejections, "_cheapest", lower)
    random, refused, solved = Random(9), 0, 0
    for _ in range(100):
        problem = random_problem(random, 14)
        given = given_offsets(problem)
        items = problem.items
        if broken == "alignment":
            items = tuple(replace(i, alignment=1) for i in items)
        search = Ejections(items)
        arena = max((o + i.size for o, i in zip(given, items, strict=True)), default=0)
        search.begin(given, max(0, arena - 1))
        if search.advance(2_000) == SOLVED:
            answer = placement_of(problem, problem.items, search.offsets)
            refused += bool(wrong(problem, answer.offsets, answer.arena))
            solved += 1
    assert solved and bool(refused) == bool(broken)
