# pyright: basic, reportArgumentType=false
"""A frontend says what the file says: one operation for one operator, whatever computes it."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, shape_inference

from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.operators.base import ComputeOp
from memopt.frontends.onnx.read import read

IMAGE = (2, 4, 6, 8)
TYPES = {"f": TensorProto.FLOAT, "i": TensorProto.INT32, "b": TensorProto.INT8}


def names(
    kind: str, shapes: list[tuple[int, ...]], element: str = "f", more: Any = (), **attributes: Any
) -> list[str]:
    """Return the operations that an operator becomes whose inputs have these shapes; `more` are
    constant operands."""
    inputs = [
        helper.make_tensor_value_info(f"x{i}", TYPES[element], s) for i, s in enumerate(shapes)
    ]
    constants = [numpy_helper.from_array(np.asarray(v), f"c{i}") for i, v in enumerate(more)]
    operands = [v.name for v in (*inputs, *constants)]
    node = helper.make_node(kind, operands, ["y"], **attributes)
    made = helper.make_empty_tensor_value_info("y")
    graph = helper.make_graph([node], "g", inputs, [made], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    data = shape_inference.infer_shapes(model).SerializeToString()
    func = only_function(read(data, "m.onnx"))
    running = [op for op in func.walk() if isinstance(op, ComputeOp)]
    return [op.name.removeprefix("memgraph.") for op in running]


@pytest.mark.parametrize("small", [(4, 1, 1), (2, 1, 1, 8), (6, 1), (1, 4, 1, 8)])
@pytest.mark.parametrize("kind", ["Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "PRelu"])
def test_a_broadcast(kind: str, small: tuple[int, ...]) -> None:
    assert len(names(kind, [IMAGE, small])) == 1


def test_two_that_lie_across() -> None:
    assert names("Add", [(1, 4, 1, 8), (2, 1, 6, 1)]) == ["add"]


@pytest.mark.parametrize("axes", [[1, 3], [0, 2], [0, 2, 3]])
@pytest.mark.parametrize("kind", ["Max", "Min", "Sum", "Prod", "Mean"])
def test_a_reduction_over_axes_that_lie_apart(kind: str, axes: list[int]) -> None:
    assert len(names(f"Reduce{kind}", [IMAGE], more=[np.int64(axes)], keepdims=0)) == 1


@pytest.mark.parametrize("kind", ["Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"])
def test_a_comparison_of_bytes(kind: str) -> None:
    assert len(names(kind, [IMAGE, IMAGE], "b")) == 1


@pytest.mark.parametrize("kind", ["Neg", "Abs"])
def test_a_function_of_integers(kind: str) -> None:
    assert names(kind, [IMAGE], "i") == [kind.lower()]


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_a_softmax(axis: int) -> None:
    assert names("Softmax", [IMAGE], axis=axis) == ["softmax"]


def test_a_product_of_matrices_of_which_some_dimensions_broadcast() -> None:
    assert names("MatMul", [(2, 1, 3, 4), (1, 5, 4, 6)]) == ["batch_matmul"]
    assert names("MatMul", [(2, 5, 3, 4), (5, 4, 6)]) == ["batch_matmul"]


@pytest.mark.parametrize(
    ("kind", "more", "name"),
    [
        ("Slice", [[0, 0], [6, 2**31 - 1], [2, 3]], "reshape"),
        ("Slice", [[0], [6], [2], [1]], "reshape"),
        ("Slice", [[0], [5], [2]], "slice"),
        ("Slice", [[-1], [-7], [2], [-1]], "slice"),
        ("Expand", [[4, 1, 1]], "reshape"),
        ("Expand", [[3, 2, 4, 6, 8]], "strided"),
        ("Tile", [[1, 1, 1, 1]], "reshape"),
        ("Tile", [[1, 1, 1, 2]], "strided"),
    ],
)
def test_what_takes_all_moves_nothing(kind: str, more: Any, name: str) -> None:
    """A reshape to the same shape is a view, which rules leave out."""
    assert names(kind, [IMAGE], more=[np.int64(v) for v in more]) == [name]
