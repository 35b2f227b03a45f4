"""The table of the page for a plan in rows: one line per operator over all of its calls."""

from memopt.backends.report.bands import colour_classes, mark
from memopt.backends.report.operator_lines import operator_lines
from memopt.backends.report.table import counted, rows_live, times
from memopt.backends.report.timeline import Timeline
from memopt.backends.report.wording import short, xml

CHIPS = 20  # tensors named in one line
HEAD = (
    '<div class="scroll"><table><thead><tr><th>Operator</th><th class="n">Calls</th>'
    '<th class="n">Steps</th><th class="n">Rows live</th><th class="n">Output, bytes</th>'
    '<th>Tensors in RAM at most, x rows</th><th class="n">Bytes</th><th class="n">MACs</th>'
    '<th class="n">Weights</th></tr></thead>\n'
)


def operators_table(t: Timeline, panel: str) -> str:
    """Calls, rows of the result that are in RAM at once, and what there is in the fullest call."""
    largest = max((s.bytes for s in t.steps), default=0)
    colours = colour_classes(t)
    lines: list[str] = []
    for place, line in enumerate(operator_lines(t)):
        operator = line.operator
        peak = ' class="p"' if line.usage == largest else ""
        chips = "".join(_chip(t, k, count, colours, panel) for k, count in line.live[:CHIPS])
        if len(line.live) > CHIPS:
            chips += f' <span class="of">and {len(line.live) - CHIPS} more</span>'
        steps = f"{line.first} to {line.last}" if line.last > line.first else f"{line.first}"
        numbers = f"{line.usage:,}", counted(operator.macs), counted(operator.weights)
        last = "".join(f'<td class="n">{n}</td>' for n in numbers)
        lines.append(
            f'<tr{peak} data-o="{place}"><td>{operator.label} ({xml(operator.op)})'
            f'<span class="of" title="{xml(operator.name)}">{xml(short(operator.name, 60))}</span>'
            f'</td><td class="n">{line.calls:,}</td><td class="n">{steps}</td>'
            f'<td class="n">{rows_live(line)}</td><td class="n">{line.output:,}</td>'
            f'<td class="chips">{chips}</td>{last}</tr>\n'
        )
    return f"{HEAD}<tbody>{''.join(lines)}</tbody></table></div>\n"


def _chip(t: Timeline, k: int, count: int, colours: list[str], panel: str) -> str:
    """A tensor, and how many rows of it."""
    tensor = t.tensors[k]
    return (
        f'<span class="c {colours[k]}" {mark(t, k, panel)} title="{xml(tensor.name)}">'
        f"{xml(times(tensor.label, count))}</span>"
    )
