"""Capacities below the best answer: what fits into one that is given is found without it too.

    lowered(items, found, 600_000, ask)

A search that is told a capacity looks nowhere else, so it may find in seconds what one for the best
answer has no work left for. Here every question is the one that is asked for a given capacity: just
below the best answer, then further and further below, and again from each better answer. First with
little work, which is mostly enough, and at last with as much as a given capacity gets.
"""

from collections.abc import Callable, Sequence

from memopt.solvers.placement.rectangles import arena_unit
from memopt.solvers.problems.placement import Item, Placement, Proven

SHARES = (16, 4, 1)  # each question's work: all of it divided by these
FURTHER = 2  # times further below the best answer after each failure

Ask = Callable[[Placement, int, int], Proven]
"""The best answer known, a capacity in bytes, nodes: an answer that is not worse, and a bound."""


def lowered(items: Sequence[Item], proven: Proven, nodes: int, ask: Ask) -> Proven:
    """`proven`, or better: with `nodes` no capacity 1, 2, 4, 8 ... units below it is met."""
    unit = arena_unit(items)
    for share in SHARES:
        step = unit
        while (capacity := proven.placement.arena - step) >= proven.lower_bound:
            again = ask(proven.placement, capacity, nodes // share)
            better = again.placement.arena < proven.placement.arena
            step = unit if better else step * FURTHER
            proven = Proven(again.placement, max(proven.lower_bound, again.lower_bound))
    return proven
