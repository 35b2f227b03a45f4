"""`evaluate` against the runtimes: integers bit for bit TensorFlow Lite Micro's, floats LiteRT's.

Every tensor of every typed operator is compared, from the runtime's own operands, so that an
operation answers for itself only.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from firmware_helpers import load
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights, constant_of
from memopt.dialects.arithmetic.stored import dtype_of
from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.operators.base import ComputeOp
from memopt.frontends.tflite.read import read

lab, forge = load("lab"), load("forge")


def results_of(op: Operation) -> tuple[int, ...]:
    """The source's indices of an operation's results, () for what the importer added."""
    source = op.attributes.get("memgraph.source")
    return source.tensor_ids if isinstance(source, SourceAttr) else ()


def compared(module: ModuleOp, path: Path, oracle: str, work: Path) -> Counter[str]:
    """Operators compared by name. Asserts that what they evaluate to is the oracle's."""
    func = next(functions(module))
    weights = Weights.of(module, path.parent)
    inputs = lab.random_inputs(module, 1, 3)
    tensors = [t for op in func.body.block.ops for t in results_of(op)]
    want = lab.golden(oracle, path, inputs, tensors, work)
    known: dict[SSAValue, Any] = {
        a: x[0] for a, x in zip(func.body.block.args, inputs, strict=True)
    }
    done: Counter[str] = Counter()
    for op in func.body.block.ops:
        if not isinstance(op, ComputeOp):
            known |= {v: want[t][0] for v, t in zip(op.results, results_of(op), strict=False)}
            continue
        for v in op.operands:
            constant = constant_of(v)
            if constant is not None:
                known[v] = weights.array(constant)
        found = op.evaluate([known[v] for v in op.operands])
        known.update(zip(op.results, found, strict=True))
        for value, array, tensor in zip(op.results, found, results_of(op), strict=False):
            expected = want[tensor][0]
            assert array.shape == value.type.get_shape(), op  # type: ignore[attr-defined]
            assert array.dtype == dtype_of(value), op
            if array.dtype.kind == "f":
                scale = float(np.abs(expected).max()) or 1.0
                assert np.abs(array - expected).max() / scale <= 1e-5, op
            else:
                np.testing.assert_array_equal(array, expected, err_msg=str(op))
            known[value] = expected.reshape(array.shape)
        done[op.name.removeprefix("memgraph.")] += bool(results_of(op))
    return done


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
