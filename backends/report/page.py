"""`memopt report --html`: one self-contained page. Figures, two plans side by side on one scale,
and under each picture Liberis' table; what the pointer is on lights up in both.

No network, no font, no script from elsewhere; every name is escaped.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memopt.backends.report.document import Facts, document, list_of
from memopt.backends.report.operators_table import operators_table
from memopt.backends.report.style import DRAWING, ROWS, row_colours
from memopt.backends.report.svg import plot_width, timeline_svg
from memopt.backends.report.table import counted
from memopt.backends.report.timeline import Timeline, bytes_held
from memopt.backends.report.wording import both, kib, share, short, xml
from memopt.dialects.attributes.plan import FAMILIES

WIDE = 150  # from this many steps on the pictures stand one above the other
CHIPS = 16  # tensors named in one row of the table

PAGE = """\
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);\
font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;\
font-variant-numeric:tabular-nums}
main{max-width:1560px;margin:0 auto;padding:28px 24px 48px}
h1{font-size:22px;line-height:1.2;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:16px;margin:0}
.lead,.sub,footer{color:var(--muted);margin:0}
.figures{display:flex;flex-wrap:wrap;gap:12px;margin:20px 0 24px}
.figure{background:var(--card);border-radius:10px;padding:12px 16px;flex:1 1 auto}
.figure b{display:block;font-size:18px;line-height:1.3;white-space:nowrap}
.figure span{color:var(--muted);font-size:12.5px}
.figure .good{color:var(--good)}.figure .alarm{color:var(--alarm)}
.panels{display:grid;gap:28px;grid-template-columns:minmax(0,1fr)}
@media (min-width:1100px){.panels.two{grid-template-columns:repeat(2,minmax(0,1fr))}}
.panels.stack .panel{display:contents}
.panels.stack .picture{order:1}.panels.stack .table{order:2}
@media (min-width:1100px){.panels.stack{grid-template-columns:repeat(2,minmax(0,1fr))}
.panels.stack .picture{grid-column:1/-1}}
h3{font-size:14px;margin:0 0 6px}.two h3,.one h3{display:none}
.panel svg{display:block;width:100%;height:auto;margin:10px 0 6px}
.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:2px 14px;font-size:13px;\
margin:0 0 24px}
.facts dt{color:var(--muted)}.facts dd{margin:0;overflow-wrap:anywhere}
.network{margin-top:28px}.network .scroll{margin-top:6px}.network svg{display:block}
@media (max-width:699px){main{padding:20px 12px 32px}.picture{overflow-x:auto}
.panel svg{width:720px;max-width:none}.facts{grid-template-columns:minmax(0,1fr);gap:0}
.facts dd{margin-bottom:6px}}
.legend{display:flex;flex-wrap:wrap;gap:6px 18px;color:var(--muted);font-size:12.5px;margin:20px 0}
.legend i{display:inline-block;width:22px;height:11px;border-radius:2px;margin-right:6px;\
vertical-align:-1px}
.scroll{overflow:auto;max-height:620px;border:1px solid var(--grid);border-radius:8px}
table{border-collapse:collapse;width:100%;font-size:13px}
th{position:sticky;top:0;background:var(--card);text-align:left;font-weight:600;z-index:1}
th,td{padding:4px 10px;border-bottom:1px solid var(--grid);vertical-align:top}
td.n,th.n{text-align:right;white-space:nowrap}
td.chips{min-width:180px}
td .of{color:var(--muted);display:block;font-size:12px;overflow-wrap:anywhere}
tr.p td{background:var(--band)}tr.p td.n{color:var(--alarm);font-weight:600}
tr.hot td{box-shadow:inset 0 0 0 99px color-mix(in srgb,var(--activation-peak) 14%,transparent)}
.c{display:inline-block;border-radius:4px;padding:0 6px;margin:1px 2px 1px 0;color:var(--on);\
cursor:default}
.c.activation{background:var(--activation)}.c.input{background:var(--input)}
.c.output{background:var(--output)}.c.scratch{background:var(--scratch)}
.c.hot{outline:2px solid var(--ink);outline-offset:-1px}
footer{margin-top:28px;font-size:12.5px}
"""

SCRIPT = """\
(function () {
  "use strict";
  var lit = [];
  function light(element) { element.classList.add("hot"); lit.push(element); }
  function all(root, selector) { return Array.from(root.querySelectorAll(selector)); }
  function over(event) {
    while (lit.length) { lit.pop().classList.remove("hot"); }
    var target = event.target.closest && event.target.closest("[data-b],tr[data-t],tr[data-o]");
    if (!target) { return; }
    var panel = target.closest(".panel");
    if (target.dataset.o) {
      all(panel, '[data-o="' + target.dataset.o + '"]').forEach(light);
    } else if (target.dataset.b) {
      all(panel, '[data-b="' + target.dataset.b + '"]').forEach(light);
      var box = panel.querySelector('g[data-b="' + target.dataset.b + '"]');
      if (!box) { return; }
      all(panel, "tr[data-t]").forEach(function (row) {
        if (+row.dataset.t >= +box.dataset.l && +row.dataset.t < +box.dataset.u) { light(row); }
      });
    } else {
      light(target);
      all(panel, "g[data-b]").forEach(function (box) {
        var step = +target.dataset.t;
        if (+box.dataset.l <= step && step < +box.dataset.u) { light(box); }
      });
    }
  }
  document.addEventListener("mouseover", over);
  document.addEventListener("click", function (event) {
    over(event);
    var box = event.target.closest && event.target.closest("g[data-b]");
    if (!box) { return; }
    var row = box.closest(".panel").querySelector('tr[data-t="' + box.dataset.l + '"]');
    var scroller = row && row.closest(".scroll");
    if (scroller) { scroller.scrollTop = row.offsetTop - 40; }
  });
})();
"""


@dataclass(frozen=True)
class Panel:
    """One plan on the page, with its heading."""

    title: str
    note: str
    timeline: Timeline


def report_html(
    name: str, before: Timeline, after: Timeline, facts: Facts = (), network: str = ""
) -> str:
    """Return the page of a model, before and after planning, with what is known of it by name, and
    the drawing of its `network`. Raises MemoptError without offsets."""
    return page_html(
        name,
        (
            # The line to compare with is the proven one; the file's order comes without a proof.
            Panel(
                "Before",
                "the file's own order, TensorFlow Lite Micro's planner",
                replace(
                    before, lower_bound=after.lower_bound, proof=after.proof, claimed=after.claimed
                ),
            ),
            Panel("After", "order and placement by memopt", after),
        ),
        facts,
        network,
    )


def page_html(name: str, panels: tuple[Panel, ...], facts: Facts = (), network: str = "") -> str:
    """A page of one or two plans on one scale. Raises MemoptError without offsets."""
    last = panels[-1].timeline
    tops = _tops(panels)
    steps = max(len(p.timeline.steps) for p in panels)
    has_rows = any(p.timeline.operators for p in panels)
    layout = "one" if len(panels) == 1 else "two" if steps < WIDE else "stack"
    layout += " rows" if has_rows else ""
    width = (
        560.0
        if layout.startswith("two")
        else max(1200.0, *(plot_width(p.timeline) for p in panels))
    )
    rows = f"{row_colours(':root')}{ROWS}" if has_rows else ""
    body = "".join(
        f'<section class="panel"><div class="picture"><h2>{xml(p.title)}</h2>'
        f'<p class="sub">{xml(p.note)}{_scale(top, tops)}</p>\n'
        f"{timeline_svg(p.timeline, top, width, f'{k}-', inline=True)}</div>\n"
        f'<div class="table"><h3>{xml(p.title)}</h3>\n'
        f"{_table(p.timeline, f'{k}-')}</div></section>\n"
        for k, (p, top) in enumerate(zip(panels, tops, strict=True))
    )
    content = (
        f'<p class="lead">{_verdict(panels)}</p>\n{_figures(panels)}{list_of(facts)}'
        f'<div class="panels {layout}">\n{body}</div>\n{_legend(has_rows)}'
        f"{_network(network)}"
        f"<footer>Every buffer is rounded up to {last.alignment} B. Tensors go by the number "
        "of the operator that makes them, from 0 in the order of the file. Weights are in "
        "flash and not shown.</footer>\n"
    )
    style, script = f"{PAGE}{DRAWING}{rows}", f"\n<script>\n{SCRIPT}</script>"
    return document(name, "memory plan", style, content, script)


def _network(drawing: str) -> str:
    if not drawing:
        return ""
    return (
        '<section class="network"><h2>Network</h2>\n<p class="sub">as the file has it</p>\n'
        f'<div class="scroll">{drawing}</div></section>\n'
    )


def _tops(panels: tuple[Panel, ...]) -> list[int]:
    """The top of each address axis in bytes: one scale, but for rows too low to be seen in it."""
    needs = [max(p.timeline.arena, p.timeline.peak) for p in panels]
    return [
        need if p.timeline.operators and 2 * need <= max(needs) else max(needs)
        for p, need in zip(panels, needs, strict=True)
    ]


def _scale(top: int, tops: Sequence[int]) -> str:
    """How much larger one picture is drawn than the other."""
    larger = f"; a byte is drawn {max(tops) / top:.1f} times as high as in the other picture"
    return larger if top < max(tops) else ""


def _verdict(panels: tuple[Panel, ...]) -> str:
    last = panels[-1].timeline
    none = "Claimed: no" if last.claimed else "No"
    of = "rows" if last.operators else "operators"
    proof = (
        f"No order of these {of} has a smaller peak (proof: {xml(last.proof)})."
        if last.optimal
        else f"{none} order has a peak below {both(last.lower_bound)}"
        + (f" (proof: {xml(last.proof)})." if last.proof != "none" else "; not proven tight.")
    )
    subject = "The arena needs"
    if last.lanes:
        several = "shared objects" if last.objects else "memories"
        subject = f"The {len(last.lanes)} {several} need"
    if len(panels) == 1:
        return f"{subject} {both(last.arena)}. {proof}"
    first = panels[0].timeline
    if first.arena == last.arena:
        return f"{subject} {both(last.arena)}, as before. {proof}"
    return f"{subject} {both(last.arena)} instead of {both(first.arena)}. {proof}"


def _counts(t: Timeline) -> tuple[str, str]:
    """How many operators, and what there is of them."""
    if not t.operators:
        return f"{len(t.steps):,}", f"operators, {len(t.buffers):,} buffers"
    return f"{len(t.operators):,}", f"operators, {len(t.steps):,} calls, {len(t.buffers):,} buffers"


def _figures(panels: tuple[Panel, ...]) -> str:
    first, last = panels[0].timeline, panels[-1].timeline

    def figure(value: str, label: str, kind: str = "") -> str:
        return f'<div class="figure"><b class="{kind}">{value}</b><span>{label}</span></div>\n'

    def change(a: int, b: int, label: str) -> str:
        if len(panels) == 1:
            return figure(kib(b), f"{label}, {b:,} B")
        if a == b:
            return figure(kib(b), f"{label}, unchanged")
        kind = "good" if b < a else "alarm" if b > a else ""
        return figure(f"{kib(a)} → {kib(b)}", f"{label}, {share(b, a)}", kind)

    pieces = [
        change(first.arena, last.arena, "all memories together" if last.lanes else "arena"),
        change(first.peak, last.peak, "peak"),
        figure(
            kib(last.lower_bound),
            ("claimed " if last.claimed else "")
            + f"lower bound of the peak {FAMILIES[last.family]}"
            + (", met" if last.peak == last.lower_bound else ""),
        ),
        figure(
            "optimal" if last.optimal else "claimed" if last.claimed else "open",
            f"proof: {xml(last.proof)}",
            "good" if last.optimal else "",
        ),
        figure(
            " → ".join(dict.fromkeys(f"{100 * p.timeline.fragmentation:.1f} %" for p in panels)),
            "fragmentation",
        ),
        figure(*_counts(last)),
    ]
    return f'<div class="figures">\n{"".join(pieces)}</div>\n'


def _legend(has_rows: bool) -> str:
    def swatch(name: str, text: str) -> str:
        return (
            f'<span><i style="background:linear-gradient(90deg,var(--{name}-peak) 50%,'
            f'var(--{name}) 50%)"></i>{text}</span>'
        )

    names = ("input", "input"), ("activation", "intermediate"), ("output", "output")
    tensors = (
        f"<span>{''.join(_stripe(k) for k in range(3))} rows: a colour for each tensor, its name "
        "where they cover most</span>"
        if has_rows
        else ""
    )
    kinds = "".join(swatch(n, text) for n, text in (*names, ("scratch", "scratch")))
    return (
        f'<div class="legend">{kinds}{tensors}<span>strong colour: in RAM at the peak</span>'
        '<span><i style="background:var(--band)"></i>step of the peak</span></div>\n'
    )


def _stripe(hue: int) -> str:
    return f'<i style="background:var(--h{hue});width:8px;margin-right:1px"></i>'


def _table(t: Timeline, panel: str) -> str:
    """Liberis' Appendix A, one row per operator in the order of execution."""
    if t.operators:
        return operators_table(t, panel)
    peaks = set(t.peak_steps)
    rows: list[str] = []
    chips = [_chip(t, i, panel) for i in range(len(t.buffers))]
    largest_first = t.live_in_order([-b.bytes for b in t.buffers])
    held = bytes_held(t.buffers, len(t.steps))
    for i, (s, live) in enumerate(zip(t.steps, largest_first, strict=True)):
        mark = ' class="p"' if i in peaks else ""
        name = f'<span class="of" title="{xml(s.name)}">{xml(short(s.name, 60))}</span>'
        if s.name == str(s.number):
            name = ""
        rows.append(
            f'<tr{mark} data-t="{i}"><td class="n">{i}</td>'
            f"<td>{s.number} ({xml(s.op)}){name}</td><td>{_tensors(t, live, held[i], chips)}</td>"
            f'<td class="n">{s.bytes:,}</td><td class="n">{counted(s.macs)}</td>'
            f'<td class="n">{counted(s.weights)}</td></tr>\n'
        )
    return (
        '<div class="scroll"><table><thead><tr><th class="n">Step</th><th>Operator</th>'
        '<th>Tensors in RAM</th><th class="n">Bytes</th>'
        '<th class="n">MACs</th><th class="n">Weights</th></tr></thead>\n'
        f"<tbody>{''.join(rows)}</tbody></table></div>\n"
    )


def _tensors(t: Timeline, live: Sequence[tuple[int, int]], held: int, chips: Sequence[str]) -> str:
    """The tensors of one row in the order of their labels; of very many the largest, which `live`
    has first. They are `held` bytes together."""
    shown = [i for _, i in live[: CHIPS - 1 if len(live) > CHIPS else CHIPS]]
    rest = ""
    if len(live) > CHIPS:
        hidden_bytes = held - sum(t.buffers[i].bytes for i in shown)
        rest = f' <span class="of">and {len(live) - len(shown)} more, {both(hidden_bytes)}</span>'
    else:
        shown.sort()
    return "".join(chips[i] for i in sorted(shown, key=lambda i: t.by_label[i])) + rest


def _chip(t: Timeline, index: int, panel: str) -> str:
    """One tensor in the table."""
    b = t.buffers[index]
    return (
        f'<span class="c {b.kind}" data-b="{panel}{index}" title="{xml(b.name)}, {both(b.bytes)}">'
        f"{xml(b.label or str(index))}</span>"
    )
