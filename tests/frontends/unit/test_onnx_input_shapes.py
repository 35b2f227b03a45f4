# pyright: basic
"""Tests of the shapes of the inputs of an .onnx file: said, given, and a batch that stays open."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from onnx_graphs import executing, load, make, node, refused

from memopt.cli import main
from memopt.frontends.onnx.read import read


def test_symbolic_dimensions() -> None:
    model = make([node("Conv", ("x", "w"))], ("N", 3, "H", 5), {"w": np.zeros((2, 3, 1, 1), "f4")})
    module = load(model, {"x": (2, 3, 7, 5)})
    assert "tensor<2x2x7x5xf32" in str(module)
    data = model.SerializeToString()
    assert refused(data) == (
        "m.onnx: input 'x': error: has the shape Nx3xHx5; fix it with --shape=x=1x..."
    )
    assert "a fixed 3 where --shape gives 2x4x7x5" in refused(data, x=(2, 4, 7, 5))
    assert "has 4 dimensions, --shape gives 2x3" in refused(data, x=(2, 3))
    assert "--shape names 'z', but the inputs are: x" in refused(data, z=(1,))
    assert "negative dimension: [-2, 3, 7, 5]" in refused(data, x=(-2, 3, 7, 5))


def test_minus_one_is_an_open_dimension() -> None:
    """Check -1, which some exporters write for an open dimension."""
    model = make([node("Relu")], (-1, 4), y=(-1, 4))
    open_width = make([node("Relu")], (4, -1), y=(4, -1))
    assert "has the shape 4x?; fix it with --shape" in refused(open_width.SerializeToString())
    assert str(load(model, {"x": (3, 4)})).count("tensor<3x4xf32>") >= 2


def test_types_without_a_rank() -> None:
    """Check an output without a rank, as tf2onnx leaves it; onnx's checker refuses it and runtimes
    do not."""
    model = make([node("Relu", out="a"), node("Relu", ("a",))], (2, 4))
    for value in (model.graph.input[0], model.graph.output[0]):
        value.type.tensor_type.ClearField("shape")
    data = model.SerializeToString()
    assert refused(data) == "m.onnx: input 'x': error: has the shape ?; fix it with --shape=x=1x..."
    assert str(load(model, {"x": (2, 4)})).count("tensor<2x4xf32>") >= 4


def test_symbols_in_the_middle_and_at_the_end() -> None:
    """Check that stale symbols of the exporter do not outlive --shape."""
    model = make([node("Relu", out="a"), node("Relu", ("a",))], ("N", 4), y=("N", 4))
    model.graph.value_info.append(helper.make_tensor_value_info("a", 1, ("N", 4)))
    assert str(load(model, {"x": (3, 4)})).count("tensor<3x4xf32>") >= 4


OPEN = [("N", 4), (-1, 4), (0, 3, 4), (None, 4), ("unk__7", 4), ("s0", 4)]
NO_BATCH = [("seq_len", 4), ("T_frames", 4), ("N", "H"), ("samples",), (0, 4)]


@pytest.mark.parametrize("shape", OPEN)
def test_a_batch_that_is_open_is_one(shape: tuple[Any, ...]) -> None:
    module = read(make([node("Relu")], shape, y=shape).SerializeToString(), "m.onnx")
    assert 'memgraph.open_batch = ["x"]' in str(module)
    sizes = "x".join(map(str, (1, *shape[1:])))
    assert str(module).count(f"tensor<{sizes}xf32") >= 2


@pytest.mark.parametrize("shape", NO_BATCH)
def test_what_may_be_no_batch_is_refused(shape: tuple[Any, ...]) -> None:
    data = make([node("Relu")], shape, y=shape).SerializeToString()
    if shape != (0, 4):  # which is no batch: nothing is open
        assert "fix it with --shape=x=1x" in refused(data)
    else:
        assert "open_batch" not in str(read(data, "m.onnx"))


def test_a_name_has_one_size_wherever_it_stands() -> None:
    """Check the state of a recurrent network, whose batch is its second dimension."""
    model = make([node("MatMul", ("h", "x"))], ("N", 4), y=(2, 4))
    model.graph.input.append(helper.make_tensor_value_info("h", 1, (2, "N")))
    data = model.SerializeToString()
    assert str(read(data, "m.onnx")).count("tensor<2x1xf32>") >= 2
    assert "tensor<2x3xf32>" in str(read(data, "m.onnx", None, {"x": (3, 4)}))


def test_open_batches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Check that a batch that nobody gives is 1, and in the report; other open dimensions are
    refused."""
    model = make([node("Abs")], ("n", 4), {})
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    command = ["report", str(path), "--json"]
    assert main(command) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["open_batch"], report["plan"]["peak"]) == (["x"], 16)
    assert main(command[:2]) == 0
    assert "batch     of x is 1, which the file leaves open" in capsys.readouterr().out
    assert main([*command, "--batch=3"]) == 0
    assert '"peak": 96' in capsys.readouterr().out
    assert main([*command, "--batch=0"]) == 2
    fixed = make([node("Abs")], (2, 4), {})
    path.write_bytes(fixed.SerializeToString())
    assert main([*command, "--batch=3"]) == 0
    assert '"peak": 64' in capsys.readouterr().out


def test_masks_that_nobody_reads() -> None:
    """Check an old Dropout, whose second result has no known shape."""
    drop = helper.make_node("Dropout", ["x"], ["y", "mask"], ratio=0.5)
    assert executing(load(make([drop], opset=9))) == []


def test_slopes_of_channels() -> None:
    """Check a slope of each channel, as before opset 7."""
    slope = np.full(3, 0.25, np.float32)
    model = make([node("PRelu", ("x", "s"))], (1, 3, 4, 5), {"s": slope}, (1, 3, 4, 5), opset=6)
    module = load(model)
    assert executing(module) == ["prelu"]
