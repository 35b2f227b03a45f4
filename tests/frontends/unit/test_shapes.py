"""`--shape` of a file whose shapes are fixed: what it says has to be so."""

import json
from pathlib import Path

import pytest
from demo_model import demo_model

from memopt.cli import main
from memopt.cli.opt import main as opt

Capture = pytest.CaptureFixture[str]
GRAPH = {
    "name": "g",
    "tensors": [
        {"name": "x", "bytes": 64, "is_weight": False, "shape": [4, 16], "dtype": "int8"},
        {"name": "y", "bytes": 32, "is_weight": False},
    ],
    "nodes": [{"name": "n", "op": "Conv", "inputs": ["x"], "outputs": ["y"]}],
    "graph_inputs": ["x"],
    "graph_outputs": ["y"],
}
FUNCTION = """func.func @main(%x: tensor<4x16xi8>) -> tensor<4x16xi8> {
  %y = memgraph.add %x, %x : (tensor<4x16xi8>, tensor<4x16xi8>) -> tensor<4x16xi8>
  func.return %y : tensor<4x16xi8>
}
"""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, tuple[Path, str, str]]:
    """Kind -> (path, the name of its input, the input's shape)."""
    (tmp_path / "m.tflite").write_bytes(demo_model(size="small"))
    (tmp_path / "m.json").write_text(json.dumps(GRAPH))
    (tmp_path / "m.mlir").write_text(FUNCTION)
    shape = ("x", "4x16")
    return {
        "tflite": (tmp_path / "m.tflite", "image", "1x16x16x3"),
        "json": (tmp_path / "m.json", *shape),
        "mlir": (tmp_path / "m.mlir", *shape),
    }


@pytest.mark.parametrize("kind", ["tflite", "json", "mlir"])
@pytest.mark.parametrize("command", ["memopt-opt", "report", "compile"])
def test_a_fixed_shape_is_checked(
    kind: str,
    command: str,
    files: dict[str, tuple[Path, str, str]],
    tmp_path: Path,
    capsys: Capture,
) -> None:
    path, name, shape = files[kind]

    def run(*given: str) -> int:
        more = [f"--shape={text}" for text in given]
        if command == "memopt-opt":
            return opt([str(path), *more])
        where = ["-o", str(tmp_path / "out")] if command == "compile" else []
        return main([command, str(path), "--schedule=source", *where, *more])

    if command != "compile" or kind == "tflite":  # JSON graphs have no kernels
        assert run(f"{name}={shape}", f"{name}={shape}") == 0
    for given, text in (
        (f"{name}=1x2", f"input '{name}': error: has the fixed shape {shape}, --shape gives 1x2"),
        (f"{name}={shape}x1", f"has the fixed shape {shape}, --shape gives {shape}x1"),
        (f"nosuch={shape}", f"--shape names 'nosuch', but the inputs are: {name}"),
    ):
        capsys.readouterr()
        assert run(given) == 1
        error = capsys.readouterr().err
        assert text in error
        assert path.name in error
        assert error.count("\n") == 1
    for given in ((f"{name}={shape}", f"{name}=1"), (f"{name}={'9' * 5000}",), (f"{name}=-1",)):
        assert run(*given) == 2
        assert "--shape" in capsys.readouterr().err


def test_every_function_and_every_piece_is_looked_at(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "two.mlir"
    other = FUNCTION.replace("@main", "@other").replace("4x16", "8")
    path.write_text(FUNCTION + other)
    assert opt([str(path), "--shape=x=4x16"]) == 1
    assert "has the fixed shape 8, --shape gives 4x16" in capsys.readouterr().err
    path.write_text(f"{FUNCTION}// -----\n{other}")
    assert opt([str(path), "--split-input-file", "--shape=x=4x16"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    path.write_text("builtin.module {}")
    assert opt([str(path), "--shape=x=4"]) == 1
    assert "the inputs are: none" in capsys.readouterr().err
