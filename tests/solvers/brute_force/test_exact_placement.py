"""`exact` and `cp-sat` against brute force: answers, bounds, capacities, every rule, mutants."""

import csv
from collections.abc import Callable
from dataclasses import fields
from functools import partialmethod
from pathlib import Path
from random import Random
from typing import Any

import pytest
from deep import deep_but
from exact_placements import cases
from random_placements import wrong

from memopt.solvers.errors import ProblemError
from memopt.solvers.placement import prove
from memopt.solvers.placement.left_justified import OrderSearch
from memopt.solvers.placement.methods.exact import next_sum
from memopt.solvers.placement.rules import Rules, luby
from memopt.solvers.placement.skyline_corners import CornerSearch
from memopt.solvers.placement.strips import blocks_of, is_plain, strip_of
from memopt.solvers.problems.placement import Buffer, PlacementProblem

Methods = ("exact", "cp-sat")
CASES = 500  # of each of two parts


def shifted(problem: PlacementProblem, factor: int) -> PlacementProblem:
    """Backwards in time, all bytes times `factor`."""
    end = max(b.upper for b in problem.buffers)
    return PlacementProblem(
        tuple(
            Buffer(
                b.name,
                b.size * factor,
                end - b.upper,
                end - b.lower,
                b.base,
                None if b.fixed is None else b.fixed * factor,
                b.alignment * factor,
            )
            for b in problem.buffers
        )
    )


@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("method", Methods)
def test_equals_brute_force(fuzz: float, method: Any, part: int, record_property: Any) -> None:
    """1,000 problems each: the optimum with its proof; what fits, fits, one byte less does not."""
    telling = 0
    given = list(cases(100 + part, max(20, int(CASES * fuzz))))
    for case, (problem, best) in enumerate(given):
        for factor, variant in ((1, problem), (3, shifted(problem, 3))):
            answer = prove(variant, method)
            assert answer.placement.arena == answer.lower_bound == best * factor, case
            assert not wrong(variant, answer.placement.offsets, best * factor), case
        fits = prove(problem, method, capacity=best)
        assert fits.placement.arena <= best and not wrong(problem, *_parts(fits)), case
        tight = prove(problem, method, capacity=best - 1)
        assert tight.lower_bound == best and not wrong(problem, *_parts(tight)), case
        telling += best > problem.load
    assert telling
    record_property("brute force", (f"placement: {method}", len(given), telling))


def _parts(answer: Any) -> tuple[tuple[int, ...], int]:
    return answer.placement.offsets, answer.placement.arena


def test_rules_change_nothing(fuzz: float) -> None:
    """Each technique taken away, and all: the same optimum and the same proof."""
    off = [Rules(), *(Rules(**{f.name: False}) for f in fields(Rules))]
    off.append(Rules(**{f.name: False for f in fields(Rules)}))
    for case, (problem, best) in enumerate(cases(200, max(15, int(CASES * fuzz)))):
        for rules in off:
            answer = prove(problem, "exact", rules=rules)
            assert answer.placement.arena == answer.lower_bound == best, (case, rules)
            assert prove(problem, "exact", capacity=best - 1, rules=rules).lower_bound == best


def planted(random: Random, count: int, holes: float) -> PlacementProblem:
    """A rectangle of 40 steps times 60 bytes cut into `count` pieces, some left out."""
    parts = [(0, 40, 0, 60)]
    while len(parts) < count:
        at = max(
            random.sample(range(len(parts)), min(3, len(parts))), key=lambda i: _area(parts[i])
        )
        a, b, low, high = parts[at]
        if random.random() < 0.6 and b - a > 1:
            cut = random.randrange(a + 1, b)
            parts[at : at + 1] = [(a, cut, low, high), (cut, b, low, high)]
        elif high - low > 1:
            cut = random.randrange(low + 1, high)
            parts[at : at + 1] = [(a, b, low, cut), (a, b, cut, high)]
    kept = [p for p in parts if random.random() >= holes]
    return PlacementProblem(
        tuple(Buffer(f"b{i}", h - g, a, b, i) for i, (a, b, g, h) in enumerate(kept))
    )


def _area(part: tuple[int, int, int, int]) -> int:
    return (part[1] - part[0]) * (part[3] - part[2])


def impossible(problem: PlacementProblem, height: int, rules: Rules) -> bool:
    """Whether the search over corners, without any greedy answer before it, says so."""
    for block in blocks_of(problem.items):
        if block.base > height:
            return True
        if block.items:
            strip = strip_of(block.items)
            search = CornerSearch(strip, (height - block.base) // strip.unit, rules)
            if search.run(nodes=2_000) == ():
                return True
    return False


def test_planted_packings(fuzz: float) -> None:
    """What is known to fit is never called impossible, whatever rule is missing."""
    random = Random(5)
    for case in range(max(60, int(4_000 * fuzz))):
        problem = planted(random, random.randint(15, 50), random.choice((0, 0.05, 0.1, 0.3)))
        rules = Rules(**{random.choice(fields(Rules)).name: False})
        assert not impossible(problem, 60, rules), (case, rules)


def test_corners_alone(fuzz: float) -> None:
    """The search over corners decides every height of small problems as brute force does."""
    for case, (problem, best) in enumerate(cases(500, max(15, int(300 * fuzz)))):
        if is_plain(problem.items):
            for height in range(max(0, best - 3), best + 3):
                assert impossible(problem, height, Rules()) == (height < best), (case, height)


def test_nothing_is_claimed_that_was_not_searched(fuzz: float) -> None:
    """With few nodes the bound stays below the optimum or meets it, and more never hurts."""
    open_ones = 0
    for problem, best in cases(300, max(20, int(200 * fuzz))):
        for nodes in (1, 3, 10, 100):
            answer = prove(problem, "exact", nodes=nodes)
            assert answer.lower_bound <= best <= answer.placement.arena
            open_ones += not answer.optimal
        assert prove(problem, "exact", capacity=best, nodes=2).lower_bound <= best
    assert open_ones


def test_progress_and_limits() -> None:
    """`progress` hears of arena, bound and nodes; without time the answer is a greedy one."""
    problem = planted(Random(1), 60, 0.02)
    heard: list[tuple[int, int, int]] = []

    def hear(arena: int, bound: int, nodes: int) -> None:
        heard.append((arena, bound, nodes))

    answer = prove(problem, "exact", progress=hear, nodes=5_000)
    assert answer.optimal or heard
    assert all(arena >= bound and nodes > 0 for arena, bound, nodes in heard)
    assert prove(problem, "exact", 0).lower_bound == problem.load


@pytest.mark.parametrize("name", deep_but(["A", "C"], ["A", "C", "E", "G", "I", "K"]))
def test_challenging_ones_are_proven(shared: Path, name: str) -> None:
    """MiniMalloc's: the known optimum (shared/alloc), which is the load, in bounded work."""
    with (shared / "alloc" / f"{name}.1048576.csv").open() as file:
        rows = [{k: int(v) for k, v in row.items()} for row in csv.DictReader(file)]
    problem = PlacementProblem(
        tuple(Buffer(f"b{i}", r["size"], r["lower"], r["upper"], i) for i, r in enumerate(rows))
    )
    answer = prove(problem, "exact", nodes=400_000)
    assert answer.optimal and answer.lower_bound == (1039360 if name == "C" else 1048576)


def test_too_many_are_refused() -> None:
    many = PlacementProblem(tuple(Buffer("b", 1, 0, 1, i) for i in range(20_001)))
    with pytest.raises(ProblemError, match="exact searches up to 20,000 buffers, these are 20,001"):
        prove(many, "exact")


def test_the_problem_is_taken_apart() -> None:
    """Spanning items go to the bottom, cuts separate, time is compressed to maximal cliques."""
    rows = [(5, 0, 9), (4, 0, 4), (3, 4, 9), (2, 4, 6), (2, 6, 9), (6, 0, 2), (6, 2, 4)]
    problem = PlacementProblem(tuple(Buffer(f"b{i}", *row, i) for i, row in enumerate(rows)))
    blocks = blocks_of(problem.items)
    assert not any(b.items for b in blocks)
    assert {i: o for b in blocks for i, o in b.bottom} == {
        0: 0, 1: 5, 2: 5, 3: 8, 4: 8, 5: 9, 6: 9,
    }  # fmt: skip
    wheel = [(2, 0, 3), (2, 3, 9), (4, 0, 2), (4, 2, 5), (4, 5, 9)]
    strip = strip_of(
        PlacementProblem(tuple(Buffer(f"b{i}", *r, i) for i, r in enumerate(wheel))).items
    )
    assert (strip.unit, strip.sections, strip.loads) == (2, 4, [3, 3, 3, 3])
    assert strip.crossing[1:4] == [0b1, 0b1000, 0b10]
    assert [next_sum((3, 5), n) for n in (-1, 0, 3, 5, 8)] == [0, 3, 5, 8, 9]
    assert [luby(n) for n in range(1, 16)] == [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]


# -- mutants: one condition less, and somebody must notice ----------------------------------------


def _too_high(original: Any, self: Any, valley: Any) -> int:
    return original(self, valley) + 1


def _blames_itself(original: Any, self: Any, x: int, y: int, valley: Any) -> int:
    return 1 << valley.at  # and not the walls


def _slack_forgotten(original: Any, self: Any, x: int, y: int, at: int) -> int:
    return 3 << (at - 1) if self.skyline[at] != self.skyline[at - 1] else 0


def _too_eager(original: Any, self: Any, level: int, lowest: dict[int, int]) -> bool:
    self.height -= 1
    try:
        return original(self, level, lowest)
    finally:
        self.height += 1


def _first_twin_only(original: Any, self: Any) -> None:
    original(self)
    self.twin = dict.fromkeys(self.active[1:], self.active[0])


def _changed(self: Any, change: Any, original: Any, *rest: Any) -> Any:
    return change(original, self, *rest)


MUTANTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "level": (CornerSearch, "next_level", _too_high),
    "reasons": (CornerSearch, "looked_at", _blames_itself),
    "steps": (CornerSearch, "step", _slack_forgotten),
    "height": (OrderSearch, "_too_high", _too_eager),
    "twins": (OrderSearch, "__post_init__", _first_twin_only),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_caught(monkeypatch: pytest.MonkeyPatch, mutant: str) -> None:
    target, name, change = MUTANTS[mutant]
    monkeypatch.setenv("MEMOPT_NATIVE", "0")  # the mutants are of the reference
    original = getattr(target, name)
    monkeypatch.setattr(target, name, partialmethod(_changed, change, original))
    random = Random(9)
    if target is CornerSearch:
        for _ in range(400):
            problem = planted(random, random.randint(15, 50), 0.1)
            if impossible(problem, 60, Rules()):
                return
    for problem, best in cases(400, 300):
        answer = prove(problem, "exact")
        if answer.lower_bound > best or answer.placement.arena != best:
            return
    pytest.fail(f"nobody noticed: {mutant}")
