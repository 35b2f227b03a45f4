# pyright: basic, reportArgumentType=false
"""Patterns that exporters and onnxruntime's quantiser write, as C by the command, whole and in
rows: what is stored bit for bit as the graph stands, reals close to onnxruntime."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from qdq_pairs import results

from memopt.cli import main

FLOAT, INT8 = TensorProto.FLOAT, TensorProto.INT8


class Exported:
    """A graph of one input `x`, of reals or of stored integers."""

    def __init__(self, shape: tuple[int, ...], stored: bool = False) -> None:
        self.rng = np.random.default_rng(7)
        self.shape, self.kind = shape, INT8 if stored else FLOAT
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def reals(self, *shape: int) -> str:
        return self.constant(self.rng.normal(size=shape).astype(np.float32))

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def step(self, scale: float, zero: int) -> list[str]:
        return [self.constant(np.float32(scale)), self.constant(np.int8(zero))]

    def pair(self, name: str, scale: float, zero: int = 3) -> str:
        """Stored, and real again."""
        step = self.step(scale, zero)
        return self.add("DequantizeLinear", self.add("QuantizeLinear", name, *step), *step)

    def input(self, scale: float = 0.03, zero: int = 3) -> str:
        return self.add("DequantizeLinear", "x", *self.step(scale, zero))

    def model(self, result: str) -> bytes:
        given = helper.make_tensor_value_info("x", self.kind, self.shape)
        made = helper.make_tensor_value_info(result, FLOAT, None)
        graph = helper.make_graph(self.nodes, "g", [given], [made], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        return onnx.shape_inference.infer_shapes(model, strict_mode=True).SerializeToString()


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


STORED: dict[str, tuple[Callable[[Exported], str], tuple[int, ...]]] = {
    "normalized_view": (normalized_view, (1, 3, 8, 10)),
    "weighed_sum": (weighed_sum, (1, 9, 12)),
    "counting_pool": (counting_pool, (1, 3, 4, 4)),
    "pool_over_time": (pool_over_time, (1, 4, 12)),
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


REAL: dict[str, tuple[Callable[[Exported], str], tuple[int, ...]]] = {
    "normalized_weights": (normalized_weights, (1, 16, 20)),
    "standard_weights": (standard_weights, (1, 3, 9, 9)),
}
ROWS = pytest.mark.parametrize("rows", ["auto", "all"])


def compiled(lab: Any, data: bytes, given: Any, tmp_path: Path, rows: str) -> Any:
    """What the C printed for inputs [runs, ...]."""
    path, out = tmp_path / "net.onnx", tmp_path / "c"
    path.write_bytes(data)
    assert main(["compile", str(path), "--target=host", f"--rows={rows}", "-o", str(out)]) == 0
    done = lab.run_project(out, [given], lab.SANITIZE, trace=False)
    assert done.code == 0, done.messages
    return np.frombuffer(done.output, np.float32)


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


@pytest.mark.parametrize("name", REAL)
def test_real_patterns_are_close_to_onnxruntime(name: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    make, shape = REAL[name]
    e = Exported(shape)
    data = e.model(make(e))
    given = e.rng.normal(size=(4, *shape)).astype(np.float32)
    want = np.stack([results(data, {"x": x}, fused=False) for x in given]).reshape(-1)
    off = abs(compiled(lab, data, given, tmp_path, "auto") - want).max()
    assert off <= 1e-5 * abs(want).max()


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
    assert main(["compile", str(path), "--target=host", "-o", str(out)]) == 0
    done = lab.run_project(out, [np.float32([[[1, 2]]])], lab.SANITIZE, trace=False)
    assert np.frombuffer(done.output, np.float32).tolist() == [2.5, 9.0]
