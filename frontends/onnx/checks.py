"""Checks that an .onnx file holds together: names, nodes, and the bytes of its constants."""

import copy
from pathlib import Path
from typing import Any, Final

import onnx
import onnx.checker
import onnx.defs
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, TypeProto

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.tensors import stored_bytes
from memopt.frontends.onnx.ordering import Numbered, with_nodes
from memopt.frontends.onnx.types import ELEMENTS, STRING

DEFAULT_DOMAINS: Final = ("", "ai.onnx")
MAX_MESSAGE: Final = 400  # characters of onnx's own messages that are kept
UNREGISTERED: Final = "unregistered"  # the domain in which the checker lets any operator be


def check_text(graph: GraphProto, name: str) -> None:
    """Names must be UTF-8: protobuf gives any others as bytes, and says nothing."""
    texts: list[object] = [graph.name, *(t.name for t in graph.initializer)]
    for value in (*graph.input, *graph.output, *graph.value_info):
        texts.append(value.name)
        texts += [d.dim_param for d in value.type.tensor_type.shape.dim]
    for node in graph.node:
        texts += [node.name, node.op_type, node.domain, *node.input, *node.output]
        texts += [a.name for a in node.attribute]
    for text in texts:
        if isinstance(text, bytes):
            raise MemoptError(f"the name {text!r} is not UTF-8 text", name)


def message(error: BaseException) -> str:
    """The text of somebody else's error on one line, not too long."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= MAX_MESSAGE else text[:MAX_MESSAGE] + " ..."


def check_model(
    model: ModelProto, nodes: list[Numbered], data: bytes | None, name: str, path: Path | None
) -> None:
    """Ask onnx's checker about a file, `nodes` being its nodes in order, and `data` its bytes, if
    the model is still what they say. Raises MemoptError.

    What runtimes take and the checker does not is brought into its form first: nodes out of order,
    inputs and outputs of no rank, operators that ONNX does not have.
    """
    external = [t for t in model.graph.initializer if t.data_location == TensorProto.EXTERNAL]
    if external and path is None:
        text = f"weights {external[0].name!r} are in another file: give the model by its path"
        raise MemoptError(text, name)
    unknown = [i for i, node in nodes if is_unregistered(node)]
    is_sorted = all(i == k for k, (i, _) in enumerate(nodes))
    checked = str(path) if external else data
    if data is None or unknown or not is_sorted or any(_without_shapes(model)):
        checked = _checkable(model, [i for i, _ in nodes], set(unknown)).SerializeToString()
    checker: Any = onnx.checker
    try:
        checker.check_model(checked)
    except Exception as error:
        raise MemoptError(message(error), name) from None


def is_unregistered(node: NodeProto) -> bool:
    """Return whether ONNX has no operator of that name in any version."""
    return node.domain in DEFAULT_DOMAINS and not onnx.defs.has(node.op_type, "")


def _checkable(model: ModelProto, order: list[int], unknown: set[int]) -> ModelProto:
    """A copy that differs only in what the checker must not see, without weights elsewhere."""
    stripped = copy.deepcopy(model)
    graph = stripped.graph
    for i in unknown:
        graph.node[i].domain = UNREGISTERED
    if unknown:
        stripped.opset_import.add(domain=UNREGISTERED, version=1)
    graph.CopyFrom(with_nodes(graph, order))
    for tensor in _without_shapes(stripped):
        tensor.shape.SetInParent()
    given = {v.name for v in graph.input}
    for k in reversed(range(len(graph.initializer))):
        tensor = graph.initializer[k]
        if tensor.data_location == TensorProto.EXTERNAL:
            if tensor.name not in given:
                add = onnx.helper.make_tensor_value_info
                graph.input.append(add(tensor.name, tensor.data_type, tensor.dims))
            del graph.initializer[k]
    return stripped


def _without_shapes(model: ModelProto) -> list[TypeProto.Tensor]:
    """The types of the graph's inputs and outputs that say nothing of their rank."""
    values = (*model.graph.input, *model.graph.output)
    types = (v.type.tensor_type for v in values if v.type.WhichOneof("value") == "tensor_type")
    return [tensor for tensor in types if not tensor.HasField("shape")]


def check_constant(tensor: TensorProto, name: str, path: Path | None) -> None:
    """A tensor's bytes are there, all of them: here, or in the other file that it names."""
    place = f"{name}: constant {tensor.name!r}"
    if min(tensor.dims, default=0) < 0:
        raise MemoptError(f"has a negative dimension: {list(tensor.dims)}", place)
    needed = byte_count(tensor)
    if tensor.data_location != TensorProto.EXTERNAL or path is None:
        if needed is not None and tensor.HasField("raw_data") and len(tensor.raw_data) < needed:
            raise MemoptError(f"has {len(tensor.raw_data)} bytes of {needed}", place)
        return
    entries = {e.key: e.value for e in tensor.external_data}
    try:
        offset = int(entries.get("offset", "0"))
        size = (path.parent / entries.get("location", "")).stat().st_size
        length = int(entries.get("length", str(size - offset)))
    except (ValueError, OSError) as error:
        raise MemoptError(message(error), place) from None
    if offset < 0 or offset + length > size or (needed is not None and length < needed):
        text = f"needs {needed} bytes from {offset} of {entries['location']!r}, of {size} bytes"
        raise MemoptError(text, place)


def byte_count(tensor: TensorProto) -> int | None:
    """Bytes of a tensor from its shape and type, None for strings."""
    if tensor.data_type == STRING or tensor.data_type not in ELEMENTS:
        return None
    return stored_bytes(ELEMENTS[tensor.data_type], tensor.dims)
