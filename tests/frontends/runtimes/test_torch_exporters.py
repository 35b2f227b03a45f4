"""Graphs by PyTorch's exporters are recognised at every opset, and compute the same.

`tests/frontends/exporters/` has their graphs in ONNX's own text, each distinct one once, with the
opsets at which it is written so and the operators that it becomes; weights are random here.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model, new_context
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.passes.memgraph_rewrite import MemgraphRewritePass
from memopt.rewrites import KERNELS, RULES, SAFE, rule_of

onnx: Any = pytest.importorskip("onnx")
parser: Any = pytest.importorskip("onnx.parser")
ort: Any = pytest.importorskip("onnxruntime")
FOLDER = Path(__file__).resolve().parents[1] / "exporters"
HEAD = re.compile(r"^// (?P<name>.*): (?P<operators>.*)$", re.MULTILINE)
DEFAULT = tuple(name for name in RULES if rule_of(name).applied in (SAFE, KERNELS))


def cases() -> dict[str, tuple[list[str], str]]:
    """Name -> the operators that a graph becomes, and its text."""
    known: dict[str, tuple[list[str], str]] = {}
    for path in sorted(FOLDER.glob("*.txt")):
        _, *parts = HEAD.split(path.read_text(encoding="utf-8"))
        for name, operators, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            assert name not in known
            known[name] = operators.split(), text
    return known


CASES = cases()


def with_weights(text: str) -> Any:
    """Return the model whose first input is one; all others have random numbers."""
    model, rng = parser.parse_model(text), np.random.default_rng(5)
    first, *weights = model.graph.input
    for value in weights:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        numbers = rng.uniform(0.25, 1.0, shape) * rng.choice((-1, 1), shape)
        array = numbers.astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, value.name))
    del model.graph.input[1:]
    assert first.name == "x"
    return model


@pytest.mark.parametrize("name", CASES)
def test_an_exported_module_is_the_operators_that_it_was(name: str, tmp_path: Path) -> None:
    operators, text = CASES[name]
    model, path = with_weights(text), tmp_path / "net.onnx"
    onnx.save(model, path)
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    shape: tuple[int, ...] = tuple(session.get_inputs()[0].shape)
    given = np.random.default_rng(7).standard_normal(shape, np.float32)
    expected: Any = session.run(None, {"x": given})[0]

    module = load_model(path, {})
    MemgraphRewritePass(DEFAULT).apply(new_context(), module)
    func = only_function(module)
    made = [
        op.name.removeprefix("memgraph.")
        for op in body_of(func).ops
        if isinstance(op, ComputeOp) and not is_constant_expression(op.results[0], GENERIC)
    ]
    assert made == operators
    values = evaluate(func, Weights.of(module), [given])
    (end,) = [op for op in body_of(func).ops if op.name == "func.return"]
    got = values[end.operands[0]]
    np.testing.assert_allclose(got.ravel(), expected.ravel(), rtol=1e-4, atol=2e-5)


def test_graphs_of_both_exporters_are_there() -> None:
    for exporter in ("TorchScript", "dynamo"):
        assert sum(exporter in name for name in CASES) > 20
