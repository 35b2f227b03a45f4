"""The demo's model: real size, deterministic, written breadth first, as the README promises."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from demo_model import SCHEMA, Size, Type, demo_model
from places import ROOT

from memopt.formats.tflite import read_model

KINDS = {
    "CONV_2D",
    "DEPTHWISE_CONV_2D",
    "ADD",
    "AVERAGE_POOL_2D",
    "MAX_POOL_2D",
    "RESHAPE",
    "FULLY_CONNECTED",
    "SOFTMAX",
}


def names(data: bytes) -> list[str]:
    return [op.name for op in read_model(data, "demo").subgraphs[0].operators]


def test_it_is_of_real_size_with_branches_and_every_operator_of_the_c_backend() -> None:
    data = demo_model()
    found = names(data)
    assert len(found) == 63 and set(found) == KINDS
    assert len(data) < 500_000
    graph = read_model(data, "demo").subgraphs[0]
    readers = Counter(i for op in graph.operators for i in op.inputs)
    outputs = {i for op in graph.operators for i in op.outputs}
    assert max(readers[i] for i in outputs) >= 4, "a module's input feeds four branches"
    assert {graph.tensors[i].type for i in (*graph.inputs, *outputs)} == {"INT8"}
    assert graph.tensors[graph.inputs[0]].shape == (1, 96, 96, 3)


def test_the_small_one_has_the_same_operators() -> None:
    assert len(names(demo_model(size="small"))) == 24
    assert set(names(demo_model(size="small"))) == KINDS


def test_its_modules_are_written_breadth_first() -> None:
    kinds = names(demo_model())
    assert kinds[1:7] == ["CONV_2D"] * 3 + ["DEPTHWISE_CONV_2D"] * 2 + ["MAX_POOL_2D"]


@pytest.mark.parametrize("kind", ["int8", "float32"])
@pytest.mark.parametrize("size", ["full", "small"])
def test_same_bytes_in_every_process(kind: Type, size: Size, tmp_path: Path) -> None:
    script = ROOT / "benchmarks" / "demo_model.py"
    output = tmp_path / "deeper" / "model.tflite"
    command = [sys.executable, str(script), str(output), "--type", kind, "--size", size]
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    subprocess.run(command, check=True, cwd=tmp_path, env=environment)
    assert output.read_bytes() == demo_model(kind, size)


def test_weights_per_channel_and_bias_scales_as_the_specification_says() -> None:
    """Scale of the bias = scale of the input times scale of the weights, channel by channel."""
    model = SCHEMA.ModelT.InitFromPackedBuf(demo_model(), 0).subgraphs[0]
    seen = 0
    for op in model.operators:
        if len(op.inputs) < 3:
            continue
        x, weights, bias = (model.tensors[i].quantization for i in op.inputs)
        assert bias.scale == pytest.approx(x.scale[0] * weights.scale, rel=1e-6)
        assert not weights.zeroPoint.any() and not bias.zeroPoint.any()
        channels = model.tensors[op.inputs[2]].shape[0]
        assert len(weights.scale) in (1, channels)
        seen += len(weights.scale) > 1
    assert seen > 30
