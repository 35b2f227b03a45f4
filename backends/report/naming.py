"""Texts on a buffer in the picture, and in its tooltip."""

from memopt.backends.report.scale import number
from memopt.backends.report.timeline import Rect, Timeline
from memopt.backends.report.wording import both, kib, short, xml

CHARACTER = 6.6  # px, width of one at 11 px in a wide typeface
LINE = 13.0  # px, height of a line


def tooltip(t: Timeline, b: Rect) -> str:
    """All about one buffer, a line each."""
    padding = f", {b.used:,} B without padding" if 0 <= b.used != b.bytes else ""
    lines = [
        b.name,
        f"{both(b.bytes)}{padding}",
        address(t, b),
        f"steps {b.lower} to {b.upper - 1}" if b.upper - 1 > b.lower else f"step {b.lower}",
        b.kind,
    ]
    if b.over is not None:
        lines.append(f"in place of {t.buffers[b.over].name}")
    if b.also:
        more = f" and {len(b.also) - 3} more" if len(b.also) > 3 else ""
        lines.append(f"also {', '.join(b.also[:3])}{more}")
    return "\n".join(lines)


def address(t: Timeline, b: Rect) -> str:
    """Return where a buffer lies, in its own memory if there are several."""
    at = b.offset or 0
    for lane in t.lanes:
        if lane.holds(at):
            begin = at - lane.start
            return f"{lane.name}, address {begin:,} to {begin + b.bytes:,}"
    return f"address {at:,} to {at + b.bytes:,}"


def room(width: float) -> int:
    """Characters that have room in so many px."""
    return int((width - 8) / CHARACTER)


def fitting(label: str, name: str, width: float) -> str:
    """A label in so many px, with the name if there is room; empty if there is none at all."""
    free = room(width) - len(label)
    if room(width) < 1 or free < 0:
        return ""
    if name == label or free < 12:
        return label
    return f"{label} {short(name, free - 1)}".strip()


def label(b: Rect, x: float, y: float, width: float, height: float) -> str:
    """Name and size inside the rectangle, as far as there is room."""
    text = fitting(b.label, b.name, width)
    if height < LINE or not text:
        return ""
    two = height >= 2 * LINE + 1 and room(width) >= len(kib(b.bytes))
    middle = y + height / 2
    centre = number(x + width / 2)
    first = f'<text x="{centre}" y="{number(middle - (6 if two else 0))}" dy=".35em" '
    out = f'{first}text-anchor="middle">{xml(text)}</text>'
    if two:
        out += (
            f'<text class="size" x="{centre}" y="{number(middle + 7)}" dy=".35em" '
            f'text-anchor="middle">{kib(b.bytes)}</text>'
        )
    return out
