"""`difference-as-sum`: the same bits whatever the numbers are, and a bias takes the constants."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.cli import main
from memopt.compile.driver import load_text, new_context
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.operators.base import is_constant_expression
from memopt.rewrites import apply_rules

NETWORK = """
!x = tensor<3x2xf32>
!c = tensor<2xf32>
!w = tensor<2x2xf32>
func.func @main(%x: !x) -> !x {
  %w = memgraph.constant dense<[[1.0, 2.0], [4.0, 0.1]]> : !w
  %b = memgraph.constant dense<[1.5, 2.5]> : !c
  %c = memgraph.constant dense<[0.3, -5.0]> : !c
  %1 = memgraph.fully_connected %x, %w, %b : (!x, !w, !c) -> !x
  %2 = memgraph.sub %1, %c activation<relu6> : (!x, !c) -> !x
  func.return %2 : !x
}
"""


@pytest.mark.parametrize("number", ["0.0", "-0.0", "1.0e-45", "-3.4e38", "0.1"])
def test_the_same_bits(number: str) -> None:
    text = f"""
    func.func @main(%x: tensor<9xf32>) -> tensor<9xf32> {{
      %c = memgraph.constant dense<{number}> : tensor<1xf32>
      %1 = memgraph.sub %x, %c : (tensor<9xf32>, tensor<1xf32>) -> tensor<9xf32>
      func.return %1 : tensor<9xf32>
    }}
    """
    module = load_text(new_context(), text, "net.mlir")
    func = only_function(module)
    x = np.array([0.0, -0.0, 1e-45, -1e-45, np.inf, -np.inf, 3.4e38, 0.1, -0.1], np.float32)

    def result() -> bytes:
        last = func.get_return_op()
        assert last is not None
        found: bytes = evaluate(func, Weights({}), [x])[last.operands[0]].tobytes()
        return found

    before = result()
    assert apply_rules(func, ("difference-as-sum",))
    assert "memgraph.sub" not in str(module) and result() == before


@pytest.mark.parametrize("bias", [True, False])
def test_a_bias_takes_what_is_subtracted(bias: bool, tmp_path: Path) -> None:
    text = NETWORK if bias else NETWORK.replace("%w, %b", "%w").replace("!w, !c) ->", "!w) ->")
    module = load_text(new_context(), text, "net.mlir")
    func = only_function(module)
    image = np.random.default_rng(3).normal(size=(3, 2)).astype(np.float32)

    def result() -> Any:
        last = func.get_return_op()
        assert last is not None
        return evaluate(func, Weights({}), [image])[last.operands[0]]

    before = result()
    assert apply_rules(func, ("difference-as-sum", "constants-into-weights"))
    left = [
        op.name
        for op in body_of(func).ops
        if op.results and not is_constant_expression(op.results[0], GENERIC)
    ]
    assert left == ["memgraph.fully_connected"]
    np.testing.assert_allclose(result(), before, rtol=1e-6)
    file = tmp_path / "net.mlir"
    file.write_text(text)
    assert main(["compile", str(file), "--rewrite=all", "-o", str(tmp_path / "out")]) == 0
    assert "memopt_sub" not in (tmp_path / "out/net.c").read_text()
