"""Placement strategies: where each buffer lies in the arena.

    place(problem, "auto").arena
    prove(problem, "exact", capacity=1 << 20)       # with a bound: does it fit, can it?

One file per strategy in `methods/`, or in `solvers/published/placement/` where it only serves
comparison, loaded when it is asked for. Every strategy obeys fixed offsets, alignments
and shared bases, and its answer is verified before it is given back. A strategy's file has
`solve(problem, time_limit, **options) -> Placement`; one that proves more than the load has
`prove(problem, time_limit, **options) -> Proven` instead or as well, and one that can stop at a
capacity, or prove that nothing fits into it, takes that as `capacity`.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from memopt.solvers import clock
from memopt.solvers.methods import JOINT, STRATEGIES
from memopt.solvers.placement.rectangles import floor_of
from memopt.solvers.problems.placement import Placement, PlacementProblem, Proven
from memopt.solvers.registry import Option, check_options, declared_options, function_of, options_of

METHODS = tuple(STRATEGIES)


def options() -> tuple[Option, ...]:
    """Return the options that the strategies' files declare (`OPTIONS`), and those of methods that
    order too."""
    return declared_options(STRATEGIES | JOINT, "prove", "solve")


Strategy = Callable[..., Placement | Proven]


def place(
    problem: PlacementProblem,
    method: str = "auto",
    time_limit: float | None = None,
    **options: object,
) -> Placement:
    """Offsets for all buffers, verified.

    `time_limit` in seconds is for `auto`, `hill-climb`, and what proves; without one they stop
    after a fixed amount of work (`ilp` when it has its proof), so that the same problem always has
    the same answer. `options` are the method's own. Raises ProblemError for a malformed problem,
    for fixed offsets that collide, for an unknown method, and for an option that it does not have.
    """
    return prove(problem, method, time_limit, None, **options).placement


def at_first_sight(problem: PlacementProblem) -> Placement:
    """Return the answer of a few strategies that take no search."""
    auto: Any = import_module("memopt.solvers.placement.methods.auto")  # when it is needed
    return auto.at_first_sight(problem)


def prove(
    problem: PlacementProblem,
    method: str = "auto",
    time_limit: float | None = None,
    capacity: int | None = None,
    **options: object,
) -> Proven:
    """Offsets with a proven bound, verified; otherwise as `place`.

    With `capacity` (bytes) the search stops at an arena that fits, and a bound above it proves that
    none does. The bound is never below the load and the end of what is fixed.
    """
    strategy = cast("Strategy", function_of(STRATEGIES, method, "placement", "prove", "solve"))
    known = options_of(strategy)[1:]
    check_options(method, options, known)
    if capacity is not None and "capacity" in known:
        options["capacity"] = capacity
    clock.check(time_limit)
    problem.check()
    if not problem.buffers:
        return Proven(Placement((), 0), 0)
    floor = floor_of(problem, problem.items)
    if capacity is not None and capacity < floor:  # any answer shows as much as the best
        quick = function_of(STRATEGIES, "greedy-by-size", "placement", "solve")
        strategy, options = cast("Strategy", quick), {}
    with clock.watched("arena"):
        answer = strategy(problem, time_limit, **options)
    if isinstance(answer, Placement):
        answer = Proven(answer, 0)
    answer.placement.verify(problem)
    return Proven(answer.placement, max(floor, answer.lower_bound))
