"""Best fit in the native library gives each buffer the offset of the reference."""

from array import array
from dataclasses import replace
from random import Random

import pytest
from native import needs_native
from placed_parts import random_parts
from random_placements import random_problem

from memopt.solvers.native.library import LARGEST, library, numbers_of
from memopt.solvers.placement import native_best_fit, place
from memopt.solvers.placement.methods import best_fit
from memopt.solvers.placement.rectangles import placement_of
from memopt.solvers.problems.placement import Buffer, Item, PlacementProblem

pytestmark = needs_native
PROBLEMS = 10_000


def drawn(random: Random, case: int) -> PlacementProblem:
    """Shapes, parts and alignments, ties of every kind, steps below 0; sometimes what is fixed."""
    draw = (random_problem, random_parts)[case % 2]
    problem = draw(random, random.choice((1, 4, 14, 30, 100)))
    at, wide = random.choice((0, -20)), random.choice((1, 7))
    buffers = tuple(
        replace(b, lower=at + wide * b.lower, upper=at + wide * b.upper) for b in problem.buffers
    )
    return PlacementProblem(buffers)


def test_every_offset_is_that_of_the_reference(
    fuzz: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whichever way `place` takes, where nothing is fixed that of the library."""
    random, ways = Random(1), set[bool]()
    given = list[bool]()
    offsets_of = native_best_fit.offsets_of

    def noted(items: list[Item]) -> "array[int] | None":
        offsets = offsets_of(items)
        given.append(offsets is not None)
        return offsets

    monkeypatch.setattr(native_best_fit, "offsets_of", noted)
    monkeypatch.setattr(best_fit, "SOON", 0)
    for case in range(max(300, int(PROBLEMS * fuzz))):
        problem = drawn(random, case)
        monkeypatch.setenv("MEMOPT_NATIVE", "1")
        given.clear()
        answer = place(problem, "best-fit")
        is_native = all(i.fixed is None for i in problem.items)
        assert given == [True] * is_native, case
        monkeypatch.setenv("MEMOPT_NATIVE", "0")
        assert place(problem, "best-fit") == answer, case
        ways.add(is_native)
    assert ways == {False, True}


def test_few_buffers_do_not_load_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best_fit, "NATIVE", "no_such_module")
    buffers = tuple(Buffer(f"b{k}", 1 + k % 7, k, k + 3, k) for k in range(best_fit.SOON + 1))
    assert place(PlacementProblem(buffers[:-1]), "best-fit").arena
    with pytest.raises(ModuleNotFoundError):
        place(PlacementProblem(buffers), "best-fit")


@pytest.mark.parametrize("size", [1 << 59, LARGEST, 2 * LARGEST])
def test_what_overflows_in_the_library_is_placed_in_python(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    buffers = tuple(Buffer(f"b{k}", size, k, k + 2, k) for k in range(3))
    items = PlacementProblem(buffers).items
    assert native_best_fit.offsets_of(items) is None
    monkeypatch.setattr(best_fit, "SOON", 0)
    answer = best_fit.solve(PlacementProblem(buffers))
    assert answer == placement_of(PlacementProblem(buffers), items, [0, size, 0])


@pytest.mark.parametrize(
    "numbers",
    [
        (),
        (-1,),
        (0, 0),  # more than was announced
        (1, 0, 0, 1, 1, 1, 0, 1, 1),  # lives nowhere
        (1, 0, 2, 1, 0, 1, 0, 2, 1),  # no alignment
        (1, 0, 2, 1, 1, 0),  # no stretch
        (1, 0, 2, 1, 1, 1, 1, 3, 1),  # a stretch after its end
        (1, 0, 2, 4, 1, 2, 1, 2, 1, 0, 1, 1),  # not ascending
        (1, 0, 2, 1, 1, 1, 0, 2, 2),  # higher than the item
    ],
)
def test_a_malformed_stream_is_refused(numbers: tuple[int, ...]) -> None:
    native = library()
    assert native
    values, offsets = array("q", numbers), array("q", (7,))
    assert native.memopt_best_fit(numbers_of(values), len(values), numbers_of(offsets)) == 1
    assert offsets[0] == 7
