"""The picture, the page and the table of a plan."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pass_functions import place_function, schedule_function
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.backends.report import (
    Rect,
    Step,
    Timeline,
    module_html,
    module_svg,
    report_html,
    table_text,
    timeline_of,
    timeline_svg,
)
from memopt.backends.report.scale import address_ticks, nice, number
from memopt.backends.report.wording import both, kib, share, short, xml
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions
from memopt.frontends.json import read as json_graph

SIZES = (1568, 3136, 1568, 512, 512, 256, 256, 512)
EDGES = (("0",), ("1",), ("2",), ("1",), ("3",), ("4",), ("5", "6"))
HOSTILE = "<script>alert(1)</script>\"'&\x00\ud800]]>\u2028"


def figure_1(names: str = "{}") -> ModuleOp:
    """Liberis' Figure 1: tensor k is made by operator k, tensor 0 is the input."""
    graph = {
        "name": "figure 1",
        "tensors": [
            {"name": names.format(i), "bytes": s, "is_weight": False} for i, s in enumerate(SIZES)
        ],
        "nodes": [
            {
                "name": f"op {i}",
                "op": "Concat" if i == 7 else "Conv2D",
                "inputs": [names.format(t) for t in reads],
                "outputs": [names.format(i)],
            }
            for i, reads in enumerate(EDGES, 1)
        ],
        "graph_inputs": [names.format(0)],
        "graph_outputs": [names.format(7)],
    }
    return json_graph.read(json.dumps(graph).encode(), "figure1.json")


def planned(module: ModuleOp, schedule: str = "auto", place: str = "auto") -> FuncOp:
    (func,) = functions(module)
    schedule_function(func, schedule, None)  # pyright: ignore[reportArgumentType]
    place_function(func, place, None)  # pyright: ignore[reportArgumentType]
    return func


def sample(name: str = "a", count: int = 3) -> Timeline:
    """A chain of `count` operators, each buffer of 64 B live for two steps."""
    buffers = tuple(
        Rect(
            f"{name}{i}",
            64,
            max(i - 1, 0),
            min(i + 1, count),
            64 * (i % 2),
            "activation",
            str(i),
            60,
        )
        for i in range(count + 1)
    )
    steps = tuple(Step(f"{name}{i + 1}", name, 128, i + 1) for i in range(count))
    return Timeline(name, steps, buffers, 128, 128, "flow", 128, 16)


# -- Liberis' Appendix A --------------------------------------------------------------------------

FIGURE_2 = """\
0 (Conv2D) {in, 0} 4,704
1 (Conv2D) {0, 1} 4,704
2 (Conv2D) {0, 1, 2} 5,216
3 (Conv2D) {0, 2, 3} 4,160
4 (Conv2D) {2, 3, 4} 1,280
5 (Conv2D) {3, 4, 5} 1,024
6 (Concat) {4, 5, 6} 1,024
Peak: 5,216"""
FIGURE_3 = """\
0 (Conv2D) {in, 0} 4,704
3 (Conv2D) {0, 3} 3,648
5 (Conv2D) {0, 3, 5} 3,904
1 (Conv2D) {0, 1, 5} 4,960
2 (Conv2D) {1, 2, 5} 2,336
4 (Conv2D) {2, 4, 5} 1,024
6 (Concat) {4, 5, 6} 1,024
Peak: 4,960"""


def columns(table: str) -> str:
    """Operator, tensors and bytes of each row, and the last line."""
    head, *rows, last = table.splitlines()
    assert re.split(r"\s{2,}", head)[1] == "Tensors in RAM (output of op. #)"
    return "\n".join([" ".join(re.split(r"\s{2,}", row)[:3]) for row in rows] + [last])


def test_appendix_a_in_the_order_of_the_file() -> None:
    table = table_text(timeline_of(planned(figure_1(), "source")))
    assert columns(table) == FIGURE_2
    assert [r.split()[0] for r in table.splitlines() if "<- peak" in r] == ["2"]


def test_appendix_a_optimal() -> None:
    assert columns(table_text(timeline_of(planned(figure_1())))) == FIGURE_3


def one_less(text: str, count: int = 0) -> str:
    """The paper counts operators from 1, and 0 is its input; all numbers, or the first `count`."""
    return re.sub(r"\d+", lambda n: "in" if n[0] == "0" else str(int(n[0]) - 1), text, count=count)


def test_the_tables_above_are_the_papers(shared: Path) -> None:
    """The text of the paper prints each set three times over: {1,2}12\\{1,2\\}."""
    text = (shared / "papers" / "000_3a7297576dcc4c03.txt").read_text()
    row = r"^(\d \(\w+\)) (\{[\d,]+\})\d+\S+ ([\d,]+)$|^(Peak: [\d,]+)$"
    rows = re.findall(row, text, re.MULTILINE)
    printed = [
        f"{one_less(a, 1)} {one_less(b).replace(',', ', ')} {c}" if a else d for a, b, c, d in rows
    ]
    assert "\n".join(printed) == f"{FIGURE_2}\n{FIGURE_3}"


def test_a_long_row_is_counted_not_wrapped() -> None:
    many = tuple(replace(b, lower=0, upper=1) for b in sample(count=39).buffers)
    steps = (Step("x", "op", 64 * 40, 1),)
    wide = replace(sample(), steps=steps, buffers=many, peak=64 * 40, arena=64 * 40)
    row = table_text(wide).splitlines()[1]
    shown = re.search(r"\{(.*), \+(\d+)\}", row)
    assert shown and len(shown[1].split(", ")) + int(shown[2]) == 40
    assert len(row) < 100


def test_a_terminal_gets_no_control_characters() -> None:
    table = table_text(sample("\x1b[2J\nx"))
    assert "\x1b" not in table and len(table.splitlines()) == 5


# -- the timeline of a plan -----------------------------------------------------------------------


def test_steps_add_up_to_the_plan() -> None:
    timeline = timeline_of(planned(figure_1()))
    assert (timeline.peak, timeline.lower_bound, timeline.arena) == (4960, 4960, 4960)
    assert timeline.optimal and timeline.fragmentation == 0
    assert max(s.bytes for s in timeline.steps) == timeline.peak
    assert [s.number for s in timeline.steps] == [0, 3, 5, 1, 2, 4, 6]
    for t, row in enumerate(timeline.live_in_order([0] * len(timeline.buffers))):
        live = [i for i, b in enumerate(timeline.buffers) if b.lower <= t < b.upper]
        assert [i for _, i in row] == list(timeline.live_at(t)) == live


def test_in_place_counts_once() -> None:
    """y takes the place of x: the step that makes it costs no bytes for it."""
    text = """
    func.func @main(%x: tensor<64xi8>) -> tensor<64xi8> attributes {
        memgraph.model = #memgraph.model<target = generic, alignment = 16, io = arena,
                                         views = on, inplace = off, scratch = none>} {
      %a = memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<20>]}
         : (tensor<64xi8>) -> tensor<64xi8>
      %b = memgraph.opaque "B"(%a) {memgraph.alias = [[#memgraph.alias<operand = 0,
           kind = inplace>]]} : (tensor<64xi8>) -> tensor<64xi8>
      func.return %b : tensor<64xi8>
    }"""
    timeline = timeline_of(planned(parse(text)))
    assert [s.bytes for s in timeline.steps] == [64 + 64 + 32, 64]
    a, b = (next(r for r in timeline.buffers if r.label == n) for n in ("0", "1"))
    assert b.over is not None and timeline.buffers[b.over] is a and a.offset == b.offset
    scratch = next(r for r in timeline.buffers if r.kind == "scratch")
    assert (scratch.bytes, scratch.used, scratch.label) == (32, 20, "0w")
    assert "in place of" in timeline_svg(timeline)


def parse(text: str) -> ModuleOp:
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.func import Func
    from xdsl.parser import Parser

    from memopt.dialects.memgraph.dialect import MEMGRAPH

    context = Context()
    for dialect in (Builtin, Func, MEMGRAPH):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


def test_refusals() -> None:
    module = figure_1()
    with pytest.raises(MemoptError, match="no plan"):
        module_svg(module)
    (func,) = functions(module)
    schedule_function(func, "auto", None)
    assert timeline_of(func).arena == -1
    for draw in (module_svg, module_html):
        with pytest.raises(MemoptError, match="no offsets"):
            draw(module)
    place_function(func, "auto", None)
    module_svg(module)
    block = func.body.block
    first = next(iter(block.ops))
    first.attributes["memgraph.alias"] = first.attributes["memgraph.order"]
    with pytest.raises(MemoptError):
        module_svg(module)


# -- the drawing ----------------------------------------------------------------------------------


def boxes(svg: str) -> list[ElementTree.Element]:
    """The groups of the buffers; parsing fails if the SVG is not well-formed XML."""
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return [g for g in root.iter() if "data-b" in g.attrib]


def test_svg_holds_every_buffer_where_it_lies() -> None:
    timeline = timeline_of(planned(figure_1()))
    svg = timeline_svg(timeline)
    found = boxes(svg)
    assert len(found) == 8
    scale: dict[int, float] = {}
    for group in found:
        title, rect = group[0], group[1]
        index = int(group.attrib["data-b"])
        b = timeline.buffers[index]
        assert title.text and b.name in title.text and f"{b.bytes:,} B" in title.text
        scale[index] = float(rect.attrib["height"]) / b.bytes
        column = float(rect.attrib["width"]) / (b.upper - b.lower)
        assert column == pytest.approx(600 / 7, abs=0.02)
    assert max(scale.values()) == pytest.approx(min(scale.values()), abs=1e-4)
    for name in ("arena", "peak", "bound"):
        assert f'class="line {name}"' in svg
    assert svg == timeline_svg(timeline_of(planned(figure_1())))  # the same bytes


def test_hostile_names_are_text() -> None:
    timeline = sample(HOSTILE)
    titles = [g[0].text or "" for g in boxes(timeline_svg(timeline))]
    assert all("<script>alert(1)</script>" in t and "\x00" not in t for t in titles)
    page = report_html(HOSTILE, timeline, timeline)
    page.encode()
    assert page.count("<script>") == 1 and "alert(1)" in page


@pytest.mark.parametrize("count", [1, 10, 85, 700, 1500])
def test_labels_stay_inside(count: int) -> None:
    """No rectangle or number leaves the drawing, at 1 operator or at 1,500."""
    svg = timeline_svg(sample(count=count))
    root = ElementTree.fromstring(svg)
    width, height = (float(root.attrib[k]) for k in ("width", "height"))
    assert 600 <= width <= 4000
    for e in root.iter():
        if e.tag.endswith("}rect") and "%" not in e.attrib["width"]:
            right = float(e.attrib["x"]) + float(e.attrib["width"])
            bottom = float(e.attrib["y"]) + float(e.attrib["height"])
            assert 0 <= right <= width and 0 <= bottom <= height
        if e.tag.endswith("}text"):
            assert 0 <= float(e.attrib["x"]) <= width and 0 <= float(e.attrib["y"]) <= height


def test_what_is_not_drawn_is_said() -> None:
    first, *rest = sample().buffers
    late = replace(sample(), buffers=(replace(first, offset=None), *rest))
    svg = timeline_svg(late)
    assert len(boxes(svg)) == 3 and "not drawn: 1 placed at run time, 64 B" in svg
    assert "not drawn" not in timeline_svg(sample())


def test_labels_of_near_lines_keep_apart() -> None:
    close = replace(sample(), lower_bound=126, peak=127, arena=128)
    root = ElementTree.fromstring(timeline_svg(close))
    lines = [e for e in root.iter() if e.tag.endswith("}text") and len(e)]
    heights = sorted(float(e.attrib["y"]) for e in lines)
    assert len(heights) == 3
    assert all(b - a >= 30 for a, b in pairwise(heights))


# -- the page -------------------------------------------------------------------------------------


class Links(HTMLParser):
    """Everything that a page would fetch, and its open tags."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.rows = 0
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [v or "" for k, v in attrs if k in ("src", "href", "srcset", "action")]
        self.rows += tag == "tr" and any(k == "data-t" for k, _ in attrs)
        if tag not in ("meta", "line", "rect", "path", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page_is_self_contained_and_closed() -> None:
    before = timeline_of(planned(figure_1(), "source", "tflm"))
    after = timeline_of(planned(figure_1()))
    page = report_html("figure 1", before, after)
    links = Links()
    links.feed(page)
    assert links.fetched == [] and links.open == [] and links.rows == 14
    assert re.findall(r"https?://[^\s\"']+", page) == ["http://www.w3.org/2000/svg"] * 2
    assert "url(" not in page and "@import" not in page
    for figure in ("5,216 B (5.1 KiB)", "4,960 B (4.8 KiB)", "−4.9 %", "optimal"):  # noqa: RUF001
        assert figure in page
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    heights = [float(boxes(d)[1][1].attrib["height"]) for d in drawings]
    assert heights[0] == heights[1]  # tensor 1, on one scale


def test_one_plan_alone() -> None:
    module = figure_1()
    planned(module)
    page = module_html(module)
    assert page.count("<svg") == 1 and "instead of" not in page


def test_an_open_plan_says_so() -> None:
    page = report_html("x", sample(), replace(sample(), lower_bound=100, proof="none"))
    assert "not proven tight" in page and ">open<" in page


# -- wording --------------------------------------------------------------------------------------


def test_sizes() -> None:
    assert (kib(512), kib(55296), kib(20 << 20)) == ("512 B", "54.0 KiB", "20.00 MiB")
    assert both(55296) == "55,296 B (54.0 KiB)"
    assert share(3, 4) == "−25.0 %"  # noqa: RUF001
    assert share(0, 0) == share(5, 5) == "0 %"


def test_names() -> None:
    assert short("a/b/Relu;a/b/Conv2D", 20) == "a/b/Relu"
    assert short("abcdefghij", 4) == "…hij" and len(short("abcdefghij", 1)) == 1
    assert xml('a<b>&"\x01') == "a&lt;b&gt;&amp;&quot;\ufffd"


def test_ticks() -> None:
    assert [nice(v) for v in (0, 1, 1.1, 3, 6, 11)] == [1, 1, 2, 5, 10, 20]
    assert address_ticks(55296)[1] == (20 * 1024, "20 KiB")
    assert address_ticks(1)[0] == (0, "0")
    assert (number(1.0), number(0.126), number(100.0)) == ("1", "0.13", "100")
