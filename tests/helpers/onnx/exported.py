# pyright: basic, reportArgumentType=false
"""A graph as exporters write it, node by node, and what its C prints."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

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

    def stored(self, *shape: int) -> str:
        return self.constant(self.rng.integers(-100, 100, shape).astype(np.int8))

    def normalized(self, name: str, width: int) -> str:
        return self.add("LayerNormalization", name, self.reals(width), self.reals(width))

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


def compiled(lab: Any, data: bytes, given: Any, tmp_path: Path, rows: str, *more: str) -> Any:
    """Return what the C printed for inputs [runs, ...]."""
    path, out = tmp_path / "net.onnx", tmp_path / "c"
    path.write_bytes(data)
    words = ["compile", str(path), "--target=host", f"--rows={rows}", *more]
    assert main([*words, "-o", str(out)]) == 0
    done = lab.run_project(out, [given], lab.SANITIZE, trace=False)
    assert done.code == 0, done.messages
    return np.frombuffer(done.output, np.float32)
