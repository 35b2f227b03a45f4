"""Constants of an .onnx file by name: initializers, `Constant` and `ConstantOfShape` nodes.

The name of a tensor is its key in `#memgraph.weights<"sha256", "name">`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import ModelProto, NodeProto, TensorProto


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
    found = {t.name: t for t in model.graph.initializer}
    for node in model.graph.node:
        if node.domain not in ("", "ai.onnx") or not node.output:
            continue
        tensor = None
        if node.op_type == "Constant":
            tensor = constant_tensor(node)
        elif node.op_type == "ConstantOfShape":
            tensor = fill_tensor(node)
        if tensor is not None:
            found[node.output[0]] = tensor
    return found


def array_of(tensor: "TensorProto", folder: str) -> "NDArray[Any]":
    """The elements of a tensor; external data is looked for in `folder` by onnx's own rules."""
    import onnx.numpy_helper

    return onnx.numpy_helper.to_array(tensor, base_dir=folder)


def raw_bytes(array: "NDArray[Any]") -> bytes:
    """The elements one after the other, little-endian."""
    return array.astype(array.dtype.newbyteorder("<")).tobytes()
