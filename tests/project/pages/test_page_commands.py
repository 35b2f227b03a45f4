"""Every command of memopt on the pages of docs/ runs.

What is printed is not compared: examples of which the output is shown have tests of their own.
Benchmarks, which take minutes, are read by the command line's parser, and so is what needs PyTorch.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.__main__ import build_parser as benchmark_parser
from forge_signal import preprocessor
from onnx import TensorProto, helper
from places import ROOT

from memopt.cli import build_parser, main
from memopt.cli.opt import main as opt

PAGES = sorted((ROOT / "docs").rglob("*.md"))
# with what follows it as an explanation: two blanks, or a number sign
COMMAND = re.compile(
    r"^(memopt|memopt-opt|python checker\.py|python -m benchmarks) .*?(?=  |\s*#|$)", re.MULTILINE
)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
READ_ONLY = ("capture",)
ON_A_BOARD = "--port="  # test_board_page.py has one


def commands() -> list[tuple[str, str]]:
    """(page, command), the first page of each, but for those with their output: test_python.py,
    test_readme.py, test_tflm_build.py and test_dialect_docs.py run them."""
    found: dict[str, str] = {}
    for page in PAGES:
        for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
            if language in ("", "text"):
                for match in COMMAND.finditer(block):
                    found.setdefault(match[0].strip(), page.stem)
    return [(page, command) for command, page in found.items()]


def in_ci() -> list[str]:
    """Commands of memopt in the examples of a workflow and of a hook."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "docs/examples/ci").iterdir()]
    return re.findall(r"(?:run|entry): (memopt .*)", "\n".join(texts))


def test_they_are_found() -> None:
    assert len(commands()) >= 20
    assert {"board", "certificates", "ci", "passes", "streams", "tflm"} <= {
        p for p, _ in commands()
    }


@pytest.fixture(scope="module")
def firmware(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "firmware"
    model = shared / "models" / "hello_world_int8.tflite"
    assert main(["compile", str(model), "--target=cortex-m4", "-o", str(folder)]) == 0
    return folder


@pytest.fixture
def here(tmp_path: Path, shared: Path, firmware: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the pages name."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(firmware / "report.json", "report.json")
    models = shared / "models"
    for name in ("net", "model", "wake"):
        shutil.copy(models / "hello_world_int8.tflite", f"{name}.tflite")
    shutil.copy(models / "hello_world_int8.tflite", "words.tflite")
    Path("preprocessor.tflite").write_bytes(preprocessor())
    shutil.copy(models / "tinymaix_mnist_resnet_int8.tflite", "camera.tflite")
    shutil.copy(models / "streaming_wakeword_int8.tflite", "audio.tflite")
    shutil.copy(ROOT / "docs/examples/branches.mlir", "in.mlir")
    shutil.copy(ROOT / "solvers/checker.py", "checker.py")
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 8]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    for name in ("net", "model"):
        Path(f"{name}.onnx").write_bytes(made.SerializeToString())
    step = {
        "tensors": [{"name": n, "bytes": 64, "is_weight": False} for n in "xy"],
        "nodes": [{"name": "n", "op": "Relu", "inputs": ["x"], "outputs": ["y"]}],
        "graph_inputs": ["x"],
        "graph_outputs": ["y"],
    }
    np.savez("samples.npz", x=np.linspace(0, 6, 4, dtype=np.float32), y=np.zeros((4, 1)) + 0.5)
    Path("step.json").write_text(json.dumps(step))
    assert (
        opt(["net.onnx", "-p", 'memgraph-schedule{certificate="net.cert"}', "-o", "net.mlir"]) == 0
    )
    assert opt(["net.tflite", "--model=target=host", "--schedule=auto", "--place=auto", "-o",
                "planned.mlir"]) == 0  # fmt: skip
    return tmp_path


@pytest.mark.deep
@pytest.mark.parametrize(("page", "command"), commands())
def test_it_runs(page: str, command: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tool, *arguments = shlex.split(command)
    if arguments[:2] == ["-m", "benchmarks"]:
        benchmark_parser().parse_args(arguments[2:])
    elif tool == "python":
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
        assert done.stdout.startswith("accepted: "), done.stderr
    elif tool == "memopt" and (arguments[0] in READ_ONLY or ON_A_BOARD in command):
        build_parser([arguments[0]]).parse_args(arguments)
    else:
        code = (main if tool == "memopt" else opt)(arguments)
        assert code == 0, capsys.readouterr().err


@pytest.mark.deep
def test_those_of_ci_pass_until_a_model_grows(
    here: Path, firmware: Path, shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model of more layers than the one that was compiled stands in its place."""
    assert len(in_ci()) == 2
    shutil.copytree(firmware, "firmware")
    for command in in_ci():
        assert main(shlex.split(command)[1:]) == 0
    larger = shared / "models" / "ad01_autoencoder_int8.tflite"
    Path("net.tflite").write_bytes(larger.read_bytes())
    for command in in_ci():
        capsys.readouterr()
        assert main(shlex.split(command)[1:]) == 1
        assert "net.tflite: error: beyond --max-growth=" in capsys.readouterr().err
