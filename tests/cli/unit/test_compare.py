"""`memopt compare`: figures of two models, folders or reports, and limits of their growth."""

import json
from pathlib import Path
from typing import Any

import pytest

from memopt.cli import main
from memopt.compile.figures import FIGURES, Limit, figures_of, growths, parse_limits
from memopt.text.usage import UsageError

SMALL = """
!t = tensor<1x64xi8, #memgraph.encoding<scale = [0.1], zero_point = [3]>>
func.func @main(%x: !t) -> !t {
  %0 = memgraph.relu %x : (!t) -> !t
  func.return %0 : !t
}
"""
LARGE = SMALL.replace("1x64x", "1x96x")


@pytest.fixture
def models(tmp_path: Path) -> list[str]:
    paths = [tmp_path / name for name in ("small.mlir", "large.mlir")]
    for path, text in zip(paths, (SMALL, LARGE), strict=True):
        path.write_text(text)
    return [str(path) for path in paths]


def known(**values: int) -> dict[str, int | None]:
    return {name: values.get(name) for name in FIGURES}


@pytest.mark.parametrize(
    ("limit", "old", "new", "allowed"),
    [
        ("arena:0", 100, 100, True),
        ("arena:0", 100, 99, True),
        ("arena:0", 100, 101, False),
        ("arena:1K", 100, 1124, True),
        ("arena:1K", 100, 1125, False),
        ("arena:2%", 100, 102, True),
        ("arena:2%", 100, 103, False),
        ("arena:1.5%", 1000, 1015, True),
        ("arena:1.5%", 1000, 1016, False),
        ("arena:5%", 0, 1, False),
    ],
)
def test_a_figure_may_grow_by_its_limit(limit: str, old: int, new: int, allowed: bool) -> None:
    (growth,) = growths(known(arena=old), known(arena=new), parse_limits(limit))
    assert (growth.figure, growth.change, growth.allowed) == ("arena", new - old, allowed)


def test_what_is_not_known_has_not_kept_its_limit() -> None:
    limits = {"flash": Limit(0, False)}
    for old, new in ((known(), known()), (known(flash=1), known()), (known(), known(flash=1))):
        (growth,) = growths(old, new, limits)
        assert growth.allowed is False
        assert growth.change is None
    assert growths(known(), known(), {}) == []


@pytest.mark.parametrize(
    "text", ["", "aren:0", "arena", "arena:", "arena:-1", "arena:x%", "arena:0,arena:1", "arena:1G"]
)
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_limits(text)


def test_models_that_are_planned(models: list[str], capsys: Any) -> None:
    assert main(["compare", *models]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "small.mlir for host -> large.mlir for host"
    assert lines[2].split() == ["arena", "64", "B", "96", "B", "+32", "B", "+50.0", "%"]


def test_beyond_its_limit_is_an_error_of_one_line(models: list[str], capsys: Any) -> None:
    assert main(["compare", *models, "--max-growth=arena:32,peak:49%"]) == 1
    out, error = capsys.readouterr()
    assert "arena" in out
    assert error.endswith(
        "large.mlir: error: beyond --max-growth=arena:32,peak:49%: peak grew by 32 B\n"
    )
    assert main(["compare", *reversed(models), "--max-growth=arena:0,peak:0"]) == 0


def test_a_folder_its_report_and_the_model_are_the_same(
    models: list[str], tmp_path: Path, capsys: Any
) -> None:
    folder = tmp_path / "out"
    assert main(["compile", models[0], "-o", str(folder)]) == 0
    capsys.readouterr()
    limits = "--max-growth=arena:0,calls:0,operators:0"
    for path in (str(folder), str(folder / "report.json"), models[0]):
        assert main(["compare", str(folder), path, limits, "--json"]) == 0
        content = json.loads(capsys.readouterr().out)
        assert content["old"]["model"] == content["new"]["model"] == "small.mlir"
        changes = {entry["figure"]: entry["change"] for entry in content["figures"]}
        assert set(changes.values()) == {0}
        assert changes.keys() >= {"arena", "peak", "calls"}


def test_of_a_board_what_is_built_is_compared(models: list[str], capsys: Any) -> None:
    assert main(["compare", *models, "--target=cortex-m4", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)["figures"]
    figures = {entry["figure"]: entry for entry in entries}
    assert figures["instructions"]["new"] > figures["instructions"]["old"] > 0
    assert figures["flash"]["old"] > 0


def test_wrong_input_has_one_line(models: list[str], tmp_path: Path, capsys: Any) -> None:
    graph = tmp_path / "other.json"
    graph.write_text('{"plan": {}}')
    for path in (str(tmp_path), str(tmp_path / "nothing.tflite"), str(graph)):
        assert main(["compare", models[0], path]) == 1
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert path in error
    assert main(["compare", *models, "--max-growth=flsh:0"]) == 2
    assert "did you mean flash?" in capsys.readouterr().err


def test_every_figure_is_read_from_a_report(models: list[str], tmp_path: Path) -> None:
    assert main(["compile", models[0], "--target=cortex-m4", "-o", str(tmp_path / "out")]) == 0
    content = json.loads((tmp_path / "out" / "report.json").read_text())
    figures = figures_of(content)
    assert set(figures) == set(FIGURES)
    assert [name for name, value in figures.items() if value is None] == ["tensor_arena"]
