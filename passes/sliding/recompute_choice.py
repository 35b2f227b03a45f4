"""Which kept rows are recalled from the run before, and which are computed again to save state.

A row that waits in state for long takes the bytes of all rows that come to wait behind it. Under a
window that is padded at the top these are nearly all rows of a tensor, of which the run reads two.
So of each tensor the rows from some row on are recalled, and those above, if a run reads them, are
computed again of rows that are recalled or computed again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.tensors import bytes_of, elements_of, rows_of
from memopt.dialects.rows.operations import ReceiveOp, RowKernelOp, RowOp
from memopt.dialects.rows.steps import row_type
from memopt.passes.sliding.reuse_analysis import Kept, Row, in_order

Rows = dict[SSAValue, set[int]]
"""Of each tensor some of its rows."""


@dataclass(frozen=True)
class Recalled:
    """`rows` that are recalled and those that are `computed`, the `work` of these, multiplications
    and elements of results, and the bytes of state. `read`: the kept rows that a run reads."""

    rows: Rows
    computed: Rows
    read: Rows
    work: float
    bytes: int


@dataclass(frozen=True)
class Choosing:
    """A function in rows: its operators that are no sums, each behind what it reads; what of rows
    each row of a tensor reads, and what all else does."""

    argument: SSAValue
    operators: Sequence[RowKernelOp]
    reads: Mapping[Row, Sequence[Row]]
    always: Sequence[Row]
    kept: Mapping[SSAValue, Kept]

    def recalled(self, first: Mapping[SSAValue, int]) -> Recalled:
        """Return the rows that are recalled and computed if those of each tensor above `first` are
        computed again."""
        wanted: Rows = {}
        for tensor, r in self.always:
            wanted.setdefault(tensor, set()).add(r)
        recalled_rows: Rows = {}
        computed: Rows = {}
        read: Rows = {}
        work = 0.0
        for op in reversed(self.operators):
            operator, computed_rows = op.computed, set[int]()
            for tensor in operator.results:
                needed = wanted.get(tensor, set())
                read[tensor] = needed & self._kept(tensor)
                waiting, ends = self._closed(tensor, needed, first.get(tensor, 0))
                recalled_rows[tensor] = waiting
                computed_rows |= (needed - waiting) | ends
            computed |= dict.fromkeys(operator.results, computed_rows)
            for r in computed_rows:
                for tensor, n in self.reads[operator.results[0], r]:
                    wanted.setdefault(tensor, set()).add(n)
            all_ = operator.macs() + sum(elements_of(v) for v in operator.results)
            work += all_ * len(computed_rows) / (rows_of(operator.results[0]) or 1)
        recalled_rows[self.argument], _ = self._closed(
            self.argument, wanted.get(self.argument, set()), first=0
        )
        held = {tensor: rows for tensor, rows in recalled_rows.items() if rows}
        size = sum(len(rows) * (bytes_of(row_type(t.type)) or 0) for t, rows in held.items())
        return Recalled(held, computed, read, work, size)

    def _kept(self, tensor: SSAValue) -> frozenset[int]:
        return self.kept[tensor].rows if tensor in self.kept else frozenset()

    def _closed(self, tensor: SSAValue, asked: set[int], first: int) -> tuple[set[int], set[int]]:
        """The rows that wait for those that are read, and the new ones that come behind them."""
        waiting, ends = set[int](), set[int]()
        rows = self._kept(tensor)
        for r in asked & rows:
            while first <= r and r in rows and r not in waiting:
                waiting.add(r)
                r += self.kept[tensor].shift
            if r not in rows:
                ends.add(r)
        return waiting, ends


def choosing(func: FuncOp, row: Mapping[SSAValue, Row], kept: Mapping[SSAValue, Kept]) -> Choosing:
    """A function whose operators are in rows and whose input is received."""
    reads: dict[Row, Sequence[Row]] = {}
    always: list[Row] = []
    for op in body_of(func).ops:
        rows_read = [row[v] for v in op.operands if v in row]
        if isinstance(op, RowOp) and op.outputs[0] in row:
            reads |= {row[v]: rows_read for v in op.outputs}
        elif not isinstance(op, ReceiveOp):
            always += rows_read
    operators = [op for op in in_order(func, row) if op.computed.rows_mode != "part"]
    return Choosing(body_of(func).args[0], operators, reads, always, kept)


def least_work(c: Choosing, most: int | None, place: str) -> Recalled:
    """The rows to recall with `most` bytes of state, None for any: as little work as giving
    up one tensor's after the other finds, and then others. Raises MemoptError where that is not
    enough."""
    chosen = c.recalled({})
    if most is None or chosen.bytes <= most:
        return chosen
    # what is not recalled to begin with is not recalled to compute other rows again
    results: list[SSAValue] = [v for op in c.operators for v in op.computed.results]
    first = {v: rows_of(v) or 0 for v in results if v not in chosen.rows}
    while chosen.bytes > most:
        best: tuple[float, SSAValue, int, Recalled] | None = None
        for tensor in chosen.rows:
            for r in _starts(chosen.read.get(tensor, set()), first.get(tensor, 0), tensor):
                other = c.recalled({**first, tensor: r})
                fewer = chosen.bytes - other.bytes
                if fewer <= 0:
                    continue
                price = (other.work - chosen.work) / min(fewer, chosen.bytes - most)
                if best is None or price < best[0]:
                    best = price, tensor, r, other
        if best is None:
            text = f"no fewer than {chosen.bytes:,} B are found to be kept ({_largest(chosen)})"
            raise MemoptError(f"memgraph-slide: {text}, not {most:,}", place)
        _, tensor, first[tensor], chosen = best
    return _improved(c, most, first, chosen)


def _improved(c: Choosing, most: int, first: dict[SSAValue, int], chosen: Recalled) -> Recalled:
    """With other rows of single tensors as long as that saves work."""
    before = None
    while before is not chosen:
        before = chosen
        for tensor in list(first):
            for r in [0, *_starts(chosen.read.get(tensor, set()), 0, tensor)]:
                other = c.recalled({**first, tensor: r})
                if other.bytes <= most and other.work < chosen.work:
                    first[tensor], chosen = r, other
    return chosen


def _starts(read: set[int], first: int, tensor: SSAValue) -> list[int]:
    """The rows from which on a tensor may be recalled: those behind which it is not read for some
    rows, and none."""
    rows = sorted(r for r in read if r >= first)
    starts = [b for a, b in pairwise(rows) if b > a + 1]
    return [*starts, rows_of(tensor) or 0] if rows else []


def _largest(found: Recalled) -> str:
    sizes = {t: len(rows) * (bytes_of(row_type(t.type)) or 0) for t, rows in found.rows.items()}
    largest = max(sizes, key=lambda t: sizes[t])
    return f"{sizes[largest]:,} B of {name_of(largest)}"
