# pyright: basic
"""LSTMs that quantize what they read at run time, as onnxruntime computes them: integers are exact,
so results are off by a few units in the last place of float32, unless one lies so near to half a
step of a state that it falls to the other side."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import SEEDS, seeds
from onnx import TensorProto, helper
from onnx_programs import compare, saved

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function

ort: Any = pytest.importorskip("onnxruntime")
FULL = 2000  # models
FIRST = 16
BOUND = 4e-6  # of numbers of at most 1 or so
OWN = "com.microsoft"


def network(path: Path, seed: int, batch: int = 1, lacks: str = "") -> tuple[Path, dict[str, Any]]:
    """Save a random layer; return its path, and what it is given."""
    rng = np.random.default_rng(seed)
    steps, size, units = (int(n) for n in rng.integers(1, 7, 3))
    ways, by_column, is_signed = int(rng.integers(1, 3)), rng.random() < 0.5, rng.random() < 0.5
    kind = np.int8 if is_signed else np.uint8
    ends = (-64, 64) if is_signed else (0, 256)  # so that no processor's sums saturate
    scales = (ways, 4 * units) if by_column else (ways,)
    constants: dict[str, Any] = {}
    for name, rows in (("w", size), ("r", units)):
        constants[name] = rng.integers(*ends, (ways, rows, 4 * units)).astype(kind)
        constants[f"{name}s"] = rng.uniform(0.002, 0.02, scales).astype(np.float32)
        middle = 0 if is_signed else int(rng.integers(100, 150))
        constants[f"{name}z"] = np.full(scales, middle, kind)
    if rng.random() < 0.7:
        constants["b"] = rng.normal(size=(ways, 8 * units)).astype(np.float32) * np.float32(0.3)
    starts = rng.random() < 0.5
    if starts:
        constants |= {k: rng.normal(size=(ways, batch, units)).astype(np.float32) for k in "hc"}
    if holes := rng.random() < 0.3:
        constants["p"] = rng.normal(size=(ways, 3 * units)).astype(np.float32)
    operands = ["x", "w", "r", "b" if "b" in constants else "", ""]
    operands += ["h", "c"] if starts else ["", ""]
    operands += ["p" if holes else "", "ws", "wz", "rs", "rz"]
    constants = {k: v for k, v in constants.items() if k != lacks}
    operands = ["" if k == lacks else k for k in operands]
    more: dict[str, Any] = {"clip": 1.5} if rng.random() < 0.3 else {}
    direction = "bidirectional" if ways > 1 else ("forward", "reverse")[int(rng.integers(2))]
    more |= {"hidden_size": units, "direction": direction, "domain": OWN}
    node = helper.make_node("DynamicQuantizeLSTM", operands, ["y", "yh", "yc"], **more)
    given = {"x": rng.normal(size=(steps, batch, size)).astype(np.float32)}
    states = TensorProto.FLOAT, (ways, batch, units)
    types = {"y": (TensorProto.FLOAT, (steps, ways, batch, units)), "yh": states, "yc": states}
    return saved(path, [node], given, constants, 17, types), given


@pytest.mark.parametrize("part", SEEDS)
def test_layers_are_what_onnxruntime_computes(part: str, tmp_path: Path, fuzz: float) -> None:
    apart, cases = 0, seeds(part, 6, FIRST, FULL * fuzz)
    for seed in cases:
        path, given = network(tmp_path / "m.onnx", seed)
        want = ort.InferenceSession(path).run(None, given)
        module = load_model(path, {})
        assert "memgraph.opaque" not in str(module), seed
        func = only_function(module)
        last = func.get_return_op()
        assert last is not None
        values = evaluate(func, Weights.of(module), list(given.values()))
        for a, b in zip((values[v] for v in last.operands), want, strict=True):
            assert a.shape == b.shape, seed
            apart += bool(abs(a - b).max() > BOUND * max(1, abs(b).max()))
    assert apart <= len(cases) // 100, apart  # where a step of a state is another one


@pytest.mark.deep
def test_c_computes_the_same(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for seed in (2, 3):
        path, given = network(tmp_path / f"{seed}.onnx", seed)
        compare(lab, path, given)


@pytest.mark.parametrize("why", ["several", "scales"])
def test_others_are_refused_by_name(why: str, tmp_path: Path) -> None:
    path, _ = network(tmp_path / "m.onnx", 4, batch=2 if why == "several" else 1)
    if why == "scales":
        path, _ = network(tmp_path / "m.onnx", 4, lacks="rs")
    (op,) = (op for op in load_model(path, {}).walk() if op.name == "memgraph.opaque")
    assert "DynamicQuantizeLSTM" in str(op) and why in str(op.attributes["memgraph.reason"])
