"""The table of Liberis' Appendix A as text: operator, tensors in RAM, bytes; and its work.

Operator      Tensors in RAM (output of op. #)    Usage (B)    MACs  Weights (B)
0 (Conv2D)    {in, 0}                                 4,704  28,224          168

Operators count from 0, in the order of the file; the paper's numbers are one more. Of a plan in
rows a line is all calls of an operator, at that with the most bytes in RAM: `{in x20, 0 x3}`.
"""

from collections.abc import Container, Sequence

from memopt.backends.report.operator_lines import OperatorLine, operator_lines
from memopt.backends.report.timeline import Timeline
from memopt.backends.report.wording import short
from memopt.dialects.memgraph.errors import printable

TENSORS_WIDTH = 44
HEAD = "Operator", "Tensors in RAM (output of op. #)"
RESULT = "Result"
TEXTS = (*HEAD, RESULT)


def tensors_in_ram(labels: Sequence[str], count: int, width: int = TENSORS_WIDTH) -> str:
    """`{in, 0, 2}`: each buffer by the number of the operator that makes it. Of all `count`,
    `labels` has the first, at least as many as fit into `width` characters; the rest is counted."""
    text = "{" + ", ".join(labels) + "}"
    if len(labels) == count and len(text) <= width:
        return text
    for shown in range(min(len(labels), count - 1), 0, -1):
        text = "{" + ", ".join(labels[:shown]) + f", +{count - shown}}}"
        if len(text) <= width:
            break
    return text


def counted(count: int | None) -> str:
    """A count for a column; a question mark where nobody knows."""
    return "?" if count is None else f"{count:,}"


def aligned(rows: Sequence[Sequence[str]], texts: Container[int]) -> list[str]:
    """Return a line per row, columns two blanks apart: numbers end where their column ends, and
    `texts`, the columns of words, begin where it begins."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            f"{cell:<{w}}" if c in texts else f"{cell:>{w}}"
            for c, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def table_text(timeline: Timeline) -> str:
    """Return one line per operator in execution order, the peak marked, and the peak below."""
    rows = _cut_rows(timeline) if timeline.operators else _whole_rows(timeline)
    texts = {c for c, name in enumerate(rows[0]) if name in TEXTS}
    return "\n".join([*aligned(rows, texts), f"Peak: {timeline.peak:,}"])


def _whole_rows(timeline: Timeline) -> list[tuple[str, ...]]:
    """Each step an operator."""
    peaks = set(timeline.peak_steps)
    rows: list[tuple[str, ...]] = [(*HEAD, "Usage (B)", "MACs", "Weights (B)", RESULT)]
    in_order = timeline.live_in_order(timeline.by_label)
    for i, (s, row) in enumerate(zip(timeline.steps, in_order, strict=True)):
        first = (timeline.buffers[b].label or str(b) for _, b in row[:TENSORS_WIDTH])
        rows.append(
            (
                printable(f"{s.number} ({s.op})"),
                tensors_in_ram(tuple(first), len(row)),
                f"{s.bytes:,}",
                counted(s.macs),
                counted(s.weights),
                _result(s.name, i in peaks),
            )
        )
    return rows


def _cut_rows(t: Timeline) -> list[tuple[str, ...]]:
    """Operators with many calls: usage and tensors are those of the call with the most in RAM."""
    largest = max((s.bytes for s in t.steps), default=0)
    head = "Usage (B)", "Calls", "Rows live", "Output (B)", "MACs", "Weights (B)", RESULT
    rows: list[tuple[str, ...]] = [(*HEAD, *head)]
    for line in operator_lines(t):
        labels = [times(t.tensors[k].label, count) for k, count in line.live]
        operator = line.operator
        rows.append(
            (
                printable(f"{operator.label} ({operator.op})"),
                tensors_in_ram(labels, len(labels)),
                f"{line.usage:,}",
                f"{line.calls:,}",
                rows_live(line),
                f"{line.output:,}",
                counted(operator.macs),
                counted(operator.weights),
                _result(operator.name, line.usage == largest),
            )
        )
    return rows


def times(label: str, count: int) -> str:
    """`3 x12`: a tensor of which so many rows are in RAM."""
    return f"{label} x{count}" if count > 1 else label


def rows_live(line: OperatorLine) -> str:
    """`3 of 32`, of the rows of what an operator makes; nothing where they are not apart."""
    sums = " sums" if line.is_sum else ""
    return f"{line.rows_live} of {line.rows}{sums}" if line.rows else "-"


def _result(name: str, is_peak: bool) -> str:
    return printable(short(name, 40)) + ("  <- peak" if is_peak else "")
