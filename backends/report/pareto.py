"""Peaks against multiplications as SVG: a dot per graph, filled if its peak is proven, and the
front of those that no other beats in both, with their names."""

from collections.abc import Sequence
from dataclasses import dataclass

from memopt.backends.report.scale import Frame, address_ticks, nice, number
from memopt.backends.report.style import colours
from memopt.backends.report.wording import kib, short, xml

LEFT, TOP, WIDTH, HEIGHT, RIGHT, FOOT = 72.0, 16.0, 640.0, 360.0, 24.0, 48.0
NAME, LETTER, LETTER_HEIGHT = 24, 6.5, 14.0  # of the names beside dots
STYLE = (
    ".mo{background:var(--page);font:12px system-ui,sans-serif}"
    ".mo text{fill:var(--muted)}"
    ".mo .grid{stroke:var(--grid)}"
    ".mo .front{fill:none;stroke:var(--alarm);stroke-width:1.5}"
    ".mo circle{stroke:var(--activation-peak);fill:var(--page)}"
    ".mo .proven{fill:var(--activation-peak)}"
    ".mo .best{stroke:var(--alarm);stroke-width:2}"
    ".mo .name{fill:var(--ink)}"
)


@dataclass(frozen=True)
class Point:
    """A graph: multiplications, peak in bytes, and whether no order has less, proven."""

    name: str
    macs: int
    peak: int
    proven: bool


def front_of(points: Sequence[Point]) -> list[Point]:
    """Return the points that no other beats, by multiplications: nobody has fewer of them with no
    larger peak, or a smaller peak with no more of them."""
    front: list[Point] = []
    for point in sorted(points, key=lambda p: (p.macs, p.peak)):
        if not front or point.peak < front[-1].peak:
            front.append(point)
    return front


def pareto_svg(
    points: Sequence[Point], what: str = "graphs", axis: str = "MACs", filled: str = "proven"
) -> str:
    """Return the whole document, of `what` against the `axis`, with what it says of a dot that is
    `filled`. Equal points give equal text."""
    macs = max((p.macs for p in points), default=0)
    peak = max((p.peak for p in points), default=0)
    frame = Frame(LEFT, TOP, WIDTH, HEIGHT, max(macs, 1), max(peak, 1))
    total = LEFT + WIDTH + RIGHT, TOP + HEIGHT + FOOT
    front = front_of(points)
    proven = sum(p.proven for p in points)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="mo" role="img" '
        f'viewBox="0 0 {number(total[0])} {number(total[1])}" width="{number(total[0])}" '
        f'height="{number(total[1])}">',
        f"<title>{len(points)} {what}, {proven} {filled}, {len(front)} on the front</title>",
        f"<style>\n{colours('.mo')}{STYLE}\n</style>",
    ]
    lines += _axes(frame, macs, peak, axis)
    corners = [f"{number(frame.x(p.macs))},{number(frame.y(p.peak))}" for p in front]
    if len(front) > 1:
        lines.append(f'<polyline class="front" points="{" ".join(corners)}"/>')
    for p in points:
        classes = " ".join(["proven"] * p.proven + ["best"] * (p in front))
        style = f' class="{classes}"' if classes else ""
        word = filled if p.proven else f"not {filled}"
        lines.append(
            f'<circle cx="{number(frame.x(p.macs))}" cy="{number(frame.y(p.peak))}" r="3"{style}>'
            f"<title>{xml(p.name)}: {kib(p.peak)}, {p.macs:,} {axis}, {word}</title></circle>"
        )
    lines += _names(frame, front)
    return "\n".join([*lines, "</svg>", ""])


def _names(frame: Frame, front: Sequence[Point]) -> list[str]:
    """Return the names of the front's dots beside them, above the line; one that would lie over the
    name before is left out."""
    lines: list[str] = []
    end, line = 0.0, -LETTER_HEIGHT
    for p in front:
        name = short(p.name, NAME)
        width, x, y = LETTER * len(name), frame.x(p.macs) + 6, frame.y(p.peak) - 6
        if x + width > LEFT + WIDTH + RIGHT:
            x = frame.x(p.macs) - 6 - width
        if x > end or abs(y - line) >= LETTER_HEIGHT:
            lines.append(f'<text class="name" x="{number(x)}" y="{number(y)}">{xml(name)}</text>')
            end, line = x + width, y
    return lines


def _axes(frame: Frame, macs: int, peak: int, axis: str) -> list[str]:
    right, foot = number(LEFT + WIDTH), number(TOP + HEIGHT)
    lines = [f'<text x="{number(LEFT + 4)}" y="{number(TOP + 4)}">peak</text>']
    for at, text in address_ticks(peak):
        y = number(frame.y(at))
        lines.append(f'<line class="grid" x1="{number(LEFT)}" x2="{right}" y1="{y}" y2="{y}"/>')
        lines.append(f'<text x="{number(LEFT - 8)}" y="{y}" text-anchor="end">{text}</text>')
    step = nice(macs / 5) if macs else 1
    for at in range(0, macs + 1, step):
        x, y = number(frame.x(at)), number(TOP + HEIGHT + 18)
        lines.append(f'<text x="{x}" y="{y}" text-anchor="middle">{at:,}</text>')
    middle, below = number(LEFT + WIDTH / 2), number(TOP + HEIGHT + 38)
    lines.append(f'<text x="{middle}" y="{below}" text-anchor="middle">{axis}</text>')
    lines.append(f'<line class="grid" x1="{number(LEFT)}" x2="{right}" y1="{foot}" y2="{foot}"/>')
    return lines
