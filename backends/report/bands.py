"""Rows in the picture: those of one tensor in one colour, with its name once; and below the plot
when each operator is called.

A row is a rectangle with a tooltip. Above `TOLD` rows these would be most of a file of a megabyte
and more: then the rows of a tensor are one path with one tooltip.
"""

from collections.abc import Iterable, Mapping, Sequence

from memopt.backends.report.naming import LINE, address, fitting
from memopt.backends.report.operator_lines import most_at_once, operator_lines
from memopt.backends.report.scale import Frame, number
from memopt.backends.report.spots import Spot, widest_spot
from memopt.backends.report.style import HUES
from memopt.backends.report.timeline import Lane, Operator, Rect, Timeline
from memopt.backends.report.wording import both, short, xml

TOLD = 4000  # rows
FINE = 4.0  # px of a row below which lines between rows would be most of what is seen
NAME = 48  # characters of it in the tooltip of a row
CALLS_LEAST, CALLS_MOST = 3.0, 12.0  # px of an operator in the strip of calls
LEGEND = 150.0  # px for the name of an operator beside that
CALLS = 180.0  # px of all of them, if that leaves each its least
Plots = Sequence[tuple[Lane | None, Frame]]


def colour_classes(t: Timeline) -> list[str]:
    """The CSS classes of each tensor of a plan in rows: its kind, and for what is between input and
    output one of several colours in turn, so that neighbours in the network differ."""
    turns = iter(range(len(t.tensors)))
    return [
        f"activation h{next(turns) % len(HUES)}" if tensor.kind == "activation" else tensor.kind
        for tensor in t.tensors
    ]


def spots_of(t: Timeline, plots: Plots) -> dict[int, tuple[Lane | None, Spot]]:
    """Return where each tensor in rows gets its name: in the memory with most room for it."""
    widest: dict[int, tuple[Lane | None, Spot]] = {}
    for k in range(len(t.tensors)):
        spots = [
            (spot, lane)
            for lane, frame in plots
            if (rows := rows_in(t, k, lane))
            and (spot := widest_spot(t, rows, LINE * frame.bytes / frame.height)) is not None
        ]
        if spots:
            spot, lane = max(spots, key=lambda s: s[0].upper - s[0].lower)
            widest[k] = lane, spot
    return widest


def rows_in(t: Timeline, tensor: int, lane: Lane | None) -> list[int]:
    """The rows of a tensor that lie in a memory (None: in the only one)."""
    return [
        i
        for i in t.of_tensor[tensor]
        if (b := t.buffers[i]).row is not None
        and b.bytes
        and b.offset is not None
        and (lane is None or lane.holds(b.offset))
    ]


def bands(
    t: Timeline,
    f: Frame,
    panel: str,
    lane: Lane | None,
    spots: Mapping[int, tuple[Lane | None, Spot]],
) -> list[str]:
    """The rows in one memory, tensor by tensor."""
    start = 0 if lane is None else lane.start
    are_told = sum(b.row is not None for b in t.buffers) <= TOLD
    out: list[str] = []
    for k, kind in enumerate(colour_classes(t)):
        rows = rows_in(t, k, lane)
        if not rows:
            continue
        highest = f.height * max(t.buffers[i].bytes for i in rows) / f.bytes
        fine = " fine" if highest < FINE else ""
        out.append(
            f'<g class="b rows{fine} {kind}" {mark(t, k, panel)}>'
            f"<title>{xml(_tensor_tip(t, k))}</title>"
        )
        if are_told:
            out += [_row(t, i, f, start) for i in rows]
        else:
            for peak in (False, True):
                alike = [i for i in rows if t.at_peak[i] is peak]
                shape = "".join(_outline(t, i, f, start) for i in alike)
                out += [f'<path{_peak(peak)} d="{shape}"/>'] if alike else []
        if spots.get(k, (None, None))[0] is lane and k in spots:
            out.append(_name(t, k, f, spots[k][1], start))
        out.append("</g>")
    return out


def mark(t: Timeline, tensor: int, panel: str) -> str:
    """Return the attributes by which scripts find a tensor, and the operator that makes it."""
    operator = t.tensors[tensor].operator
    of = "" if operator is None else f' data-o="{operator}"'
    return f'data-b="{panel}t{tensor}"{of}'


def _peak(at_peak: bool) -> str:
    return ' class="p"' if at_peak else ""


def _box(t: Timeline, i: int, f: Frame, start: int) -> tuple[str, str, str, str]:
    """x, top, width and height of a row."""
    b = t.buffers[i]
    at = (b.offset or 0) - start
    x, y = f.x(b.lower), f.y(at + b.bytes)
    return number(x), number(y), number(f.x(t.ends[i]) - x), number(f.y(at) - y)


def _row(t: Timeline, i: int, f: Frame, start: int) -> str:
    x, y, width, height = _box(t, i, f, start)
    return (
        f'<rect{_peak(t.at_peak[i])} x="{x}" y="{y}" width="{width}" height="{height}">'
        f"<title>{xml(_row_tip(t, t.buffers[i]))}</title></rect>"
    )


def _outline(t: Timeline, i: int, f: Frame, start: int) -> str:
    x, y, width, height = _box(t, i, f, start)
    return f"M{x} {y}h{width}v{height}h-{width}z"


def _row_tip(t: Timeline, b: Rect) -> str:
    tensor = t.tensors[b.tensor]
    row = f"sum up to row {b.row}" if tensor.is_sum else f"row {b.row}"
    place = "" if b.over is None else f", in place of {short(t.buffers[b.over].name, NAME)}"
    return (
        f"{short(tensor.name, NAME)}: {row}\n{both(b.bytes)}, {address(t, b)}{place}\n"
        f"{_steps(b.lower, b.upper - 1)}"
    )


def _tensor_tip(t: Timeline, k: int) -> str:
    tensor = t.tensors[k]
    rows = [i for i in t.of_tensor[k] if t.buffers[i].row is not None]
    at_once = most_at_once(t, rows, lambda _: 1)
    of = f"{len(rows)} {'sums' if tensor.is_sum else 'rows'}"
    sizes = " or ".join(both(size) for size in sorted({t.buffers[i].bytes for i in rows}))
    last = max(t.buffers[i].upper for i in rows) - 1
    return (
        f"{tensor.name}\n{of} of {sizes}, at most {at_once} at once\n"
        f"{_steps(min(t.buffers[i].lower for i in rows), last)}\n{tensor.kind}"
    )


def _steps(first: int, last: int) -> str:
    return f"steps {first} to {last}" if last > first else f"step {first}"


def _name(t: Timeline, k: int, f: Frame, spot: Spot, start: int) -> str:
    tensor = t.tensors[k]
    begin, end = f.x(spot.lower), f.x(spot.upper)
    text = fitting(tensor.label, tensor.name, end - begin)
    if not text:
        return ""
    middle = (f.y(spot.start - start) + f.y(spot.end - start)) / 2
    return (
        f'<text{_peak(spot.at_peak)} x="{number((begin + end) / 2)}" y="{number(middle)}" '
        f'dy=".35em" text-anchor="middle">{xml(text)}</text>'
    )


def calls_height(t: Timeline) -> float:
    """Px of the strip of calls; 0 where each step is an operator."""
    return len(t.operators) * _pitch(t)


def _pitch(t: Timeline) -> float:
    return min(max(CALLS / max(len(t.operators), 1), CALLS_LEAST), CALLS_MOST)


def calls(t: Timeline, f: Frame, top: float) -> list[str]:
    """When each operator is called, one below the other as they begin."""
    pitch = _pitch(t)
    every = -(-11 // pitch)  # lines of text keep 11 px apart
    colours = colour_classes(t)
    colour = {tensor.operator: c for tensor, c in zip(t.tensors, colours, strict=True)}
    steps: list[list[int]] = [[] for _ in t.operators]
    for i, s in enumerate(t.steps):
        steps[s.operator].append(i)
    out = [
        f'<text x="{number(f.left - 8)}" y="{number(top + calls_height(t) / 2)}" dy=".35em" '
        f'text-anchor="end">calls</text><g class="calls" stroke-width="{number(pitch - 1)}">'
    ]
    for k, line in enumerate(operator_lines(t)):
        y = number(top + (k + 0.5) * pitch)
        shape = "".join(
            f"M{number(f.x(a))} {y}h{number(f.x(z) - f.x(a))}" for a, z in runs(steps[k])
        )
        told = f"{_operator(line.operator)}\n{_count(line.calls)}, {_steps(line.first, line.last)}"
        out.append(
            f'<g class="{colour.get(k, "activation")}"><title>{xml(told)}</title>'
            f'<path d="{shape}"/></g>'
        )
        if k % every == 0:
            out.append(
                f'<text x="{number(f.left + f.width + 16)}" y="{y}" '
                f'dy=".35em">{xml(fitting(line.operator.label, line.operator.name, LEGEND))}</text>'
            )
    return [*out, "</g>"]


def _operator(operator: Operator) -> str:
    return f"{operator.label} {operator.op} {short(operator.name, NAME)}"


def _count(calls: int) -> str:
    return f"{calls:,} calls" if calls > 1 else "1 call"


def runs(steps: Iterable[int]) -> list[tuple[int, int]]:
    """Ascending steps as [first, end) of those that follow each other."""
    ranges: list[tuple[int, int]] = []
    for step in steps:
        if ranges and ranges[-1][1] == step:
            ranges[-1] = ranges[-1][0], step + 1
        else:
            ranges.append((step, step + 1))
    return ranges
