"""`--int8-io`: the same network between stored integers."""

from pathlib import Path

import numpy as np
from xdsl.parser import Parser

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.cli import main
from memopt.compile.driver import build_pipeline, new_context
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.functions import body_of, only_function

NETWORK = """
!q = tensor<1x6x6x3xi8, #memgraph.encoding<nhwc, scale = [0.07], zero_point = [-5]>>
!r = tensor<1x3x3x3xi8, #memgraph.encoding<nhwc, scale = [0.07], zero_point = [-5]>>
func.func @main(%x: tensor<1x6x6x3xf32>) -> tensor<1x3x3x3xf32> {
  %0 = memgraph.quantize %x rounding<tflm_double> : (tensor<1x6x6x3xf32>) -> !q
  %1 = memgraph.average_pool_2d %0 window<[2, 2], stride = [2, 2]> : (!q) -> !r
  %2 = memgraph.dequantize %1 : (!r) -> tensor<1x3x3x3xf32>
  func.return %2 : tensor<1x3x3x3xf32>
}
"""


def results(text: str, passes: str, value: Array) -> Array:
    module = Parser(new_context(), text).parse_module()
    for step in build_pipeline(passes):
        step.apply(new_context(), module)
    func = only_function(module)
    values = evaluate(func, Weights.of(module), [value])
    last = body_of(func).last_op
    assert last is not None
    return values[last.operands[0]]


def test_what_the_caller_quantizes_gives_what_was_dequantized() -> None:
    rng = np.random.default_rng(3)
    for _ in range(10):
        real = rng.uniform(-12, 12, (1, 6, 6, 3)).astype(np.float32)
        scale = np.float32(0.07)
        steps = (real / scale).astype(np.float64)
        away = np.copysign(np.floor(np.abs(steps) + 0.5), steps)
        stored = np.clip(away - 5, -128, 127).astype(np.int8)
        before = results(NETWORK, "memgraph-model{inplace=on}", real)
        after = results(NETWORK, "memgraph-int8-io", stored)
        assert after.dtype == np.int8
        assert ((after.astype(np.int32) + 5).astype(np.float32) * scale == before).all()


def test_the_header_states_scale_and_zero_point(tmp_path: Path) -> None:
    (tmp_path / "net.mlir").write_text(NETWORK)
    model = str(tmp_path / "net.mlir")
    assert main(["compile", model, "--int8-io", "-o", str(tmp_path / "out")]) == 0
    header = (tmp_path / "out" / "net.h").read_text()
    assert "INPUT_0_SCALE 0.07" in header and "OUTPUT_0_ZERO_POINT (-5)" in header
    assert "const int8_t" in header and "float *" not in header
