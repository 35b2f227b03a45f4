"""Operators that TensorFlow Lite Micro computes wrongly, and files that were made for an NPU."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_builder import Graph, Op, T, build
from tflm_runner import Job, random_inputs, run

from memopt.backends.tflm.wrong import wrong_answers
from memopt.cli import main
from memopt.formats.tflite import read_model


def dilated(zero: int, pads: list[list[int]]) -> bytes:
    """An image with a zero point as the batch that a dilated convolution makes of it."""
    sizes = [(3 + sum(pair)) // 2 for pair in pads]
    tensors = [
        T("x", [1, 3, 3, 1], scale=(0.1,), zero=(zero,)),
        T("blocks", [2], "INT32", np.array([2, 2], np.int32)),
        T("pads", [2, 2], "INT32", np.array(pads, np.int32)),
        T("y", [4, *sizes, 1], scale=(0.1,), zero=(zero,)),
    ]
    op = Op("SPACE_TO_BATCH_ND", [0, 1, 2], [3], ("SpaceToBatchND", {}))
    return build(Graph(tensors, [op], [0], [3]))


PADDED = [[1, 0], [0, 1]]


@pytest.mark.parametrize("zero", [5, 0])
def test_only_what_tflm_answers_wrongly_is_named(zero: int, tmp_path: Path) -> None:
    data = dilated(zero, PADDED)
    inputs = random_inputs(data, 1, 0)
    tflm, litert = run([Job(name, data, inputs) for name in ("tflm", "litert")], tmp_path)
    assert np.array_equal(tflm.outputs, litert.outputs) == (zero == 0)
    assert len(wrong_answers(read_model(data, "m"), data)) == (zero != 0)


def test_the_command_warns(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "dilated.tflite"
    for zero, place in ((5, "subgraph 0 operator 0 (SPACE_TO_BATCH_ND)"), (0, "")):
        path.write_bytes(dilated(zero, PADDED))
        out = str(tmp_path / f"out{zero}")
        assert main(["compile", str(path), "--target=tflm", "-o", out]) == 0
        said = capsys.readouterr().err
        assert f"{path}: warning: {place}" in said if zero else "warning" not in said


@pytest.mark.parametrize(
    ("name", "npu"), [("edgetpu-custom-op", "Google's Edge TPU"), ("NeutronGraph", "NXP's")]
)
def test_a_file_for_an_npu_is_named_as_that(
    name: str, npu: str, tmp_path: Path, capsys: Any
) -> None:
    """Also where the first that is read of it is memory that nobody writes."""
    tensors = [T("x", [1, 4]), T("memory", [64]), T("y", [1, 4])]
    data = build(Graph(tensors, [Op(f"CUSTOM:{name}", [1, 0], [2])], [0], [2]))
    path = tmp_path / "npu.tflite"
    path.write_bytes(data)
    assert main(["compile", str(path), "--target=host", "-o", str(tmp_path / "out")]) == 1
    assert f"the file was compiled for {npu}" in capsys.readouterr().err
