# pyright: basic, reportArgumentType=false
"""Tests of windows of ONNX that few networks have, as C: onnxruntime's numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from onnx_programs import compare, saved

from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function

pytest.importorskip("onnxruntime")
N = helper.make_node
RNG = np.random.default_rng(5)


def floats(*shape: int) -> Any:
    return RNG.normal(size=shape).astype("f4")


def operations(path: Path) -> list[str]:
    ops = only_function(load_model(path, {})).body.block.ops
    return [op.name.removeprefix("memgraph.") for op in ops]


@pytest.mark.parametrize("attributes", [{"pads": [1, 1, 1, 1]}, {"auto_pad": "SAME_LOWER"}])
def test_means_over_padding_are_one_operation(
    attributes: dict[str, Any], tmp_path: Path, lab: Any
) -> None:
    """Check that the mean is one operation, without a padded copy of the image."""
    lab.need_tools("host")
    given = {"x": floats(2, 3, 7, 6)}
    pool = {"kernel_shape": [3, 2], "strides": [2, 1], "count_include_pad": 1, **attributes}
    path = saved(tmp_path / "m.onnx", [N("AveragePool", ["x"], ["y"], **pool)], given, {})
    assert operations(path) == ["average_pool_2d", "func.return"]
    compare(lab, path, given, options=["--rewrite=all"])


def test_volumes_and_neighbours(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    given = {"x": floats(1, 3, 5, 6, 4), "i": floats(1, 7, 3, 2)}
    nodes = [
        N("Conv", ["x", "w", "b"], ["v"], pads=[1, 0, 2, 1, 1, 0], strides=[2, 1, 1]),
        N("LRN", ["i"], ["odd"], size=5, alpha=0.5, beta=0.7, bias=1.5),
    ]
    constants = {"w": floats(2, 3, 3, 2, 3), "b": floats(2)}
    path = saved(tmp_path / "m.onnx", nodes, given, constants)
    assert {"conv_3d", "local_response_normalization"} <= set(operations(path))
    compare(lab, path, given)
