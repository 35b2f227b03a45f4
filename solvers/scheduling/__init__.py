"""Order the operators: a file per method in `methods/`, each with `solve(graph, ...) -> Schedule`.

The methods that papers compare with stand in `solvers/published/scheduling/`.

`schedule` loads the method it is asked for and nothing else, so a command that only reads a plan
never pays for OR-Tools.
"""

from typing import Any

from memopt.solvers import clock
from memopt.solvers.methods import SCHEDULES
from memopt.solvers.problems.memory_graph import MemoryGraph, ProblemError, Schedule
from memopt.solvers.registry import Option, check_options, declared_options, function_of, options_of

METHODS = tuple(SCHEDULES)


def options() -> tuple[Option, ...]:
    """Return the options that the methods' files declare (`OPTIONS`)."""
    return declared_options(SCHEDULES, "solve")


def schedule(
    graph: MemoryGraph, method: str = "auto", time_limit: float | None = None, **options: Any
) -> Schedule:
    """Order `graph` with `method` (one of `METHODS`), within `time_limit` seconds if given.

    The answer has been verified. Raises ProblemError for an unknown method, an unknown option, a
    malformed problem, or a feature that the method does not cover.
    """
    solve = function_of(SCHEDULES, method, "method", "solve")
    graph.check()
    known = options_of(solve)
    check_options(f"method {method!r}", options, known)
    clock.check(time_limit)
    for name, value in options.items():
        if isinstance(value, int) and value < 0:
            raise ProblemError(f"{name}={value}: it must not be negative")
    if "time_limit" in known:
        options["time_limit"] = time_limit
    with clock.watched("peak"):
        answer: Schedule = solve(graph, **options)
    answer.verify(graph)
    return answer
