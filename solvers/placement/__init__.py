"""Placement strategies: where each buffer lies in the arena.

    place(problem, "auto").arena

One file per strategy, loaded when it is asked for. Every strategy obeys fixed offsets, alignments
and shared bases, and its answer is verified before it is given back.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Literal, cast, get_args

from memopt.solvers.arena import Placement, PlacementProblem
from memopt.solvers.errors import ProblemError

Method = Literal[
    "auto",
    "exact",
    "greedy-by-size",
    "greedy-by-breadth",
    "best-fit",
    "tflm",
    "hill-climb",
]
METHODS: tuple[Method, ...] = get_args(Method)

Strategy = Callable[[PlacementProblem, float | None], Placement]


def place(
    problem: PlacementProblem, method: Method = "auto", time_limit: float | None = None
) -> Placement:
    """Offsets for all buffers, verified.

    `time_limit` in seconds is for `auto`, `exact` and `hill-climb`; without one they stop after a
    fixed amount of work, so that the same problem always has the same answer. Raises ProblemError
    for a malformed problem, for fixed offsets that collide, and for an unknown method.
    """
    if method not in METHODS:
        raise ProblemError(f"unknown placement {method!r}; known: {', '.join(METHODS)}")
    problem.check()
    if not problem.buffers:
        return Placement((), 0)
    module = import_module(f"memopt.solvers.placement.{method.replace('-', '_')}")
    answer = cast("Strategy", module.solve)(problem, time_limit)
    answer.verify(problem)
    return answer
