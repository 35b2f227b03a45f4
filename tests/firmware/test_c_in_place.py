"""Depthwise convolutions over their operands: real models as C, whole, against TFLM."""

from pathlib import Path
from typing import Any

import pytest

from memopt.dialects.operators.convolution import DepthwiseConv2DOp
from memopt.dialects.plan import CHOSEN, plan_of
from memopt.rewrites import apply_rules


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
