"""Runs of `skyline_corners.py` in the native library: the same nodes in the same order.

    runs = runs_of(search, remembered)  # None: in Python
    runs.run(search)                    # one run, as of Python

The library pauses where progress is told, every 256 nodes or sooner; then the clock is read, and
Ctrl-C heard.
"""

from array import array
from typing import TYPE_CHECKING

from memopt.solvers import clock
from memopt.solvers.native.library import Stream, clamped, numbers_of
from memopt.solvers.native.paused_search import PausedSearch

if TYPE_CHECKING:
    from memopt.solvers.placement.skyline_corners import CornerSearch

TELL = 256  # nodes from one report to the next, as in Python
WORK = 1_000_000  # sections times nodes between two looks at the clock, some 10 ms
PAUSED, STOPPED, SOLVED, FAILED = range(4)  # as `advance` says


class NativeRuns(PausedSearch):
    """The failed states and weights of one search, which outlive each of its runs."""

    name = "corners"
    solved = False  # then all is placed, and a further run has nothing to do

    def run(self, search: "CornerSearch") -> bool | None:
        """Run once up to the search's limit: True with its `offsets`, False if there are none,
        None if that is not settled."""
        if self.solved:
            return True
        rank, status = array("q", search.rank), PAUSED
        limit = clamped(search.limit)
        self.library.memopt_corners_begin(self.handle, numbers_of(rank), search.interior, limit)
        slice_nodes = max(1, WORK // (search.strip.sections + 16))
        while status == PAUSED:
            if clock.late(search.deadline):
                return None
            pause = search.nodes + min(slice_nodes, TELL - search.nodes % TELL)
            status = self.advance(pause)
            search.nodes = self.work
            if search.progress and not search.nodes % TELL and status != STOPPED:
                search.progress(search.nodes)
        if status == SOLVED:
            search.offsets, self.solved = self.offsets, True
        return None if status == STOPPED else status == SOLVED


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
    count = len(search.strip.sizes)
    return NativeRuns.create(lambda: problem_of(search, remembered), count, search.slack_costs)
