"""docs/guides/requests.md: its commands run on models like those that were asked about, and print
what the page says."""

import os
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from console import examples, run_page
from onnx import TensorProto, helper
from places import ROOT
from tools import need_tools

TEXT = (ROOT / "docs/guides/requests.md").read_text(encoding="utf-8")
MODELS = {
    "digits.tflite": "tinymaix_mnist_resnet_int8.tflite",
    "sine.tflite": "hello_world_int8.tflite",
    "gru.onnx": "families/gru2.onnx",
    "tcn.onnx": "families/tcn_q.onnx",
}


def test_each_question_names_who_asked_and_has_a_command() -> None:
    questions = TEXT.split("\n## ")[1:]
    assert len(questions) >= 10
    for question in questions:
        assert re.search(r"https://github.com/[^/]+/[^/]+/issues/\d+", question), question
        assert any(command.startswith("memopt ") for command, _ in examples(question)), question


@pytest.mark.deep
def test_the_commands_print_what_the_page_says(shared: Path, tmp_path: Path) -> None:
    for target in ("cortex-m4", "riscv32"):
        need_tools(target)
    for name, path in MODELS.items():
        shutil.copy(shared / "models" / path, tmp_path / name)
    samples = np.random.default_rng(0).random((4, 28, 28, 1), np.float32)
    np.savez(tmp_path / "samples.npz", x=samples)
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 8]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "sums", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (tmp_path / "sums.onnx").write_bytes(model.SerializeToString())
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    assert run_page(TEXT, tmp_path, os.environ | {"PATH": path, "COLUMNS": "200"}) >= 12
