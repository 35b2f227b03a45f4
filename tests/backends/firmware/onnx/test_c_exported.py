# pyright: basic, reportArgumentType=false
"""Patterns that exporters and onnxruntime's quantiser write, as C by the command, whole and in
rows: what is stored bit for bit as the graph stands, reals close to onnxruntime."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported import Exported, compiled
from onnx import helper
from qdq_pairs import results
from quick_options import QUICK

from memopt.cli import main


def normalized_view(e: Exported) -> str:
    """BC-ResNet (Kim et al. 2021): a batch normalization of parts of the spectrum, in stored
    integers, over channels that a view makes; cut into rows it once was of one row each."""
    wide = e.add("Reshape", e.input(), e.constant(np.int64([1, 6, 4, 10])))
    numbers = [
        e.reals(6),
        e.reals(6),
        e.reals(6),
        e.constant(e.rng.uniform(0.5, 2, 6).astype("f4")),
    ]
    made = e.add("BatchNormalization", e.pair(wide, 0.03), *numbers)
    return e.pair(e.add("Reshape", e.pair(made, 0.05), e.constant(np.int64([1, 3, 8, 10]))), 0.05)


def weighed_sum(e: Exported) -> str:
    """Attention over time: a sum that is stored in steps of its own."""
    return e.pair(e.add("ReduceSum", e.input(), e.constant(np.int64([1])), keepdims=0), 0.2113)


def counting_pool(e: Exported) -> str:
    """EfficientNet's last pool as `transformers` writes it: larger than the image, rounded up."""
    window = {"kernel_shape": [9, 9], "strides": [9, 9], "ceil_mode": 1, "count_include_pad": 1}
    return e.pair(e.add("AveragePool", e.input(), **window), 0.02)


def pool_over_time(e: Exported) -> str:
    """SEW (Wu et al. 2021): a mean of two neighbours in one dimension."""
    return e.pair(e.add("AveragePool", e.input(), kernel_shape=[2], strides=[2]), 0.0211)


def tokens_first(e: Exported) -> str:
    """A linear layer of PyTorch between pairs, of [tokens, 1, channels], its bias added first."""
    turned = e.pair(e.add("Transpose", e.input(), perm=[1, 0, 2]), 0.03)
    weights = e.add("DequantizeLinear", e.stored(8, 12), *e.step(0.01, 0))
    bias = e.add("DequantizeLinear", e.stored(12), *e.step(0.02, 0))
    made = e.pair(e.add("MatMul", turned, weights), 0.05)
    made = e.pair(e.add("Relu", e.pair(e.add("Add", bias, made), 0.06)), 0.04)
    flat = e.pair(e.add("Reshape", made, e.constant(np.int64([6, 12]))), 0.04)
    return e.pair(e.add("Reshape", flat, e.constant(np.int64([1, 6, 12]))), 0.04)


STORED: dict[str, tuple[Callable[[Exported], str], tuple[int, ...]]] = {
    "normalized_view": (normalized_view, (1, 3, 8, 10)),
    "weighed_sum": (weighed_sum, (1, 9, 12)),
    "counting_pool": (counting_pool, (1, 3, 4, 4)),
    "pool_over_time": (pool_over_time, (1, 4, 12)),
    "tokens_first": (tokens_first, (1, 6, 8)),
}


def normalized_weights(e: Exported) -> str:
    """TCN (Bai et al. 2018) as `dynamo=False` writes it: weights are directions times lengths, made
    in the file."""
    directions = e.reals(24, 16, 4)
    length = e.add("ReduceL2", directions, e.constant(np.int64([1, 2])), keepdims=1)
    weights = e.add("Mul", e.add("Div", directions, length), e.reals(24, 1, 1))
    return e.add("Conv", "x", weights, e.reals(24), kernel_shape=[4], dilations=[2], pads=[6, 0])


def standard_weights(e: Exported) -> str:
    """BiT (Kolesnikov et al. 2020): weights of mean 0 and variance 1 by a batch normalization in
    training, of weights."""
    ones, none = np.ones(8, np.float32), np.zeros(8, np.float32)
    more = [e.constant(v) for v in (ones, none, none, ones)]
    e.nodes.append(
        helper.make_node(
            "BatchNormalization", [e.reals(1, 8, 147), *more], ["w", "m", "v"], training_mode=1
        )
    )
    weights = e.add("Reshape", "w", e.constant(np.int64([8, 3, 7, 7])))
    return e.add("Conv", "x", weights, kernel_shape=[7, 7])


def mask_of_classes(e: Exported) -> str:
    """U-Net (Ronneberger et al. 2015): a softmax over channels, for each pixel."""
    return e.add("Softmax", e.add("Conv", "x", e.reals(5, 3, 3, 3), pads=[1] * 4), axis=1)


def attention_over_time(e: Exported) -> str:
    """Attentive pooling (Okabe et al. 2018): a softmax over time, of each channel."""
    return e.add("Mul", "x", e.add("Softmax", e.add("Tanh", "x"), axis=1))


def grouped_queries(e: Exported) -> str:
    """Grouped-query attention (Ainslie et al. 2023): heads share keys, so that matrices broadcast
    along one dimension and not along another."""
    heads = e.add("Reshape", "x", e.constant(np.int64([2, 3, 4, 5])))
    keys = e.add("ReduceMean", heads, e.constant(np.int64([1])), keepdims=1)
    return e.add("MatMul", heads, e.add("Transpose", keys, perm=[0, 1, 3, 2]))


def encoder(e: Exported) -> str:
    """A layer of `torch.nn.TransformerEncoder` behind patches, its weights shared by two: tokens
    come first in the attention, and its result is a matrix."""
    patches = e.add("Conv", "x", e.reals(16, 3, 4, 4), kernel_shape=[4, 4], strides=[4, 4])
    tall = e.add("Reshape", patches, e.constant(np.int64([1, 16, 16])))
    name = e.add("Add", e.add("Transpose", tall, perm=[0, 2, 1]), e.reals(1, 16, 16))
    ends = [e.constant(np.int64(k)) for k in range(3)]
    into, out, wide, narrow = e.reals(16, 48), e.reals(16, 16), e.reals(16, 32), e.reals(32, 16)
    for _ in range(2):
        turned = e.add("Transpose", e.normalized(name, 16), perm=[1, 0, 2])
        made = e.add("Add", e.reals(48), e.add("MatMul", turned, into))
        made = e.add("Reshape", made, e.constant(np.int64([16, 1, 3, 16])))
        made = e.add("Transpose", made, perm=[2, 1, 0, 3])
        parts = [e.add("Gather", made, k, axis=0) for k in ends]
        split = [
            e.add("Transpose", e.add("Reshape", v, e.constant(np.int64([16, 4, 4]))), perm=order)
            for v, order in zip(parts, ([1, 0, 2], [1, 2, 0], [1, 0, 2]), strict=True)
        ]
        scores = e.add("Mul", e.add("MatMul", *split[:2]), e.constant(np.float32(0.5)))
        weighed = e.add("MatMul", e.add("Softmax", scores, axis=-1), split[2])
        flat = e.add("Transpose", weighed, perm=[1, 0, 2])
        flat = e.add("Reshape", flat, e.constant(np.int64([16, 16])))
        flat = e.add("Gemm", flat, out, e.reals(16))
        back = e.add("Reshape", flat, e.constant(np.int64([16, 1, 16])))
        name = e.add("Add", name, e.add("Transpose", back, perm=[1, 0, 2]))
        linear = e.add("MatMul", e.normalized(name, 16), wide)
        linear = e.add("Relu", e.add("Add", e.reals(32), linear))
        name = e.add("Add", name, e.add("Add", e.reals(16), e.add("MatMul", linear, narrow)))
    return e.add("ReduceMean", name, e.constant(np.int64([1])), keepdims=0)


def keyword_spotter(e: Exported) -> str:
    """A keyword transformer (Berg et al. 2021) of one layer: queries, keys and values are made of
    a normalized row each."""

    def linear(name: str, before: int, after: int) -> str:
        return e.add("Add", e.add("MatMul", name, e.reals(before, after)), e.reals(after))

    name = e.add("Add", linear("x", 8, 16), e.reals(1, 24, 16))
    for _ in range(2):
        row = e.normalized(name, 16)
        shape = e.constant(np.int64([1, 24, 2, 8]))
        q, k, v = (
            e.add("Transpose", e.add("Reshape", linear(row, 16, 16), shape), perm=order)
            for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
        )
        shares = e.add("Softmax", e.add("MatMul", q, k), axis=-1)
        mixed = e.add("Transpose", e.add("MatMul", shares, v), perm=[0, 2, 1, 3])
        mixed = e.add("Reshape", mixed, e.constant(np.int64([1, 24, 16])))
        name = e.add("Add", name, linear(mixed, 16, 16))
    return e.add("ReduceMean", name, e.constant(np.int64([1])), keepdims=0)


REAL: dict[str, tuple[Callable[[Exported], str], tuple[int, ...]]] = {
    "normalized_weights": (normalized_weights, (1, 16, 20)),
    "standard_weights": (standard_weights, (1, 3, 9, 9)),
    "grouped_queries": (grouped_queries, (1, 6, 4, 5)),
    "mask_of_classes": (mask_of_classes, (1, 3, 8, 7)),
    "attention_over_time": (attention_over_time, (1, 9, 6)),
    "encoder": (encoder, (1, 3, 16, 16)),
}
ROWS = pytest.mark.parametrize("rows", ["auto", "all"])


@ROWS
@pytest.mark.parametrize("name", STORED)
def test_stored_patterns_are_what_the_graph_says(
    name: str, rows: str, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools("host")
    make, shape = STORED[name]
    e = Exported(shape, stored=True)
    data = e.model(make(e))
    given = e.rng.integers(-128, 128, (4, *shape)).astype(np.int8)
    want = np.stack([results(data, {"x": x}, fused=False) for x in given])
    assert len(np.unique(want)) > 2
    assert (compiled(lab, data, given, tmp_path, rows) == want.reshape(-1)).all()


@pytest.mark.deep
@ROWS
@pytest.mark.parametrize("name", REAL)
def test_real_patterns_are_close_to_onnxruntime(
    name: str, rows: str, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools("host")
    make, shape = REAL[name]
    e = Exported(shape)
    data = e.model(make(e))
    given = e.rng.normal(size=(4, *shape)).astype(np.float32)
    want = np.stack([results(data, {"x": x}, fused=False) for x in given]).reshape(-1)
    off = abs(compiled(lab, data, given, tmp_path, rows) - want).max()
    assert off <= 1e-5 * abs(want).max()


def test_an_encoder_is_in_rows_behind_its_patches(tmp_path: Path, lab: Any) -> None:
    """Nothing stands between its operators that has no rows: a token's are there at once."""
    e = Exported((1, 3, 16, 16))
    path, out = tmp_path / "net.onnx", tmp_path / "c"
    path.write_bytes(e.model(encoder(e)))
    words = ["compile", str(path), "--target=host", "--rows=all", "--rewrite=all", "--nhwc-io"]
    assert main([*words, "-o", str(out)]) == 0
    plan = json.loads((out / "report.json").read_text())["plan"]
    assert (plan["family"], plan["rows"]["operators_cut"]) == ("rows", 27)
    assert plan["arena"] == 4_288  # of 7,168 as whole operators


@pytest.mark.deep
def test_rows_are_normalized_again_for_their_queries(tmp_path: Path, lab: Any) -> None:
    """Rows, keys and values are there, and nothing else of all rows."""
    lab.need_tools("host")
    e = Exported((1, 24, 8))
    data = e.model(keyword_spotter(e))
    given = e.rng.normal(size=(4, 1, 24, 8)).astype(np.float32)
    want = np.stack([results(data, {"x": x}, fused=False) for x in given]).reshape(-1)
    words = "--rewrite=all", "--optimize=ram"
    off = abs(compiled(lab, data, given, tmp_path, "auto", *words) - want).max()
    assert off <= 1e-5 * abs(want).max()
    report = json.loads((tmp_path / "c/report.json").read_text())
    assert "computed-again" in str(report)
    assert report["plan"]["arena"] < (3 * 24 + 8) * 16 * 4


def test_what_is_constant_is_read_from_flash(tmp_path: Path, lab: Any) -> None:
    """Weights that are brought to mean 0 at run time (BiT), by kernels that expect a buffer."""
    lab.need_tools("host")
    path, out = tmp_path / "m.mlir", tmp_path / "c"
    path.write_text("""
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %c = memgraph.constant dense<[[[1.0, 5.0], [2.0, 9.0]]]> : tensor<1x2x2xf32>
  %m = memgraph.mean %c axes [1] : (tensor<1x2x2xf32>) -> tensor<1x2xf32>
  %y = memgraph.add %x, %m : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}
""")
    assert main(["compile", str(path), *QUICK, "-o", str(out)]) == 0
    done = lab.run_project(out, [np.float32([[[1, 2]]])], lab.SANITIZE, trace=False)
    assert np.frombuffer(done.output, np.float32).tolist() == [2.5, 9.0]
