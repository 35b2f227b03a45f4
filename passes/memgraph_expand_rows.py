"""`memgraph-expand-rows{rows=all}`: spatial operators in rows of their results.

Before:
    %y = memgraph.conv_2d %x, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 1 : (!t, !w) -> !u
    %z = memgraph.softmax %y : (!u) -> !u
After:
    %f = memgraph.row_kernel (%x: !t) { %y = memgraph.conv_2d %x, %w ... }
    %x0, %x1 = memgraph.split_rows %x : !t
    %y0 = memgraph.row %f[0] (%x0, %x1) : (!r, !r) -> !s
    %y1 = memgraph.row %f[1] (%x0, %x1) : (!r, !r) -> !s
    %y = memgraph.join %y0, %y1 : !u
    %z = memgraph.softmax %y : (!u) -> !u

No multiplication is repeated and no bit changes. What needs a tensor as a whole, returned ones too,
reads a `memgraph.join` of its rows. With `rows=auto` those are cut that have the least arena, and
of such choices the fewest calls (`least_arena.py`), with `fit` as few as have an arena of so many
bytes. With `stream-input` the input is not `memgraph.split_rows` but `memgraph.receive`.
"""

from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import PassFailedException

from memopt.dialects.memgraph.plan import plan_of
from memopt.passes.plan.option import option
from memopt.passes.plan.planned import Planned, PlanningPass, undecided
from memopt.passes.plan.words import ALL, AUTO, NONE
from memopt.passes.rows.expand import cut, expand
from memopt.passes.rows.fit import fit_rows, helping_text
from memopt.passes.rows.least_arena import choose_rows, cut_chosen
from memopt.passes.rows.minimise import DoesNotFitError
from memopt.passes.rows.stream_input import close_stream, receive_rows
from memopt.solvers import clock

SEARCH = 0.8  # of the time for auto: the rest is for the proof of what was chosen


@dataclass(frozen=True)
class MemgraphExpandRowsPass(PlanningPass):
    """Cut operators into rows."""

    name = "memgraph-expand-rows"

    rows: tuple[str, ...] | None = option(
        None, "all (default), none, auto (of the least arena), or names of tensors that are cut"
    )
    fit: int | None = option(None, "as few as have an arena of so many bytes, in place of rows")
    time_limit: int | float | None = option(None, "seconds, for auto and fit")
    stream_input: bool = option(
        False, "the function's only argument is received row by row while it runs"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fit is not None and self.fit < 1:
            raise PassFailedException(f"memgraph-expand-rows: fit={self.fit}: no arena is smaller")
        if self.fit is not None and self.rows not in (None, (AUTO,)):
            raise PassFailedException("memgraph-expand-rows: fit chooses the rows; leave out rows")
        if self.stream_input and self.rows == (NONE,):
            raise ValueError("stream-input needs operators in rows, not rows=none")

    @property
    def shares(self) -> int:
        """Return more for who chooses the rows: that orders and places them, too, which then is not
        done again."""
        return 6 if self.rows == (AUTO,) else 1

    def plan(self, func: FuncOp, known: Planned | None) -> Planned | None:
        rows, deadline = self.rows or (ALL,), clock.deadline(self.time_limit)
        before = func.clone() if self.fit is not None else func
        if self.stream_input:
            receive_rows(func)
        if self.fit is None and rows == (AUTO,):
            return self._cut_least(func, deadline)
        if self.fit is not None:
            cut(func, self._fitting(func, self.fit, before))
        elif rows != (NONE,):
            expand(func, None if rows == (ALL,) else frozenset(rows))
        self._close(func)
        return None

    def _cut_least(self, func: FuncOp, deadline: float | None) -> Planned | None:
        """Cut what has the least arena; a plan of whole operators stays where that is none."""
        fresh, decided = func, plan_of(func) is not None
        if decided:
            fresh = func.clone()
            undecided(fresh, None)
        until = clock.deadline(clock.left(deadline, SEARCH))
        with clock.watched("arena"):
            chosen = choose_rows(fresh, until, self.stream_input)
        if decided and not chosen.candidate.rows.cut:
            return None
        close = close_stream if self.stream_input else None
        return cut_chosen(func, chosen, clock.left(deadline), close)

    def _close(self, func: FuncOp) -> None:
        if self.stream_input:
            close_stream(func)

    def _fitting(self, func: FuncOp, fit: int, before: FuncOp) -> frozenset[int]:
        """Return the operators to cut; a refusal says what helps a function that is as `before` its
        input came."""
        limit = clock.deadline(self.time_limit)
        try:
            return fit_rows(func, fit, self.time_limit)
        except DoesNotFitError as error:
            if clock.late(limit):
                raise
            more = helping_text(before, self.stream_input, clock.left(limit))
            raise DoesNotFitError(error.text + more, error.place) from error
