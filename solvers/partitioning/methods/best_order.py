"""Cut the best order that is known of the whole graph into intervals, where levels are lowest.

That order keeps to the parts, so that they exclude nothing that `auto` finds without them.
"""

from memopt.solvers import clock
from memopt.solvers.partitioning.intervals import in_intervals
from memopt.solvers.partitioning.methods import naive
from memopt.solvers.partitioning.parts import BALANCE, Partition, heaviest_part
from memopt.solvers.problems.memory_graph import MemoryGraph, ProblemError
from memopt.solvers.scheduling.partitioned import WHOLE_SHARE, schedule_whole


def solve(
    graph: MemoryGraph, k: int, balance: float = BALANCE, time_limit: float | None = None
) -> Partition:
    """The cheapest `k` intervals of the order that `auto` finds within a part of `time_limit`
    seconds; the naive partition where time ends before they are cut.

    No part is empty or has more than (1 + `balance`) times the mean number of operators. Raises
    ProblemError for a negative `balance`.
    """
    if balance < 0:
        raise ProblemError(f"balance={balance} is negative")
    deadline = clock.deadline(time_limit)
    if k == 1:
        return Partition((0,) * len(graph), 1)
    order = schedule_whole(graph, clock.left(deadline, WHOLE_SHARE)).order
    heaviest = heaviest_part(len(graph), k, balance)
    try:
        part = in_intervals(graph, (1,) * len(graph), order, k, heaviest, deadline)
    except clock.TimeIsOverError:
        return naive.solve(graph, k)
    assert part is not None  # k intervals of equal length are no heavier
    return Partition(tuple(part), k)
