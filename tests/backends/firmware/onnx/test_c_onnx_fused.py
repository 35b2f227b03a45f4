# pyright: basic, reportArgumentType=false
"""Tests of operators of onnxruntime's optimisers, and rare forms of layers, as C: onnxruntime's
numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_programs import compare, saved

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function

pytest.importorskip("onnxruntime")
N, F = helper.make_node, TensorProto.FLOAT
RNG = np.random.default_rng(9)
OWN = "com.microsoft"


def floats(*shape: int) -> Any:
    return RNG.normal(size=shape).astype("f4")


@pytest.mark.parametrize("masked", [False, True])
def test_attention(masked: bool, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    given: dict[str, Any] = {"x": floats(2, 4, 8)}
    if masked:
        given["m"] = np.int32([[1, 1, 1, 0], [1, 1, 0, 0]])
    more = {"unidirectional": 0 if masked else 1, "num_heads": 2}
    nodes = [N("Attention", ["x", "w", "b", *list(given)[1:]], ["y"], domain=OWN, **more)]
    constants = {"w": floats(8, 24), "b": floats(24)}
    path = saved(tmp_path / "m.onnx", nodes, given, constants, declared={"y": (F, (2, 4, 8))})
    compare(lab, path, given)


def test_attention_of_three_and_embeddings(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    given = {name: floats(1, n, 8) for name, n in (("q", 3), ("k", 5), ("v", 5))}
    given |= {"i": np.int32([[1, 7, 2]]), "s": np.int32([[0, 1, 1]])}
    nodes = [
        N("MultiHeadAttention", ["q", "k", "v", "b"], ["y"], domain=OWN, num_heads=4),
        N("EmbedLayerNormalization", ["i", "s", *"wpgcd"], ["e", ""], domain=OWN),
    ]
    constants = {"b": floats(24), "w": floats(9, 8), "p": floats(6, 8), "g": floats(2, 8)}
    constants |= {"c": floats(8), "d": floats(8)}
    declared = dict.fromkeys("ye", (F, (1, 3, 8)))
    path = saved(tmp_path / "m.onnx", nodes, given, constants, declared=declared)
    compare(lab, path, given)


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["HardSigmoid", "LeakyRelu", "Elu"])
def test_activations_with_numbers(kind: str, tmp_path: Path, lab: Any) -> None:
    """Check activations of gates in both directions, with the numbers that Keras gave them."""
    lab.need_tools("host")
    given = {"x": floats(3, 1, 4)}
    more = {"activations": [kind, "Tanh", kind] * 2, "direction": "bidirectional"}
    more |= {"activation_alpha": [0.3, 0.1, 0.25]}
    more |= {"activation_beta": [0.4, 0.6, 0.5, 0.45]} if kind == "HardSigmoid" else {}
    nodes = [N("LSTM", ["x", *"wrb"], ["y"], hidden_size=3, **more)]
    constants = {"w": floats(2, 12, 4), "r": floats(2, 12, 3), "b": floats(2, 24)}
    compare(lab, saved(tmp_path / "m.onnx", nodes, given, constants), given)


def test_rows_that_are_transposed_and_padded_alike(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    given = {"x": floats(1, 4, 5)}
    nodes = [
        N("ConvTranspose", ["x", "w"], [auto], auto_pad=auto, strides=[2], group=2)
        for auto in ("SAME_UPPER", "SAME_LOWER")
    ]
    compare(lab, saved(tmp_path / "m.onnx", nodes, given, {"w": floats(4, 3, 3)}), given)


def test_statistics_of_each_element(tmp_path: Path, lab: Any) -> None:
    """Check BatchNormalization of opset 8 without `spatial`."""
    lab.need_tools("host")
    given = {"x": floats(1, 3, 4, 2)}
    nodes = [N("BatchNormalization", ["x", *"sbmv"], ["y"], spatial=0)]
    constants = {name: np.abs(floats(3, 4, 2)) for name in "sbmv"}
    path = saved(tmp_path / "m.onnx", nodes, given, constants, 8)
    compare(lab, path, given)


def test_groups_of_channels_last(tmp_path: Path, lab: Any) -> None:
    """Check GroupNorm against its definition: no CPU's onnxruntime has it."""
    lab.need_tools("host")
    x, scale, shift = floats(1, 2, 3, 8), floats(8), floats(8)
    parts = x.reshape(1, 6, 4, 2)
    rest = parts - parts.mean((1, 3), keepdims=True)
    want = rest / np.sqrt((rest**2).mean((1, 3), keepdims=True) + 1e-5)
    want = want.reshape(x.shape) * scale + shift
    want = want / (1 + np.exp(-want))
    more = {"groups": 4, "activation": 1, "channels_last": 1, "domain": OWN}
    nodes = [N("GroupNorm", ["x", "s", "b"], ["y"], **more)]
    constants = {"s": scale, "b": shift}
    declared = {"y": (F, x.shape)}
    path = saved(tmp_path / "m.onnx", nodes, {"x": x}, constants, declared=declared)
    module = load_model(path, {})
    func = only_function(module)
    values = evaluate(func, Weights.of(module, tmp_path), [x])
    returned = func.get_return_op()
    assert returned is not None
    (result,) = returned.operands
    np.testing.assert_allclose(values[result], want, rtol=1e-5, atol=1e-5)
