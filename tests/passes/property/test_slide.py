"""Windows that slide: rows that are said to be those of the run before are, bit for bit."""

from collections import Counter

import numpy as np
import pytest
from row_networks import network
from xdsl.ir import SSAValue

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import build_pipeline, load_text, new_context
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.tensors import rows_of, shape_of
from memopt.passes.sliding.reuse_analysis import kept_rows

TEXT = """
!x = tensor<1x16x1x2xf32, #memgraph.encoding<nhwc>>
!a = tensor<1x14x1x2xf32, #memgraph.encoding<nhwc>>
!b = tensor<1x7x1x2xf32, #memgraph.encoding<nhwc>>
!w = tensor<2x3x1x2xf32, #memgraph.encoding<ohwi>>
func.func @main(%x: !x) -> tensor<1x2xf32> {
  %w = memgraph.constant dense<0.5> : !w
  %y = memgraph.conv_2d %x, %w window<[3, 1]> groups 1 : (!x, !w) -> !a
  %p = memgraph.max_pool_2d %y window<[2, 1], stride = [2, 1]> : (!a) -> !b
  %r = memgraph.relu %p : (!b) -> !b
  %m = memgraph.mean %r axes [1, 2] : (!b) -> tensor<1x2xf32>
  func.return %m : tensor<1x2xf32>
}
"""


@pytest.mark.deep
@pytest.mark.parametrize("quantized", [True, False])
def test_kept_rows_are_those_of_the_run_before(quantized: bool, fuzz: float) -> None:
    seen = Counter[str]()
    for seed in range(max(60, int(2_000 * fuzz))):
        rng = np.random.default_rng([seed, quantized])
        func = only_function(load_text(new_context(), network(rng, quantized, True), "n.mlir"))
        (argument,) = body_of(func).args
        height, shape = rows_of(argument) or 0, shape_of(argument)
        by = int(rng.integers(1, max(2, height // 2)))
        try:
            kept = kept_rows(func, by)
        except MemoptError:
            seen["refused"] += 1
            continue
        tall = (1, height + by, *shape[2:])
        real: Array = rng.standard_normal(tall).astype(np.float32)
        signal = rng.integers(-128, 128, tall).astype(np.int8) if quantized else real
        before, now = (evaluate(func, Weights({}), [signal[:, at : at + height]]) for at in (0, by))
        for value, rows in kept.items():
            check(before[value], now[value], rows.shift, sorted(rows.rows), seed)
            seen[name(value)] += len(rows.rows)
    assert all(seen[k] for k in ("refused", "conv_2d", "add", "concat")), seen


def name(value: SSAValue) -> str:
    owner = value.owner
    return str(getattr(owner, "name", "input")).removeprefix("memgraph.")


def check(before: Array, now: Array, shift: int, rows: list[int], seed: int) -> None:
    for r in rows:
        assert now[:, r].tobytes() == before[:, r + shift].tobytes(), (seed, r, shift)


@pytest.mark.parametrize(
    ("by", "kept", "macs"),
    [(2, (12, 6, 6), 144), (4, (10, 5, 5), 120), (1, (13,), 156)],
)
def test_what_is_kept(by: int, kept: tuple[int, ...], macs: int) -> None:
    """Of 14 rows with 12 multiplications each; a stride of two keeps nothing of every other."""
    module = load_text(new_context(), TEXT, "n.mlir")
    func = only_function(module)
    found = kept_rows(func, by)
    assert tuple(len(k.rows) for k in list(found.values())[1:]) == kept
    (step,) = build_pipeline(f"memgraph-slide{{rows={by}}}")
    step.apply(new_context(), module)
    assert f"kept_macs = {macs} : i64" in str(func) and "macs = 168 : i64" in str(func)


CLIPPED = """
!x = tensor<1x3x1x1xf32, #memgraph.encoding<nhwc>>
!y = tensor<1x2x1x1xf32, #memgraph.encoding<nhwc>>
!w = tensor<1x3x1x1xf32, #memgraph.encoding<ohwi>>
func.func @main(%x: !x) -> !y {
  %w = memgraph.constant dense<[[[[1.0]], [[2.0]], [[4.0]]]]> : !w
  %y = memgraph.conv_2d %x, %w window<[3, 1], stride = [2, 1], pad = [1, 0, 1, 0]> groups 1
    : (!x, !w) -> !y
  func.return %y : !y
}
"""


def test_rows_under_other_taps_are_none() -> None:
    """Both rows read two rows, one of them another distance on: by other weights."""
    func = only_function(load_text(new_context(), CLIPPED, "n.mlir"))
    with pytest.raises(MemoptError, match=r"no row is in the run before: conv_2d \(y\)"):
        kept_rows(func, 1)


@pytest.mark.parametrize(
    ("text", "by", "message"),
    [
        (TEXT, 16, "x has 16 rows, so no two runs have one in common"),
        (
            "func.func @main(%x: tensor<1x4x2xf32>, %y: tensor<1x4x2xf32>) { func.return }",
            1,
            "one input slides, the function has x, y",
        ),
    ],
)
def test_what_does_not_slide_is_refused_by_name(text: str, by: int, message: str) -> None:
    func = only_function(load_text(new_context(), text, "n.mlir"))
    with pytest.raises(MemoptError, match=message):
        kept_rows(func, by)
