"""An .onnx file, checked, with the type of every value inferred by onnx itself.

Everything that is wrong with a file ends here, or in `folding`, as one MemoptError with its place.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any, Final

import onnx
import onnx.inliner
import onnx.numpy_helper
import onnx.shape_inference
import onnx.version_converter
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, ValueInfoProto

from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.onnx_weights import array_of, constant_tensor, files_hash
from memopt.frontends.core.shapes import Fixed
from memopt.frontends.onnx.checks import (
    DEFAULT_DOMAINS,
    check_constant,
    check_model,
    check_text,
    is_unregistered,
    message,
)
from memopt.frontends.onnx.float32 import compute_in_float32, converted, element_read
from memopt.frontends.onnx.given import given_constants
from memopt.frontends.onnx.input_shapes import fix_shapes, is_known
from memopt.frontends.onnx.ordering import Numbered, in_order, sort_subgraphs
from memopt.frontends.onnx.qlinear import expanded

OLDEST_OPSET: Final = 7
CONVERTED: Final = 13  # what older models are converted to
INFERRED: Final = 1024  # elements of a constant that onnx's shape inference is shown, at most

Shape = tuple[int | None, ...]


@dataclass(frozen=True)
class ValueType:
    """Element type (TensorProto.DataType) and shape of a tensor; None: not known."""

    element: int
    shape: Shape | None

    @property
    def fixed(self) -> tuple[int, ...] | None:
        """The shape if all of it is known."""
        if self.shape is None:
            return None
        dims = tuple(d for d in self.shape if d is not None)
        return dims if len(dims) == len(self.shape) else None


@dataclass(frozen=True)
class Graph:
    """A checked main graph. `nodes` are (index in the file, node) without `Constant` nodes, whose
    tensors are in `constants`, as the initializers are; `types` are what onnx infers, `declared`
    what the file says of results, which counts where nothing can be inferred; `given` are inputs
    that are constants in use; `folder` has the files that constants lie in.
    `others` are the real types of the file that are computed in float32, `open_batch` the inputs
    whose batch the file leaves open and nobody gives: it is 1."""

    name: str
    sha256: str
    opsets: Mapping[str, int]
    nodes: tuple[tuple[int, NodeProto], ...]
    constants: Mapping[str, TensorProto]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    types: dict[str, ValueType]
    declared: Mapping[str, ValueType]
    given: Mapping[str, TensorProto]
    folder: str = ""
    others: frozenset[str] = frozenset()
    open_batch: tuple[str, ...] = ()

    def place(self, index: int, node: NodeProto) -> str:
        """Return where a node stands, for messages."""
        return node_place(self.name, index, node)


def node_place(name: str, index: int, node: NodeProto) -> str:
    return f"{name}: node {index} {node.name!r} ({kind_of(node)})"


def kind_of(node: NodeProto) -> str:
    """The operator's name, with its domain unless that is ONNX's own."""
    return node.op_type if node.domain in DEFAULT_DOMAINS else f"{node.domain}.{node.op_type}"


def load(
    data: bytes, name: str, path: Path | None, shapes: Mapping[str, tuple[int, ...]], fixed: Fixed
) -> Graph:
    """Parse, check and infer. `path` is needed where weights are in other files."""
    try:
        model = onnx.load_model_from_string(data)
    except Exception as error:
        raise MemoptError(f"no ONNX model: {message(error)}", name) from None
    check_text(model.graph, name)
    changed = sort_subgraphs(model.graph.node, name)
    nodes = in_order(model.graph.node, name)
    check_model(model, nodes, None if changed else data, name, path)
    try:
        sha256 = files_hash(data, path.parent if path is not None else None)
    except MemoptError as error:
        raise MemoptError(error.text, error.place or name) from None
    opsets = {("" if o.domain == "ai.onnx" else o.domain): o.version for o in model.opset_import}
    newest = onnx.defs.onnx_opset_version()
    if opsets.get("", OLDEST_OPSET) < OLDEST_OPSET:
        model = _converted(model, name)
        nodes = list(enumerate(model.graph.node))
        opsets[""] = CONVERTED
    if not OLDEST_OPSET <= opsets.get("", OLDEST_OPSET) <= newest:
        text = f"opset {opsets['']} is not supported, only {OLDEST_OPSET} to {newest}"
        raise MemoptError(text, name)
    if model.graph.sparse_initializer:
        tensor = model.graph.sparse_initializer[0].values.name
        raise MemoptError(f"sparse initializer {tensor!r} is not supported", name)
    if model.functions:
        try:
            model = onnx.inliner.inline_local_functions(model)
        except Exception as error:
            raise MemoptError(message(error), name) from None
        nodes = in_order(model.graph.node, name)
    others = compute_in_float32(model.graph)
    folder = str(path.parent) if path is not None else ""
    for tensor in model.graph.initializer:
        check_constant(tensor, name, path)
    constants = {t.name: _near(t, folder) for t in model.graph.initializer}
    inputs = [v for v in model.graph.input if v.name not in constants]
    open_batch = fix_shapes(inputs, shapes, name)
    given = given_constants(inputs, fixed, name)
    inputs = [v for v in inputs if v.name not in given]
    graph = _infer(model, nodes, constants, given, inputs, opsets, name, sha256, folder)
    return replace(graph, others=others, open_batch=open_batch)


def _converted(model: ModelProto, name: str) -> ModelProto:
    """A model of an older opset by onnx's own converter. Raises MemoptError where that fails."""
    converter: Any = onnx.version_converter
    try:
        return converter.convert_version(model, CONVERTED)
    except Exception as error:
        text = f"is older than opset {OLDEST_OPSET}, and onnx cannot convert it: {message(error)}"
        raise MemoptError(text, name) from None


def _near(tensor: TensorProto, folder: str) -> TensorProto:
    """Return a tensor of few elements with these inside, wherever they lie, any other as it is."""
    if tensor.data_location != TensorProto.EXTERNAL or prod(tensor.dims) > INFERRED:
        return tensor
    return onnx.numpy_helper.from_array(array_of(tensor, folder), tensor.name)


# -- shapes -------------------------------------------------------------------------------------


def type_of(proto: TypeProto) -> ValueType | None:
    """A tensor's type as far as it is known, None for anything else."""
    if proto.WhichOneof("value") != "tensor_type":
        return None
    tensor = proto.tensor_type
    if not tensor.HasField("shape"):
        return ValueType(tensor.elem_type, None)
    dims = (d.dim_value if is_known(d) else None for d in tensor.shape.dim)
    return ValueType(tensor.elem_type, tuple(dims))


def _infer(
    model: ModelProto,
    numbered: list[Numbered],
    constants: dict[str, TensorProto],
    given: dict[str, TensorProto],
    inputs: list[ValueInfoProto],
    opsets: dict[str, int],
    name: str,
    sha256: str,
    folder: str,
) -> Graph:
    """Types of all values, as far as onnx knows them without values (see `folding`). Large weights
    are shown to onnx as inputs, so that they are not copied. This takes `model` apart.

    Not with onnx's own data propagation: it writes out a `Range` however long that is.
    """
    graph = model.graph
    for _, node in numbered:
        if node.op_type == "Constant" and node.domain in DEFAULT_DOMAINS:
            tensor = constant_tensor(node)
            if tensor is not None:
                check_constant(tensor, name, None)
                constants[node.output[0]] = tensor
    running = [(i, n) for i, n in numbered if not n.output or n.output[0] not in constants]
    nodes = [(i, one) for i, n in running for one in expanded(n, constants, folder)]
    skeleton = ModelProto(ir_version=max(model.ir_version, 4), opset_import=model.opset_import)
    inner = skeleton.graph
    inner.name = "main"
    inner.node.extend(n for _, n in nodes)
    inner.input.extend(inputs)
    inner.output.extend(onnx.helper.make_empty_tensor_value_info(v.name) for v in graph.output)
    known = (*constants.values(), *given.values())
    for tensor in known:
        _show(tensor, inner)
    declared = {v.name: type_of(v.type) for v in (*graph.value_info, *graph.output)}
    stated = {n: t for n, t in declared.items() if t is not None and t.element}
    foreign = {o for _, n in nodes if _is_foreign(n) for o in n.output if o in stated}
    inner.value_info.extend(
        onnx.helper.make_tensor_value_info(n, stated[n].element, stated[n].shape) for n in foreign
    )
    types = _inferred(skeleton)
    for tensor in known:
        types[tensor.name] = ValueType(element_read(tensor.data_type), tuple(tensor.dims))
    return Graph(
        name,
        sha256,
        opsets,
        tuple(nodes),
        constants,
        tuple(v.name for v in inputs),
        tuple(v.name for v in graph.output),
        types,
        stated,
        given,
        folder,
    )


def _show(tensor: TensorProto, graph: GraphProto) -> None:
    """Add a constant to `graph`, as an input if it is large or lies elsewhere."""
    local = tensor.data_location != TensorProto.EXTERNAL
    if local and prod(tensor.dims) <= INFERRED:
        graph.initializer.append(converted(tensor))
        return
    value = graph.input.add(name=tensor.name)
    value.type.tensor_type.elem_type = element_read(tensor.data_type)
    for d in tensor.dims:
        value.type.tensor_type.shape.dim.add().dim_value = d
    if not tensor.dims:
        value.type.tensor_type.shape.SetInParent()


def _is_foreign(node: NodeProto) -> bool:
    """Return whether onnx knows nothing of an operator's results."""
    return is_unregistered(node) or (
        node.domain not in DEFAULT_DOMAINS and not onnx.defs.has(node.op_type, node.domain)
    )


def _inferred(model: ModelProto) -> dict[str, ValueType]:
    """The types of a model's values; of its inputs alone if onnx refuses any node, which is then
    found, or found to be right as the file states it, one by one (see `folding`)."""
    try:
        graph = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True).graph
        values = (*graph.input, *graph.value_info, *graph.output)
    except Exception:
        values = tuple(model.graph.input)
    types = {value.name: type_of(value.type) for value in values}
    return {name: type_ for name, type_ in types.items() if type_ is not None}
