"""The arena as a picture: buffers over time (to the right) and address (upwards), as SVG text.

Solid colours are the buffers live at the peak. Lines: arena, peak, and the lower bound of the peak.
Below, the bytes in RAM at each step. A buffer's name, bytes and life are its tooltip.
"""

from dataclasses import replace

from memopt.backends.report.bands import (
    bands,
    calls,
    calls_height,
    colour_classes,
    mark,
    runs,
    spots_of,
)
from memopt.backends.report.naming import label, tooltip
from memopt.backends.report.scale import Frame, address_ticks, number, step_ticks
from memopt.backends.report.style import DRAWING, ROWS, colours, row_colours
from memopt.backends.report.timeline import Lane, Timeline
from memopt.backends.report.wording import both, kib, short, xml
from memopt.dialects.attributes.plan import FAMILIES
from memopt.dialects.memgraph.errors import MemoptError

LEFT, RIGHT, TOP = 62.0, 168.0, 14.0
HEIGHT, STRIP, GAP, FOOT = 340.0, 44.0, 26.0, 34.0
ROWS_WIDTH = 1200.0
LANE_HEAD, LANE_LEAST, LANE_MOST = 18.0, 48.0, 220.0  # the plot of one memory of several


def timeline_svg(
    timeline: Timeline, bytes_max: int = 0, width: float = 0, panel: str = "", inline: bool = False
) -> str:
    """Return one drawing as a complete SVG document, or `inline` for a page that has the style.

    `bytes_max` is the top of the address axis, for two drawings on one scale; `width` of the plot
    in px (0: by the number of steps); `panel` prefixes what scripts find the buffers by. Raises
    MemoptError for a timeline without offsets.
    """
    if timeline.arena < 0:
        raise MemoptError("the plan has no offsets; run --place first", f"@{timeline.name}")
    steps = max(len(timeline.steps), 1)
    frames = _frames(timeline, bytes_max, width or plot_width(timeline), steps)
    last = frames[-1][1]
    strip = last.top + last.height + GAP
    if timeline.operators:
        strip += calls_height(timeline) + LANE_HEAD
    total = LEFT + last.width + RIGHT, strip + STRIP + FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="mo" role="img" '
        f'viewBox="0 0 {number(total[0])} {number(total[1])}" '
        f'width="{number(total[0])}" height="{number(total[1])}">',
        f"<title>{xml(_headline(timeline))}</title>",
    ]
    if not inline:
        rows = f"{row_colours('.mo')}{ROWS}" if timeline.operators else ""
        style = f"{colours('.mo')}{DRAWING}{rows}.mo{{background:var(--page)}}"
        parts.append(f"<style>\n{style}\n</style>")
        parts.append('<rect width="100%" height="100%" fill="var(--page)"/>')
    parts += _band(timeline, replace(last, top=TOP), strip + STRIP)
    spots = spots_of(timeline, frames)
    for lane, frame in frames:
        parts += _axes(frame)
        parts += _buffers(timeline, frame, panel, lane)
        parts += bands(timeline, frame, panel, lane, spots)
        parts.append("</g>")
        parts += _lines(timeline, frame) if lane is None else _lane_text(lane, frame)
    if timeline.operators:
        parts += calls(timeline, last, last.top + last.height + GAP)
    parts += _strip(timeline, last, strip)
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _frames(
    t: Timeline, bytes_max: int, width: float, steps: int
) -> list[tuple[Lane | None, Frame]]:
    """The plot, or one for each memory, one under the other, as high as their bytes ask for."""
    if not t.lanes:
        top = max(bytes_max, t.arena, t.peak, 1)
        return [(None, Frame(LEFT, TOP, width, HEIGHT, steps, top))]
    largest = max(lane.bytes for lane in t.lanes) or 1
    frames: list[tuple[Lane | None, Frame]] = []
    top = TOP
    for lane in t.lanes:
        top += LANE_HEAD
        height = max(LANE_LEAST, LANE_MOST * lane.bytes / largest)
        frames.append((lane, Frame(LEFT, top, width, height, steps, max(lane.bytes, 1))))
        top += height + GAP
    return frames


def _lane_text(lane: Lane, f: Frame) -> list[str]:
    """The name of a memory above its plot, what is used of it, and what it holds."""
    of = "" if lane.capacity is None else f" of {both(lane.capacity)}"
    return [
        f'<text class="name" x="{number(f.left)}" y="{number(f.top - 8)}">'
        f"{xml(lane.name)}: {both(lane.bytes)}{of}</text>",
        f'<line class="axis" x1="{number(f.left)}" x2="{number(f.left + f.width)}" '
        f'y1="{number(f.y(0))}" y2="{number(f.y(0))}"/>',
    ]


def default_width(steps: int) -> float:
    """Wide columns for few steps, at least 2 px per step up to a thousand."""
    return float(min(max(600, 8 * steps, 60 * min(steps, 12)), max(1200, 2 * steps)))


def plot_width(t: Timeline) -> float:
    """Return the width of the plot; of a plan in rows at most a screen's, so that text stays
    legible."""
    width = default_width(len(t.steps))
    return min(width, ROWS_WIDTH) if t.operators else width


def _headline(t: Timeline) -> str:
    family = FAMILIES[t.family]
    bound = f"lower bound {both(t.lower_bound)} {family}"
    proof = f"optimal {family} ({t.proof})" if t.optimal else bound
    said = "claimed " if t.claimed else ""
    listed = ", ".join(f"{lane.name} {both(lane.bytes)}" for lane in t.lanes[:8])
    more = f" and {len(t.lanes) - 8} more" if len(t.lanes) > 8 else ""
    memory = f"{listed}{more}" if t.lanes else f"arena {both(t.arena)}"
    return f"{t.name}: {memory}, peak {both(t.peak)}, {said}{proof}"


def _axes(f: Frame) -> list[str]:
    out: list[str] = []
    for address, text in address_ticks(f.bytes):
        y = number(f.y(address))
        out.append(
            f'<line class="grid" x1="{number(f.left)}" x2="{number(f.left + f.width)}" '
            f'y1="{y}" y2="{y}"/>'
            f'<text x="{number(f.left - 8)}" y="{y}" dy=".35em" text-anchor="end">{text}</text>'
        )
    y = number(f.y(0) + 16)
    out += [
        f'<text x="{number(f.x(t + 0.5))}" y="{y}" text-anchor="middle">{t}</text>'
        for t in step_ticks(f.steps, f.width)
    ]
    return out


def _band(t: Timeline, f: Frame, bottom: float) -> list[str]:
    """The columns of the peak, behind everything, from the top of a plot down."""
    return _columns(t, f, "band", f.top, bottom - f.top, 0)


def _columns(
    t: Timeline, f: Frame, kind: str, top: float, height: float, least: float
) -> list[str]:
    """The steps of the peak, at least so wide; of rows, which are many, as one path."""
    boxes = [
        (number(f.x(i)), number(max(f.x(end) - f.x(i), least)))
        for i, end in (runs(t.peak_steps) if t.operators else ((i, i + 1) for i in t.peak_steps))
    ]
    y, h = number(top), number(height)
    if t.operators:
        shape = "".join(f"M{x} {y}h{w}v{h}h-{w}z" for x, w in boxes)
        return [f'<path class="{kind}" d="{shape}"/>']
    return [f'<rect class="{kind}" x="{x}" y="{y}" width="{w}" height="{h}"/>' for x, w in boxes]


def _buffers(t: Timeline, f: Frame, panel: str, lane: Lane | None) -> list[str]:
    """The buffers that are no rows, in a group that is left open."""
    start = 0 if lane is None else lane.start
    thin = " thin" if f.column < 6 else ""
    out = [f'<g class="buffers{thin}">']
    kinds = colour_classes(t)
    for i, b in enumerate(t.buffers):
        if b.offset is None or b.bytes == 0 or b.row is not None:
            continue
        if lane is not None and not lane.holds(b.offset):
            continue  # in another memory
        peak = " p" if t.at_peak[i] else ""
        kind, known = b.kind, f'data-b="{panel}{i}"'
        if t.operators:
            kind, known = kinds[b.tensor], mark(t, b.tensor, panel)
        x, y = f.x(b.lower), f.y(b.offset - start + b.bytes)
        width = f.x(t.ends[i]) - x
        height = f.y(b.offset - start) - y
        out.append(
            f'<g class="b {kind}{peak}" {known} data-l="{b.lower}" data-u="{b.upper}">'
            f"<title>{xml(tooltip(t, b))}</title>"
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" '
            f'height="{number(height)}" rx="{2 if min(width, height) > 8 else 0}"/>'
            f"{label(b, x, y, width, height)}</g>"
        )
    return out


def _lines(t: Timeline, f: Frame) -> list[str]:
    """Arena, peak and bound; equal ones share a label, and labels keep apart."""
    values: dict[int, list[str]] = {}
    for name, value in (("arena", t.arena), ("peak", t.peak), ("bound", t.lower_bound)):
        values.setdefault(value, []).append(name)
    right = f.left + f.width
    out: list[str] = []
    for value, names in values.items():
        for name in names:
            y = number(f.y(value))
            out.append(
                f'<line class="line {name}" x1="{number(f.left)}" x2="{number(right + 6)}" '
                f'y1="{y}" y2="{y}"/>'
            )
    floor = f.top + f.height
    places: list[float] = []
    for value in sorted(values):  # from the bottom up, at least two text lines apart
        at = min(f.y(value), floor - 14)
        places.append(min(at, places[-1] - 31) if places else at)
    if places and places[-1] < f.top + 2:
        push = f.top + 2
        for k in reversed(range(len(places))):
            places[k] = max(places[k], push)
            push = places[k] + 31
    for value, at in zip(sorted(values), places, strict=True):
        names = values[value]
        y = f.y(value)
        x = right + 16
        spans = " = ".join(
            f'<tspan class="name {n}">{"claim" if t.claimed and n == "bound" else n}</tspan>'
            for n in names
        )
        out.append(
            f'<path class="leader" d="M{number(right + 6)} {number(y)}L{number(x - 3)} '
            f'{number(at)}"/>'
            f'<text x="{number(x)}" y="{number(at)}" dy=".35em">{spans}</text>'
            f'<text x="{number(x)}" y="{number(at + 14)}" dy=".35em">{value:,} B'
            f"{f' · {kib(value)}' if value >= 1024 else ''}</text>"
        )
    return out


def _strip(t: Timeline, f: Frame, top: float) -> list[str]:
    """Bytes in RAM at each step, as one area, the peak on top of it."""
    bottom = top + STRIP
    largest = max((s.bytes for s in t.steps), default=0) or 1

    def height(count: int) -> float:
        return STRIP * count / largest

    path = [f"M{number(f.left)} {number(bottom)}"]
    for i, s in enumerate(t.steps):
        y = number(bottom - height(s.bytes))
        start, end = number(f.x(i)), number(f.x(i + 1))
        path.append(f"V{y}H{end}" if t.operators else f"L{start} {y}L{end} {y}")
    path.append(f"L{number(f.x(len(t.steps)))} {number(bottom)}Z")
    out = [
        f'<text x="{number(f.left - 8)}" y="{number(top + STRIP / 2)}" dy=".35em" '
        'text-anchor="end">in RAM</text>',
        f'<path class="load" d="{"".join(path)}"/>',
    ]
    out += _columns(t, f, "load p", top, STRIP, 1.5)
    out += [
        f'<line class="axis" x1="{number(f.left)}" x2="{number(f.left + f.width)}" '
        f'y1="{number(y)}" y2="{number(y)}"/>'
        for y in (f.y(0), bottom)
    ]
    if peaks := list(t.peak_steps):
        s = t.steps[peaks[0]]
        more = f" and {len(peaks) - 1} more" if len(peaks) > 1 else ""
        what = f"{s.number} ({short(s.op, 40)})"
        if t.operators:
            row = "" if s.row is None else f"row {s.row} of "
            what = f"{row}{t.operators[s.operator].label} ({short(s.op, 40)})"
        text = f"peak at step {peaks[0]}: {what}{more}"
        middle = f.x(peaks[0] + 0.5)
        side = "start" if middle < f.left + f.width / 2 else "end"
        x = f.x(peaks[0]) if side == "start" else f.x(peaks[0] + 1)
        out.append(
            f'<text x="{number(x)}" y="{number(bottom + 15)}" text-anchor="{side}" '
            f'class="name peak">{xml(text)}</text>'
        )
    missing = [b.bytes for b in t.buffers if b.offset is None and b.bytes]
    if missing:
        out.append(
            f'<text x="{number(f.left)}" y="{number(bottom + 29)}">not drawn: {len(missing):,} '
            f"placed at run time, {both(sum(missing))}</text>"
        )
    return out
