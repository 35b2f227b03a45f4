"""The cheapest rows whose arena is at most so many bytes: whole operators where that is enough.

    fitting_rows(func, fit=65536)

The peak decides what is cut (`fewest_rows.py`). Where the smallest arena that is found for that is
larger than its peak, and too large, less peak is asked for.
"""

from xdsl.dialects.func import FuncOp

from memopt.dialects.errors import MemoptError
from memopt.passes.fewest_rows import Chosen, fewest_rows, with_cut
from memopt.solvers import clock, joint
from memopt.solvers.scheduling import schedule


def fitting_rows(func: FuncOp, fit: int, time_limit: float | None = None) -> Chosen:
    """The operators to cut for an arena of `fit` bytes, `time_limit` in seconds.

    Raises MemoptError, with what is proven, if none is found.
    """
    deadline = clock.deadline(time_limit)
    most, smallest = fit, None
    while True:
        try:
            chosen = fewest_rows(func, clock.left(deadline), most)
        except MemoptError as error:
            if smallest is None:
                raise
            text = f"the smallest arena found has {smallest:,} B, {smallest - fit:,} B too much"
            raise MemoptError(f"{text}; for less than that {error.text}", error.place) from error
        graph = with_cut(func, chosen.positions)
        order = schedule(graph, "auto", clock.left(deadline))
        found = joint.solve(graph, order.order, order.lower_bound, clock.left(deadline))
        arena = found.placement.arena
        if arena <= fit:
            return chosen
        smallest = arena if smallest is None else min(smallest, arena)
        most = order.peak - 1
