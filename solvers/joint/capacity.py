"""Does one of these orders fit into so many bytes? With little work, so it may not be found out.

    found = nearest(graph, [order], capacity=8_704)
    found.placement.arena <= 8_704

Each order is placed by planar embedding and greedy strategies, then asked about by CP-SAT.
"""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from memopt.solvers import clock
from memopt.solvers.joint import EAGER, Joint
from memopt.solvers.problems.memory_graph import MemoryGraph, live_ranges
from memopt.solvers.problems.placement import Placement, PlacementProblem


def nearest(
    graph: MemoryGraph,
    orders: Iterable[Sequence[int]],
    capacity: int,
    deadline: float | None = None,
    work: float = EAGER,
) -> Joint | None:
    """Return the first of the orders that is placed in `capacity` bytes, else that of the smallest
    arena by `deadline`, which is over after the first at the soonest; None of no orders. CP-SAT has
    so much `work` for each question, in its own deterministic time; none is asked without any."""
    auto: Any = import_module("memopt.solvers.placement.methods.auto")  # when it is needed
    best: Joint | None = None
    for count, order in enumerate(orders, 1):
        problem = live_ranges(graph, order)
        placement = auto.without_search(problem, clock.left(deadline))
        if work and problem.load <= capacity < placement.arena and not clock.late(deadline):
            placement = asked(problem, capacity, work, deadline) or placement
        if best is None or placement.arena < best.placement.arena:
            best = Joint(tuple(order), placement, 0, count)
        if placement.arena <= capacity or clock.late(deadline):
            break
    return best


def asked(
    problem: PlacementProblem, capacity: int, work: float, deadline: float | None = None
) -> Placement | None:
    """Return the placement in `capacity` bytes that CP-SAT finds with so much `work`, or None."""
    coarse: Any = import_module("memopt.solvers.placement.coarse")  # when it is needed
    return coarse.fits(problem, capacity, work, clock.left(deadline))
