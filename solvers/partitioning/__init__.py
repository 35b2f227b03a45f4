"""Cut a memory graph into parts that run one after the other, so that each is small enough for an
exact method (Zhong, section IV-C). See docs/concepts/partitioning.md.

    parts = partition(graph, 4)                    # or "auto"; method="naive" to compare
    answer = partitioned.solve(graph, parts)       # memopt.solvers.scheduling.partitioned
"""

from math import ceil
from typing import Any

from memopt.modules import modules_in
from memopt.solvers import clock
from memopt.solvers.partitioning.parts import Part, Partition, cut_levels, split
from memopt.solvers.problems.memory_graph import MemoryGraph, ProblemError
from memopt.solvers.registry import check_options, function_of, options_of

__all__ = ["METHODS", "Part", "Partition", "cut_levels", "is_automatic", "partition", "split"]

_FOUND = modules_in("memopt.solvers.partitioning.methods")
METHODS = ("auto", *_FOUND)
# Exact methods are at home with about this many operators; `auto` makes no larger parts on average.
OPERATORS_PER_PART = 128


def partition(
    graph: MemoryGraph,
    k: int | str = "auto",
    method: str = "auto",
    time_limit: float | None = None,
    **options: Any,
) -> Partition:
    """An acyclic partition of `graph` into `k` parts ("auto": by size), verified, the best that is
    found within `time_limit` seconds if given.

    Method `auto` is `multilevel`, or `best-order` where `k` is auto too and it has the options.
    Both take `balance` (how much larger than the mean a part may be, 0.5 for half), `multilevel`
    also `seed`. Raises ProblemError for an unknown method or option, or more parts than operators.
    """
    if method == "auto":
        along = options_of(function_of(_FOUND, "best-order", "method", "solve"))
        is_along = is_automatic(k, method) and set(options).issubset(along)
        method = "best-order" if is_along else "multilevel"
    solve = function_of(_FOUND, method, "method", "solve")
    known = options_of(solve)[1:]  # all but k
    check_options(f"method {method!r}", sorted(options), known)
    clock.check(time_limit)
    if "time_limit" in known:
        options["time_limit"] = time_limit
    graph.check()
    answer: Partition = solve(graph, _number(graph, k), **options)
    answer.verify(graph)
    return answer


def is_automatic(k: int | str, method: str) -> bool:
    """Return whether neither the number of parts nor how to find them was said."""
    return k == method == "auto"


def _number(graph: MemoryGraph, k: int | str) -> int:
    """How many parts: as asked for, or what `auto` makes. Raises ProblemError."""
    n = len(graph)
    if k == "auto":
        return max(1, ceil(n / OPERATORS_PER_PART))
    if not isinstance(k, int) or k < 1:
        raise ProblemError(f"k={k}: a positive number of parts, or auto")
    if k > max(n, 1):
        raise ProblemError(f"{n} operators cannot be cut into {k} parts")
    return k
