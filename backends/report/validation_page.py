"""`memopt validate --html`: a network beside a reference, on one self-contained page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memopt.backends.report.document import Facts
from memopt.backends.report.plain_page import Heading, plain_page
from memopt.backends.report.table import counted
from memopt.backends.report.wording import short, xml

LAYERS = "elements", "different", "max_abs"
OUTPUTS = "elements", "different", "max_abs", "mean_abs", "rmse", "mae", "cosine"
CONFUSION = 64  # classes of which the confusion is drawn
STYLE = """\
td.name{min-width:130px}td.name,p.lead{overflow-wrap:anywhere}
h2{margin:28px 0 8px}p.sub{margin-bottom:6px}.scroll{max-height:none}
table.confusion{width:auto;font-size:12px}
table.confusion td,table.confusion th{padding:3px 6px;min-width:30px;text-align:right;border:0}
table.confusion th{position:static;color:var(--muted);font-weight:400}
table.confusion td.right{outline:1px solid var(--good);outline-offset:-1px}
"""


def validation_html(facts: Facts, entries: Mapping[str, Any]) -> str:
    """Return the page of a comparison: `entries` as `memopt validate --json` has them, and what is
    known of it by name."""
    sections = [f"<h2>Outputs</h2>\n{_table(entries['outputs'], OUTPUTS, 'name')}"]
    if table := entries["confusion"]:
        sections += _confusion(table)
    if (layers := entries["layers"]) is not None:
        first = entries["first_difference"]
        told = "none differs" if first is None else f"{xml(first)} is the first that differs"
        told += next((_agreeing(one) for one in layers if one["different"]), "")
        sections.append(
            f'<h2>Operators</h2>\n<p class="sub">in one inference {told}</p>\n'
            f"{_table(layers, LAYERS, 'tensor', ('operator', 'against'))}"
        )
    lead = (
        f"{entries['samples']:,} samples on {entries['target']}, beside {entries['against']}"
        f"{_agreeing(entries)}." + "".join(f" {one}." for one in entries["known_errors"])
    )
    return plain_page(
        Heading(entries["model"], "validation", lead),
        list(_figures(entries)),
        facts,
        "".join(sections),
        "Integers differ if they are not equal, reals if by more than 1e-5 of the largest "
        "magnitude. The largest and the mean difference are in steps of the stored type, RMSE and "
        "MAE in real numbers.",
        STYLE,
    )


def _agreeing(entries: Mapping[str, Any]) -> str:
    """Return who answers as the network does where the reference does not."""
    others = entries["agree"]
    verb = "answers" if len(others) == 1 else "answer"
    return f"; {', '.join(others)} {verb} as the network does" if others else ""


def _figures(entries: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, label in (("accuracy", "accuracy"), ("reference_accuracy", "of the reference")):
        if entries[key] is not None:
            yield f"{100 * entries[key]:.2f} %", label
    for key, label in (("rmse", "RMSE of the labels"), ("mae", "MAE of the labels")):
        if entries[key] is not None:
            yield (
                f"{entries[key]:.4g}",
                f"{label}, of the reference {entries[f'reference_{key}']:.4g}",
            )
    different = sum(one["different"] for one in entries["outputs"])
    elements = sum(one["elements"] for one in entries["outputs"])
    yield f"{different:,}", f"of {elements:,} elements of the outputs differ"
    if (layers := entries["layers"]) is not None:
        wrong = sum(one["different"] > 0 for one in layers if one["against"] is not None)
        yield f"{wrong:,}", f"of {len(layers):,} operators differ"


def _table(
    rows: Sequence[Mapping[str, Any]], numbers: Sequence[str], name: str, words: Sequence[str] = ()
) -> str:
    """Return rows with a name, `words` below it, and numbers."""
    head = "".join(f'<th class="n">{key.replace("_abs", "")}</th>' for key in numbers)
    lines = [f'<div class="scroll"><table><thead><tr><th>{name}</th>{head}</tr></thead>\n<tbody>']
    for row in rows:
        peak = ' class="p"' if row["different"] else ""
        below = " against ".join(
            (row[key] or "nobody").removeprefix("memgraph.") for key in words if key in row
        )
        small = f'<span class="of">{xml(below)}</span>' if words else ""
        cells = "".join(f'<td class="n">{_number(row[key])}</td>' for key in numbers)
        title = xml(row[name])
        lines.append(
            f'<tr{peak}><td class="name" title="{title}">{xml(short(row[name], 80))}{small}</td>'
            f"{cells}</tr>\n"
        )
    return f"{''.join(lines)}</tbody></table></div>\n"


def _number(value: float | None) -> str:
    return counted(value) if value is None or isinstance(value, int) else f"{value:,.4g}"


def _confusion(table: Sequence[Sequence[int]]) -> Iterator[str]:
    """Yield the confusion of classes, each cell as dark as its share of the row."""
    yield "<h2>Confusion</h2>\n"
    yield '<p class="sub">a row: the label; a column: what it was taken for</p>\n'
    if len(table) > CONFUSION:
        yield f'<p class="sub">of {len(table):,} classes, as JSON has them</p>\n'
        return
    head = "".join(f"<th>{k}</th>" for k in range(len(table)))
    yield f'<div class="scroll"><table class="confusion"><tr><th></th>{head}</tr>\n'
    for label, row in enumerate(table):
        total = sum(row) or 1
        cells = "".join(
            f'<td{" class=right" if k == label else ""} style="background:color-mix(in srgb,'
            f'var(--activation) {100 * count / total:.0f}%,transparent)">{count:,}</td>'
            for k, count in enumerate(row)
        )
        yield f"<tr><th>{label}</th>{cells}</tr>\n"
    yield "</table></div>\n"
