"""int16 with int8 weights as C: bit for bit TensorFlow Lite Micro's."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import SEEDS, deep_but, seeds
from forge_int16 import add_int16
from forge_model import INT16, INT32
from forge_truth import add_matrix
from xdsl.ir import OpResult

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.backends.c.emit.lowering import lower
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.operators.base import ComputeOp


def forged(lab: Any, seed: int) -> Any:
    forge = lab.forge.Forge(np.random.default_rng(seed), True)
    add_int16(lab.forge, forge)
    return forge


def inputs_of(lab: Any, module: Any, seed: int) -> Any:
    """All integers, and the ends of the range alone."""
    inputs = lab.random_inputs(module, 3, seed)
    for array in inputs:
        array[1] = np.where(array[1] > 0, 32767, -32768)
    return inputs


@pytest.mark.parametrize("part", SEEDS)
@pytest.mark.parametrize("target", deep_but("host", ["host", "cortex-m4"]))
def test_random_ones_equal_tflm(
    target: str, part: str, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools(target)
    least, full = (4, 40 * fuzz) if target == "host" else (2, 0)
    for seed in seeds(part, 1, least, full):
        path = forged(lab, seed).save(tmp_path / f"{seed}.tflite")
        module = lab.plan(lab.read_model(path), schedule="source", target=target)
        inputs, work = inputs_of(lab, module, seed), tmp_path / str(seed)
        want = lab.golden("tflm", path, inputs, lab.tensors_of(module), work)
        project = lab.write(module, work / "c", "net", target)
        run = lab.run_project(project, inputs, lab.SANITIZE if target == "host" else None)
        assert run.code == 0, run.messages
        assert lab.unequal_tensors(run, want) == [], f"seed {seed}"


def test_biases_that_no_runtime_has_are_refused(tmp_path: Path, lab: Any) -> None:
    forge = lab.forge.Forge(np.random.default_rng(1), True)
    forge.store_as(INT16)
    forge.wide_bias = INT32
    lab.forge.add_fully_connected(forge, needs_bias=True)
    module = lab.plan(lab.read_model(forge.save(tmp_path / "m.tflite")), target="host")
    with pytest.raises(MemoptError, match="int16 with a bias of 32 bits"):
        lab.write(module, tmp_path / "c", "net", "host")


def test_zero_points_beside_weights_of_run_time_are_refused(tmp_path: Path, lab: Any) -> None:
    forge = lab.forge.Forge(np.random.default_rng(1), True)
    forge.store_as(INT16)
    add_matrix(forge)
    forge.graph.tensors[forge.graph.inputs[0]].quantization.zeroPoint = [1]
    module = lab.plan(lab.read_model(forge.save(tmp_path / "m.tflite")), target="host")
    with pytest.raises(MemoptError, match="int16 with a zero point other than 0"):
        lab.write(module, tmp_path / "c", "net", "host")


RESIZE = """
!x = tensor<1x1x50x1xi16, #memgraph.encoding<nhwc, scale = [1.0], zero_point = [0]>>
!y = tensor<1x1x100000x1xi16, #memgraph.encoding<nhwc, scale = [1.0], zero_point = [0]>>
func.func @main(%x: !x) -> !y {
  %y = memgraph.resize_bilinear %x : (!x) -> !y
  func.return %y : !y
}
"""


def test_resizes_that_tables_do_not_hold_are_refused(tmp_path: Path, lab: Any) -> None:
    """Steps are whole 1024ths, so that the last columns of the result lie far behind the image."""
    module = lab.plan(load_text(new_context(), RESIZE, "n.mlir"), target="host")
    with pytest.raises(MemoptError, match="a resize to so many elements"):
        lab.write(module, tmp_path / "c", "net", "host")


SCALES = (2**-12, 2**-11, 2**-12 * 1.0005, 2**-15, 1e-6, 0.001, 0.05, 2.6, 2.7, 5.3)


@pytest.mark.deep
def test_every_int16_of_functions_by_tables(tmp_path: Path, lab: Any) -> None:
    """LOGISTIC and TANH of all integers, SOFTMAX of vectors of any length: C and `evaluate`."""
    lab.need_tools("host")
    forge = lab.forge.Forge(np.random.default_rng(1), True)
    schema, q15 = lab.forge.schema, ([1 / 32768], [0])
    builtin, kinds = schema.BuiltinOperator, schema.BuiltinOptions
    options: Any = schema.SoftmaxOptionsT()
    options.beta = 0.75
    for scale in SCALES:
        for code in (builtin.LOGISTIC, builtin.TANH, *([builtin.SOFTMAX] if scale < 2.65 else [])):
            is_softmax = code == builtin.SOFTMAX
            shape = [3, int(4e-3 / scale) + 2] if is_softmax else [1 << 16]
            source = forge.tensor(shape, INT16, None, [scale], [0])
            forge.graph.inputs.append(source)
            kind = kinds.SoftmaxOptions if is_softmax else kinds.NONE
            chosen = options if is_softmax else None
            forge.operator(code, [source], forge.tensor(shape, INT16, None, *q15), chosen, kind)
    path = forge.save(tmp_path / "m.tflite")
    module = lab.plan(lab.read_model(path), schedule="source", target="host")
    inputs = lab.random_inputs(module, 1, 1)
    for array in inputs:
        if array.size == 1 << 16:
            array[0] = np.arange(-32768, 32768)
    want = lab.golden("tflm", path, inputs, lab.tensors_of(module), tmp_path)
    run = lab.run_project(lab.write(module, tmp_path / "c", "net", "host"), inputs, lab.SANITIZE)
    assert run.code == 0, run.messages
    assert lab.unequal_tensors(run, want) == []
    func = only_function(module)
    for value, found in evaluate(func, Weights.of(module), [a[0] for a in inputs]).items():
        if isinstance(value, OpResult):
            assert np.array_equal(found, want[lab.source_tensor(value)][0])


ROOTS = (
    (2**-12, 2**-11),
    (1e-6, 1e-3),
    (0.05, 0.002),
    (2.6, 1e-6),
    (1e-9, 1.0),
    (3e4, 0.5),
    (3e4, 2e3),
)


@pytest.mark.deep
def test_every_int16_of_reciprocal_roots(tmp_path: Path, lab: Any) -> None:
    """Below zero, which TensorFlow Lite Micro refuses, it is the largest, as of zero. The last ones
    are all less than half a step, by which the runtime shifts more than there are bits."""
    lab.need_tools("host")
    forge = lab.forge.Forge(np.random.default_rng(1), True)
    for scale, after in ROOTS:
        ends = [forge.tensor([1 << 15], INT16, None, [s], [0]) for s in (scale, after)]
        forge.graph.inputs.append(ends[0])
        kinds = lab.forge.schema
        forge.operator(kinds.BuiltinOperator.RSQRT, ends[:1], ends[1], None, 0)
    path = forge.save(tmp_path / "m.tflite")
    module = lab.plan(lab.read_model(path), schedule="source", target="host")
    inputs = [np.arange(1 << 15, dtype=np.int16)[None] for _ in ROOTS]
    want = lab.golden("tflm", path, inputs, lab.tensors_of(module), tmp_path)
    want[max(want)][:, 1:] = 0
    project = lab.write(module, tmp_path / "c", "net", "host")
    for data in (inputs, [-a for a in inputs]):
        run = lab.run_project(project, data, lab.SANITIZE)
        assert run.code == 0, run.messages
        found = evaluate(only_function(module), Weights.of(module), [a[0] for a in data])
        if data is not inputs:
            want = {tensor: np.full_like(a, 32767) for tensor, a in want.items()}
        assert lab.unequal_tensors(run, want) == []
        for value, array in found.items():
            if isinstance(value, OpResult):
                assert np.array_equal(array, want[lab.source_tensor(value)][0])


ALONE = """
!x = tensor<9xi16, #memgraph.encoding<scale = [1.0], zero_point = [{zero}]>>
!y = tensor<9xi16, #memgraph.encoding<scale = [{scale}], zero_point = [0]>>
func.func @main(%x: !x) -> !y {{
  %y = memgraph.{operands} rounding <tflm_double> : ({types}) -> !y
  func.return %y : !y
}}
"""
ZERO, SMALL = "int16 with a zero point other than 0", "an output scale so small that the {} could"


@pytest.mark.parametrize(
    ("operands", "zero", "scale", "reason"),
    [
        ("rsqrt %x", 1, 1.0, ZERO),
        ("rsqrt %x", 0, 1e-7, SMALL.format("product")),
        ("squared_difference %x, %x", 1, 9.0, ZERO),
    ],
)
def test_numbers_that_no_runtime_has_are_refused(
    operands: str, zero: int, scale: float, reason: str
) -> None:
    types = ", ".join(["!x"] * operands.count("%"))
    text = ALONE.format(operands=operands, types=types, zero=zero, scale=f"{scale:.7f}")
    (op, _) = only_function(load_text(new_context(), text, "n.mlir")).body.block.ops
    assert isinstance(op, ComputeOp)
    with pytest.raises(MemoptError, match=reason):
        op.evaluate([np.full(9, 7, np.int16)] * len(op.operands))
    with pytest.raises(MemoptError, match=reason):
        lower(op, lambda _: None, ("c",))
