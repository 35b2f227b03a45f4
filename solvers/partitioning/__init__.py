"""Cut a memory graph into parts that run one after the other, so that each is small enough for an
exact method (Zhong, section IV-C). See docs/partitioning.md.

    parts = partition(graph, 4)                    # or "auto"; method="naive" to compare
    answer = partitioned.solve(graph, parts)       # memopt.solvers.scheduling.partitioned
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from memopt.solvers.partitioning.parts import Part, Partition, cut_levels, split
from memopt.solvers.problems.memory_graph import MemoryGraph, ProblemError

if TYPE_CHECKING:
    from memopt.solvers.partitioning.tables import Row

__all__ = ["METHODS", "Part", "Partition", "cut_levels", "partition", "split", "table"]

METHODS = ("multilevel", "naive")


def partition(
    graph: MemoryGraph, k: int | str = "auto", method: str = "multilevel", **options: Any
) -> Partition:
    """An acyclic partition of `graph` into `k` parts, verified.

    `multilevel` takes `balance` (how much larger than the mean a part may be, 0.5 for half) and
    `seed`. Raises ProblemError for an unknown method or option, or more parts than operators.
    """
    from memopt.solvers.partitioning.intervals import naive
    from memopt.solvers.partitioning.multilevel import multilevel, parts_for

    if method not in METHODS:
        raise ProblemError(f"unknown method {method!r}: one of {', '.join(METHODS)}")
    unknown = set(options) - ({"balance", "seed"} if method == "multilevel" else set())
    if unknown:
        raise ProblemError(f"method {method!r} has no option {min(unknown).replace('_', '-')!r}")
    graph.check()
    if method == "naive":
        if isinstance(k, str) and k != "auto":
            raise ProblemError(f"k={k}: a positive number of parts, or auto")
        found = naive(graph, k if isinstance(k, int) else parts_for(graph))
    else:
        found = multilevel(graph, k, **options)
    found.verify(graph)
    return found


def table(graph: MemoryGraph, ks: Iterable[int] = range(1, 7), **options: Any) -> "Iterator[Row]":
    """Zhong's Table VI for `graph`: see `tables.table`."""
    from memopt.solvers.partitioning.tables import table as rows

    return rows(graph, ks, **options)
