# pyright: basic
# (arrays of any element type: strict has nothing to say about them)
"""Largest and smallest of stored numbers, stored in other steps (as CBAM has them in Q/DQ form):
what onnxruntime computes, to the bit."""

from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from qdq_pairs import results

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model
from memopt.dialects.arithmetic.stored import is_stored
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.operators.reductions import ExtremeOp
from memopt.rewrites import apply_rules

FULL = 2_000  # models


def model(rng: np.random.Generator, same: bool) -> tuple[bytes, Any]:
    """A reduction between what reads and what makes stored bytes, and some of these."""
    scale, other = (np.float32(v) for v in rng.uniform(0.01, 0.1, 2))
    zero, there = (np.int8(v) for v in rng.integers(-20, 20, 2))
    numbers = [("s", scale), ("z", zero), ("t", scale if same else other)]
    numbers += [("u", zero if same else there), ("a", np.array([int(rng.integers(1, 4))]))]
    kind = str(rng.choice(["ReduceMax", "ReduceMin"]))
    shape = [1, *(int(v) for v in rng.integers(1, 6, 3))]
    graph = helper.make_graph(
        [
            helper.make_node("DequantizeLinear", ["q", "s", "z"], ["x"]),
            helper.make_node(kind, ["x", "a"], ["y"], keepdims=1),
            helper.make_node("QuantizeLinear", ["y", "t", "u"], ["o"]),
        ],
        "g",
        [helper.make_tensor_value_info("q", TensorProto.INT8, shape)],
        [helper.make_tensor_value_info("o", TensorProto.INT8, None)],
        [numpy_helper.from_array(np.asarray(v), name) for name, v in numbers],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return made.SerializeToString(), rng.integers(-128, 128, shape).astype(np.int8)


def test_extremes_are_those_of_onnxruntime(tmp_path: Path, fuzz: float) -> None:
    path = tmp_path / "m.onnx"
    for seed in range(max(24, int(FULL * fuzz))):
        rng = np.random.default_rng([seed, 11])
        data, stored = model(rng, same=seed % 3 == 0)
        path.write_bytes(data)
        module = load_model(path, {})
        assert apply_rules(module, ("qdq-fold",))
        module.verify()
        func: Any = only_function(module)
        (op,) = (op for op in module.walk() if isinstance(op, ExtremeOp))
        assert is_stored(op.input) and is_stored(op.result)
        found = evaluate(func, Weights.of(module), [stored])[func.get_return_op().operands[0]]
        want = results(data, {"q": stored}, fused=False)
        np.testing.assert_array_equal(found, want, strict=True)
