"""ONNX attributes: as Python values for the typed operations, and as IR for people."""

from typing import Any, cast

from onnx import AttributeProto, GraphProto, NodeProto, TensorProto

from memopt.frontends.core.options import text_of


def read_attributes(node: NodeProto) -> dict[str, Any]:
    """Attribute name -> int, float, str, list of these, TensorProto or GraphProto."""
    return {a.name: _value(a) for a in node.attribute}


def _value(a: AttributeProto) -> Any:
    match a.type:
        case AttributeProto.FLOAT:
            return a.f
        case AttributeProto.INT:
            return a.i
        case AttributeProto.STRING:
            return text_of(a.s)
        case AttributeProto.TENSOR:
            return a.t
        case AttributeProto.GRAPH:
            return a.g
        case AttributeProto.FLOATS:
            return list(a.floats)
        case AttributeProto.INTS:
            return list(a.ints)
        case AttributeProto.STRINGS:
            return [text_of(s) for s in a.strings]
        case AttributeProto.GRAPHS:
            return list(a.graphs)
        case AttributeProto.TENSORS:
            return list(a.tensors)
        case _:
            return None


def readable_form(value: Any) -> Any:
    """A subgraph is named with its size: its operators run inside, their memory is not planned."""
    if isinstance(value, GraphProto):
        return f"graph of {len(value.node)} operators"
    if isinstance(value, TensorProto):
        return f"tensor of shape {list(value.dims)}"
    return (
        [readable_form(v) for v in cast("list[Any]", value)] if isinstance(value, list) else value
    )
