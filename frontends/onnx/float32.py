"""One rule for reals of other widths: they are computed, and kept, as float32.

A file of float16, bfloat16 or float64 is read as if it said float32 wherever it says one of these.
Constants are converted: those of 16 bits exactly, those of float64 to the nearest float32. What a
runtime of 16 bits would round between operators is not rounded, so results differ from its by what
it rounds: a relative 2^-11 (float16) or 2^-8 (bfloat16) for each operator; from those of float64 by
what float32 rounds, 2^-24. On a CPU onnxruntime computes most float16 operators so, too.

Microcontrollers have no arithmetic of these types, and the plan counts what the C keeps: 4 bytes.
"""

from collections.abc import Iterable
from typing import Any, Final

import onnx.numpy_helper
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto, TypeProto

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.frontends.onnx.ordering import subgraphs

FLOAT: Final = TensorProto.FLOAT
REALS: Final[dict[int, str]] = {
    TensorProto.FLOAT16: "float16",
    TensorProto.BFLOAT16: "bfloat16",
    TensorProto.DOUBLE: "float64",
}
TYPE_ATTRIBUTES: Final = ("to", "dtype", "output_dtype", "stash_type")


def compute_in_float32(graph: GraphProto) -> frozenset[str]:
    """Let a graph say float32 where it says another real type, but for its constants, which
    `real_array` converts; return the names of the types of values that are computed."""
    return frozenset(_values(graph) | _nodes(graph.node))


def real_array(array: Any, element: int) -> Any:
    """Return the elements of a constant of that type, as float32 where it is another real type."""
    if element not in REALS:
        return array
    with np.errstate(over="ignore"):  # beyond float32 is infinite
        return array.astype(np.float32)


def element_read(element: int) -> int:
    """Return the element type that a tensor of the file is read as."""
    return FLOAT if element in REALS else element


def converted(tensor: TensorProto) -> TensorProto:
    """Return a tensor as float32 if it is of another real type, else itself."""
    if tensor.data_type not in REALS:
        return tensor
    array = real_array(onnx.numpy_helper.to_array(tensor), tensor.data_type)
    return onnx.numpy_helper.from_array(array, tensor.name)


def _values(graph: GraphProto) -> set[str]:
    said: set[str] = set()
    constants = {t.name for t in graph.initializer}
    for value in (*graph.input, *graph.output, *graph.value_info):
        if value.type.WhichOneof("value") == "tensor_type":
            names = _type(value.type)
            said |= set() if value.name in constants else names
    return said


def _type(type_: TypeProto) -> set[str]:
    tensor = type_.tensor_type
    if tensor.elem_type not in REALS:
        return set()
    name = REALS[tensor.elem_type]
    tensor.elem_type = FLOAT
    return {name}


def _nodes(nodes: Iterable[NodeProto]) -> set[str]:
    said: set[str] = set()
    for node in nodes:
        for attribute in node.attribute:
            said |= _attribute(node, attribute)
        for graph in subgraphs(node):
            for tensor in graph.initializer:
                if tensor.data_type in REALS:
                    tensor.CopyFrom(converted(tensor))
            said |= _values(graph) | _nodes(graph.node)
    return said


def _attribute(node: NodeProto, attribute: AttributeProto) -> set[str]:
    if attribute.type == AttributeProto.INT and attribute.name in TYPE_ATTRIBUTES:
        if attribute.i in REALS:
            name = REALS[attribute.i]
            attribute.i = FLOAT
            return {name}
    elif attribute.type == AttributeProto.TENSOR and node.op_type != "Constant":
        attribute.t.CopyFrom(converted(attribute.t))
    return set()
