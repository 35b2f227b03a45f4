"""Strategies for shared objects: which of several separate memories each buffer lies in.

    share(problem, "shared-objects").total

One file per strategy. Every answer is verified before it is given back, and has a proven bound: the
positional maxima, or what the exact search proved.
"""

from importlib import import_module

from memopt.solvers import clock
from memopt.solvers.methods import SHARED_OBJECTS
from memopt.solvers.problems.placement import PlacementProblem
from memopt.solvers.registry import Option, check_options, declared_options, function_of, options_of
from memopt.solvers.shared_objects.sharing import NONE, Sharing, shared_items, sharing_of

METHODS = tuple(SHARED_OBJECTS)


def options() -> tuple[Option, ...]:
    """Return the options that the strategies' files declare (`OPTIONS`)."""
    return declared_options(SHARED_OBJECTS, "prove", "solve")


def share(
    problem: PlacementProblem,
    method: str = "shared-objects",
    time_limit: float | None = None,
    **options: object,
) -> Sharing:
    """The object of every buffer, verified.

    `time_limit` in seconds is for `shared-objects`, `shared-objects-exact` and
    `shared-objects-improved`; without one they stop after a fixed amount of work, so that the same
    problem always has the same answer. `options` are the method's own. Raises ProblemError for a
    malformed problem, a fixed offset, an unknown method or option, and more buffers than a method
    takes.
    """
    strategy = function_of(SHARED_OBJECTS, method, "strategy", "prove", "solve")
    known = options_of(strategy)
    check_options(method, options, known)
    clock.check(time_limit)
    problem.check()
    items = shared_items(problem)
    if not items:
        return Sharing((NONE,) * len(problem.buffers), (), 0)
    # it loads numpy, for which `--help` need not wait
    profiles = import_module("memopt.solvers.shared_objects.profiles")
    bound: int = sum(profiles.positional_maxima(items))
    given = {"bound": bound, "time_limit": time_limit}
    result = strategy(items, **{k: v for k, v in given.items() if k in known}, **options)
    objects, bound = result if "bound" in known else (result, bound)
    answer = sharing_of(problem, items, objects, bound)
    answer.verify(problem)
    return answer
