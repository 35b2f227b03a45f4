"""The beam of skylines: legal, mostly there on small strips, alike in Python and natively."""

import random
import tracemalloc
from itertools import combinations, count

import pytest
from native import needs_native, random_strip

from memopt.solvers import clock
from memopt.solvers.placement import skyline_beam
from memopt.solvers.placement.skyline_beam import (
    NativeBeam,
    SkylineBeam,
    beam_of,
    filled,
    weights_of,
)
from memopt.solvers.placement.skyline_corners import CornerSearch
from memopt.solvers.placement.strips import Strip

STRIPS = 10_000

Facts = list[tuple[int, int, list[int]]]


def is_legal(strip: Strip, floor: list[int], top: list[int], offsets: tuple[int, ...]) -> bool:
    """Return whether items are disjoint, and in each section between its floor and top."""
    boxes = list(zip(strip.first, strip.last, offsets, strip.sizes, strict=True))
    inside = all(floor[t] <= o and o + s <= top[t] for a, b, o, s in boxes for t in range(a, b))
    return inside and not any(
        a < d and c < b and o < p + s and p < o + r
        for (a, b, o, r), (c, d, p, s) in combinations(boxes, 2)
    )


def facts_of(
    beam: SkylineBeam | NativeBeam, width: int, weights: list[float], steps: list[int]
) -> Facts:
    """Return status, work and offsets after each of several calls."""
    beam.begin(width, weights)
    facts: Facts = []
    for step in steps:
        facts.append((beam.advance(beam.work + step), beam.work, list(beam.offsets)))
    return facts


@needs_native
def test_every_state_is_that_of_the_reference(fuzz: float) -> None:
    """On floors that are flat or not, in several calls, begun twice."""
    rng, ends = random.Random(1), set[int]()
    for case in range(max(100, int(STRIPS * fuzz))):
        strip = random_strip(rng, rng.choice((0, 1, 3, 6, 10, 20, 70)), rng.choice((5, 10, 30)))
        floor = [rng.choice((0, 0, rng.randint(0, 9))) for _ in range(strip.sections)]
        budget = [rng.randint(0, 12) for _ in floor]
        native = beam_of(strip, floor, budget)
        assert isinstance(native, NativeBeam)
        reference = SkylineBeam(strip, floor, budget)
        for power in (1.5, 2.0):
            width, weights = rng.choice((1, 3, 12)), weights_of(budget, power)
            steps = [rng.choice((1, 30, 500, 5_000)) for _ in range(3)]
            facts = facts_of(reference, width, weights, steps)
            assert facts_of(native, width, weights, steps) == facts, case
            ends.add(facts[-1][0])
    assert len(ends) == 3


def test_answers_are_legal_and_mostly_there(fuzz: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a complete search; both directions of time, from floors that are not flat."""
    monkeypatch.setenv("MEMOPT_NATIVE", "0")
    rng, answers, possible = random.Random(2), 0, 0
    for case in range(max(100, int(STRIPS * fuzz))):
        strip = random_strip(rng, rng.choice((3, 5, 8)), rng.choice((4, 9)))
        search = CornerSearch(strip, max(strip.loads) + rng.randint(0, 3))
        if is_uneven := case % 3 == 0:
            search.skyline = [rng.choice((0, 0, rng.randint(0, 9))) for _ in search.skyline]
        columns = zip(search.skyline, strip.loads, search.budget, strict=True)
        top = [floor + load + spare for floor, load, spare in columns]
        offsets, work = skyline_beam.run(search, 20, case, 1 << 40, None)
        assert work and (not offsets or is_legal(strip, search.skyline, top, offsets)), case
        if is_uneven:
            continue
        fits = search.run(1 << 40)
        assert fits is not None and (fits or not offsets), case
        answers += bool(offsets)
        possible += bool(fits)
    assert 0.85 * possible < answers <= possible


@pytest.mark.deep
def test_what_a_beam_keeps_is_within_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few long strips and many short ones; a beam that is wider takes more."""
    monkeypatch.setattr(skyline_beam, "MEMORY", 600_000)
    for items, sections in ((30, 200), (80, 12)):
        strip = random_strip(random.Random(5), items, sections)
        budget = [max(strip.loads) // 5] * strip.sections
        width, peaks = skyline_beam.widest(strip), list[int]()
        for states in (width, 20 * width):
            beam = SkylineBeam(strip, [0] * strip.sections, budget)
            tracemalloc.start()
            beam.begin(states, weights_of(budget, 2.0))
            beam.advance(5_000)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert width > 1 and peaks[0] < skyline_beam.MEMORY < peaks[1], (items, width, peaks)


def test_what_fills_a_step_is_the_largest_sum() -> None:
    rng = random.Random(3)
    for _ in range(200):
        sizes, room = [rng.randint(1, 9) for _ in range(rng.randint(0, 8))], rng.randint(1, 20)
        fitting = [size for size in sizes if size <= room]
        sums = {sum(some) for n in range(len(fitting) + 1) for some in combinations(fitting, n)}
        best = max(s for s in sums if s <= room)
        tell = len(fitting) <= skyline_beam.FEW or sum(fitting) <= room
        assert filled(sizes, room) == (best if tell else room)


def test_the_clock_is_read_between_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look takes a second."""
    for kind in (SkylineBeam, NativeBeam):
        monkeypatch.setattr(kind, "slice", 1)
    strip = random_strip(random.Random(3), 100, 30)
    search, ticks = CornerSearch(strip, max(strip.loads) + 9), count()
    with clock.reading(lambda: float(next(ticks))):
        offsets, work = skyline_beam.run(search, 10, 0, 1 << 40, 4.0)
    assert not offsets and 0 < work < 200 and next(ticks) <= 6
