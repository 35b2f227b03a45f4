"""Strategies for shared objects: which of several separate memories each buffer lies in.

    share(problem, "shared-objects").total

One file per strategy. Every answer is verified before it is given back, and has a proven bound: the
positional maxima, or what the exact search proved.
"""

from typing import Literal, get_args

from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.placement import PlacementProblem
from memopt.solvers.shared_objects.profiles import positional_maxima
from memopt.solvers.shared_objects.sharing import NONE, Sharing, shared_items, sharing_of

Method = Literal[
    "shared-objects",
    "shared-objects-by-size",
    "shared-objects-improved",
    "shared-objects-by-breadth",
    "shared-objects-greedy",
    "shared-objects-min-cost-flow",
    "shared-objects-exact",
]
METHODS: tuple[Method, ...] = get_args(Method)


def share(
    problem: PlacementProblem, method: Method = "shared-objects", time_limit: float | None = None
) -> Sharing:
    """The object of every buffer, verified.

    `time_limit` in seconds is for `shared-objects` and `shared-objects-exact`; without one they
    stop after a fixed amount of work, so that the same problem always has the same answer. Raises
    ProblemError for a malformed problem, a fixed offset, an unknown method, and more buffers than
    a method takes.
    """
    if method not in METHODS:
        raise ProblemError(f"unknown strategy {method!r}; known: {', '.join(METHODS)}")
    clock.check(time_limit)
    problem.check()
    items = shared_items(problem)
    if not items:
        return Sharing((NONE,) * len(problem.buffers), (), 0)
    bound = sum(positional_maxima(items))
    from memopt.solvers.shared_objects.methods import shared_objects as best
    from memopt.solvers.shared_objects.methods import shared_objects_by_breadth as by_breadth
    from memopt.solvers.shared_objects.methods import shared_objects_by_size as by_size
    from memopt.solvers.shared_objects.methods import shared_objects_exact as exact
    from memopt.solvers.shared_objects.methods import shared_objects_greedy as greedy
    from memopt.solvers.shared_objects.methods import shared_objects_improved as improved
    from memopt.solvers.shared_objects.methods import shared_objects_min_cost_flow as min_cost_flow

    if method == "shared-objects":
        objects, bound = best.solve(items, bound, time_limit)
    elif method == "shared-objects-exact":
        objects = best.best_greedy(items, bound)
        objects, bound = exact.improve(items, objects, bound, time_limit)
    else:
        strategies = {
            "shared-objects-by-size": by_size.solve,
            "shared-objects-improved": improved.solve,
            "shared-objects-by-breadth": by_breadth.solve,
            "shared-objects-greedy": greedy.solve,
            "shared-objects-min-cost-flow": min_cost_flow.solve,
        }
        objects = strategies[method](items)
    answer = sharing_of(problem, items, objects, bound)
    answer.verify(problem)
    return answer
