"""A plan with several memories, or with shared objects, is drawn memory by memory: each with its
name, what it holds and its own addresses, never as one arena of them all."""

import re
from pathlib import Path

import pytest

from memopt.cli import main
from memopt.cli.opt import main as opt

TEXT = """
func.func @main(%x: tensor<64xi8>) -> tensor<16xi8> {
  %0 = memgraph.opaque "A"(%x) {memgraph.names = ["wide"]} : (tensor<64xi8>) -> tensor<64xi8>
  %1 = memgraph.opaque "B"(%0) {memgraph.names = ["narrow"]} : (tensor<64xi8>) -> tensor<48xi8>
  %2 = memgraph.opaque "C"(%1) {memgraph.names = ["last"]} : (tensor<48xi8>) -> tensor<16xi8>
  func.return %2 : tensor<16xi8>
}
"""


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.mlir"
    path.write_text(TEXT)
    return path


def drawing(net: Path, *flags: str) -> str:
    goal = net.with_suffix(".svg")
    assert opt([str(net), *flags, "-t", "svg", "-o", str(goal)]) == 0
    return goal.read_text()


def headings(text: str) -> list[str]:
    return re.findall(r'<text class="name" x="62" y="[\d.]+">([^<]*)<', text)


def test_each_memory_is_a_plot(net: Path) -> None:
    text = drawing(net, "--schedule=auto", "--memory=dtcm:96,sram:320K")
    found = headings(text)
    assert [h.split(":")[0] for h in found] == ["dtcm", "sram"]
    assert "of 96 B" in found[0] and "of 327,680 B (320.0 KiB)" in found[1]
    assert re.search(r"dtcm, address 0 to \d+", text) and re.search(r"sram, address 0 to \d+", text)
    assert 'class="line arena"' not in text
    assert "<title>main: dtcm " in text
    boxes = re.findall(r'<g class="b [^>]*data-b="(\d+)"', text)
    assert len(boxes) == len(set(boxes)) == 4  # each buffer in one memory


def test_boxes_of_one_memory_stay_in_its_plot(net: Path) -> None:
    text = drawing(net, "--schedule=auto", "--memory=dtcm:96,sram:320K")
    tops = [float(y) for y in re.findall(r'<text class="name" x="62" y="([\d.]+)">', text)]
    for memory, box in re.findall(r"(dtcm|sram), address[^<]*</title><rect ([^/]*)/>", text):
        y = float(re.search(r' y="([\d.]+)"', box)[1])  # type: ignore[index]
        assert (y < tops[1]) == (memory == "dtcm")


def test_each_shared_object_is_a_plot(net: Path) -> None:
    text = drawing(net, "--schedule=auto", "--place=shared-objects")
    found = headings(text)
    assert len(found) >= 2 and found[0].startswith("object 0: 64 B")
    assert 'class="line arena"' not in text


def test_one_arena_is_drawn_as_before(net: Path) -> None:
    text = drawing(net, "--schedule=auto", "--place=auto")
    assert headings(text) == []
    assert 'class="line arena"' in text and "address 0 to" in text


def test_the_page_names_the_memories(net: Path, tmp_path: Path) -> None:
    page = tmp_path / "net.html"
    assert main(["report", str(net), "--memory=dtcm:96,sram:320K", "--html", str(page)]) == 0
    text = page.read_text()
    assert [h.split(":")[0] for h in headings(text)] == ["dtcm", "sram"]
    assert "The 2 memories need" in text and "all memories together" in text
