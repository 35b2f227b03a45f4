"""Average pools of int8 on cores that add two channels in one instruction: sums that just fit into
int16, that do not, channels that are no fours."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

# (height and width, window, channels, stride)
POOLS = (
    ((15, 17), (15, 17), 8, 1),  # 255 taps
    ((16, 16), (16, 16), 8, 1),  # one more
    ((3, 300), (2, 290), 5, 1),
    ((9, 7), (3, 2), 33, 2),
    ((8, 8), (3, 3), 19, 1),
    ((5, 4), (5, 4), 3, 1),
    ((6, 6), (2, 2), 64, 2),
)


@pytest.mark.parametrize("target", ["cortex-m4", "host"])
def test_sums_of_extremes_equal_tflm(target: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools(target)
    forge = lab.forge.Forge(np.random.default_rng(0), True)
    schema = lab.forge.schema
    for size, window, channels, stride in POOLS:
        source = forge.input([1, *size, channels])
        options = schema.Pool2DOptionsT()
        options.padding = lab.forge.VALID
        options.strideH = options.strideW = stride
        options.filterHeight, options.filterWidth = window
        out = lab.forge.spatial(size, window, [stride] * 2, [1, 1], lab.forge.VALID)
        result = forge.activation([1, *out, channels], like=source)
        kind = schema.BuiltinOptions.Pool2DOptions
        code = schema.BuiltinOperator.AVERAGE_POOL_2D
        forge.operator(code, [source], result, options, kind)
    path = forge.save(tmp_path / "pools.tflite")
    module = lab.plan(lab.read_model(path), schedule="source")
    inputs = lab.random_inputs(module, 4, 0)
    for given in inputs:
        given[0], given[1] = -128, 127
    want = lab.golden("tflm", path, inputs, lab.tensors_of(module), tmp_path / "golden")
    flags = lab.SANITIZE if target == "host" else "-O2"
    run = lab.run_project(lab.write(module, tmp_path / "c", "net", target), inputs, flags)
    assert run.code == 0, run.messages
    assert lab.unequal_tensors(run, want) == []
