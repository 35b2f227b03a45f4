"""Results over their operands, as C: depthwise convolutions of real models, whole, against TFLM,
and what lies inside a larger buffer."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_programs import Program, compiled
from xdsl.ir import Operation

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import CHOSEN, bytes_offset, offsets_of, plan_of
from memopt.dialects.operators.convolution import DepthwiseConv2DOp
from memopt.rewrites import apply_rules


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "target", "peak", "over"),
    [
        ("streaming_wakeword_int8", "cortex-m4", 6_144, 4),
        ("mcunet_vww_int8", "host", 161_472, 15),
    ],
)
def test_in_place_computes_the_same(
    name: str, target: str, peak: int, over: int, shared: Path, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools(target)
    path = shared / "models" / f"{name}.tflite"
    module = lab.read_model(path)
    func = lab.main_of(module)
    apply_rules(func, ("depthwise-in-place",))
    lab.plan(module, target=target, inplace="on")
    plan = plan_of(func)
    assert plan is not None and plan.peak.data == peak
    found = [op for op in func.body.block.ops if isinstance(op, DepthwiseConv2DOp)]
    assert sum(CHOSEN in op.attributes for op in found) == over
    inputs = lab.random_inputs(module, 3, 7)
    want = lab.golden("tflm", path, inputs, lab.tensors_of(module), tmp_path / "golden")
    flags = lab.SANITIZE if target == "host" else None
    run = lab.run_project(lab.write(module, tmp_path / "c", "net", target), inputs, flags)
    assert run.code == 0, run.messages
    assert lab.unequal_tensors(run, want) == []


def test_inside_a_larger_buffer(tmp_path: Path, lab: Any) -> None:
    """The last row of what is computed is a view, and its function is written where it lies."""
    lab.need_tools("host")
    text = """
    func.func @main(%x: tensor<3x4xf32>) -> tensor<1x4xf32> {
      %0 = memgraph.exp %x : (tensor<3x4xf32>) -> tensor<3x4xf32>
      %1 = memgraph.slice %0 starts [2, 0] strides [1, 1] : (tensor<3x4xf32>) -> tensor<1x4xf32>
      %2 = memgraph.neg %1 : (tensor<1x4xf32>) -> tensor<1x4xf32>
      %3 = memgraph.abs %2 : (tensor<1x4xf32>) -> tensor<1x4xf32>
      func.return %3 : tensor<1x4xf32>
    }
    """
    module = load_text(new_context(), text, "net.mlir")
    func = only_function(module)
    apply_rules(func, ("slice-as-view",))
    lab.plan(module, target="host", inplace="on")
    _, view, negative, _ = map(offset_of, [op for op in func.body.block.ops if op.results])
    plan = plan_of(func)
    assert view == negative and plan is not None and plan.arena == 48
    image = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
    objects, flags = compiled(lab.OBJECTS, lab.SANITIZE)
    program = Program(tmp_path / "c")
    program.add(module, "whole", [image.nbytes, 16])
    last = func.get_return_op()
    assert last is not None
    want = evaluate(func, Weights({}), [image])[last.operands[0]]
    found = np.frombuffer(program.run(objects, image.tobytes(), flags), np.float32)
    np.testing.assert_allclose(found.reshape(1, 4), want, rtol=1e-6)


def offset_of(op: Operation) -> int | None:
    """Of its only result, in bytes."""
    places = offsets_of(op)
    assert places is not None
    return bytes_offset(places[0])
