"""Scales that no arithmetic has: operators are refused by the names of a tensor and its scale."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import deep_but
from xdsl.context import Context

from memopt.backends.c.emit.source import emit_c
from memopt.cli import main as memopt
from memopt.dialects.memgraph.errors import MemoptError
from memopt.frontends.tflite.read import read
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass

SCALES = (0.0, 1e-40, 1e-30, 1e30, 3e38, -0.05)
KINDS = ("convolution", "depthwise", "dense", "pool", "add", "mul", "relu")
REPRODUCERS = (
    *("out_scale_zero", "zero_q_add", "zero_q_dw", "zero_q_fc", "zero_q_leaky", "zero_q_pool_mean"),
    "zero_q_relu",
)


def forged(lab: Any, kind: int, element: int) -> Any:
    """A model of one operator, always the same one."""
    forge = lab.forge.Forge(np.random.default_rng(7 + kind), True)
    forge.store_as(element)
    lab.forge.kinds_of(forge)[kind]()
    return forge


def quantized(forge: Any) -> list[int]:
    """The tensors that have scales."""
    found = enumerate(forge.graph.tensors)
    return [i for i, t in found if t.quantization is not None and len(t.quantization.scale)]


def write(path: Path) -> None:
    """Write the model as C. Raises MemoptError for one that is refused."""
    module, context = read(path.read_bytes(), path.name, path), Context()
    MemgraphModelPass(target="cortex-m4").apply(context, module)
    MemgraphSchedulePass("source").apply(context, module)
    MemgraphPlacePass("greedy-by-size").apply(context, module)
    emit_c(module, io.StringIO())


@pytest.mark.deep
@pytest.mark.parametrize("element", ["INT8", "UINT8"])
def test_every_operator_with_every_scale(element: str, lab: Any, tmp_path: Path) -> None:
    """C or a refusal in one line, and nothing else, comes of it."""
    refused = written = 0
    type_ = getattr(lab.forge, element)
    for kind in range(len(lab.forge.kinds_of(lab.forge.Forge(np.random.default_rng(0), True)))):
        for tensor in quantized(forged(lab, kind, type_)):
            for scale in SCALES:
                forge = forged(lab, kind, type_)
                scales = forge.graph.tensors[tensor].quantization
                scales.scale = [scale, *scales.scale[1:]]
                try:
                    write(forge.save(tmp_path / "m.tflite"))
                    written += 1
                except MemoptError as error:
                    assert "\n" not in str(error)
                    refused += 1
    assert refused > 100 and written > 100


@pytest.mark.parametrize("scale", [0.0, 1e-40, -0.05])
@pytest.mark.parametrize(
    "kind", ["convolution", "depthwise", "dense", "pool", "add", "mul", "relu"]
)
def test_a_result_that_nobody_can_divide_by_is_named(
    kind: str, scale: float, lab: Any, tmp_path: Path
) -> None:
    forge = lab.forge.Forge(np.random.default_rng(1), True)
    schema = lab.forge.schema
    codes, kinds = schema.BuiltinOperator, schema.BuiltinOptions
    add = lab.forge.add_binary
    {
        "convolution": lambda: lab.forge.add_convolution(forge, False),
        "depthwise": lambda: lab.forge.add_convolution(forge, True),
        "dense": lambda: lab.forge.add_fully_connected(forge),
        "pool": lambda: lab.forge.add_pool(forge, codes.AVERAGE_POOL_2D),
        "add": lambda: add(forge, codes.ADD, schema.AddOptionsT(), kinds.AddOptions),
        "mul": lambda: add(forge, codes.MUL, schema.MulOptionsT(), kinds.MulOptions),
        "relu": lambda: lab.forge.add_unary(forge, codes.RELU),
    }[kind]()
    (result,) = forge.graph.outputs
    forge.graph.tensors[result].quantization.scale = [scale]
    with pytest.raises(MemoptError, match=f"the scale of t{result} is -?[0-9.e-]+") as caught:
        write(forge.save(tmp_path / "m.tflite"))
    assert caught.value.place.startswith("subgraph 0 operator 0")


@pytest.mark.parametrize("name", deep_but(["out_scale_zero", "zero_q_relu"], REPRODUCERS))
def test_compile_refuses_by_name(
    name: str, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = shared / "cases" / "kinds" / f"{name}.tflite"
    assert memopt(["compile", str(path), "-o", str(tmp_path / "out")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "the scale of t" in line and "is 0," in line
    assert memopt(["compile", str(path), "--target=tflm", "-o", str(tmp_path / "tflm")]) == 0
