"""The cheapest rows whose arena is at most so many bytes: whole operators where that is enough.

    fitting_rows(func, fit=65536)

The peak decides what is cut (`fewest_rows.py`). Where the smallest arena that is found for that is
larger than its peak, and too large, some more is cut: first what lies between, for whole tensors
among rows are hard to place. At last less peak is asked for.
"""

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp

from memopt.passes.rows.minimise import Chosen, DoesNotFitError, ever_fewer_rows, with_cut
from memopt.solvers import clock, joint
from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule
from memopt.solvers.scheduling import schedule

TRIES = 3  # choices of one peak that are placed


def fitting_rows(func: FuncOp, fit: int, time_limit: float | None = None) -> frozenset[int]:
    """The operators to cut, by position among those that run, for an arena of `fit` bytes;
    `time_limit` in seconds.

    Raises DoesNotFitError, with what is proven, if none is found.
    """
    deadline = clock.deadline(time_limit)
    most, smallest = fit, None
    while True:
        try:
            found = ever_fewer_rows(func, clock.left(deadline), most)
        except DoesNotFitError as error:
            if smallest is None:
                raise
            text = f"the smallest arena found has {smallest:,} B, {smallest - fit:,} B too much"
            raise DoesNotFitError(f"{text}; for less than that {error.text}") from error
        tried = [(with_cut(func, positions), positions) for positions in worth_placing(found)]
        for graph, positions in sorted(tried, key=lambda t: len(t[0])):
            if smallest is not None and clock.late(deadline):
                text = f"the smallest arena found in time has {smallest:,} B"
                raise DoesNotFitError(f"{text}, {smallest - fit:,} B too much")
            order = schedule(graph, "auto", clock.left(deadline))
            arena = _arena(graph, order, deadline)
            if arena <= fit:
                return positions
            smallest = arena if smallest is None else min(smallest, arena)
            most = min(most, order.peak - 1)


def worth_placing(found: Sequence[Chosen]) -> list[frozenset[int]]:
    """Return the choices of the fewest calls, and the best of them without holes."""
    able, best = found[0].positions, found[-1].positions
    tried = [best, without_holes(able, best), *(c.positions for c in reversed(found[-TRIES:]))]
    return list(dict.fromkeys(tried))


def without_holes(able: frozenset[int], positions: frozenset[int]) -> frozenset[int]:
    """Return all that is `able` from the first of the positions to the last: whole tensors among
    rows are hard to place."""
    if not positions:
        return positions
    first, last = min(positions), max(positions)
    return frozenset(k for k in able if first <= k <= last)


def _arena(graph: MemoryGraph, order: Schedule, deadline: float | None) -> int:
    """Bytes, as memgraph-place{method=joint} finds them."""
    left = clock.left(deadline)
    found = joint.solve(graph, order.order, order.lower_bound, left, calm_first=True)
    return found.placement.arena
