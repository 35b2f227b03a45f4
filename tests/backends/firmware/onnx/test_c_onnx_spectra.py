# pyright: basic
"""Fourier transforms of ONNX as C: onnxruntime's numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from onnx_programs import compare, saved

pytest.importorskip("onnxruntime")
RNG = np.random.default_rng(4)
STEP, EIGHT = {"step": np.int64(8)}, np.int64(8)
WINDOW = np.hanning(16).astype("f4")
Case = tuple[str, list[str], tuple[int, ...], dict[str, Any], dict[str, Any], int]

CASES: dict[str, Case] = {
    "one side of reals": ("DFT", ["x"], (1, 16, 1), {}, {"onesided": 1}, 17),
    "fewer points": ("DFT", ["x", "n"], (2, 12, 2), {"n": EIGHT}, {}, 17),
    "more points, along an axis": (
        *("DFT", ["x", "n", "axis"], (2, 6, 5, 2), {"n": EIGHT, "axis": np.int64(1)}),
        *({}, 20),
    ),
    "windows": ("STFT", ["x", "step", "w"], (1, 64, 1), STEP | {"w": WINDOW}, {"onesided": 1}, 17),
    "frames": ("STFT", ["x", "step", "", "n"], (2, 64), STEP | {"n": EIGHT}, {"onesided": 0}, 17),
}


@pytest.mark.parametrize("name", CASES)
def test_a_transform(name: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    kind, operands, shape, constants, attributes, opset = CASES[name]
    node = helper.make_node(kind, operands, ["y"], **attributes)
    given = {"x": RNG.normal(size=shape).astype("f4")}
    path = saved(tmp_path / "m.onnx", [node], given, constants, opset)
    compare(lab, path, given)
