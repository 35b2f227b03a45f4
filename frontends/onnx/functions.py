"""Operators whose meaning the standard gives as other operators: functions, and branches."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import onnx
import onnx.defs
from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto, TypeProto, helper

from memopt.dialects.memgraph.errors import MemoptError
from memopt.frontends.onnx.checks import DEFAULT_DOMAINS
from memopt.frontends.onnx.known import Known
from memopt.frontends.onnx.loading import ValueType
from memopt.frontends.onnx.ordering import subgraphs

RANDOM: Final = frozenset(
    {
        "Bernoulli",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    }
)
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
    type_ = known.graph.types.get(name)
    if type_ is None:
        return TypeProto()
    return helper.make_tensor_type_proto(type_.element, type_.shape)


def _with_attributes(node: NodeProto, given: Mapping[str, AttributeProto]) -> NodeProto:
    """A copy whose attributes are those of the function's caller, where it asks for them."""
    copy = NodeProto()
    copy.CopyFrom(node)
    del copy.attribute[:]
    for attribute in node.attribute:
        name = attribute.ref_attr_name
        if not name:
            copy.attribute.append(attribute)
        elif name in given:
            copy.attribute.append(given[name])
            copy.attribute[-1].name = attribute.name
    for graph in subgraphs(copy):
        inner = [_with_attributes(n, given) for n in graph.node]
        del graph.node[:]
        graph.node.extend(inner)
    return copy


def branches(known: Known, index: int, node: NodeProto) -> Iterator[list[NodeProto]] | None:
    """Return the nodes of the branch that an `If` takes, if its condition is known; of both, and of
    the choice between their results, if it is not. Each list is read before the next is asked for,
    which raises MemoptError where the branches make tensors of other types. None for any other
    operator."""
    if node.op_type != "If" or node.domain not in DEFAULT_DOMAINS:
        return None
    graphs = {a.name: a.g for a in node.attribute}
    sides = [graphs.get(f"{side}_branch") for side in ("then", "else")]
    bodies = [g for g in sides if g is not None and len(g.output) == len(node.output)]
    condition = known.array(node.input[0])
    if len(bodies) < 2 or (condition is not None and condition.size != 1):
        return None
    if condition is not None:
        return _one_branch(known, node, bodies[0 if condition.reshape(-1)[0] else 1])
    return None if is_random(node) else _choice(known, index, node, bodies)


def _one_branch(known: Known, node: NodeProto, body: GraphProto) -> Iterator[list[NodeProto]]:
    nodes, results = _body(known, node, body)
    pairs = zip(results, node.output, strict=True)
    yield [*nodes, *(helper.make_node("Identity", [m], [result]) for m, result in pairs if result)]


def _choice(
    known: Known, index: int, node: NodeProto, bodies: list[GraphProto]
) -> Iterator[list[NodeProto]]:
    """Yield the nodes of each branch, which change nothing but their results, and then `Where`."""
    values: list[list[str]] = []
    for body in bodies:
        nodes, outputs = _body(known, node, body)
        known.read.update(outputs)
        values.append(outputs)
        yield nodes
    for then, other, result in zip(*values, node.output, strict=True):
        types = [known.graph.types.get(name) for name in (then, other)]
        if types[0] != types[1] or types[0] is None:
            shapes = " and ".join(_shape_text(t) for t in types)
            text = f"its branches make {shapes} of {result!r}, and only the run time knows which"
            raise MemoptError(text, known.graph.place(index, node))
    yield [
        helper.make_node("Where", [node.input[0], then, other], [result])
        for then, other, result in zip(*values, node.output, strict=True)
        if result
    ]


def _shape_text(type_: ValueType | None) -> str:
    if type_ is None:
        return "no tensor"
    return "x".join(map(str, type_.shape or ())) or "a number"


def _body(known: Known, node: NodeProto, body: GraphProto) -> tuple[list[NodeProto], list[str]]:
    """Return the nodes of a branch under names of their own, and the names of its results."""
    names = {t.name: known.fresh(node.output[0]) for t in body.initializer}
    for tensor in body.initializer:
        known.made_constant(known.elements(tensor, tensor.name), names[tensor.name])
    nodes = renamed(known, list(body.node), names, node.output[0])
    return nodes, [names.get(v.name, v.name) for v in body.output]


def deciding(known: Known, node: NodeProto) -> str:
    """Return the options that decide the condition of an `If`, empty if no single numbers do."""
    makers = {o: n for _, n in known.graph.nodes for o in n.output}
    waiting, seen = [node.input[0]], set[str]()
    while waiting:
        name = waiting.pop()
        if name not in seen and known.array(name) is None:
            seen.add(name)
            waiting += makers[name].input if name in makers else ()
    types = known.graph.types
    numbers = [n for n in known.graph.inputs if n in seen and types[n].fixed in ((), (1,))]
    return (
        f"; {' '.join(f'--fix={n}=NUMBER' for n in numbers)} says which branch runs"
        if numbers
        else ""
    )


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
    copy = NodeProto()
    copy.CopyFrom(node)
    for field in (copy.input, copy.output):
        values = [names.get(name, name) for name in field]
        del field[:]
        field.extend(values)
    for graph in subgraphs(copy):
        own = {o for n in graph.node for o in n.output} | {v.name for v in graph.input}
        inner = {k: v for k, v in names.items() if k not in own}
        copies = [_copy(n, inner) for n in graph.node]
        del graph.node[:]
        graph.node.extend(copies)
        for value in graph.output:
            value.name = inner.get(value.name, value.name)
    return copy


def is_random(node: NodeProto) -> bool:
    """Return whether the operator, or one in its subgraphs, draws random numbers."""
    return node.op_type in RANDOM or any(is_random(n) for g in subgraphs(node) for n in g.node)
