# pyright: basic, reportArgumentType=false
"""Gates as exporters take them apart, as one operator each: the numbers of their parts to the bit,
and onnxruntime's."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_gates import GATES, all_gates
from onnx_programs import saved

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function
from memopt.rewrites import apply_rules

ort = pytest.importorskip("onnxruntime")
FULL = 200  # tensors of all gates
RULE = "functions-as-formula"


def model(path: Path, x: Any) -> Path:
    """Save a model of all gates of `x`."""
    nodes, constants = all_gates()
    return saved(path, nodes, {"x": x}, constants, 22, declared=dict.fromkeys(GATES, (1, x.shape)))


def test_each_gate_is_one_operator(tmp_path: Path, fuzz: float) -> None:
    """And evaluates to what its parts did, to the bit."""
    for seed in range(max(3, int(FULL * fuzz))):
        rng = np.random.default_rng(seed)
        shape = (1, *(int(v) for v in rng.integers(1, 9, int(rng.integers(1, 4)))))
        x = (rng.normal(size=shape) * 10 ** rng.uniform(-1, 1)).astype(np.float32)
        module = load_model(model(tmp_path / "m.onnx", x), {})
        before = results(module, x)
        assert apply_rules(module, (RULE,))
        module.verify()
        kinds = [op.name for op in module.walk() if op.name.startswith("memgraph.")]
        assert kinds.count("memgraph.formula") == len(GATES) == len(before)
        assert set(kinds) == {"memgraph.constant", "memgraph.formula"}, seed
        np.testing.assert_array_equal(results(module, x), before)


def results(module: Any, x: Any) -> Any:
    func = only_function(module)
    values = evaluate(func, Weights.of(module), [x])
    end = func.body.block.last_op
    assert end is not None
    return [values[v] for v in end.operands]


@pytest.mark.parametrize("target", ["host", pytest.param("cortex-m4", marks=pytest.mark.deep)])
def test_c_computes_what_the_parts_did(target: str, tmp_path: Path, lab: Any) -> None:
    """Rows that are no multiple of what a step computes, infinite numbers and none at all."""
    lab.need_tools(target)
    x = (6 * np.random.default_rng(4).normal(size=(1, 5, 7, 3))).astype(np.float32)
    ends = [0.0, -0.0, 1e-39, 200.0, -200.0, 3e38, -3e38]
    x[0, 0, :, 0] = ends
    path, outputs = model(tmp_path / "m.onnx", x), list[bytes]()
    for rules in ((), (RULE,)):
        module = load_model(path, {})
        apply_rules(module, rules)
        lab.plan(module, schedule="source", target=target)
        folder = lab.write(module, tmp_path / f"c{len(rules)}", "net", target)
        run = lab.run_project(folder, [x[None]], trace=False)
        assert run.code == 0, run.messages
        outputs.append(run.output)
    assert outputs[0] == outputs[1]
    wanted = ort.InferenceSession(str(path)).run(list(GATES), {"x": x})
    numbers = np.frombuffer(outputs[1], "f4").reshape(-1, x.size)
    for gate, want, got in zip(GATES, wanted, numbers, strict=True):
        np.testing.assert_allclose(got, want.reshape(-1), rtol=2e-6, atol=1e-6, err_msg=gate)
