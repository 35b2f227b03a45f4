"""The types of a node's results: from onnx's inference for the one node, with the values that are
known, and from what the file says where that leaves something open.

What the file says and inference contradicts is not looked at: editors of graphs leave it behind,
and runtimes infer it again. An operator that ONNX does not have, or not on such operands, is as the
file says, and nothing is known of what it computes.
"""

from collections.abc import Mapping
from typing import Any

import onnx
import onnx.defs
import onnx.shape_inference
from onnx import NodeProto, TensorProto

from memopt.dialects.memgraph.errors import MemoptError
from memopt.frontends.onnx.checks import DEFAULT_DOMAINS, message
from memopt.frontends.onnx.known import Known
from memopt.frontends.onnx.loading import INFERRED, ValueType, type_of
from memopt.frontends.onnx.ordering import captured, subgraphs
from memopt.frontends.onnx.types import NAMES

Opsets = Mapping[str, int]
COUNTING = ("Compress", "NonMaxSuppression", "NonZero", "Unique")
OF_ONNXRUNTIME = ("SimplifiedLayerNormalization",)  # its optimiser's, in the domain of ONNX
LIKE_OPERAND = ("GroupNormalization", *OF_ONNXRUNTIME)  # their result is, onnx does not infer it


def drop_unread(known: Known, node: NodeProto, opsets: Opsets) -> None:
    """Take the names off results that an operator need not make and that nobody reads, such as the
    indices of a MaxPool or the mask of a Dropout."""
    schema = _schema(node, opsets)
    if schema is None or all(name not in known.read for name in node.output):
        return
    optional = onnx.defs.OpSchema.FormalParameterOption.Optional
    for place, (name, formal) in enumerate(zip(node.output, schema.outputs, strict=False)):
        if name not in known.read and formal.option == optional:
            node.output[place] = ""
    while len(node.output) and not node.output[-1]:
        del node.output[-1]


def complete_types(known: Known, index: int, node: NodeProto, opsets: Opsets) -> None:
    """Complete the types of a node's results. Raises MemoptError for one that stays open."""
    types, place = known.graph.types, known.graph.place(index, node)
    missing = [o for o in node.output if o and (o not in types or types[o].fixed is None)]
    if missing:
        foreign = _foreign_operand(known, node, opsets)
        declared = {o: known.graph.declared[o] for o in missing if o in known.graph.declared}
        if foreign and all(o in declared and declared[o].fixed is not None for o in missing):
            types.update(declared)
            known.stated.update(missing)
        elif foreign:
            raise MemoptError(foreign, place)
        else:
            _infer(known, node, opsets, missing, place)
    for position, name in enumerate(node.output):
        type_ = types.get(name)
        if position and name not in known.read and (type_ is None or type_.fixed is None):
            node.output[position] = ""  # of an operator that says not whether it is optional
            continue
        if not name:
            continue
        if type_ is None or not type_.element:
            text = f"the type of its result {name!r} is not known, or is no tensor"
            raise MemoptError(text, place)
        if type_.fixed is None:
            text = f"the shape of its result {name!r} is not known before run time"
            raise MemoptError(text + _where_to_cut(known, node), place)
        declared = known.graph.declared.get(name, type_)
        if declared.element != type_.element and name not in known.labels:
            elements = _type_text(type_.element), _type_text(declared.element)
            text = "its result {!r} is a {}, the file says {}".format(name, *elements)
            raise MemoptError(text, place)


def _where_to_cut(known: Known, node: NodeProto) -> str:
    """Return where a model can end before an operator that counts what it finds, if that is one."""
    if node.op_type not in COUNTING or node.domain not in DEFAULT_DOMAINS:
        return ""
    names = [name for name in node.input if name and not known.is_constant(name)]
    cut = " and ".join(map(repr, names))
    return f": it counts what it finds; end the model at {cut} (onnx.utils.extract_model)"


def _infer(known: Known, node: NodeProto, opsets: Opsets, missing: list[str], place: str) -> None:
    try:
        types = _infer_node(known, node, opsets)
    except Exception as error:
        raise MemoptError(message(error), place) from None
    if node.op_type in LIKE_OPERAND:
        types[node.output[0]] = known.graph.types[node.input[0]]
    for name in missing:
        type_ = _completed(types.get(name), known.graph.declared.get(name))
        if type_ is not None:
            known.graph.types[name] = type_


def _completed(found: ValueType | None, declared: ValueType | None) -> ValueType | None:
    """Return the inferred type, with dimensions that only the file says unless they contradict."""
    if found is None or not found.element or declared is None or declared.shape is None:
        return declared if found is None or not found.element else found
    if found.shape is None:
        return declared
    if len(found.shape) != len(declared.shape):
        return found
    pairs = list(zip(found.shape, declared.shape, strict=True))
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        return found
    return ValueType(found.element, tuple(b if a is None else a for a, b in pairs))


def _foreign_operand(known: Known, node: NodeProto, opsets: Opsets) -> str:
    """Why an operator of ONNX's own is none on these operands; empty if it is one."""
    if node.domain not in DEFAULT_DOMAINS:
        return ""
    schema = _schema(node, opsets)
    if schema is None and node.op_type in OF_ONNXRUNTIME:
        return ""
    if schema is None:
        return f"ONNX has no operator {node.op_type} at opset {opsets.get('', 1)}"
    variadic = onnx.defs.OpSchema.FormalParameterOption.Variadic
    for position, name in enumerate(node.input):
        type_ = known.graph.types.get(name)
        last = schema.inputs[-1] if schema.inputs else None
        formal = schema.inputs[position] if position < len(schema.inputs) else last
        if formal is None or (position >= len(schema.inputs) and formal.option != variadic):
            return f"has {len(node.input)} operands, {node.op_type} takes {len(schema.inputs)}"
        if type_ is not None and type_.element in NAMES:
            text = _type_text(type_.element)
            if text not in formal.types:
                return f"takes no {text} as operand {position} ({formal.name})"
    return ""


def _type_text(element: int) -> str:
    """An element type as ONNX's schemas write it."""
    names: Any = TensorProto.DataType
    known = element in names.values()
    return f"tensor({names.Name(element).lower() if known else element})"


def _schema(node: NodeProto, opsets: Opsets) -> Any:
    """The definition of an operator at its opset, None if there is none."""
    domain = "" if node.domain in DEFAULT_DOMAINS else node.domain
    try:
        return onnx.defs.get_schema(node.op_type, opsets.get(domain, 1), domain)
    except Exception:  # a class of its C++, which cannot be named
        return None


def _infer_node(known: Known, node: NodeProto, opsets: Opsets) -> dict[str, ValueType]:
    graph = known.graph
    schema = _schema(node, opsets)
    if schema is None:
        return {}
    if any(True for _ in subgraphs(node)):
        return _infer_control_flow(known, node, opsets)
    types: dict[str, onnx.TypeProto] = {}
    data: dict[str, TensorProto] = {}
    for name in node.input:
        if name:
            type_ = graph.types[name]
            types[name] = onnx.helper.make_tensor_type_proto(type_.element, type_.shape)
            array = known.array(name, INFERRED)
            if array is not None:
                data[name] = onnx.numpy_helper.from_array(array, name)
    protos = onnx.shape_inference.infer_node_outputs(
        schema, node, types, data, opset_imports=_opset_protos(opsets)
    )
    answer = {name: type_of(proto) for name, proto in protos.items()}
    return {name: type_ for name, type_ in answer.items() if type_ is not None}


def _infer_control_flow(known: Known, node: NodeProto, opsets: Opsets) -> dict[str, ValueType]:
    """A model of this one node, whose inputs are what it and its subgraphs read."""
    graph = known.graph
    inner = onnx.GraphProto(name="main", node=[node])
    for name in dict.fromkeys([*node.input, *captured(node)]):
        type_ = graph.types.get(name)
        if type_ is None:
            continue
        array = known.array(name, INFERRED)
        if array is not None:
            inner.initializer.append(onnx.numpy_helper.from_array(array, name))
        else:
            inner.input.append(onnx.helper.make_tensor_value_info(name, type_.element, type_.shape))
    inner.output.extend(onnx.helper.make_empty_tensor_value_info(o) for o in node.output if o)
    model = onnx.helper.make_model(inner, opset_imports=_opset_protos(opsets))
    outputs = onnx.shape_inference.infer_shapes(model, strict_mode=True).graph.output
    answer = {value.name: type_of(value.type) for value in outputs}
    return {name: type_ for name, type_ in answer.items() if type_ is not None}


def _opset_protos(opsets: Opsets) -> list[onnx.OperatorSetIdProto]:
    return [onnx.helper.make_opsetid(d, v) for d, v in opsets.items()]
