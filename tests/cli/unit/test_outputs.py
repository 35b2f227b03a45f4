"""Where the commands write: `-` is stdout, an empty path is wrong usage, no model is replaced."""

import io
import json
import sys
from pathlib import Path

import pytest
from demo_model import demo_model

from memopt.cli import main
from memopt.cli.opt import main as opt
from memopt.passes.plan import certify
from memopt.solvers.errors import NoCertificateError

Capture = pytest.CaptureFixture[str]
GRAPH = {
    "name": "g",
    "tensors": [{"name": n, "bytes": 64, "is_weight": False} for n in "xy"],
    "nodes": [{"name": "n", "op": "Conv", "inputs": ["x"], "outputs": ["y"]}],
    "graph_inputs": ["x"],
    "graph_outputs": ["y"],
}
CSV = "id,lower,upper,size\nb1,0,3,4\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a graph, its plan and buffers."""
    monkeypatch.chdir(tmp_path)
    Path("g.json").write_text(json.dumps(GRAPH))
    Path("b.csv").write_text(CSV)
    assert opt(["--schedule=source", "--place=auto", "g.json", "-o", "p.mlir"]) == 0
    return tmp_path


def code(command: str, arguments: list[str]) -> int | str | None:
    """The exit code, also where argparse stops by itself."""
    try:
        return (opt if command == "memopt-opt" else main)(arguments)
    except SystemExit as stop:
        return stop.code


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("memopt", ["compile", "p.mlir", "-o", ""]),
        ("memopt", ["compile", "p.mlir", "--output="]),
        ("memopt", ["compile", "", "-o", "out"]),
        ("memopt", ["compile", "p.mlir", "--model-path=", "-o", "out"]),
        ("memopt", ["report", "p.mlir", "--html", ""]),
        ("memopt", ["report", ""]),
        ("memopt", ["verify", ""]),
        ("memopt", ["verify", "p.mlir", "--certificate="]),
        ("memopt", ["place", "b.csv", "-o", ""]),
        ("memopt", ["place", ""]),
        ("memopt", ["sweep", "g.json", ""]),
        ("memopt-opt", ["p.mlir", "-o", ""]),
        ("memopt-opt", [""]),
        ("memopt-opt", ["p.mlir", "--model-path", ""]),
    ],
)
def test_an_empty_path_is_wrong_usage(
    command: str, arguments: list[str], here: Path, capsys: Capture
) -> None:
    before = names(here)
    assert code(command, arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "the path is empty" in error
    assert names(here) == before


def test_an_empty_certificate_is_refused(here: Path, capsys: Capture) -> None:
    for name in ("", "-"):
        assert opt(["g.json", "-p", f'memgraph-schedule{{certificate="{name}"}}', "-o", "o"]) == 1
        assert "name a file" in capsys.readouterr().err
    assert names(here) == ["b.csv", "g.json", "p.mlir"]


def test_a_page_on_stdout_is_all_that_is_there(here: Path, capsys: Capture) -> None:
    assert main(["report", "p.mlir", "--html", "page.html"]) == 0
    text = capsys.readouterr().out
    assert main(["report", "p.mlir", "--html", "-"]) == 0
    said = capsys.readouterr()
    page = Path("page.html").read_text(encoding="utf-8")
    assert said.out == page.replace("--html page.html</dd>", "--html -</dd>")
    assert said.err == text
    assert not Path("-").exists()


def test_placed_buffers_on_stdout(here: Path, capsys: Capture) -> None:
    assert main(["place", "b.csv", "-o", "placed.csv"]) == 0
    capsys.readouterr()
    assert main(["place", "b.csv", "-o", "-"]) == 0
    said = capsys.readouterr()
    assert said.out == Path("placed.csv").read_text(encoding="utf-8")
    assert "arena" in said.err
    assert not Path("-").exists()


def test_ir_there_and_back(here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert opt(["p.mlir", "-o", "-"]) == 0
    text = capsys.readouterr().out
    assert text == Path("p.mlir").read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert opt(["-", "-o", "-"]) == 0
    assert capsys.readouterr().out == text
    assert not Path("-").exists()


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_a_stream_that_is_closed_has_one_line(
    stream: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, stream, None)
    assert opt(["p.mlir"] if stream == "stdout" else ["-"]) == 1
    assert capsys.readouterr().err == f"{stream}: error: is closed; name a file\n"


def test_a_planned_model_on_stdout(here: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    Path("m.tflite").write_bytes(demo_model(size="small"))
    planned = ["--model=target=tflm", "--schedule=source", "--place=tflm", "m.tflite"]
    assert opt([*planned, "-t", "tflite", "-o", "o.tflite"]) == 0
    capfdbinary.readouterr()
    assert opt([*planned, "-t", "tflite", "-o", "-"]) == 0
    assert capfdbinary.readouterr().out == Path("o.tflite").read_bytes()
    assert code("memopt-opt", [*planned, "-t", "tflite"]) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "p.mlir", "--json", "--html", "-"],
        ["place", "b.csv", "--json", "-o", "-"],
        ["compile", "p.mlir", "-o", "-"],
    ],
)
def test_two_things_do_not_share_stdout_and_a_folder_does_not_go_there(
    arguments: list[str], here: Path, capsys: Capture
) -> None:
    before = names(here)
    assert code("memopt", arguments) == 2
    said = capsys.readouterr()
    assert "stdout" in said.err
    assert said.out == ""
    assert names(here) == before


def test_a_model_is_not_replaced_by_what_still_needs_it(here: Path, capsys: Capture) -> None:
    Path("m.tflite").write_bytes(demo_model(size="small"))
    Path("same.tflite").symlink_to("m.tflite")
    before = Path("m.tflite").read_bytes()
    planned = ["--model=target=tflm", "--schedule=source", "--place=tflm", "m.tflite"]
    for name in ("m.tflite", "same.tflite"):
        assert opt([*planned, "-o", name]) == 1
        assert "is read by this run" in capsys.readouterr().err
        assert main(["report", "m.tflite", "--schedule=source", "--html", name]) == 1
        assert "is read by this run" in capsys.readouterr().err
        assert Path("m.tflite").read_bytes() == before
    assert opt([*planned, "-t", "tflite", "-o", "m.tflite"]) == 0  # the same network
    assert opt(["p.mlir", "-o", "p.mlir"]) == 0


def test_a_link_stays_one_and_what_it_leads_to_is_written(here: Path) -> None:
    Path("real").mkdir()
    Path("link.mlir").symlink_to("real/p.mlir")
    assert opt(["p.mlir", "-o", "link.mlir"]) == 0
    assert Path("link.mlir").is_symlink()
    assert Path("real/p.mlir").read_bytes() == Path("p.mlir").read_bytes()


def test_only_a_certificate_is_removed_where_there_is_none(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise NoCertificateError("too large")

    passes = 'memgraph-schedule{certificate="proof"}'
    assert opt(["g.json", "-p", passes, "-o", "o.mlir"]) == 0
    assert Path("proof").exists()
    monkeypatch.setattr(certify, "certificate", none)
    assert opt(["g.json", "-p", passes, "-o", "o.mlir"]) == 0
    assert not Path("proof").exists()
    Path("proof").write_text("mine")
    assert opt(["g.json", "-p", passes, "-o", "o.mlir"]) == 0
    assert Path("proof").read_text() == "mine"
    assert "no certificate written" in capsys.readouterr().err
