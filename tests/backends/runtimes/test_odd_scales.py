"""Tests of scales that no quantiser writes: results are TensorFlow Lite Micro's, or refused by
name."""

import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tflm_runner
from firmware_helpers import load
from forge_model import INT8, INT16, UINT8, Forge, schema
from xdsl.context import Context

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.backends.c.emit.source import emit_c
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.frontends.tflite.read import read
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass

forge_kinds: Any = load("forge")
CODES, OPTIONS = schema.BuiltinOperator, schema.BuiltinOptions
DTYPES = {INT8: np.int8, UINT8: np.uint8, INT16: np.int16}
POWERS = ((-7, 5), (-38, 38), (-45, 3))  # of ten, between which the scales of a model are
CHANGED = 0.65  # of the scales of a model
SIGMOIDS = ("logistic", "tanh")  # whose result has one scale
POOLS = ("average", "max")  # whose result has the scale of their input


def add_requantize(forge: Forge) -> None:
    pairs = ((INT8, INT8), (INT16, INT8), (INT8, INT16), (UINT8, INT8), (INT16, INT16))
    before, after = pairs[int(forge.rng.integers(len(pairs)))]
    source = forge.stored([1, 40], before)
    forge.graph.inputs.append(source)
    result, options = forge.stored([1, 40], after), schema.QuantizeOptionsT()
    forge.operator(CODES.QUANTIZE, [source], result, options, OPTIONS.QuantizeOptions)


def kinds_of(forge: Forge) -> dict[str, Callable[[], None]]:
    """Return what adds an operator, by name."""
    add = forge_kinds
    return {
        "conv": lambda: add.add_convolution(forge, False),
        "depthwise": lambda: add.add_convolution(forge, True),
        "dense": lambda: add.add_fully_connected(forge),
        "average": lambda: add.add_pool(forge, CODES.AVERAGE_POOL_2D),
        "max": lambda: add.add_pool(forge, CODES.MAX_POOL_2D),
        "add": lambda: add.add_binary(forge, CODES.ADD, schema.AddOptionsT(), OPTIONS.AddOptions),
        "mul": lambda: add.add_binary(forge, CODES.MUL, schema.MulOptionsT(), OPTIONS.MulOptions),
        "sub": lambda: add.add_binary(forge, CODES.SUB, schema.SubOptionsT(), OPTIONS.SubOptions),
        "relu": lambda: add.add_unary(forge, CODES.RELU),
        "relu6": lambda: add.add_unary(forge, CODES.RELU6),
        "leaky": lambda: add.add_leaky_relu(forge),
        "logistic": lambda: add.add_unary(forge, CODES.LOGISTIC),
        "tanh": lambda: add.add_unary(forge, CODES.TANH),
        "mean": lambda: add.add_mean(forge),
        "requantize": lambda: add_requantize(forge),
    }


def has_scales(tensor: Any) -> bool:
    numbers = tensor.quantization
    return tensor.type in DTYPES and numbers is not None and numbers.scale is not None


def odd(seed: int, element: int, path: Path) -> tuple[str, Forge]:
    """Write a model of one operator with odd scales; its kind, and what made it."""
    forge = Forge(np.random.default_rng(seed), True, element)
    kinds = kinds_of(forge)
    kind = list(kinds)[seed % len(kinds)]
    kinds[kind]()
    low, high = POWERS[int(forge.rng.integers(len(POWERS)))]
    tensors, (operator,) = forge.graph.tensors, forge.graph.operators
    for index, tensor in enumerate(tensors):
        fixed = kind in SIGMOIDS and index in operator.outputs
        if has_scales(tensor) and not fixed and forge.rng.random() < CHANGED:
            powers = forge.rng.uniform(low, high, len(tensor.quantization.scale))
            tensor.quantization.scale = [float(np.float32(10**power)) for power in powers]
    before, after = (tensors[i[0]].quantization for i in (operator.inputs, operator.outputs))
    if kind in POOLS and forge.rng.random() < 0.7:
        after.scale, after.zeroPoint = list(before.scale), list(before.zeroPoint)
    if kind in ("conv", "depthwise", "dense") and operator.inputs[2:3] > [-1]:
        scale = np.float32(before.scale[0])
        weights = np.array(tensors[operator.inputs[1]].quantization.scale, np.float32)
        with np.errstate(over="ignore", under="ignore"):
            tensors[operator.inputs[2]].quantization.scale = (scale * weights).tolist()
    forge.save(path)
    return kind, forge


def inputs_of(forge: Forge) -> list[Any]:
    inputs: list[Any] = []
    for tensor in (forge.graph.tensors[i] for i in forge.graph.inputs):
        limit: Any = np.iinfo(DTYPES[tensor.type])
        inputs.append(forge.rng.integers(limit.min, limit.max + 1, tensor.shape, limit.dtype))
    return inputs


def write(path: Path) -> None:
    """Write the model as C. Raises MemoptError for one that is refused."""
    module, context = read(path.read_bytes(), path.name, path), Context()
    MemgraphModelPass(target="cortex-m4").apply(context, module)
    MemgraphSchedulePass("source").apply(context, module)
    MemgraphPlacePass("greedy-by-size").apply(context, module)
    emit_c(module, io.StringIO())


@pytest.mark.deep
@pytest.mark.parametrize("element", [INT8, INT16], ids=["int8", "int16"])
def test_results_are_tflms_or_refused(element: int, fuzz: float, tmp_path: Path) -> None:
    """Check that a file that becomes C runs in TFLM with the same elements; others are refused."""
    jobs: list[tflm_runner.Job] = []
    computed: list[tuple[int, str, list[Any]]] = []
    count: Counter[bool] = Counter()
    for seed in range(max(60, int(6000 * fuzz))):
        path = tmp_path / f"{seed}.tflite"
        kind, forge = odd(seed, element, path)
        try:
            write(path)
        except MemoptError as error:
            assert error.place and "\n" not in str(error)
            count[False] += 1
            continue
        module, inputs = read(path.read_bytes(), path.name, path), inputs_of(forge)
        func = only_function(module)
        values = evaluate(func, Weights.of(module, tmp_path), inputs)
        last = body_of(func).last_op
        assert last is not None
        computed.append((seed, kind, [values[v] for v in last.operands]))
        jobs.append(tflm_runner.Job("tflm", path.read_bytes(), [inputs]))
        count[True] += 1
    for (seed, kind, ours), answer in zip(computed, tflm_runner.run(jobs, tmp_path), strict=True):
        assert not answer.error, (seed, kind, answer.error)
        for mine, theirs in zip(ours, answer.outputs[0], strict=True):
            np.testing.assert_array_equal(mine.reshape(theirs.shape), theirs, f"{seed} {kind}")
    assert min(count.values()) > 9
