"""Operators whose meaning the standard gives as other operators: functions, and branches that are
known before run time."""

from collections.abc import Mapping
from typing import Any

import onnx
import onnx.defs
from onnx import AttributeProto, FunctionProto, NodeProto, TypeProto

from memopt.frontends.onnx.checks import DEFAULT_DOMAINS
from memopt.frontends.onnx.known import Known
from memopt.frontends.onnx.ordering import subgraphs

REPEATS = ("Loop", "Scan", "SequenceMap")
Body = tuple[list[NodeProto], dict[str, int]]
"""Nodes in order, and the opset of each domain by which they are read."""


def inlined(known: Known, node: NodeProto, opsets: Mapping[str, int]) -> Body | None:
    """The body of the function that the standard defines an operator by; None if it does not, or
    where onnx cannot say it for these types."""
    domain = "" if node.domain in DEFAULT_DOMAINS else node.domain
    if not onnx.defs.has(node.op_type, domain) or any(True for _ in subgraphs(node)):
        return None
    schema: Any = onnx.defs.get_schema(node.op_type, opsets.get(domain, 1), domain)
    function = _function(schema, known, node, opsets.get(domain, 1))
    if function is None or any(n.op_type in REPEATS for n in function.node):
        return None
    names = dict(zip(function.input, [*node.input, *[""] * len(function.input)], strict=False))
    names |= {f: o for f, o in zip(function.output, node.output, strict=False) if o}
    given = {a.name: a for a in (*function.attribute_proto, *node.attribute)}
    bare = [_with_attributes(one, given) for one in function.node]
    versions = {o.domain: o.version for o in function.opset_import}
    return renamed(known, bare, names, node.output[0]), {**opsets, **versions}


def _function(schema: Any, known: Known, node: NodeProto, opset: int) -> FunctionProto | None:
    """The function of an operator, by the newest definition that its opset has."""
    data = b""
    if schema.has_function:
        versions: list[int] = [v for v in schema.function_opset_versions if v <= opset]
        data = schema.get_function_with_opset_version(max(versions)) if versions else b""
    elif schema.has_context_dependent_function:
        versions = [v for v in schema.context_dependent_function_opset_versions if v <= opset]
        types = [_type(known, name).SerializeToString() for name in node.input]
        say: Any = schema.get_context_dependent_function_with_opset_version
        try:
            data = say(max(versions), node.SerializeToString(), types) if versions else b""
        except Exception:  # it does not say it for these
            return None
    return FunctionProto.FromString(data) if data else None


def _type(known: Known, name: str) -> TypeProto:
    found = known.graph.types.get(name)
    if found is None:
        return TypeProto()
    return onnx.helper.make_tensor_type_proto(found.element, found.shape)


def _with_attributes(node: NodeProto, given: Mapping[str, AttributeProto]) -> NodeProto:
    """A copy whose attributes are those of the function's caller, where it asks for them."""
    made = NodeProto()
    made.CopyFrom(node)
    del made.attribute[:]
    for attribute in node.attribute:
        name = attribute.ref_attr_name
        if not name:
            made.attribute.append(attribute)
        elif name in given:
            made.attribute.append(given[name])
            made.attribute[-1].name = attribute.name
    for graph in subgraphs(made):
        inner = [_with_attributes(n, given) for n in graph.node]
        del graph.node[:]
        graph.node.extend(inner)
    return made


def branch(known: Known, node: NodeProto) -> list[NodeProto] | None:
    """The nodes of the branch that an `If` takes, if its condition is known."""
    if node.op_type != "If" or node.domain not in DEFAULT_DOMAINS:
        return None
    condition = known.array(node.input[0])
    if condition is None or condition.size != 1:
        return None
    taken = "then_branch" if bool(condition.reshape(-1)[0]) else "else_branch"
    graph = next((a.g for a in node.attribute if a.name == taken), None)
    if graph is None or len(graph.output) != len(node.output):
        return None
    names = {t.name: known.fresh(node.output[0]) for t in graph.initializer}
    for tensor in graph.initializer:
        known.made_constant(known.elements(tensor, tensor.name), names[tensor.name])
    nodes = renamed(known, list(graph.node), names, node.output[0])
    for value, result in zip(graph.output, node.output, strict=True):
        if result:
            source = names.get(value.name, value.name)
            nodes.append(onnx.helper.make_node("Identity", [source], [result]))
    return nodes


def renamed(
    known: Known, nodes: list[NodeProto], names: dict[str, str], near: str
) -> list[NodeProto]:
    """Copies in which what the nodes make has names of its own, unless `names` has them."""
    for node in nodes:
        for output in node.output:
            if output and output not in names:
                names[output] = known.fresh(near)
    return [_copy(node, names) for node in nodes]


def _copy(node: NodeProto, names: Mapping[str, str]) -> NodeProto:
    made = NodeProto()
    made.CopyFrom(node)
    for field in (made.input, made.output):
        values = [names.get(name, name) for name in field]
        del field[:]
        field.extend(values)
    for graph in subgraphs(made):
        own = {o for n in graph.node for o in n.output} | {v.name for v in graph.input}
        inner = {k: v for k, v in names.items() if k not in own}
        copies = [_copy(n, inner) for n in graph.node]
        del graph.node[:]
        graph.node.extend(copies)
        for value in graph.output:
            value.name = inner.get(value.name, value.name)
    return made
