"""Small ONNX graphs, read; what executes of them, or why they are refused."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper
from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.function_memory import function_memory
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import model_of
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.frontends.onnx.read import read

Dims = Sequence[int | str]


def make(
    nodes: Sequence[NodeProto],
    x: Dims = (1, 4),
    constants: dict[str, Any] | None = None,
    y: Dims | None = None,
    opset: int = 18,
) -> ModelProto:
    """x -> nodes -> y. Where the shape of y is not given, it is inferred."""
    tensors = [
        v if isinstance(v, TensorProto) else onnx.numpy_helper.from_array(np.asarray(v), k)
        for k, v in (constants or {}).items()
    ]
    out = helper.make_tensor_value_info("y", 1, y)
    graph = helper.make_graph(
        list(nodes), "g", [helper.make_tensor_value_info("x", 1, x)], [out], tensors
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    return model if y is not None else onnx.shape_inference.infer_shapes(model)


def node(kind: str, inputs: Sequence[str] = ("x",), out: str = "y", **attributes: Any) -> NodeProto:
    return helper.make_node(kind, list(inputs), [out], **attributes)


def load(model: ModelProto, shapes: dict[str, tuple[int, ...]] | None = None) -> ModuleOp:
    module = read(model.SerializeToString(), "m.onnx", None, shapes)
    module.verify()
    return module


def refused(data: bytes, path: Path | None = None, **shapes: tuple[int, ...]) -> str:
    with pytest.raises(MemoptError) as caught:
        read(data, "m.onnx", path, shapes)
    text = str(caught.value)
    assert text.startswith("m.onnx") and "\n" not in text
    return text


def executing(module: ModuleOp) -> list[str]:
    func = next(functions(module))
    return [
        op.op_name.data if isinstance(op, OpaqueOp) else op.name.removeprefix("memgraph.")
        for op in function_memory(func, model_of(func)).operations
    ]


def ints(*values: int) -> Any:
    return np.array(values, np.int64)
