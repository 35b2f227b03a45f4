"""Min-cost flow (Lee et al. 2019, TensorFlow Lite's GPU delegate): all are assigned at once.

Every buffer comes either into a new object, at the cost of its size, or after one buffer that died
before, at the cost of what it is larger than that one. The cheapest choice of who follows whom is
an assignment problem, solved exactly. It is not the cheapest sharing: an object that grew for one
buffer is as large for all that follow, which the cost of a pair cannot see.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.placement import Item

LARGEST = 3_000  # items: there is an arc for every pair that may follow each other


def solve(items: Sequence[Item]) -> list[int]:
    """The object of every item. Raises ProblemError above `LARGEST` items."""
    return until(items, None)


def until(items: Sequence[Item], deadline: float | None) -> list[int]:
    """Return the object of every item, as `solve`. Raises TimeIsOverError at the deadline."""
    if len(items) > LARGEST:
        raise ProblemError(
            f"min-cost flow takes {LARGEST:,} buffers at most, one arc per pair; these are "
            f"{len(items):,}"
        )
    n = len(items)
    order = sorted(range(n), key=lambda i: (items[i].lower, items[i].index))
    flow: Any = import_module("ortools.graph.python.min_cost_flow").SimpleMinCostFlow()
    # nodes: i is the end of item i, n + i its start, 2n the source, 2n + 1 the sink
    source, sink = 2 * n, 2 * n + 1
    follows: dict[int, tuple[int, int]] = {}
    for i in range(n):
        flow.add_arc_with_capacity_and_unit_cost(source, i, 1, 0)
        flow.add_arc_with_capacity_and_unit_cost(n + i, sink, 1, 0)
        flow.add_arc_with_capacity_and_unit_cost(source, n + i, 1, items[i].size)
    for i in order:
        clock.raise_if_late(deadline)
        for j in order:
            if items[j].upper <= items[i].lower:
                cost = max(0, items[i].size - items[j].size)
                arc = flow.add_arc_with_capacity_and_unit_cost(j, n + i, 1, cost)
                follows[arc] = (j, i)
    flow.set_node_supply(source, n)
    flow.set_node_supply(sink, -n)
    if flow.solve() != flow.OPTIMAL:
        raise ProblemError("min-cost flow: no flow found")
    before = {i: j for arc, (j, i) in follows.items() if flow.flow(arc)}
    objects: dict[int, int] = {}
    for i in order:  # what i follows comes earlier
        objects[i] = objects[before[i]] if i in before else len(set(objects.values()))
    return [objects[i] for i in range(n)]
