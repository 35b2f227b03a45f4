"""Runs of `skyline_corners.py` in the native library: the same nodes in the same order.

    runs = runs_of(search, remembered)  # None: in Python
    runs.run(search)                    # one run, as of Python

The library pauses where progress is told, every 256 nodes or sooner; then the clock is read, and
Ctrl-C heard.
"""

from array import array
from ctypes import CDLL
from typing import TYPE_CHECKING

from memopt.solvers import clock
from memopt.solvers.native.library import Stream, clamped, library, numbers_of

if TYPE_CHECKING:
    from memopt.solvers.placement.skyline_corners import CornerSearch

TELL = 256  # nodes from one report to the next, as in Python
WORK = 1_000_000  # sections times nodes between two looks at the clock, some 10 ms
STOPPED, SOLVED, FAILED = 1, 2, 3  # as `advance` says; 0 is a pause


class NativeRuns:
    """The failed states and weights of one search, which outlive each of its runs."""

    def __init__(self, native: CDLL, handle: int) -> None:
        self.library, self.handle = native, handle
        self.solved = False  # then all is placed, and a further run has nothing to do

    def __del__(self) -> None:
        self.library.memopt_corners_destroy(self.handle)

    def run(self, search: "CornerSearch") -> bool | None:
        """Run once up to the search's limit: True with its `offsets`, False if there are none,
        None if that is not settled."""
        if self.solved:
            return True
        rank, outcome = array("q", search.rank), array("q", (search.nodes, 0))
        limit = clamped(search.limit)
        self.library.memopt_corners_begin(self.handle, numbers_of(rank), search.interior, limit)
        slice_nodes = max(1, WORK // (search.strip.sections + 16))
        while not outcome[1]:
            if clock.late(search.deadline):
                return None
            pause = search.nodes + min(slice_nodes, TELL - search.nodes % TELL)
            if self.library.memopt_corners_advance(self.handle, pause, numbers_of(outcome)):
                raise MemoryError
            search.nodes = outcome[0]
            if search.progress and not search.nodes % TELL and outcome[1] != STOPPED:
                search.progress(search.nodes)
        if outcome[1] == SOLVED:
            offsets = array("q", bytes(8 * len(rank)))
            self.library.memopt_corners_offsets(self.handle, numbers_of(offsets))
            search.offsets, self.solved = list(offsets), True
        return None if outcome[1] == STOPPED else outcome[1] == SOLVED


def problem_of(search: "CornerSearch", remembered: int) -> "array[int]":
    """Return the search as `corners.cpp` reads it. Raises OverflowError."""
    strip, rules, stream = search.strip, search.rules, Stream()
    stream.add(len(strip.sizes), strip.sections, remembered)
    stream.add(rules.failures, rules.backjumping, rules.walls, rules.weights, rules.flush)
    for first, last, size in zip(strip.first, strip.last, strip.sizes, strict=True):
        stream.add(first, last, size)
    for level, budget in zip(search.skyline, search.budget, strict=True):
        stream.add(level, budget)
    return stream.values


def runs_of(search: "CornerSearch", remembered: int) -> NativeRuns | None:
    """Return the runs of a search that has not begun; None where there is no library, or it refuses
    what would overflow."""
    native = library()
    if native is None:
        return None
    try:
        values = problem_of(search, remembered)
    except OverflowError:
        return None
    count, costs = len(values), search.slack_costs
    handle = native.memopt_corners_create(numbers_of(values), count, costs)
    return None if handle is None else NativeRuns(native, handle)
