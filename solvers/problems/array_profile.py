"""Profiles of orders of many operators, as sums over arrays: a tenth of the time of a walk.

A group comes with the first of its writers and goes with the last that touches it, so where these
stand in an order says all of its levels and steps.
"""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from memopt.solvers.problems.memory_graph import (
    InPlace,
    MemoryGraph,
    Profile,
    check_order,
    follow,
)

LARGEST = 2**62  # bytes of all groups whose sums are surely numbers of 64 bits

Numbers = npt.NDArray[np.int64]


def array_profile(graph: MemoryGraph, order: Sequence[int]) -> Profile:
    """Return the profile of an order. Raises ProblemError unless it is a topological order of all
    operators."""
    if sum(graph.sizes) + sum(map(abs, graph.extra)) > LARGEST:
        return follow(graph, order)
    position = _positions(graph, order)
    count = len(order)
    first = _extremes(np.minimum, graph, [g.writers for g in graph.groups], position, count)
    last = _extremes(np.maximum, graph, graph.touchers, position, -1)
    sizes = np.array(graph.sizes, np.int64)
    fresh, freed = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    is_input = np.array([g.is_input for g in graph.groups], bool)
    is_output = np.array([g.is_output for g in graph.groups], bool)
    np.add.at(fresh, first[~is_input], sizes[~is_input])
    np.add.at(freed, last[~is_output], sizes[~is_output])  # of no touchers at the end, which is cut
    rise, held = fresh[:count], fresh[:count] - freed[:count]
    held[:1] -= graph.unread_inputs
    levels = graph.first_level + np.concatenate([np.zeros(1, np.int64), np.cumsum(held)])
    steps = (
        levels[:count] + rise + np.array(graph.extra, np.int64)[np.array(order, np.int64)]
    ).tolist()
    ends: list[int] = last.tolist()
    used: list[InPlace | None] = [None] * count
    for i, v in enumerate(order):
        if graph.candidates[v]:
            choice = next((c for c in graph.candidates[v] if ends[c.operand] <= i), None)
            steps[i] -= graph.sizes[choice.result] if choice else 0
            used[i] = choice
    return Profile(tuple(levels.tolist()), tuple(steps), tuple(used))


def _positions(graph: MemoryGraph, order: Sequence[int]) -> Numbers:
    """Return the position of each operator in the order. Raises ProblemError as `check_order`."""
    operators, places = np.array(order, np.int64), np.arange(len(graph))
    position = np.empty(len(graph), np.int64)
    if not np.array_equal(np.sort(operators), places):
        check_order(graph, order)
    position[operators] = places
    counts = np.fromiter(map(len, graph.predecessors), np.int64, len(graph))
    before = position[np.fromiter(chain.from_iterable(graph.predecessors), np.int64)]
    if np.any(before > np.repeat(position, counts)):
        check_order(graph, order)
    return position


def _extremes(
    choose: np.ufunc,
    graph: MemoryGraph,
    operators: Sequence[Sequence[int]],
    position: Numbers,
    none: int,
) -> Numbers:
    """Return the first or the last position of the operators of each group, `none` of no
    operators."""
    counts = np.fromiter(map(len, operators), np.int64, len(graph.groups))
    answer = np.full(len(graph.groups), none, np.int64)
    places = position[np.fromiter(chain.from_iterable(operators), np.int64)]
    starts = np.cumsum(counts) - counts
    if len(places):
        answer[counts > 0] = choose.reduceat(places, starts[counts > 0])
    return answer
