"""One line per operator of a plan in rows: its calls, and the rows of its results in RAM at once.

for line in operator_lines(timeline): line.operator.op, line.calls, line.rows_live
"""

from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate

from memopt.backends.report.timeline import Operator, Rect, Timeline


@dataclass(frozen=True)
class OperatorLine:
    """One operator over all of its calls, which are steps `first` to `last`.

    `rows_live` are the most rows of its results in RAM at once, of `rows` (0 if not cut), and
    `output` the most bytes of its results. `usage` is the most bytes in RAM in a call, `fullest`
    the step of that, and `live` what is in RAM then: each tensor with the number of its buffers.
    `is_sum`: its rows are sums, each of which takes in one more.
    """

    operator: Operator
    calls: int
    first: int
    last: int
    rows_live: int
    rows: int
    output: int
    usage: int
    fullest: int
    live: tuple[tuple[int, int], ...]
    is_sum: bool


def operator_lines(t: Timeline) -> list[OperatorLine]:
    """Return one line per operator of a plan in rows, in the order of their first calls."""
    of_operator: list[list[int]] = [[] for _ in t.operators]
    for i, s in enumerate(t.steps):
        of_operator[s.operator].append(i)
    buffers_of: list[list[int]] = [[] for _ in t.operators]
    for tensor, buffers in zip(t.tensors, t.of_tensor, strict=True):
        if tensor.operator is not None and tensor.kind != "scratch":
            buffers_of[tensor.operator] += buffers
    lines: list[OperatorLine] = []
    fullest_of = [max(calls, key=lambda i: t.steps[i].bytes) for calls in of_operator]
    live = _live_at(t, frozenset(fullest_of))
    for operator, calls, results, fullest in zip(
        t.operators, of_operator, buffers_of, fullest_of, strict=True
    ):
        rows = [i for i in results if t.buffers[i].row is not None]
        lines.append(
            OperatorLine(
                operator,
                len(calls),
                calls[0],
                calls[-1],
                most_at_once(t, rows, lambda _: 1),
                len(rows),
                most_at_once(t, results, lambda b: b.bytes),
                t.steps[fullest].bytes,
                fullest,
                live[fullest],
                any(t.tensors[t.buffers[i].tensor].is_sum for i in rows),
            )
        )
    return lines


def _live_at(t: Timeline, asked: Set[int]) -> dict[int, tuple[tuple[int, int], ...]]:
    """Return the tensors in RAM in these steps, in order, each with the number of its buffers."""
    tensors_at: dict[int, tuple[tuple[int, int], ...]] = {}
    for step, live in enumerate(t.live_in_order([b.tensor for b in t.buffers])):
        if step in asked:
            tensors_at[step] = tuple(Counter(tensor for tensor, _ in live).items())
    return tensors_at


def most_at_once(t: Timeline, buffers: Sequence[int], size: Callable[[Rect], int]) -> int:
    """The largest sum of sizes of these buffers over all steps."""
    change: dict[int, int] = {}
    for i in buffers:
        b = t.buffers[i]
        change[b.lower] = change.get(b.lower, 0) + size(b)
        change[t.ends[i]] = change.get(t.ends[i], 0) - size(b)
    return max(accumulate((change[step] for step in sorted(change)), initial=0))
