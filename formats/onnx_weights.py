"""Constants of an .onnx file by name: initializers, `Constant` and `ConstantOfShape` nodes.

The name of a tensor is its key in `#memgraph.weights<"sha256", "name">`.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memopt.dialects.memgraph.errors import MemoptError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto


def files_hash(data: bytes, folder: Path | None) -> str:
    """Return the SHA-256 of an .onnx file's bytes. If tensors of it lie in other files of `folder`,
    it is that of a text: the file's own SHA-256, then name and SHA-256 of each other, a line each.

    Raises MemoptError for a file that is not in the folder, and if there is no folder.
    """
    own = hashlib.sha256(data).hexdigest()
    if b"location" not in data:  # the key of an external file's name
        return own
    import onnx

    lines = [own]
    for location in external_files(onnx.load_model_from_string(data)):
        if folder is None:
            raise MemoptError(
                f"weights are in another file, {location!r}: give the model by its path"
            )
        lines.append(f"{location} {_file_hash(folder, location)}")
    return own if len(lines) == 1 else hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _file_hash(folder: Path, location: str) -> str:
    """Return the SHA-256 of a plain file in a folder, of which no more than a piece is in memory at
    a time. Raises MemoptError."""
    path = folder / location
    inside = not Path(location).is_absolute() and ".." not in Path(location).parts
    if not inside or not path.is_file():
        raise MemoptError(f"weights are in {location!r}, which is no file beside the model")
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise MemoptError(error.strerror or "cannot be read", str(path)) from None


def external_files(model: "ModelProto") -> list[str]:
    """Return the names of the files that tensors of a model lie in, each once, in order."""
    from onnx import TensorProto

    names: set[str] = set()
    for tensor in _tensors(model):
        if tensor.data_location == TensorProto.EXTERNAL:
            names.update(e.value for e in tensor.external_data if e.key == "location")
    return sorted(names)


def _tensors(model: "ModelProto") -> "Iterator[TensorProto]":
    """Yield the tensors of a model, those of its functions and of graphs inside of nodes, too."""
    waiting: list[GraphProto | FunctionProto] = [model.graph, *model.functions]
    while waiting:
        graph = waiting.pop()
        yield from getattr(graph, "initializer", ())  # a function has none
        for sparse in getattr(graph, "sparse_initializer", ()):
            yield from (sparse.values, sparse.indices)
        for attribute in (a for node in graph.node for a in node.attribute):
            yield from (attribute.t, *attribute.tensors)
            waiting += (attribute.g, *attribute.graphs)


def constant_tensor(node: "NodeProto") -> "TensorProto | None":
    """The tensor that a `Constant` node holds, under its output's name.

    None for a sparse one, and for a node that holds none.
    """
    import onnx
    from onnx import AttributeProto, TensorProto

    for a in node.attribute:
        if a.type == AttributeProto.TENSOR and a.name == "value":
            tensor = a.t
        elif a.name in ("value_float", "value_floats"):
            values = [a.f] if a.type == AttributeProto.FLOAT else list(a.floats)
            shape = [] if a.type == AttributeProto.FLOAT else [len(values)]
            tensor = onnx.helper.make_tensor("", TensorProto.FLOAT, shape, values)
        elif a.name in ("value_int", "value_ints"):
            values = [a.i] if a.type == AttributeProto.INT else list(a.ints)
            shape = [] if a.type == AttributeProto.INT else [len(values)]
            tensor = onnx.helper.make_tensor("", TensorProto.INT64, shape, values)
        elif a.name in ("value_string", "value_strings"):
            texts = [a.s] if a.type == AttributeProto.STRING else list(a.strings)
            shape = [] if a.type == AttributeProto.STRING else [len(texts)]
            tensor = TensorProto(data_type=TensorProto.STRING, dims=shape, string_data=texts)
        else:
            continue
        tensor.name = node.output[0]
        return tensor
    return None


def fill_tensor(node: "NodeProto") -> "TensorProto":
    """The element that a `ConstantOfShape` node repeats, as a scalar: float32 zero by default."""
    import onnx
    from onnx import TensorProto

    for a in node.attribute:
        if a.name == "value":
            scalar = TensorProto()
            scalar.CopyFrom(a.t)
            del scalar.dims[:]
            return scalar
    return onnx.helper.make_tensor("", TensorProto.FLOAT, [], [0.0])


def named_tensors(model: "ModelProto") -> "dict[str, TensorProto]":
    """Name -> tensor of everything that `#memgraph.weights` may refer to in the main graph.

    A `ConstantOfShape` is there as a scalar, to be repeated.
    """
    import onnx.inliner

    if model.functions:
        model = onnx.inliner.inline_local_functions(model)
    tensors = {t.name: t for t in model.graph.initializer}
    for node in model.graph.node:
        if node.domain not in ("", "ai.onnx") or not node.output:
            continue
        tensor = None
        if node.op_type == "Constant":
            tensor = constant_tensor(node)
        elif node.op_type == "ConstantOfShape":
            tensor = fill_tensor(node)
        if tensor is not None:
            tensors[node.output[0]] = tensor
    return tensors


def array_of(tensor: "TensorProto", folder: str) -> "NDArray[Any]":
    """The elements of a tensor; external data is looked for in `folder` by onnx's own rules."""
    import onnx.numpy_helper

    return onnx.numpy_helper.to_array(tensor, base_dir=folder)


def raw_bytes(array: "NDArray[Any]") -> bytes:
    """The elements one after the other, little-endian."""
    return array.astype(array.dtype.newbyteorder("<")).tobytes()
