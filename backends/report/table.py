"""The table of Liberis' Appendix A as text: operator, tensors in RAM, bytes; and its work.

Operator      Tensors in RAM (output of op. #)    Usage (B)    MACs  Weights (B)
0 (Conv2D)    {in, 0}                                 4,704  28,224          168

Operators count from 0, in the order of the file; the paper's numbers are one more.
"""

from collections.abc import Sequence

from memopt.backends.report.timeline import Timeline
from memopt.backends.report.wording import short

TENSORS_WIDTH = 44


def tensors_in_ram(labels: Sequence[str], count: int, width: int = TENSORS_WIDTH) -> str:
    """`{in, 0, 2}`: each buffer by the number of the operator that makes it. Of all `count`,
    `labels` has the first, at least as many as fit into `width` characters; the rest is counted."""
    text = "{" + ", ".join(labels) + "}"
    if len(labels) == count and len(text) <= width:
        return text
    for kept in range(min(len(labels), count - 1), 0, -1):
        text = "{" + ", ".join(labels[:kept]) + f", +{count - kept}}}"
        if len(text) <= width:
            break
    return text


def printable(text: str) -> str:
    """`text` without what would move a terminal's cursor or break a line."""
    return "".join(c if c.isprintable() else "?" for c in text)


def counted(count: int | None) -> str:
    """A count for a column; a question mark where nobody knows."""
    return "?" if count is None else f"{count:,}"


def table_text(timeline: Timeline) -> str:
    """One line per operator in the order of execution, the peak marked, and the peak below."""
    peaks = set(timeline.peak_steps)
    rows = [
        (
            "Operator",
            "Tensors in RAM (output of op. #)",
            "Usage (B)",
            "MACs",
            "Weights (B)",
            "Result",
        )
    ]
    in_order = timeline.live_in_order(timeline.by_label)
    for i, (s, row) in enumerate(zip(timeline.steps, in_order, strict=True)):
        first = (timeline.buffers[b].label or str(b) for _, b in row[:TENSORS_WIDTH])
        mark = "  <- peak" if i in peaks else ""
        rows.append(
            (
                printable(f"{s.number} ({s.op})"),
                tensors_in_ram(tuple(first), len(row)),
                f"{s.bytes:,}",
                counted(s.macs),
                counted(s.weights),
                printable(short(s.name, 40)) + mark,
            )
        )
    widths = [max(len(row[c]) for row in rows) for c in range(5)]
    lines = [
        f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {m:>{widths[3]}}  "
        f"{w:>{widths[4]}}  {d}".rstrip()
        for a, b, c, m, w, d in rows
    ]
    return "\n".join([*lines, f"Peak: {timeline.peak:,}"])
