"""Attributes of ONNX nodes, of every type, and in words where they are kept for readers."""

from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from memopt.frontends.onnx.attributes import read_attributes, readable_form

TENSOR = helper.make_tensor("t", TensorProto.FLOAT, [2, 1], [1.0, 2.0])
GRAPH = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [], [])


@pytest.mark.parametrize(
    ("given", "read", "words"),
    [
        (0.5, 0.5, 0.5),
        (3, 3, 3),
        ("same", "same", "same"),
        ([0.5, 1.5], [0.5, 1.5], [0.5, 1.5]),
        ([3, 4], [3, 4], [3, 4]),
        (["a", "b"], ["a", "b"], ["a", "b"]),
        (TENSOR, TENSOR, "tensor of shape [2, 1]"),
        ([TENSOR], [TENSOR], ["tensor of shape [2, 1]"]),
        (GRAPH, GRAPH, "graph of 1 operators"),
        ([GRAPH, GRAPH], [GRAPH, GRAPH], ["graph of 1 operators"] * 2),
    ],
)
def test_every_type_is_read(given: Any, read: Any, words: Any) -> None:
    node = onnx.NodeProto()
    node.attribute.append(helper.make_attribute("a", given))
    found = read_attributes(node)["a"]
    assert found == read
    assert readable_form(found) == words
