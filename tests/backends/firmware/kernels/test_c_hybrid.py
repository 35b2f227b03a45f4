"""Hybrid operators as C: bit for bit LiteRT's reference kernels, which quantize at run time."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from against_runtime import compared
from forge_model import FLOAT32, INT8, UINT8, schema


def forged(lab: Any, seed: int) -> Any:
    forge = lab.forge.Forge(np.random.default_rng(seed), False)
    forge.hybrid = True
    for _ in range(12):
        lab.forge.add_convolution(forge, False)
        lab.forge.add_convolution(forge, True)
        lab.forge.add_fully_connected(forge)
    return forge


@pytest.mark.deep
def test_random_ones_equal_litert(fuzz: float, tmp_path: Path, lab: Any) -> None:
    """Numbers of all sizes; images of zeros, of which nothing is quantized."""
    lab.need_tools("host")
    for seed in range(max(2, int(20 * fuzz))):
        path = forged(lab, seed).save(tmp_path / f"{seed}.tflite")
        module = lab.plan(lab.read_model(path), schedule="source", target="host")
        inputs = lab.random_inputs(module, 3, seed)
        for number, array in enumerate(inputs):
            array[0] *= np.float32(10.0 ** (number % 9 - 4))
            array[1] = np.abs(array[1]) * (number % 3 - 1)
        tensors, work = lab.tensors_of(module), tmp_path / str(seed)
        want = lab.golden("litert_ref", path, inputs, tensors, work)
        run = lab.run_project(lab.write(module, work / "c", "net", "host"), inputs, lab.SANITIZE)
        assert run.code == 0, run.messages
        assert lab.unequal_tensors(run, want) == [], f"seed {seed}"


def test_what_is_no_number_is_no_trap(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    module = lab.read_model(forged(lab, 5).save(tmp_path / "m.tflite"))
    lab.plan(module, "source", target="host")
    inputs = lab.random_inputs(module, 3, 5)
    for array in inputs:
        for image, number in zip(array, (np.nan, np.inf, -np.inf), strict=True):
            image.reshape(-1)[0] = number
    run = lab.run_project(lab.write(module, tmp_path / "c", "net", "host"), inputs, lab.SANITIZE)
    assert run.code == 0, run.messages


@pytest.mark.deep
def test_a_real_model(shared: Path, tmp_path: Path, lab: Any) -> None:
    """Where a float differs in its last bit, a number may be quantized to the next one: so the
    tensors are LiteRT's up to some such steps, and the first, of the same inputs, to the bit."""
    path = shared / "models" / "dscnn_kws_float.tflite"
    module = lab.plan(lab.read_model(path), target="host")
    inputs, tensors = lab.random_inputs(module, 3, seed=7), lab.tensors_of(module)
    want = lab.golden("litert", path, inputs, tensors, tmp_path / "golden")
    lab.need_tools("host")
    project = lab.write(module, tmp_path / "host", "net", "host")
    run = lab.run_project(project, inputs, lab.SANITIZE)
    assert run.code == 0, run.messages
    assert lab.worst_difference(run, want) <= 0.02
    assert lab.unequal_tensors(run, {tensors[0]: want[tensors[0]]}) == []
    lab.need_tools("cortex-m4")
    module = lab.plan(lab.read_model(path), target="cortex-m4")
    project = lab.write(module, tmp_path / "cortex-m4", "net", "cortex-m4")
    run = lab.run_project(project, [a[:1] for a in inputs])
    assert run.code == 0, run.messages
    assert lab.worst_difference(run, {k: v[:1] for k, v in want.items()}) <= 0.02
    assert lab.unequal_tensors(run, {tensors[0]: want[tensors[0]][:1]}) == []


@pytest.mark.parametrize("asymmetric", [False, True])
def test_weights_of_four_bits(asymmetric: bool, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    forge = lab.forge.Forge(np.random.default_rng(4), False)
    data = forge.rng.integers(-7, 8, (4, 6)).reshape(-1, 2) & 15
    packed = (data[:, 0] | data[:, 1] << 4).astype(np.uint8)
    weights = forge.tensor([4, 6], UINT8, packed, [0.02] * 4, [0] * 4)
    forge.graph.tensors[weights].type = schema.TensorType.INT4
    bias = forge.tensor([4], FLOAT32, forge.rng.normal(size=4))
    inputs, result = [forge.input([2, 6]), weights, bias], forge.activation([2, 4])
    options = schema.FullyConnectedOptionsT()
    options.asymmetricQuantizeInputs = asymmetric
    code, kind = schema.BuiltinOperator.FULLY_CONNECTED, schema.BuiltinOptions.FullyConnectedOptions
    forge.operator(code, inputs, result, options, kind)
    forge.model.operatorCodes[0].version = 10
    assert len(compared(lab, forge, 4, tmp_path)) == 1


@pytest.mark.parametrize("asymmetric", [False, True])
def test_products_with_a_stored_matrix(asymmetric: bool, tmp_path: Path, lab: Any) -> None:
    """Check BATCH_MATMUL whose right operand is int8."""
    lab.need_tools("host")
    forge = lab.forge.Forge(np.random.default_rng(5), False)
    code, kind = schema.BuiltinOperator.BATCH_MATMUL, schema.BuiltinOptions.BatchMatMulOptions
    for rows, depth, columns, transposed in ((3, 7, 5, False), (1, 16, 4, True), (6, 2, 9, False)):
        shape = [columns, depth] if transposed else [depth, columns]
        data = forge.rng.integers(-127, 128, shape)
        matrix = forge.tensor(shape, INT8, data, [0.013], [0])
        inputs, result = (
            [forge.input([2, rows, depth]), matrix],
            forge.activation([2, rows, columns]),
        )
        options = schema.BatchMatMulOptionsT()
        options.adjY, options.asymmetricQuantizeInputs = transposed, asymmetric
        forge.operator(code, inputs, result, options, kind)
    forge.model.operatorCodes[0].version = 3
    assert len(compared(lab, forge, 5, tmp_path)) == 3
