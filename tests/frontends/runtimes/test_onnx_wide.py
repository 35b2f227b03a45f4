# pyright: basic, reportArgumentType=false
"""Constants are read however many elements they have, and in whichever file they lie."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from qdq_pairs import results
from xdsl.dialects.builtin import f32

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model
from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.operators.base import ComputeOp
from memopt.rewrites import apply_rules

WIDE = 1025  # channels: one more than were read
X = (1, 8, 3, 4)


def step(*values: Any) -> dict[str, Any]:
    """Return constants by their names, in turn a scale and a zero point of x, w and y."""
    return dict(zip(("x_s", "x_z", "w_s", "w_z", "y_s", "y_z"), values, strict=True))


def quantised(form: str) -> Any:
    """A convolution whose weights have a scale for each of many filters, in that form."""
    rng = np.random.default_rng(3)
    scales = rng.uniform(0.001, 0.01, WIDE).astype(np.float32)
    zeros = np.zeros(WIDE, np.int8)
    constants = {
        "w": rng.integers(-63, 64, (WIDE, 8, 1, 1)).astype(np.int8),
        "b": rng.integers(-900, 900, WIDE).astype(np.int32),
        **step(np.float32(0.03), np.int8(2), scales, zeros, np.float32(0.04), np.int8(-9)),
        "b_s": np.float32(0.03) * scales,
        "b_z": np.zeros(WIDE, np.int32),
    }
    if form == "QLinearConv":
        names = ["x", "x_s", "x_z", "w", "w_s", "w_z", "y_s", "y_z", "b"]
        nodes = [helper.make_node(form, names, ["y"])]
    else:
        nodes = [
            helper.make_node("DequantizeLinear", [n, f"{n}_s", f"{n}_z"], [f"{n}_f"], axis=0)
            for n in "xwb"
        ]
        nodes.append(helper.make_node("Conv", ["x_f", "w_f", "b_f"], ["y_f"]))
        nodes.append(helper.make_node("QuantizeLinear", ["y_f", "y_s", "y_z"], ["y"]))
    return model(nodes, constants, TensorProto.INT8, WIDE)


def model(nodes: list[Any], constants: dict[str, Any], kind: int, channels: int) -> Any:
    given = helper.make_tensor_value_info("x", kind, X)
    made = helper.make_tensor_value_info("y", kind, (1, channels, 3, 4))
    tensors = [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()]
    graph = helper.make_graph(nodes, "g", [given], [made], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("form", ["QLinearConv", "pairs"])
def test_a_scale_for_each_of_many_filters_is_folded(
    form: str, outside: bool, tmp_path: Path
) -> None:
    network, path = quantised(form), tmp_path / "m.onnx"
    data = network.SerializeToString()
    more = {"save_as_external_data": True, "location": "w.bin", "size_threshold": 0}
    onnx.save(network, path, **(more if outside else {}))
    module = load_model(path, {})
    apply_rules(module, ("qdq-fold",))
    module.verify()
    func: Any = only_function(module)
    running = [op for op in func.walk() if isinstance(op, ComputeOp)]
    assert not [op for op in running if any(element_of(r) == f32 for r in op.results)]
    x = np.random.default_rng(4).integers(-128, 128, X).astype(np.int8)
    found = evaluate(func, Weights.of(module, path.parent), [x])
    want = results(data, {"x": x}, fused=True)
    assert (found[func.get_return_op().operands[0]] == want).all()


def test_many_indices_are_read(tmp_path: Path) -> None:
    """No operator of the run time computes places that the file says."""
    rng = np.random.default_rng(5)
    node = helper.make_node("GatherElements", ["x", "i"], ["y"], axis=1)
    path = tmp_path / "m.onnx"
    indices = {"i": rng.integers(-8, 8, (1, 999, 3, 4))}
    data = model([node], indices, TensorProto.FLOAT, 999).SerializeToString()
    path.write_bytes(data)
    module = load_model(path, {})
    func: Any = only_function(module)
    names = [op.name for op in func.walk() if isinstance(op, ComputeOp)]
    assert names == ["memgraph.reshape", "memgraph.gather_along"]
    x = rng.normal(size=X).astype(np.float32)
    found = evaluate(func, Weights.of(module, path.parent), [x])
    assert (found[func.get_return_op().operands[0]] == results(data, {"x": x}, fused=False)).all()
