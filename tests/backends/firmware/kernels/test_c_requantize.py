# pyright: basic
# (arrays of any element type: strict has nothing to say about them)
"""QUANTIZE of int32 to fewer bits: bit for bit TensorFlow Lite Micro's where its arithmetic stays
in an int32, and else the end of the range."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forge_model import INT8, INT16, INT32

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.backends.c.emit.lowering import lower
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.tensors import encoding_of
from memopt.dialects.operators.quantization import QuantizeOp

RATIOS = (2.0**-36, 2.0**-31, 1e-6, 2.0**-16, 0.0123, 0.4999, 0.5, 0.77, 1.0, 1.7, 900.0, 1e9)
LARGEST = (1 << 31) - 1


def forged(lab: Any, zero: int) -> Any:
    forge = lab.forge.Forge(np.random.default_rng(1), True)
    schema = lab.forge.schema
    code, kind = schema.BuiltinOperator.QUANTIZE, schema.BuiltinOptions.QuantizeOptions
    for ratio in RATIOS:
        for element, after in ((INT8, -128), (INT8, 127), (INT16, 0)):
            source = forge.tensor([4000], INT32, None, [float(np.float32(ratio))], [zero])
            result = forge.tensor([4000], element, None, [1.0], [after])
            forge.graph.inputs.append(source)
            forge.operator(code, [source], result, schema.QuantizeOptionsT(), kind)
    return forge


def test_equal_to_the_runtime(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    forge = forged(lab, 0)
    path = forge.save(tmp_path / "m.tflite")
    module = lab.plan(lab.read_model(path), schedule="source", target="host")
    rng = np.random.default_rng(2)
    inputs = [
        (rng.uniform(-1, 1, (1, 4000)) * 2 ** rng.uniform(4, 31, (1, 4000))).astype(np.int32)
        for _ in forge.graph.inputs
    ]
    for array in inputs:
        array[0, :4] = -LARGEST - 1, LARGEST, 0, -1
    want = lab.golden("tflm", path, inputs, lab.tensors_of(module), tmp_path)
    run = lab.run_project(lab.write(module, tmp_path / "c", "net", "host"), inputs, lab.SANITIZE)
    assert run.code == 0, run.messages
    func = only_function(module)
    values, left = evaluate(func, Weights.of(module), [a[0] for a in inputs]), 0
    for op in (o for o in func.walk() if isinstance(o, QuantizeOp)):
        tensor, given = lab.source_tensor(op.result), values[op.input].astype(np.float64)
        ratio = encoding_of(op.input).scales[0]
        inside = (abs(given) * max(ratio, 1) * 2 < LARGEST) | (ratio < 0.4)
        limits = np.iinfo(want[tensor].dtype)
        ends = np.where(given < 0, limits.min, limits.max)
        want[tensor][0] = np.where(inside, want[tensor][0], ends)
        assert np.array_equal(values[op.result], want[tensor][0])
        left += int((~inside).sum())
    assert left > 0
    assert lab.unequal_tensors(run, want) == []


def test_zero_points_of_32_bits_are_refused(tmp_path: Path, lab: Any) -> None:
    module = lab.read_model(forged(lab, 1).save(tmp_path / "m.tflite"))
    op = next(o for o in module.walk() if isinstance(o, QuantizeOp))
    with pytest.raises(MemoptError, match="32 bits with a zero point"):
        lower(op, lambda _: None, ("c",))
    with pytest.raises(MemoptError, match="32 bits with a zero point"):
        op.evaluate([np.zeros(4000, np.int32)])
