"""The native search over corners looks at the nodes of `skyline_corners.py`."""

import random
from itertools import count

import pytest
from native import needs_native, random_strip

from memopt.solvers import clock
from memopt.solvers.placement import native_corners, skyline_corners
from memopt.solvers.placement.native_corners import NativeRuns
from memopt.solvers.placement.rules import Rules
from memopt.solvers.placement.skyline_corners import CornerSearch
from memopt.solvers.placement.strips import Strip

pytestmark = needs_native
STRIPS = 10_000


def test_every_node_is_that_of_the_reference(fuzz: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """In several calls with limits, with and without each rule, also where states are forgotten."""
    rng, answers = random.Random(1), set[bool | None]()
    for _ in range(max(200, int(STRIPS * fuzz))):
        items = rng.choice((3, 6, 6, 10, 20, 40, 80, 150, 300))
        strip = random_strip(rng, items, rng.choice((5, 10, 30)))
        rules = Rules(*(rng.random() < 0.85 for _ in range(7)))
        height = max(strip.loads) + rng.choice((-1, 0, 0, 0, 0, 1, 2))
        monkeypatch.setattr(skyline_corners, "REMEMBERED", rng.choice((10, 400_000)))
        monkeypatch.setattr(skyline_corners, "RESTART", rng.choice((10, 50, 1_000)))
        limits = [rng.choice((1, 5, 100, 700)) for _ in range(3)]
        facts: list[object] = []
        for native in ("0", "1"):
            monkeypatch.setenv("MEMOPT_NATIVE", native)
            told: list[int] = []
            search = CornerSearch(strip, height, rules, told.append)
            results = [(search.run(nodes), search.nodes, search.turn) for nodes in limits]
            begun = height >= max(strip.loads)
            assert isinstance(search.native, NativeRuns) == (native == "1" and begun)
            facts.append((results, told))
        assert facts[0] == facts[1], strip
        answers.add(None if results[-1][0] is None else bool(results[-1][0]))
    assert answers == {None, False, True}


def test_the_clock_is_read_between_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look takes a second; a run that is stopped leaves a search that can go on."""
    monkeypatch.setattr(native_corners, "WORK", 1)
    rng = random.Random(3)
    strip = random_strip(rng, 150, 30)
    search = CornerSearch(strip, max(strip.loads))
    ticks = count()
    with clock.reading(lambda: float(next(ticks))):
        assert search.run(1 << 40, 4.0) is None
    assert 0 < search.nodes <= 4
    assert search.run(10_000)


def test_what_overflows_in_the_library_is_searched_in_python() -> None:
    size = 1 << 60
    search = CornerSearch(Strip(1, 2, (0, 1, 0), (2, 2, 1), (size, size, size)), 2 * size)
    assert search.run(100) and search.native is False
