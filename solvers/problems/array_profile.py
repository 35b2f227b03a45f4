"""Profiles of orders of many operators, as sums over arrays.

A group comes with the first of its writers and goes with the last that touches it, so where these
stand in an order says all of its levels and steps. The arrays of a graph stay with it, as whoever
asks about one order most often asks about more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import cast

import numpy as np
import numpy.typing as npt

from memopt.solvers.problems.memory_graph import InPlace, MemoryGraph, Profile, check_order, follow

LARGEST = 2**62  # bytes of all groups whose sums are surely numbers of 64 bits

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Lists:
    """Lists of operators one behind the other: those that are not empty, by number, and where each
    of these begins."""

    operators: Numbers
    numbers: Numbers
    starts: Numbers
    counts: Numbers

    @staticmethod
    def of(lists: Sequence[Sequence[int]]) -> "_Lists":
        """Return some lists so."""
        counts = np.fromiter(map(len, lists), np.int64, len(lists))
        operators = np.fromiter(chain.from_iterable(lists), np.int64)
        numbers = np.flatnonzero(counts)
        return _Lists(operators, numbers, (np.cumsum(counts) - counts)[numbers], counts[numbers])

    def extremes(self, choose: np.ufunc, position: Numbers) -> Numbers:
        """Return the first or the last position of the operators of each list."""
        return choose.reduceat(position[self.operators], self.starts)


@dataclass(frozen=True)
class _Arrays:
    """A graph as arrays: bytes that come with a group's first writer, and go with its last
    toucher."""

    predecessors: _Lists
    writers: _Lists
    touchers: _Lists
    coming: Numbers
    going: Numbers
    extra: Numbers

    @staticmethod
    def of(graph: MemoryGraph) -> "_Arrays":
        """Return the arrays of a graph, which it has once it was asked."""
        held = vars(graph)  # where a frozen class has what is derived of it
        if "_arrays" not in held:
            writers, touchers = _Lists.of([g.writers for g in graph.groups]), graph.touchers
            pairs = list(zip(graph.groups, graph.sizes, strict=True))
            coming = np.array([0 if g.is_input else size for g, size in pairs], np.int64)
            going = np.array([0 if g.is_output else size for g, size in pairs], np.int64)
            touching = _Lists.of(touchers)
            held["_arrays"] = _Arrays(
                _Lists.of(graph.predecessors),
                writers,
                touching,
                coming[writers.numbers],
                going[touching.numbers],
                np.array(graph.extra, np.int64),
            )
        return cast("_Arrays", held["_arrays"])


def array_profile(graph: MemoryGraph, order: Sequence[int]) -> Profile:
    """Return the profile of an order. Raises ProblemError unless it is a topological order of all
    operators."""
    if sum(graph.sizes) + sum(map(abs, graph.extra)) > LARGEST:
        return follow(graph, order)
    arrays, operators = _Arrays.of(graph), np.array(order, np.int64)
    position = _positions(graph, arrays, operators)
    first = arrays.writers.extremes(np.minimum, position)
    last = arrays.touchers.extremes(np.maximum, position)
    rise, held = np.zeros(len(order), np.int64), np.zeros(len(order), np.int64)
    np.add.at(rise, first, arrays.coming)
    np.subtract.at(held, last, arrays.going)
    held += rise
    held[:1] -= graph.unread_inputs
    levels = graph.first_level + np.concatenate([np.zeros(1, np.int64), np.cumsum(held)])
    steps = (levels[: len(order)] + rise + arrays.extra[operators]).tolist()
    ends = np.full(len(graph.groups), -1, np.int64)
    ends[arrays.touchers.numbers] = last
    used: list[InPlace | None] = [None] * len(order)
    for i, v in enumerate(order):
        if graph.candidates[v]:
            choice = next((c for c in graph.candidates[v] if ends[c.operand] <= i), None)
            steps[i] -= graph.sizes[choice.result] if choice else 0
            used[i] = choice
    return Profile(tuple(levels.tolist()), tuple(steps), tuple(used))


def _positions(graph: MemoryGraph, arrays: _Arrays, operators: Numbers) -> Numbers:
    """Return the position of each operator in an order. Raises ProblemError as `check_order`."""
    places, before = np.arange(len(graph)), arrays.predecessors
    if not np.array_equal(np.sort(operators), places):
        check_order(graph, operators.tolist())
    position = np.empty(len(graph), np.int64)
    position[operators] = places
    after = np.repeat(position[before.numbers], before.counts)
    if np.any(position[before.operators] > after):
        check_order(graph, operators.tolist())
    return position
