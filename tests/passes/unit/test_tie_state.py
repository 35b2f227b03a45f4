# pyright: basic
"""`--state`: an output is the input of the next run, in a plan, in C, and in Python."""

from pathlib import Path

import numpy as np
import pytest
from console import normal
from xdsl.parser import Parser

import memopt
from memopt.analysis.evaluation import State, evaluate
from memopt.analysis.weights import Weights
from memopt.cli import main
from memopt.compile.driver import build_pipeline, new_context
from memopt.dialects.memgraph.functions import body_of, only_function

NETWORK = """
!t = tensor<1x4xf32>
!q = tensor<1x4xi8, #memgraph.encoding<nhwc, scale = [0.5], zero_point = [3]>>
func.func @main(%x: !t, %a: !t, %b: !t, %h: !t {memgraph.name = "h:0"}) -> (!t, !t, !t, !t) {
  %0 = memgraph.quantize %h rounding<onnx_even> : (!t) -> !q
  %1 = memgraph.quantize %x rounding<onnx_even> : (!t) -> !q
  %2 = memgraph.add %0, %1 rounding<onnx_even> : (!q, !q) -> !q
  %3 = memgraph.dequantize %2 {memgraph.names = ["h:1"]} : (!q) -> !t
  %4 = memgraph.add %x, %b {memgraph.names = ["y"]} : (!t, !t) -> !t
  func.return %4, %3, %a, %x : !t, !t, !t, !t
}
"""
TIES = "h:0:h:1,a:x,b:a"  # what comes is a step later a, and b after that


def test_a_run_begins_with_what_the_one_before_left() -> None:
    rng = np.random.default_rng(1)
    whole, tied = (Parser(new_context(), NETWORK).parse_module() for _ in range(2))
    for step in build_pipeline(f'memgraph-tie-state{{of="{TIES}"}}'):
        step.apply(new_context(), tied)
        step.apply(new_context(), tied)  # what is tied stays so
    held, state = [np.zeros((1, 4), np.float32)] * 3, State()
    for _ in range(8):
        x = rng.uniform(-9, 9, (1, 4)).astype(np.float32)
        results = []
        for module, inputs, kept in ((whole, [x, *held], None), (tied, [x], state)):
            func = only_function(module)
            values = evaluate(func, Weights.of(module), inputs, kept)
            last = body_of(func).last_op
            assert last is not None
            results.append([values[v] for v in last.operands])
        (y, h, a, b), (found,) = results
        held = [b, a, h]
        assert np.array_equal(y, found)


def test_c_keeps_it_outside_the_arena(tmp_path: Path) -> None:
    (tmp_path / "net.mlir").write_text(NETWORK)
    words = ["compile", str(tmp_path / "net.mlir"), "-o", str(tmp_path / "out")]
    assert main([*words, "--state=h:0:h:1", "--state=a:x,b:a"]) == 0
    header = (tmp_path / "out" / "net.h").read_text()
    assert "VARIABLE_BYTES 36u" in header and "net_reset(void)" in header
    assert "INPUT_1" not in header and "OUTPUT_1" not in header


def test_the_api_takes_it_too(tmp_path: Path) -> None:
    (tmp_path / "net.mlir").write_text(NETWORK)
    planned = memopt.plan(tmp_path / "net.mlir", target="host", state=TIES)
    assert "memgraph.variable" in str(planned.module)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--state=a"], "--state=a: expected INPUT:OUTPUT, such as h:h_next"),
        (["--state=x:none"], "--state=x:none: 'none' is no output"),
        (["--state=a:x,a:y"], "--state=a:y: 'a' is no input"),
        (["--state=a:x", "--target=tflm"], "--state: the .tflite keeps its inputs and outputs"),
    ],
)
def test_what_is_wrong_is_said(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "net.mlir").write_text(NETWORK)
    assert main(["compile", str(tmp_path / "net.mlir"), "-o", str(tmp_path / "o"), *words])
    assert said in normal(capsys.readouterr().err)
