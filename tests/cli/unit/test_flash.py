"""`--flash`: an image that is too large is refused, and nothing is left."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import memopt
from memopt.cli import main
from memopt.targets.core.target import all_targets, target_named

NETWORK = """
!t = tensor<1x64xi8, #memgraph.encoding<scale = [0.1], zero_point = [3]>>
func.func @main(%x: !t) -> !t {
  %0 = memgraph.relu %x : (!t) -> !t
  func.return %0 : !t
}
"""


@pytest.fixture
def network(tmp_path: Path) -> Path:
    path = tmp_path / "net.mlir"
    path.write_text(NETWORK)
    return path


@pytest.mark.deep
def test_an_image_has_at_most_that(network: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out"
    board = ["--target=cortex-m4", "-o", str(out)]
    assert main(["compile", str(network), *board, "--flash=1K"]) == 1
    error = capsys.readouterr().err
    assert "does not fit into 1,024 B (1.0 KiB)" in error
    assert error.count("\n") == 1
    assert not out.exists()
    assert main(["compile", str(network), *board, "--flash=64K"]) == 0
    report = memopt.compile(network, target="cortex-m4", out=tmp_path / "own", flash=1 << 16)
    size = report["target"]["flash"]
    with pytest.raises(memopt.MemoptError, match=f"an image of {size:,} B .* 1 B are missing"):
        memopt.compile(network, target="cortex-m4", out=tmp_path / "less", flash=size - 1)


@pytest.mark.deep
def test_of_several_models_it_is_of_all(network: Path, tmp_path: Path, capsys: Any) -> None:
    other = tmp_path / "other.mlir"
    other.write_text(NETWORK)
    several = ["compile", str(network), str(other), "--target=cortex-m4"]
    assert main([*several, "--flash=1K", "-o", str(tmp_path / "a")]) == 1
    assert "does not fit into 1,024 B" in capsys.readouterr().err
    assert main([*several, "--flash=64K", "-o", str(tmp_path / "b")]) == 0


@pytest.mark.parametrize("target", ["host", "tflm"])
def test_where_no_image_is_measured_it_is_not_promised(
    target: str, shared: Path, tmp_path: Path, capsys: Any
) -> None:
    model = shared / "models" / "hello_world_int8.tflite"
    out = ["-o", str(tmp_path / "out")]
    assert main(["compile", str(model), f"--target={target}", "--flash=1M", *out]) == 1
    assert "--flash cannot be promised: " in capsys.readouterr().err


def test_an_image_larger_than_the_emulator_is_written_all_the_same(
    network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    board = target_named("cortex-m4")
    small = replace(board, memories=(("FLASH", "0x00000000", "1K"), *board.memories[1:]))
    monkeypatch.setitem(all_targets(), "cortex-m4", small)
    command = ["compile", str(network), "--target=cortex-m4", "-o", str(tmp_path / "out")]
    assert main(command) == 0
    assert "larger than QEMU's mps2-an386: FLASH by " in capsys.readouterr().out
    target = json.loads((tmp_path / "out" / "report.json").read_text())["target"]
    assert target["flash"] is None and target["bounds"] == ["stack", "static_ram"]
    assert (tmp_path / "out" / "Makefile").exists()
    assert main([*command, "--force", "--flash=64K"]) == 1
    assert "--flash cannot be promised: the image is larger" in capsys.readouterr().err
