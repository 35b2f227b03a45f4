"""float32 models as C: every tensor within 1e-5 (of its largest value) of LiteRT's own kernels.

A normal run has every model on the host and on one of the cores in turn, `make fuzz` on all.
"""

import importlib
from pathlib import Path
from typing import Any

import pytest
from deep import deep_but

MODELS = (
    "resnet8_float",
    "mobilenet_vww96_float",
    "ad01_autoencoder_float",
    "hello_world_float",
    "dscnn_kws_float",  # hybrid: with its int8 weights dequantised
)


def dequantise_weights(source: Path, target: Path) -> int:
    """Write `source` with the int8 weights of its hybrid operators as float32; how many."""
    import numpy as np

    schema: Any = importlib.import_module("ai_edge_litert.schema_py_generated")
    flatbuffer_utils: Any = importlib.import_module("ai_edge_litert.tools.flatbuffer_utils")
    model = flatbuffer_utils.read_model(str(source))
    graph = model.subgraphs[0]
    changed = 0
    for operator in graph.operators:
        tensor = graph.tensors[operator.inputs[1]] if len(operator.inputs) > 1 else None
        activation = graph.tensors[operator.inputs[0]]
        if (
            tensor is None
            or tensor.type != schema.TensorType.INT8
            or activation.type != schema.TensorType.FLOAT32
        ):
            continue
        raw = np.frombuffer(bytes(model.buffers[tensor.buffer].data), np.int8)
        scale = np.array(tensor.quantization.scale, np.float32)
        axis = tensor.quantization.quantizedDimension
        shape = [1] * len(tensor.shape)
        shape[axis] = scale.size
        values = raw.reshape(tensor.shape).astype(np.float32) * scale.reshape(shape)
        model.buffers[tensor.buffer].data = np.frombuffer(values.tobytes(), np.uint8)
        tensor.type = schema.TensorType.FLOAT32
        tensor.quantization = None
        changed += 1
    flatbuffer_utils.write_model(model, str(target))
    return changed


@pytest.mark.parametrize("number", deep_but([3], range(len(MODELS))), ids=MODELS)
def test_close_to_litert_everywhere(
    number: int, shared: Path, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    name = MODELS[number]
    cores = lab.cores_of(number, fuzz)
    path = shared / "models" / f"{name}.tflite"
    if name == "dscnn_kws_float":
        path = tmp_path / f"{name}_dequantised.tflite"
        assert dequantise_weights(shared / "models" / f"{name}.tflite", path) == 5
    module = lab.plan(lab.read_model(path))
    inputs = lab.random_inputs(module, 2, seed=7)
    want = lab.golden("litert", path, inputs, lab.tensors_of(module), tmp_path / "golden")
    ran = 0
    for target in ("host", *cores):
        directory = lab.write(module, tmp_path / target, name, target)
        if not lab.has_tools(target):
            continue
        if target == "host":
            run = lab.run_project(directory, inputs, lab.SANITIZE)
            assert lab.worst_difference(run, want) <= 1e-5
        else:
            run = lab.run_project(directory, [a[:1] for a in inputs])
            assert lab.worst_difference(run, {k: v[:1] for k, v in want.items()}) <= 1e-5
        assert run.code == 0, run.messages
        ran += 1
    if ran < 1 + len(cores):
        pytest.skip(f"compiled and run on {ran} of {1 + len(cores)} machines: tools are missing")
