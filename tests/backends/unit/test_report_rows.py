"""Plans in rows, in picture, page and table: a tensor is one band with its name once, each row
where and when it is in RAM, and an operator is one line."""

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest

from memopt.backends.report import (
    Operator,
    Panel,
    Rect,
    Step,
    Tensor,
    Timeline,
    bands,
    page_html,
    table_text,
    timeline_of,
    timeline_svg,
)
from memopt.backends.report.operator_lines import operator_lines
from memopt.backends.report.spots import widest_spot
from memopt.cli import main
from memopt.cli.opt import main as opt
from memopt.compile.driver import new_context
from memopt.dialects.memgraph.functions import only_function
from memopt.text.ir_text import parse_module

SVG = "{http://www.w3.org/2000/svg}"
WHOLE = "memgraph-model{alignment=1 inplace=on}"
PLAN = "memgraph-schedule,memgraph-place"

# %a is cut and read by rows, %b cut and read whole (joined), %c whole and read by rows, %m a sum.
MIXED = """
!t = tensor<1x6x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!m = tensor<1x4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
func.func @mixed(%x: !t {memgraph.name = "camera"}) -> !m {
  %a = memgraph.max_pool_2d %x window<[3, 3], pad = [1, 1, 1, 1]> {memgraph.names = ["wide"]}
      : (!t) -> !t
  %b = memgraph.max_pool_2d %a window<[3, 3], pad = [1, 1, 1, 1]> : (!t) -> !t
  %c = memgraph.opaque "MIX"(%b) {memgraph.names = ["mixed"]} : (!t) -> !t
  %d = memgraph.relu %c : (!t) -> !t
  %m = memgraph.mean %d axes [1, 2] rounding<tflm_double> {memgraph.names = ["average"]}
      : (!t) -> !m
  func.return %m : !m
}
"""


def planned(folder: Path, text: str, passes: str) -> Timeline:
    """As a plan that is read, so that names and offsets are those that are printed."""
    source, out = folder / "net.mlir", folder / "plan.mlir"
    source.write_text(text)
    assert opt([str(source), "-p", passes, "-o", str(out)]) == 0
    return timeline_of(only_function(parse_module(new_context(), out.read_text(), "plan.mlir")))


@pytest.fixture
def mixed(tmp_path: Path) -> Timeline:
    return planned(tmp_path, MIXED, f"{WHOLE},memgraph-expand-rows,{PLAN}")


def groups(svg: str) -> dict[str, list[ElementTree.Element]]:
    """The groups of each tensor, by the first line of the title."""
    found: dict[str, list[ElementTree.Element]] = {}
    for g in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        if "data-b" in g.attrib:
            found.setdefault((g[0].text or "").split("\n")[0], []).append(g)
    return found


def of(t: Timeline, name: str) -> list[Rect]:
    return [b for b in t.buffers if t.tensors[b.tensor].name == name]


# -- operators and tensors of a plan ---------------------------------------------------------------


def test_tensors_and_their_rows(mixed: Timeline) -> None:
    rows = {x.name: [b.row for b in of(mixed, x.name)] for x in mixed.tensors}
    assert rows == {
        "camera": [*range(6)],
        "wide": [*range(6)],
        "b": [*range(6)],
        "mixed": [*range(6)],
        "d": [*range(6)],
        "average": [*range(6)],
    }
    kinds = {x.name: (x.label, x.kind, x.is_sum) for x in mixed.tensors}
    assert kinds["camera"] == ("in", "input", False)
    assert kinds["wide"] == ("0", "activation", False)
    assert kinds["average"] == ("4", "output", True)
    assert of(mixed, "wide")[3].label == "0[3]" and of(mixed, "wide")[3].name == "wide[3]"
    assert max(s.bytes for s in mixed.steps) == mixed.peak


def test_one_line_per_operator(mixed: Timeline) -> None:
    """Held against the buffers themselves, step by step."""
    lines = operator_lines(mixed)
    assert [(x.operator.op, x.calls) for x in lines] == [
        ("max_pool_2d", 6),
        ("max_pool_2d", 6),
        ("MIX", 1),
        ("relu", 6),
        ("mean", 6),
    ]
    assert sum(x.calls for x in lines) == len(mixed.steps)
    for k, line in enumerate(lines):
        calls = [i for i, s in enumerate(mixed.steps) if s.operator == k]
        assert (line.first, line.last) == (calls[0], calls[-1])
        assert line.usage == max(mixed.steps[i].bytes for i in calls)
        made = [i for i, b in enumerate(mixed.buffers) if mixed.tensors[b.tensor].operator == k]
        live = [
            [i for i in made if mixed.buffers[i].lower <= t < mixed.ends[i]]
            for t in range(len(mixed.steps))
        ]
        assert line.rows_live == max(map(len, live))
        assert line.output == max(sum(mixed.buffers[i].bytes for i in now) for now in live)
        at = Counter(mixed.buffers[i].tensor for i in mixed.live_at(line.fullest))
        assert dict(line.live) == at
    # Each sum takes the place of the one before; only the last, in 8 bits, is made beside it.
    assert lines[4].rows_live == 2 and lines[4].is_sum


@pytest.mark.deep
def test_operators_have_the_work_of_the_whole(tmp_path: Path, shared: Path) -> None:
    model = shared / "models" / "tinymaix_mnist_resnet_int8.tflite"

    def lines(rows: str) -> dict[str, tuple[str, ...]]:
        out = tmp_path / "plan.mlir"
        passes = f"memgraph-model{{target=host}},memgraph-expand-rows{{rows={rows}}},{PLAN}"
        assert opt([str(model), "-p", passes, "-o", str(out)]) == 0
        text = table_text(
            timeline_of(only_function(parse_module(new_context(), out.read_text(), "plan")))
        )
        cells = [re.split(r"\s{2,}", line) for line in text.splitlines()[1:-1]]
        work = slice(3, 6) if rows == "none" else slice(6, 9)
        return {c[0]: tuple(c[work]) for c in cells}

    cut = {op: (*work[:2], work[2].removesuffix("  <- peak")) for op, work in lines("all").items()}
    assert cut == lines("none")


def test_rows_of_one_operator_are_numbered_as_it_is(mixed: Timeline) -> None:
    table = table_text(mixed)
    assert len(table.splitlines()) == 2 + 5
    head = re.split(r"\s{2,}", table.splitlines()[0])
    assert head == [
        "Operator",
        "Tensors in RAM (output of op. #)",
        "Usage (B)",
        "Calls",
        "Rows live",
        "Output (B)",
        "MACs",
        "Weights (B)",
        "Result",
    ]
    row = re.split(r"\s{2,}", table.splitlines()[1])
    assert row[0] == "0 (max_pool_2d)" and row[3] == "6" and row[4].endswith(" of 6")
    assert re.fullmatch(r"\{in x\d, 0( x\d)?\}", row[1])
    assert sum("<- peak" in line for line in table.splitlines()) >= 1
    assert "2 of 6 sums" in table


# -- the picture -----------------------------------------------------------------------------------


def test_each_row_is_drawn_where_and_when_it_lies(mixed: Timeline) -> None:
    drawn = groups(timeline_svg(mixed))
    assert set(drawn) == {x.name for x in mixed.tensors}
    column = None
    for name, found in drawn.items():
        assert len(found) == 1
        rects, rows = found[0].findall(f"{SVG}rect"), of(mixed, name)
        assert len(rects) == len(rows)
        for rect, b in zip(rects, rows, strict=True):
            assert b.offset is not None
            title = rect[0].text or ""
            said = f"sum up to row {b.row}" if name == "average" else f"row {b.row}"
            last = f"steps {b.lower} to {b.upper - 1}" if b.upper > b.lower + 1 else "step"
            place = f"address {b.offset:,} to {b.offset + b.bytes:,}"
            for part in (f"{name}: {said}\n", f"{b.bytes} B, {place}", last):
                assert part in title
            end = mixed.ends[mixed.buffers.index(b)]
            width = float(rect.attrib["width"]) / (end - b.lower)
            column = column or width
            assert width == pytest.approx(column, abs=0.02)
            assert float(rect.attrib["x"]) == pytest.approx(62 + b.lower * column, abs=0.5)


def test_a_name_stands_once_and_inside(mixed: Timeline) -> None:
    svg = timeline_svg(mixed)
    for name, (group,) in groups(svg).items():
        texts = group.findall(f"{SVG}text")
        assert len(texts) <= 1
        for text in texts:
            x, y = (float(text.attrib[k]) for k in ("x", "y"))
            assert any(
                float(r.attrib["x"]) <= x <= float(r.attrib["x"]) + float(r.attrib["width"])
                and float(r.attrib["y"]) <= y <= float(r.attrib["y"]) + float(r.attrib["height"])
                for r in group.findall(f"{SVG}rect")
            )
            label = next(v.label for v in mixed.tensors if v.name == name)
            assert (text.text or "").split()[0] == label
    assert sum(
        "wide" in (text.text or "") for text in ElementTree.fromstring(svg).iter(f"{SVG}text")
    )


def test_calls_are_drawn_below(mixed: Timeline) -> None:
    root = ElementTree.fromstring(timeline_svg(mixed))
    (strip,) = (g for g in root.iter(f"{SVG}g") if g.attrib.get("class") == "calls")
    told = [(g[0].text or "").split("\n") for g in strip.findall(f"{SVG}g")]
    assert [t[0].split()[:2] for t in told][:2] == [["0", "max_pool_2d"], ["1", "max_pool_2d"]]
    assert [t[1].split(",")[0] for t in told] == [
        "6 calls",
        "6 calls",
        "1 call",
        "6 calls",
        "6 calls",
    ]
    drawn = sum(len(re.findall("M", g[1].attrib["d"])) for g in strip.findall(f"{SVG}g"))
    assert drawn <= len(mixed.steps)


def test_neighbours_differ_in_colour(mixed: Timeline) -> None:
    kinds = bands.colour_classes(mixed)
    assert kinds == ["input", "activation h0", "activation h1", "activation h2", "activation h3",
                     "output"]  # fmt: skip
    svg = timeline_svg(mixed)
    assert "--h0:" in svg and "--h0:" not in timeline_svg(replace(mixed, operators=(), tensors=(),
        buffers=tuple(replace(b, tensor=-1, row=None) for b in mixed.buffers)))  # fmt: skip


def test_a_streamed_input_is_called_row_by_row(tmp_path: Path) -> None:
    t = planned(
        tmp_path, MIXED, f"{WHOLE},memgraph-expand-rows{{rows=wide stream-input=true}},{PLAN}"
    )
    first = t.operators[0]
    assert (first.label, first.op, first.name) == ("in", "receive", "camera")
    assert [b.row for b in of(t, "camera")] == [*range(6)]
    assert {b.kind for b in of(t, "camera")} == {"input"}
    assert [b.row for b in of(t, "wide")] == [*range(6)] and of(t, "b")[0].row is None
    lines = {x.operator.name: x for x in operator_lines(t)}
    assert lines["camera"].calls == 6 and lines["camera"].rows_live < 6
    assert lines["b"].calls == 1 and lines["b"].rows == 0 and lines["b"].output == 96
    assert "in (receive)" in table_text(t) and "camera: row 5" in timeline_svg(t)


def test_rows_in_several_memories(tmp_path: Path) -> None:
    text = MIXED.replace('memgraph.opaque "MIX"(%b)', "memgraph.relu %b")
    t = planned(
        tmp_path,
        text,
        f"{WHOLE},memgraph-expand-rows{{stream-input=true}},memgraph-schedule,"
        'memgraph-memory{banks="dtcm:64,sram:4K"}',
    )
    assert [x.name for x in t.lanes] == ["dtcm", "sram"]
    drawn = groups(timeline_svg(t))
    for name, found in drawn.items():
        titles = [r[0].text or "" for g in found for r in g.findall(f"{SVG}rect") if len(r)]
        assert len(titles) == len([b for b in of(t, name) if b.row is not None])
        assert sum(len(g.findall(f"{SVG}text")) for g in found if "rows" in g.attrib["class"]) <= 1
        for g in found:  # the rows of one plot lie in one memory
            assert len({(r[0].text or "").split(", ")[1] for r in g.findall(f"{SVG}rect")}) <= 1
    assert any(len(found) == 2 for found in drawn.values())


# -- very many rows --------------------------------------------------------------------------------


def many(operators: int, rows: int) -> Timeline:
    """A chain: every operator makes so many rows, each read by the next operator's next call."""
    steps: list[Step] = []
    buffers: list[Rect] = []
    for r in range(rows):
        for k in range(operators):
            at = len(steps)
            size = 64 + 64 * (k % 2)
            steps.append(Step(f"tensor {k}", "conv_2d", size, k, operator=k, row=r))
            buffers.append(
                Rect(f"tensor {k}[{r}]", 64, at, at + 1 + operators, 64 * (at % (operators + 1)),
                     "activation", f"{k}[{r}]", 64, tensor=k, row=r)
            )  # fmt: skip
    made = tuple(Operator(f"tensor {k}", "conv_2d", str(k), 9, 9) for k in range(operators))
    tensors = tuple(Tensor(f"tensor {k}", str(k), "activation", k) for k in range(operators))
    top = 64 * (operators + 1)
    return Timeline(
        "many", tuple(steps), tuple(buffers), 128, 128, "flow", top, 1, family="rows",
        operators=made, tensors=tensors,
    )  # fmt: skip


def test_thousands_of_rows_are_a_small_file() -> None:
    told, untold = many(40, 100), many(50, 200)
    svg = timeline_svg(told)
    assert 4000 <= svg.count("<rect") < 4010 and len(svg) < 1_000_000
    svg = timeline_svg(untold)
    assert len(untold.buffers) == 10_000 and len(svg) < 1_000_000
    assert svg.count("<rect") < 100
    shapes = sum(
        len(re.findall("M", path.attrib["d"]))
        for found in groups(svg).values()
        for path in found[0].findall(f"{SVG}path")
    )
    assert shapes == 10_000
    page = page_html("many", (Panel("Plan", "", untold),))
    assert len(page) < 1_000_000 and page.count("<tr") == 1 + 50


@pytest.mark.parametrize("count", [2, 90, 1500, 12_000])
def test_steps_stay_legible(count: int) -> None:
    """Numbers of steps keep 34 px apart, in a picture that a screen shows at its size."""
    t = many(10, max(count // 10, 1)) if count > 10 else many(count, 1)
    root = ElementTree.fromstring(timeline_svg(t))
    assert float(root.attrib["width"]) <= 62 + 1200 + 168
    marks = [e for e in root.iter(f"{SVG}text") if re.fullmatch(r"\d+", e.text or "")]
    below = max(float(e.attrib["y"]) for e in marks if e.attrib.get("text-anchor") == "middle")
    places = [float(e.attrib["x"]) for e in marks if float(e.attrib["y"]) == below]
    assert len(places) >= 2
    assert min(b - a for a, b in pairwise(places)) >= 33.9


def test_the_widest_place_is_covered_by_rows() -> None:
    random = Random(1)
    found = 0
    for _ in range(500):
        size, steps = random.choice((8, 16)), 30
        buffers: list[Rect] = []
        for slot in range(random.randrange(1, 6)):
            at = 0
            while (at := at + random.randrange(3)) < steps:
                end = at + random.randrange(1, 9)
                buffers.append(Rect("x", size, at, end, size * slot, "activation", tensor=0, row=0))
                at = end
        peak = random.randrange(steps)
        t = replace(
            many(1, 1),
            steps=tuple(Step("x", "x", 2 if i == peak else 1, i, operator=0) for i in range(40)),
            buffers=tuple(buffers),
        )
        height = random.randrange(1, 50)
        spot = widest_spot(t, range(len(buffers)), height)
        if spot is None:
            assert all(b.bytes < height for b in buffers)
            continue
        found += 1
        assert spot.end - spot.start >= height
        for step in range(spot.lower, spot.upper):
            for byte in range(spot.start, spot.end, size):
                (one,) = (
                    i
                    for i, b in enumerate(buffers)
                    if b.lower <= step < b.upper and b.offset == byte
                )
                assert t.at_peak[one] is spot.at_peak
        if height <= size:
            runs = [b.upper - b.lower for b in buffers]
            assert spot.upper - spot.lower >= 0.95 * max(runs)
    assert found > 100


# -- the page --------------------------------------------------------------------------------------


def test_the_page_of_a_model_in_rows(tmp_path: Path) -> None:
    net, page = tmp_path / "net.mlir", tmp_path / "net.html"
    net.write_text(MIXED.replace('memgraph.opaque "MIX"(%b)', "memgraph.relu %b"))
    whole = "--rewrite=none"  # of which the ReLU stays an operator
    assert main(["report", str(net), "--rows=all", whole, "--html", str(page)]) == 0
    text = page.read_text()
    before, after = re.findall(r"<tbody>.*?</tbody>", text, re.DOTALL)
    assert before.count("<tr") == after.count("<tr") == 5
    assert "No order of these rows has a smaller peak" in text
    assert "5</b><span>operators, 30 calls" in text.replace(' class=""', "").replace("<b>", "")
    assert re.search(r'<span class="c input" data-b="1-t0" title="camera">in x\d', text)


def test_pictures_keep_one_scale_or_say_so(mixed: Timeline) -> None:
    low = replace(mixed, peak=mixed.peak, arena=mixed.arena)
    high = replace(many(1, 1), operators=(), tensors=(), arena=10 * mixed.arena,
                   buffers=(replace(many(1, 1).buffers[0], tensor=-1, row=None),))  # fmt: skip
    page = page_html("x", (Panel("Before", "a", high), Panel("After", "b", low)))
    assert "b; a byte is drawn 10.0 times as high as in the other picture" in page
    alike = page_html("x", (Panel("Before", "a", replace(high, arena=low.arena)),
                            Panel("After", "b", low)))  # fmt: skip
    assert "times as high" not in alike
