"""Constants of other dialects, which operations of ours read as any other weights."""

from pathlib import Path

import numpy as np
import pytest

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.cli.opt import main
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import only_function

NETWORK = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = arith.constant dense<[1.0, 2.0, 3.0, 4.5]> : tensor<4xf32>
  %b = "tosa.const"() {values = dense<2.5> : tensor<4xf32>} : () -> tensor<4xf32>
  %c = "onnx.Constant"() {value = dense<3.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = memgraph.add %x, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = memgraph.mul %0, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = memgraph.mul %1, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}
"""
STEPS = ["--allow-unregistered-dialect", "--schedule=auto", "--place=auto"]


def test_their_elements_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    func = only_function(load_text(new_context(True), NETWORK, "net.mlir"))
    image = np.arange(4, dtype=np.float32)
    (result,) = func.get_return_op().operands  # type: ignore[union-attr]
    found = evaluate(func, Weights({}), [image])[result]
    np.testing.assert_array_equal(found, (image + np.array([1, 2, 3, 4.5])) * 2.5 * 3)
    source = tmp_path / "net.mlir"
    source.write_text(NETWORK)
    assert main([str(source), *STEPS, "-t", "c"]) == 0
    text = capsys.readouterr().out
    assert "1.0f, 2.0f, 3.0f, 4.5f" in text and "2.5f, 2.5f" in text
    assert main([str(source), *STEPS, "-t", "json"]) == 0
    assert '"op": "arith.constant"' not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("constant", "reason"),
    [
        ('"arith.constant"() {value = dense_resource<x> : !t}', "arith.constant has no dense"),
        ('"tosa.const"() {values = dense<1.0> : tensor<5xf32>}', "tosa.const has no dense"),
        ('"onnx.Constant"()', "onnx.Constant has no dense elements of type tensor<4xf32>"),
    ],
)
def test_what_has_no_elements_is_refused_by_name(
    constant: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "net.mlir"
    source.write_text(
        f"!t = tensor<4xf32>\nfunc.func @main(%x: !t) -> !t {{\n  %a = {constant} : () -> !t\n"
        "  %0 = memgraph.add %x, %a : (!t, !t) -> !t\n  func.return %0 : !t\n}\n"
    )
    assert main([str(source), *STEPS, "-t", "c"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"{source}:3:3: error: {reason}") and error.count("\n") == 1


def test_an_operation_of_another_dialect_in_place_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "net.mlir"
    source.write_text(
        "!t = tensor<4xi8>\nfunc.func @main(%x: !t) -> !t {\n"
        '  %c = "tosa.const"() {values = dense<1> : !t} : () -> !t\n'
        "  %0 = tosa.add %x, %c : (!t, !t) -> !t\n  func.return %0 : !t\n}\n"
    )
    assert main([str(source), "--model=target=host,inplace=on", *STEPS, "-t", "c"]) == 1
    assert ":4:3: error: C backend: no kernel for tosa.add" in capsys.readouterr().err
