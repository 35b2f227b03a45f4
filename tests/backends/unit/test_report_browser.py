"""The page in a real browser: what its DOM holds once it is loaded, and after a pointer moved."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from memopt.backends.report import Rect, Step, Timeline, network_svg, report_html
from memopt.backends.report.network import Network
from memopt.backends.report.profile_page import profile_html
from memopt.backends.report.validation_page import validation_html
from memopt.cli import main

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

PROBE = """<script>
document.querySelector('g[data-b="1-2"] rect').dispatchEvent(
  new MouseEvent("mouseover", {bubbles: true}));
var hot = document.querySelectorAll("tr.hot");
document.documentElement.setAttribute("data-hot-rows", hot.length);
document.documentElement.setAttribute("data-hot-chips",
  document.querySelectorAll(".c.hot").length);
document.documentElement.setAttribute("data-boxes",
  Array.from(document.querySelectorAll("g[data-b] rect")).filter(
    function (r) { return r.getBoundingClientRect().width > 0; }).length);
</script>"""


def chain(count: int) -> Timeline:
    """Buffer i is live in steps i - 1 and i."""
    buffers = tuple(
        Rect(f"</script><b>{i}", 64, max(i - 1, 0), min(i + 1, count), 64 * (i % 2), "activation",
             str(i), 60)
        for i in range(count + 1)
    )  # fmt: skip
    steps = tuple(Step(f"t{i + 1}", "relu", 128, i + 1) for i in range(count))
    return Timeline("chain", steps, buffers, 128, 128, "flow", 128, 16)


def loaded(page: Path, folder: Path, width: int = 1400) -> str:
    """The DOM of a page after its scripts, in a window of so many px."""
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    done = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={folder / 'profile'}",
            f"--window-size={width},1600",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def test_dom(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    text = report_html("chain", chain(10), chain(10))
    page.write_text(text.replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
    dom = loaded(page, tmp_path)
    assert 'data-boxes="22"' in dom  # 11 buffers, before and after, all drawn
    assert 'data-hot-rows="2"' in dom  # buffer 2 is live in steps 1 and 2
    assert 'data-hot-chips="2"' in dom


MEASURES = """<script>
var root = document.documentElement, box = document.querySelector(".picture svg");
root.setAttribute("data-beyond", root.scrollWidth - root.clientWidth);
root.setAttribute("data-text", Math.round(10 * box.getScreenCTM().a * 11) / 10 >= 7);
</script>"""


@pytest.mark.parametrize("width", [400, 1400])
def test_it_reads_well_on_a_telephone_and_on_a_desk(width: int, tmp_path: Path) -> None:
    """Nothing is wider than the window but what scrolls in it, and text is 7 px high or more."""
    network = Network(tuple((f"{i} conv_2d", "x" * 80) for i in range(12)), ((0, 1), (0, 2)))
    facts = (("command", "memopt report " + "long-name" * 20), ("version", "1"))
    page = tmp_path / "page.html"
    text = report_html("chain", chain(12), chain(12), facts, network_svg(network))
    page.write_text(text.replace("</body>", f"{MEASURES}</body>"), encoding="utf-8")
    dom = loaded(page, tmp_path, width)
    assert 'data-beyond="0"' in dom
    assert 'data-text="true"' in dom


@pytest.mark.parametrize("width", [400, 1400])
def test_a_profile_reads_well_on_both(width: int, tmp_path: Path) -> None:
    """Names, bars and shares are in sight without scrolling, and each bar is as long as its
    share."""
    shares = (0.5, 0.25, 0.25)
    numbers = {"calls": 25, "instructions": 10**8, "cycles": None, "ms": 12.5, "macs": None}
    entries = [
        {"operator": f"a/{'long' * 9}/<b>{k}", "kind": "conv_2d", **numbers, "bytes": 9, "share": x}
        for k, x in enumerate(shares)
    ]
    probe = """<script>
    var root = document.documentElement, bars = Array.from(document.querySelectorAll(".bar i"));
    var lengths = bars.map(function (bar) { return bar.getBoundingClientRect().width; });
    var right = document.querySelectorAll(".bar span")[2].getBoundingClientRect().right;
    root.setAttribute("data-beyond", root.scrollWidth - root.clientWidth);
    root.setAttribute("data-in-sight", right <= root.clientWidth);
    root.setAttribute("data-halves", Math.abs(lengths[0] - 2 * lengths[1]) < 1);
    </script>"""
    page = tmp_path / "page.html"
    text = profile_html("<net>", (("command", "x" * 99),), entries, {**entries[0], "share": 1.0})
    assert "<b>0" not in text and "<net>" not in text
    page.write_text(text.replace("</body>", f"{probe}</body>"), encoding="utf-8")
    dom = loaded(page, tmp_path, width)
    assert 'data-beyond="0"' in dom and 'data-in-sight="true"' in dom
    assert 'data-halves="true"' in dom


@pytest.mark.parametrize("width", [400, 1400])
def test_a_validation_reads_well_on_both(width: int, tmp_path: Path) -> None:
    """Each table begins in sight and scrolls in itself, and a class is beside its number."""
    output = {"name": f"o/{'long' * 20}/<b>", "elements": 9000, "different": 1, "max_abs": 12.0}
    output |= {"mean_abs": 0.1, "rmse": 1.5, "mae": 0.25, "cosine": None}
    layer = {"tensor": "<b>t", "operator": "memgraph.add", "against": None, "elements": 9}
    entries = {
        "model": "<net>",
        "target": "host",
        "against": "tflm",
        "samples": 200,
        "accuracy": 0.5,
        "reference_accuracy": 0.75,
        "rmse": None,
        "mae": None,
        "confusion": [[100 * (i == j) for i in range(40)] for j in range(40)],
        "outputs": [output],
        "layers": [{**layer, "different": 2, "max_abs": 1.0, "agree": ["litert"]}],
        "agree": ["evaluate"],
        "known_errors": ["operator 0: " + "<i>" * 40],
        "first_difference": "<b>t",
    }
    probe = """<script>
    var root = document.documentElement, cells = document.querySelectorAll(".confusion td.right");
    var heads = document.querySelectorAll(".confusion tr:first-child th");
    var middle = box => (box.left + box.right) / 2;
    root.setAttribute("data-beyond", root.scrollWidth - root.clientWidth);
    root.setAttribute("data-tables", Array.from(document.querySelectorAll("table")).filter(
      table => table.getBoundingClientRect().left < 100).length);
    root.setAttribute("data-below", Math.abs(middle(heads[40].getBoundingClientRect())
      - middle(cells[39].getBoundingClientRect())) < 1);
    </script>"""
    page = tmp_path / "page.html"
    text = validation_html((("command", "x" * 99),), entries)
    assert "<b>t" not in text and "<net>" not in text and "<i>" not in text
    page.write_text(text.replace("</body>", f"{probe}</body>"), encoding="utf-8")
    dom = loaded(page, tmp_path, width)
    assert 'data-beyond="0"' in dom and 'data-tables="3"' in dom and 'data-below="true"' in dom


WINDOWS = 8
TYPE = "tensor<1x24x4x1xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>"
POOL = "  %{} = memgraph.max_pool_2d %{} window<[3, 3], pad = [1, 1, 1, 1]>"
IN_ROWS = (
    f"func.func @main(%0: {TYPE}) -> {TYPE} {{\n"
    + "".join(f"{POOL.format(k + 1, k)} : ({TYPE}) -> {TYPE}\n" for k in range(WINDOWS))
    + f"  func.return %{WINDOWS} : {TYPE}\n}}\n"
)


@pytest.mark.deep
def test_tensors_in_ram_stand_side_by_side_on_a_telephone(tmp_path: Path) -> None:
    """The table of a plan in rows is wider than the window, and scrolls; its lines are low."""
    probe = """<script>
    var cells = Array.from(document.querySelectorAll("tr[data-o]")).map(function (row) {
      var chips = Array.from(row.querySelectorAll(".c"));
      return [chips.length, new Set(chips.map(c => c.getBoundingClientRect().top)).size];
    });
    document.documentElement.setAttribute("data-cells", cells.flat().join(" "));
    </script>"""
    net, page = tmp_path / "net.mlir", tmp_path / "page.html"
    net.write_text(IN_ROWS)
    assert main(["report", str(net), "--rows=all", f"--html={page}"]) == 0
    page.write_text(page.read_text().replace("</body>", f"{probe}</body>"), encoding="utf-8")
    (found,) = re.findall(r'data-cells="([\d ]+)"', loaded(page, tmp_path, 400))
    numbers = [int(n) for n in found.split()]
    assert len(numbers) == 2 * WINDOWS and max(numbers) >= 2
    for chips, lines in zip(numbers[::2], numbers[1::2], strict=True):
        assert lines <= (chips + 1) // 2
