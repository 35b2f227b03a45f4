# pyright: basic, reportArgumentType=false
"""Attention as ONNX and onnxruntime's optimisers have it: one operation of each sequence, close to
what onnxruntime computes; what is no such stays parts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function

ort: Any = pytest.importorskip("onnxruntime")
FULL = 2000  # models of each
OWN = "com.microsoft"


def saved(
    path: Path, node: Any, given: dict[str, Any], constants: dict[str, Any], opset: int = 23
) -> Path:
    inputs = [
        helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
        for k, v in given.items()
    ]
    ends = [helper.make_tensor_value_info(k, TensorProto.FLOAT, None) for k in node.output]
    tensors = [numpy_helper.from_array(v, k) for k, v in constants.items()]
    graph = helper.make_graph([node], "g", inputs, ends, tensors)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(OWN, 1)]
    path.write_bytes(
        helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    )
    return path


def check(path: Path, given: dict[str, Any], attentions: int) -> None:
    want = ort.InferenceSession(str(path)).run(None, given)[0]
    module = load_model(path, {})
    names = [op.name for op in module.walk()]
    assert names.count("memgraph.attention") == attentions
    assert ("memgraph.softmax" in names) == (attentions == 0)
    func = only_function(module)
    last = func.get_return_op()
    assert last is not None
    got = evaluate(func, Weights.of(module), list(given.values()))[last.operands[0]]
    assert got.shape == want.shape
    assert abs(got - want).max() <= 2e-5 * max(1, abs(want).max())


class Sizes:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        sizes = (int(n) for n in self.rng.integers(1, 5, 4))
        self.groups, self.shared, self.depth, self.width = sizes
        self.queries, self.keys = (int(n) for n in self.rng.integers(1, 8, 2))
        self.count = int(self.rng.integers(1, 4)) if self.rng.random() < 0.5 else 1

    def reals(self, *shape: int) -> Any:
        return self.rng.normal(size=shape).astype(np.float32)

    def of(self, places: int, heads: int, each: int, by_head: bool) -> Any:
        shape = (heads, places, each) if by_head else (places, heads * each)
        return self.reals(self.count, *shape)

    def counts(self, keys: int) -> Any:
        """Return a mask of keys: any number above 0 counts alike, and the first key does."""
        mask = self.rng.integers(-1, 4, (self.count, keys)).astype(np.int32)
        mask[:, 0] = 1
        return mask


def test_attention_of_onnx(fuzz: float, tmp_path: Path) -> None:
    for seed in range(max(20, int(FULL * fuzz))):
        s = Sizes(seed)
        by_head, is_causal = s.rng.random() < 0.5, s.rng.random() < 0.4
        keys = s.queries if is_causal else s.keys  # of others runtimes differ
        heads = s.groups * s.shared
        given = {
            "q": s.of(s.queries, heads, s.depth, by_head),
            "k": s.of(keys, s.groups, s.depth, by_head),
            "v": s.of(keys, s.groups, s.width, by_head),
        }
        more: dict[str, Any] = {"is_causal": int(is_causal)}
        if not by_head:
            more |= {"q_num_heads": heads, "kv_num_heads": s.groups}
        if s.rng.random() < 0.5:
            more["scale"] = float(s.rng.uniform(0.1, 1))
        constants: dict[str, Any] = {}
        if way := int(s.rng.integers(3)):
            own = (int(s.rng.choice([1, s.count])), int(s.rng.choice([1, heads])))
            shape = (*own[int(s.rng.integers(3)) :], s.queries, keys)
            shown = s.rng.random(shape) < 0.5
            shown[..., 0] = True
            constants["m"] = shown if way == 1 else s.reals(*shape)
        node = helper.make_node("Attention", [*given, *constants], ["y"], **more)
        check(saved(tmp_path / "m.onnx", node, given, constants), given, s.count)


def test_attention_of_onnxruntime(fuzz: float, tmp_path: Path) -> None:
    for seed in range(max(20, int(FULL * fuzz))):
        s = Sizes(seed)
        heads, width = s.groups, s.groups * s.depth
        is_causal = int(s.rng.random() < 0.5)
        more: dict[str, Any] = {"num_heads": heads, "unidirectional": is_causal, "domain": OWN}
        if s.rng.random() < 0.5:
            more["scale"] = float(s.rng.uniform(0.1, 1))
        bias = {"b": s.reals(3 * width)} if s.rng.random() < 0.5 else {}
        if s.rng.random() < 0.5:
            given = {"x": s.reals(s.count, s.queries, 5)}
            constants = {"w": s.reals(5, 3 * width), "b": s.reals(3 * width)}
            node = helper.make_node("Attention", [*given, *constants], ["y"], **more)
        elif s.rng.random() < 0.5:
            given, constants, operands = of_bytes(s, 3 * width)
            node = helper.make_node("QAttention", operands, ["y"], **more)
        else:
            keys = s.queries if is_causal else s.keys
            given = {"q": s.reals(s.count, s.queries, width)}
            given |= {name: s.reals(s.count, keys, width) for name in "kv"}
            constants = bias
            operands = [*given, *bias]
            if s.rng.random() < 0.3 and not is_causal:
                given["m"] = s.counts(keys)
                operands = ["q", "k", "v", "b" if bias else "", "m"]
            node = helper.make_node("MultiHeadAttention", operands, ["y"], **more)
        check(saved(tmp_path / "m.onnx", node, given, constants), given, s.count)


def of_bytes(s: Sizes, columns: int) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Return the tensors, constants and operands of a QAttention: a scale of all weights, or one of
    each column, zero points and a mask of keys where it has some."""
    each = (columns,) if s.rng.random() < 0.5 else (1,)
    element = np.int8 if s.rng.random() < 0.5 else np.uint8
    given = {"x": s.rng.integers(0, 256, (s.count, s.queries, 5)).astype(np.uint8)}
    constants: dict[str, Any] = {
        "w": s.rng.integers(0, 256, (5, columns)).astype(element),
        "b": s.reals(columns),
        "xs": np.float32(0.02),
        "ws": s.rng.uniform(0.005, 0.01, each).astype(np.float32),
    }
    operands = [*given, *constants, ""]
    if s.rng.random() < 0.5:
        given["m"] = s.counts(s.queries)
        operands[-1] = "m"
    zero = s.rng.integers(0, 256, each).astype(element)
    constants |= {"xz": np.uint8(s.rng.integers(256)), "wz": zero}
    return given, constants, [*operands, "xz", "wz"]


KEPT: dict[str, tuple[dict[str, Any], dict[str, tuple[int, ...]], dict[str, Any]]] = {
    "a limit of scores": ({"softcap": 2.0}, {}, {}),
    "many sequences": ({}, dict.fromkeys("qkv", (17, 3, 8)), {}),
    "a mask that hides all of a query from one head": (
        {},
        {},
        {"m": np.array([np.ones((3, 3)), np.tri(3, 3, -1)], bool)},
    ),
    "a mask that hides all of a query": (
        {},
        {},
        {"m": np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1]], bool)},
    ),
    "a mask and later keys that hide all": (
        {"is_causal": 1},
        {},
        {"m": np.array([[0, 1, 1], [1, 1, 1], [1, 1, 1]], bool)},
    ),
    "a mask that is computed": ({}, {"m": (3, 3)}, {}),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_stays_parts(name: str, tmp_path: Path) -> None:
    more, shapes, constants = KEPT[name]
    rng = np.random.default_rng(3)
    shapes = dict.fromkeys("qkv", (1, 3, 8)) | shapes
    given = {k: rng.normal(size=shape).astype(np.float32) for k, shape in shapes.items()}
    heads = {"q_num_heads": 2, "kv_num_heads": 2}
    operands = [*given, *constants]
    node = helper.make_node("Attention", operands, ["y"], **heads, **more)
    path = saved(tmp_path / "m.onnx", node, given, constants)
    names = [op.name for op in load_model(path, {}).walk()]
    assert "memgraph.attention" not in names


def test_constants_of_a_functions_body_are_in_no_file(tmp_path: Path) -> None:
    """The mask of later keys is one: 1,600 elements are no few."""
    rng = np.random.default_rng(5)
    given = {k: rng.normal(size=(1, 40, 8)).astype(np.float32) for k in "qkv"}
    more = {"q_num_heads": 2, "kv_num_heads": 2, "is_causal": 1, "softcap": 2.0}
    node = helper.make_node("Attention", list(given), ["y"], **more)
    check(saved(tmp_path / "m.onnx", node, given, {}), given, 0)


def test_a_window_of_keys_stays_parts(tmp_path: Path) -> None:
    for name in ("left_window_size", "right_window_size"):
        given = {k: np.zeros((1, 1, 3, 4), np.float32) for k in "qkv"}
        node = helper.make_node("Attention", list(given), ["y"], **{name: 1})
        path = saved(tmp_path / "m.onnx", node, given, {}, 25)
        assert "memgraph.attention" not in [op.name for op in load_model(path, {}).walk()]


def test_what_is_kept_and_shown_stays_parts(tmp_path: Path) -> None:
    """Check a past, and results beside the first."""
    rng = np.random.default_rng(3)
    given = {k: rng.normal(size=(1, 2, 3, 4)).astype(np.float32) for k in ("q", "k", "v", "a", "b")}
    for operands, results in (
        (["q", "k", "v", "", "a", "b"], ["y", "c", "d"]),
        (["q", "k", "v"], ["y", "", "", "s"]),
    ):
        node = helper.make_node("Attention", operands, results)
        path = tmp_path / "m.onnx"
        graph = helper.make_graph(
            [node],
            "g",
            [helper.make_tensor_value_info(k, 1, given[k].shape) for k in operands if k],
            [helper.make_tensor_value_info(k, 1, None) for k in results if k],
        )
        opsets = [helper.make_opsetid("", 23)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        path.write_bytes(model.SerializeToString())
        assert "memgraph.attention" not in [op.name for op in load_model(path, {}).walk()]
