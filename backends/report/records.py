"""Buffers and operators of a plan as records: dicts that pandas and csv take, and their HTML."""

from collections.abc import Mapping, Sequence
from typing import Any

from memopt.backends.report.operator_lines import operator_lines
from memopt.backends.report.table import counted
from memopt.backends.report.timeline import Rect, Timeline
from memopt.backends.report.wording import xml

Record = dict[str, Any]


def buffer_records(t: Timeline) -> list[Record]:
    """Return a record per buffer: its tensor, the row of that (None: all of it), its kind, bytes,
    its place, and the first and the last step in which it is live. With several memories `offset`
    counts from the start of its own, which is `memory`."""
    return [_buffer(t, buffer) for buffer in t.buffers]


def _buffer(t: Timeline, buffer: Rect) -> Record:
    lane = next(
        (one for one in t.lanes if buffer.offset is not None and one.holds(buffer.offset)), None
    )
    start = 0 if lane is None else lane.start
    return {
        "tensor": t.tensors[buffer.tensor].name if buffer.tensor >= 0 else buffer.name,
        "row": buffer.row,
        "kind": buffer.kind,
        "bytes": buffer.used if buffer.used >= 0 else buffer.bytes,
        "memory": None if lane is None else lane.name,
        "offset": None if buffer.offset is None else buffer.offset - start,
        "first": buffer.lower,
        "last": buffer.upper - 1,
    }


def layer_records(t: Timeline) -> list[Record]:
    """Return a record per operator, in the order in which they first run: calls of its kernel, the
    bytes in RAM at its fullest, multiplications and bytes of constants, None where nobody knows."""
    if not t.operators:
        return [_layer(one.name, one.op, 1, one.bytes, one.macs, one.weights) for one in t.steps]
    return [
        _layer(
            line.operator.name,
            line.operator.op,
            line.calls,
            line.usage,
            line.operator.macs,
            line.operator.weights,
        )
        for line in operator_lines(t)
    ]


def _layer(
    name: str, kind: str, calls: int, most: int, macs: int | None, weights: int | None
) -> Record:
    return {
        "operator": name,
        "kind": kind,
        "calls": calls,
        "bytes": most,
        "macs": macs,
        "weights": weights,
    }


def records_html(records: Sequence[Mapping[str, Any]]) -> str:
    """Return records of the same keys as a table."""
    if not records:
        return ""
    head = "".join(f"<th>{xml(key)}</th>" for key in records[0])
    rows = ("".join(map(_cell, record.values())) for record in records)
    body = "".join(f"<tr>{row}</tr>\n" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>\n"


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return f"<td>{xml(value)}</td>"
    text = f"{value:,.4g}" if isinstance(value, float) else counted(value)
    return f'<td style="text-align:right">{text}</td>'
