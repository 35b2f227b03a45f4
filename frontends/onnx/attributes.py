"""ONNX attributes: as Python values for the typed operations, and as IR for people."""

from typing import Any, cast

from onnx import AttributeProto, GraphProto, NodeProto, TensorProto
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f32,
    i64,
)
from xdsl.ir import Attribute

from memopt.frontends.core.typed import readable_options

MAX_ENTRIES = 64


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
            return _text(a.s)
        case AttributeProto.TENSOR:
            return a.t
        case AttributeProto.GRAPH:
            return a.g
        case AttributeProto.FLOATS:
            return list(a.floats)
        case AttributeProto.INTS:
            return list(a.ints)
        case AttributeProto.STRINGS:
            return [_text(s) for s in a.strings]
        case AttributeProto.GRAPHS:
            return list(a.graphs)
        case AttributeProto.TENSORS:
            return list(a.tensors)
        case _:
            return None


def _text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")


def options_attribute(attributes: dict[str, Any], absent: tuple[int, ...]) -> DictionaryAttr:
    """Attributes for people; `absent` operands are listed by position. A subgraph is named with its
    size: its operators run inside, and their memory is not planned."""
    return readable_options({k: _attribute(v) for k, v in attributes.items()}, absent)


def _attribute(value: Any) -> Attribute | None:
    """None for what is too long to read."""
    if isinstance(value, int):
        return IntegerAttr(value, i64)
    if isinstance(value, float):
        return FloatAttr(value, f32)
    if isinstance(value, str):
        return StringAttr(value)
    if isinstance(value, GraphProto):
        return StringAttr(f"graph of {len(value.node)} operators")
    if isinstance(value, TensorProto):
        return StringAttr(f"tensor of shape {list(value.dims)}")
    if isinstance(value, list) and len(cast("list[Any]", value)) <= MAX_ENTRIES:
        parts = [_attribute(v) for v in cast("list[Any]", value)]
        if all(p is not None for p in parts):
            return ArrayAttr(cast("list[Attribute]", parts))
    return None
