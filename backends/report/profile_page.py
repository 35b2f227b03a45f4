"""`memopt profile --html`: one self-contained page, of each operator what it takes as a bar."""

from collections.abc import Mapping, Sequence
from typing import Any

from memopt.backends.report.plain_page import Heading, plain_page
from memopt.backends.report.table import counted
from memopt.backends.report.wording import kib, short, xml

NUMBERS = "cycles", "ms", "instructions", "macs", "bytes", "calls"
BARS = """\
td.bar{min-width:112px;white-space:nowrap}
td.bar i{display:block;height:11px;border-radius:2px;background:var(--activation-peak);\
min-width:1px}
td.bar span{color:var(--muted);font-size:12px}
td.name{min-width:150px;overflow-wrap:anywhere}
tfoot td{font-weight:600}
"""


def profile_html(
    name: str,
    facts: Sequence[tuple[str, str]],
    entries: Sequence[Mapping[str, Any]],
    total: Mapping[str, Any],
) -> str:
    """Return the page of a profile: `entries` and their `total` as `memopt profile --json` has
    them, and what is known of it by name."""
    columns = [key for key in NUMBERS if key != "ms" or total["ms"] is not None]
    longest = max((entry["share"] for entry in entries), default=0) or 1
    head = "".join(f'<th class="n">{key}</th>' for key in columns)
    body = "".join(_row(entry, columns, longest) for entry in entries)
    table = (
        '<div class="scroll"><table><thead><tr><th>operator</th><th>share</th>'
        f"{head}</tr></thead>\n"
        f"<tbody>{body}</tbody>\n"
        f'<tfoot><tr><td class="name">all</td><td class="bar"></td>{_cells(total, columns)}</tr>'
        "</tfoot></table></div>\n"
    )
    lead = "One inference on zeros, operator by operator in the order in which they first run."
    return plain_page(
        Heading(name, "profile", lead),
        _figures(total, len(entries)),
        facts,
        table,
        "Cycles are estimated by the core's manual, without wait states; shares are of them, or "
        "of instructions where they are not known. Bytes are in RAM while the operator runs, at "
        "its fullest call.",
        BARS,
    )


def _figures(total: Mapping[str, Any], operators: int) -> list[tuple[str, str]]:
    """Return what all operators take, and what it is."""
    figures = [
        (counted(total["cycles"]), "cycles"),
        (counted(total["instructions"]), "instructions"),
    ]
    if total["ms"] is not None:
        figures.insert(0, (f"{total['ms']:,.3f} ms", "at this clock"))
    figures.append((counted(total["macs"]), "multiplications"))
    if total["bytes"] is not None:
        figures.append((kib(total["bytes"]), "in RAM at the fullest call"))
    return [*figures, (f"{operators:,}", "operators")]


def _row(entry: Mapping[str, Any], columns: Sequence[str], longest: float) -> str:
    part = f"{100 * entry['share']:.1f} %"
    width = f"{100 * entry['share'] / longest:.1f}%"
    name, kind = xml(short(entry["operator"], 80)), xml(entry["kind"])
    return (
        f'<tr><td class="name" title="{xml(entry["operator"])}">{name}'
        f'<span class="of">{kind}</span></td>'
        f'<td class="bar"><i style="width:{width}"></i><span>{part}</span></td>'
        f"{_cells(entry, columns)}</tr>\n"
    )


def _cells(entry: Mapping[str, Any], columns: Sequence[str]) -> str:
    texts = (
        counted(entry[key]) if key != "ms" or entry[key] is None else f"{entry[key]:,.3f}"
        for key in columns
    )
    return "".join(f'<td class="n">{text}</td>' for text in texts)
