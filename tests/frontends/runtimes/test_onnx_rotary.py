# pyright: basic, reportArgumentType=false
"""Rotary positions as ONNX and onnxruntime's optimisers have them, close to what onnxruntime
computes; what is read otherwise is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.structure import OpaqueOp

ort: Any = pytest.importorskip("onnxruntime")
FULL = 2000  # models of each
OWN = "com.microsoft"


def saved(path: Path, node: Any, x: Any, constants: dict[str, Any]) -> Path:
    given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    ends = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    tensors = [numpy_helper.from_array(v, k) for k, v in constants.items()]
    graph = helper.make_graph([node], "g", given, ends, tensors)
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid(OWN, 1)]
    path.write_bytes(
        helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    )
    return path


def drawn(seed: int, standard: bool) -> tuple[Any, Any, dict[str, Any]]:
    """Return a node, its input and its constants: heads before or behind places, all channels of a
    head turned or the first ones, halves or neighbours, places of any numbers or in turn."""
    rng = np.random.default_rng(seed)
    count, heads, places, half, rest = (int(n) for n in rng.integers(1, 5, 5))
    rest *= 2 * int(rng.random() < 0.4)
    by_head, size, last = rng.random() < 0.5, 2 * half + rest, 12
    shape = (count, heads, places, size) if by_head else (count, places, heads * size)
    x = rng.normal(size=shape).astype(np.float32)
    more = {"interleaved": int(rng.integers(2)), "num_heads": heads}
    more |= {"rotary_embedding_dim": 2 * half} if rest else {}
    tables = {k: rng.normal(size=(last, half)).astype(np.float32) for k in ("cos", "sin")}
    at = rng.integers(last, size=(count, places))
    if standard:
        names = ["x", "cos", "sin", "at"]
        if rng.random() < 0.5:
            names, tables = names[:3], {k: v[at] for k, v in tables.items()}
        node = helper.make_node("RotaryEmbedding", names, ["y"], name="turn", **more)
        return node, x, {**tables, **({"at": at} if len(names) > 3 else {})}
    at = at if rng.random() < 0.5 else at[0, :1] % (last - places)
    names = ["x", "at", "cos", "sin"]
    node = helper.make_node("RotaryEmbedding", names, ["y"], name="turn", domain=OWN, **more)
    return node, x, {**tables, "at": at}


@pytest.mark.parametrize("standard", [False, True])
def test_rotary_embedding(standard: bool, fuzz: float, tmp_path: Path) -> None:
    for seed in range(max(20, int(FULL * fuzz))):
        node, x, constants = drawn(seed, standard)
        path = saved(tmp_path / "m.onnx", node, x, constants)
        want = ort.InferenceSession(str(path)).run(None, {"x": x})[0]
        module = load_model(path, {})
        assert not any(isinstance(op, OpaqueOp) for op in module.walk()), seed
        func = only_function(module)
        last = func.get_return_op()
        assert last is not None
        got = evaluate(func, Weights.of(module), [x])[last.operands[0]]
        assert got.shape == want.shape
        assert abs(got - want).max() <= 1e-6 * max(1, abs(want).max()), seed


@pytest.mark.parametrize("more", [{"is_packed_batching": 1}, {"scale": 2.0}])
def test_what_is_refused_by_name(more: dict[str, Any], tmp_path: Path) -> None:
    node, x, constants = drawn(0, standard=False)
    node.attribute.extend(helper.make_attribute(k, v) for k, v in more.items())
    path = saved(tmp_path / "m.onnx", node, x, constants)
    with pytest.raises(MemoptError, match="RotaryEmbedding"):
        load_model(path, {})
