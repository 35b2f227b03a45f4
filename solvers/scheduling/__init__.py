"""Order the operators: one file per method, each with `solve(graph, ...) -> Schedule`.

`schedule` loads the method it is asked for and nothing else, so a command that only reads a plan
never pays for OR-Tools.
"""

from importlib import import_module
from typing import Any

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, ProblemError, Schedule

METHODS = (
    "auto",
    "search",
    "dp",
    "liberis",
    "ilp",
    "ilp-olla",
    "greedy",
    "rpo",
    "fwd-rpo",
    "source",
)

LIMITS = {"max_states", "max_bytes", "width"}


def schedule(
    graph: MemoryGraph, method: str = "auto", time_limit: float | None = None, **options: Any
) -> Schedule:
    """Order `graph` with `method` (one of `METHODS`), within `time_limit` seconds if given.

    The answer has been verified. Raises ProblemError for an unknown method, an unknown option, a
    malformed problem, or a feature that the method does not cover.
    """
    if method not in METHODS:
        raise ProblemError(f"unknown method {method!r}: one of {', '.join(METHODS)}")
    graph.check()
    solve = import_module(f"memopt.solvers.scheduling.{method.replace('-', '_')}").solve
    known = solve.__code__.co_varnames[
        : solve.__code__.co_argcount + solve.__code__.co_kwonlyargcount
    ]
    for name in options:
        if name not in known:
            raise ProblemError(f"method {method!r} has no option {name.replace('_', '-')!r}")
    clock.check(time_limit)
    for name, value in options.items():
        if name in LIMITS and value is not None and value < 0:
            raise ProblemError(f"{name}={value}: it must not be negative")
    if "time_limit" in known:
        options["time_limit"] = time_limit
    answer: Schedule = solve(graph, **options)
    answer.verify(graph)
    return answer
