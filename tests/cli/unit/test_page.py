"""`--html`: the page of a model that is compiled, and of one that is only planned."""

import json
import re
from pathlib import Path

import pytest

from memopt.cli import main

SQUARE = {
    "tensors": [{"name": n, "bytes": 64, "is_weight": False} for n in "xabcd"],
    "nodes": [
        {"name": "a", "op": "Relu", "inputs": ["x"], "outputs": ["a"]},
        {"name": "b", "op": "Relu", "inputs": ["a"], "outputs": ["b"]},
        {"name": "c", "op": "Relu", "inputs": ["a"], "outputs": ["c"]},
        {"name": "d", "op": "Add", "inputs": ["b", "c"], "outputs": ["d"]},
    ],
    "graph_inputs": ["x"],
    "graph_outputs": ["d"],
}


def facts(page: Path) -> dict[str, str]:
    return dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page.read_text(encoding="utf-8")))


def test_a_planned_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("square.json").write_text(json.dumps(SQUARE))
    assert main(["report", "square.json", "--html", "a page.html"]) == 0
    page = tmp_path / "a page.html"
    said = facts(page)
    assert said["command"] == "memopt report square.json --html 'a page.html'"
    assert said["target"] == "host"
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", said["version"])
    assert said["peak"].startswith("192 B (0.2 KiB) -&gt; 128 B")
    drawing = page.read_text(encoding="utf-8").split('class="network"')[1].split("</svg>")[0]
    assert (drawing.count("<rect"), drawing.count("<path")) == (4, 4)


def test_a_compiled_model_has_what_was_measured(shared: Path, tmp_path: Path) -> None:
    model, page = str(shared / "models/hello_world_int8.tflite"), tmp_path / "page.html"
    folder = tmp_path / "c"
    assert main(["compile", model, "--target=tflm", "-o", str(folder), "--html", str(page)]) == 0
    assert "kTensorArenaSize" in facts(page)["TFLM"]


@pytest.mark.parametrize("words", [["--html=-"], ["other.tflite", "--html=page.html"]])
def test_refusals(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "net.tflite", *words, "-o", str(tmp_path / "c")]) == 2
    assert "--html is a file, of one model" in capsys.readouterr().err
    assert not (tmp_path / "c").exists()
