"""`evaluate` against the runtimes: integers bit for bit TensorFlow Lite Micro's, floats LiteRT's.

Every tensor of every typed operator is compared, from the runtime's own operands, so that an
operation answers for itself only.
"""

from pathlib import Path

import numpy as np
import pytest
from evaluate_against_litert import compared, forge, lab, results_of

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.dialects.memgraph.functions import functions
from memopt.frontends.tflite.read import read

INT8 = (
    "ad01_autoencoder_int8",
    "dscnn_kws_int8",
    "hello_world_int8",
    "mcunet_vww_int8",
    "mobilenet_vww96_int8",
    "person_detect_int8",
    "resnet8_int8",
    "tinymaix_mnist_resnet_int8",
)
FLOAT = ("ad01_autoencoder_float", "dscnn_kws_float", "hello_world_float", "resnet8_float")


@pytest.mark.parametrize("name", INT8)
def test_int8_models_equal_tflm(name: str, shared: Path, tmp_path: Path) -> None:
    path = shared / f"models/{name}.tflite"
    module = read(path.read_bytes(), path.name, path)
    assert compared(module, path, "tflm", tmp_path).total() >= 3


@pytest.mark.parametrize("name", FLOAT)
def test_float_models_are_close_to_litert(name: str, shared: Path, tmp_path: Path) -> None:
    path = shared / f"models/{name}.tflite"
    module = read(path.read_bytes(), path.name, path)
    assert compared(module, path, "litert", tmp_path).total() >= 3


@pytest.mark.parametrize("quantized", [True, False])
def test_random_operators(quantized: bool, fuzz: float, tmp_path: Path) -> None:
    """Strides, dilations, padding, groups, broadcasts, scales."""
    for seed in range(max(3, int(40 * fuzz))):
        work = tmp_path / str(seed)
        work.mkdir()
        made = forge.Forge(np.random.default_rng(1000 + seed), quantized)
        for _ in range(40):
            forge.add_random(made)
        path = made.save(work / "random.tflite")
        module = read(path.read_bytes(), path.name, path)
        oracle = "tflm" if quantized else "litert"
        assert compared(module, path, oracle, work / "golden").total() >= 40


def test_a_whole_function_is_evaluated(shared: Path, tmp_path: Path) -> None:
    """From inputs to outputs, every tensor on the way from the one before."""
    path = shared / "models/resnet8_int8.tflite"
    module = read(path.read_bytes(), path.name, path)
    func = next(functions(module))
    inputs = lab.random_inputs(module, 1, 8)
    values = evaluate(func, Weights.of(module, path.parent), [a[0] for a in inputs])
    typed = {
        t: v for op in func.body.block.ops for t, v in zip(results_of(op), op.results, strict=False)
    }
    want = lab.golden("tflm", path, inputs, list(typed), tmp_path)
    for tensor, value in typed.items():
        np.testing.assert_array_equal(values[value], want[tensor][0])
