"""What is known before run time: small constants, and the subgraphs that compute shapes from them.

Exporters write shapes as operators (`Shape`, `Gather`, `Concat`, ...). Where all their inputs are
known and their results small, they are evaluated here, with onnx's reference implementation, and
vanish. The same pass closes gaps in the types, one node at a time, with the values it knows.
"""

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any, Final

import onnx
import onnx.defs
import onnx.shape_inference
from onnx import NodeProto, TensorProto

from memopt.dialects.errors import MemoptError
from memopt.formats.onnx_weights import constant_tensor, fill_tensor, raw_bytes
from memopt.frontends.core.constants import inline
from memopt.frontends.core.types import tensor_type
from memopt.frontends.onnx.expansions import expanded
from memopt.frontends.onnx.functions import Body, branch, inlined
from memopt.frontends.onnx.known import Known
from memopt.frontends.onnx.loading import (
    DEFAULT_DOMAINS,
    INFERRED,
    Graph,
    ValueType,
    captured,
    kind_of,
    message,
    subgraphs,
    type_of,
)
from memopt.frontends.onnx.operators import OPERATORS
from memopt.frontends.onnx.scope import RefusedError
from memopt.frontends.onnx.types import NAMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

FOLDABLE: Final = frozenset(
    """
    Abs Add And Cast Ceil Concat Div Equal Expand Flatten Floor Gather GatherElements GatherND
    Greater GreaterOrEqual Identity Less LessOrEqual Max Min Mod Mul Neg NonZero Not Or Pow Range
    ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Reshape Round ScatterND Sign Slice Split
    Sqrt Squeeze Sub Tile Transpose Trilu Unsqueeze Where Xor
    """.split()  # noqa: SIM905 (a list of words reads better)
)
Opsets = Mapping[str, int]
NEWEST: Final[Opsets] = {"": onnx.defs.onnx_opset_version()}
INLINE: Final = 1024  # elements of what is computed here and would be a constant expression
# elements of weights that are computed from others, such as normalized ones
WEIGHTS: Final = 1 << 18
KINDS: Final = "biuf"  # numpy's kinds of the arrays that folding looks at


def fold(graph: Graph) -> Known:
    """Evaluate what can be, take operators apart that others say as well, complete `graph.types`.
    Raises MemoptError for what stays unknown."""
    known = Known(graph)
    for name, tensor in graph.given.items():
        known.made_constant(known.elements(tensor, name), name)
    inner = (n for _, node in graph.nodes for n in (*node.input, *captured(node)))
    known.read.update(graph.outputs, inner)
    for index, node in graph.nodes:
        _take(known, index, node, graph.opsets)
    return known


def _take(known: Known, index: int, node: NodeProto, opsets: Opsets) -> None:
    """One node by these opsets: it is known, made of others, or stays."""
    is_own = node.domain in DEFAULT_DOMAINS
    if not is_own and (found := _expanded(known, index, kind_of(node), node, 0)) is not None:
        for one in found:  # first, for only these say its types
            _take(known, index, one, NEWEST)
        return
    if is_own and node.op_type == "Constant" and (tensor := constant_tensor(node)) is not None:
        known.made_constant(known.elements(tensor, node.output[0]), node.output[0])
        return
    if (nodes := branch(known, node)) is not None:  # first: the other branch may have another shape
        for one in nodes:
            _take(known, index, one, opsets)
        return
    _complete_types(known, index, node, opsets)
    if is_own and len(node.output) and _is_known(known, node, opsets):
        return
    body: Body | None
    opset = opsets.get("", 0)
    if is_own and (nodes := _expanded(known, index, node.op_type, node, opset)) is not None:
        body = nodes, dict(NEWEST)
    elif is_own and node.op_type in OPERATORS:
        body = None
    else:
        body = inlined(known, node, opsets)
    if body is None:
        known.nodes.append((index, node))
        _note(known, node)
        return
    for one in body[0]:
        _take(known, index, one, body[1])


def _expanded(
    known: Known, index: int, kind: str, node: NodeProto, opset: int
) -> list[NodeProto] | None:
    """The nodes that mean the same, if there are any. Raises MemoptError for what a node asks for
    that nobody computes."""
    try:
        return expanded(known, kind, node, opset)
    except RefusedError as refusal:
        raise MemoptError(str(refusal), known.graph.place(index, node)) from None


def _note(known: Known, node: NodeProto) -> None:
    """What expansions of later nodes ask about a node that stays."""
    if node.op_type == "DequantizeLinear":
        known.dequantized.update(node.output)
        _note_number(known, node)
    is_own = node.domain in DEFAULT_DOMAINS and node.op_type in OPERATORS
    folds = is_own and _is_folded_later(node)
    if folds and all(known.is_steady(name) for name in node.input if name):
        known.steady.update(node.output)


def _is_folded_later(node: NodeProto) -> bool:
    """Whether an operation makes of constants what needs no kernel: those stay in the file."""
    entry = OPERATORS.get(node.op_type)
    return entry is None or all(kind.FOLDS for kind in entry.kinds)


def _note_number(known: Known, node: NodeProto) -> None:
    """The one number that a constant stands for: what is between stays stored."""
    import numpy as np

    stored, scale, *zero = (known.array(name, 1) for name in node.input if name)
    if stored is None or scale is None or stored.size != 1 or scale.size != 1:
        return
    less = zero[0] if zero and zero[0] is not None else np.zeros((), np.int64)
    real = (stored.astype(np.int64) - less.astype(np.int64)).astype(np.float32) * scale
    known.numbers[node.output[0]] = float(real.reshape(-1)[0])


def _is_known(known: Known, node: NodeProto, opsets: Opsets) -> bool:
    """Whether all results are known before run time; they are kept then."""
    if node.op_type == "ConstantOfShape":
        _fill(known, node)
    elif node.op_type in ("Shape", "Size"):
        _shape(known, node)
    elif node.op_type in FOLDABLE:
        _evaluate(known, node, opsets)
    return all(o in known.folded or o in known.fills for o in node.output if o)


def _complete_types(known: Known, index: int, node: NodeProto, opsets: Opsets) -> None:
    """Types of this node's outputs, from onnx's inference for the one node with known inputs."""
    graph = known.graph
    outputs = [o for o in node.output if o]
    missing = [o for o in outputs if o not in graph.types or graph.types[o].fixed is None]
    if missing:
        try:
            found = _infer_node(known, node, opsets)
        except Exception as error:
            raise MemoptError(message(error), graph.place(index, node)) from None
        for name in missing:
            if name in found:
                graph.types[name] = found[name]
    for place, name in enumerate(node.output):
        found = graph.types.get(name)
        if place and name not in known.read and (found is None or found.fixed is None):
            node.output[place] = ""  # such as the mask of a Dropout
            continue
        if not name:
            continue
        if found is None or not found.element:
            text = f"the type of its result {name!r} is not known, or is no tensor"
            raise MemoptError(text, graph.place(index, node))
        if found.fixed is None:
            text = f"the shape of its result {name!r} is not known before run time"
            raise MemoptError(text, graph.place(index, node))


def _infer_node(known: Known, node: NodeProto, opsets: Opsets) -> dict[str, ValueType]:
    graph = known.graph
    domain = "" if node.domain in DEFAULT_DOMAINS else node.domain
    if not onnx.defs.has(node.op_type, domain):
        return {}
    if any(True for _ in subgraphs(node)):
        return _infer_control_flow(known, node, opsets)
    schema = onnx.defs.get_schema(node.op_type, opsets.get(domain, 1), domain)
    types: dict[str, onnx.TypeProto] = {}
    data: dict[str, TensorProto] = {}
    for name in node.input:
        if name:
            type_ = graph.types[name]
            types[name] = onnx.helper.make_tensor_type_proto(type_.element, type_.shape)
            array = known.array(name, INFERRED)
            if array is not None:
                data[name] = onnx.numpy_helper.from_array(array, name)
    found = onnx.shape_inference.infer_node_outputs(
        schema, node, types, data, opset_imports=opset_protos(opsets)
    )
    answer = {name: type_of(proto) for name, proto in found.items()}
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
    model = onnx.helper.make_model(inner, opset_imports=opset_protos(opsets))
    found = onnx.shape_inference.infer_shapes(model, strict_mode=True).graph.output
    answer = {value.name: type_of(value.type) for value in found}
    return {name: type_ for name, type_ in answer.items() if type_ is not None}


def opset_protos(opsets: Opsets) -> list[onnx.OperatorSetIdProto]:
    return [onnx.helper.make_opsetid(d, v) for d, v in opsets.items()]


def _fill(known: Known, node: NodeProto) -> None:
    """`ConstantOfShape` of a known shape is a constant, never materialised unless it is small."""
    import numpy as np

    if not known.is_constant(node.input[0]):
        return
    name = node.output[0]
    known.fills[name] = node
    shape = known.graph.types[name].fixed or ()
    if prod(shape) <= INLINE:
        element = known.elements(fill_tensor(node), name)
        if element.dtype.kind in KINDS:
            known.arrays[name] = np.full(shape, element)


def _shape(known: Known, node: NodeProto) -> None:
    import numpy as np

    found = known.graph.types.get(node.input[0])
    shape = found.fixed if found else None
    if shape is None:
        return
    if node.op_type == "Size":
        array = np.array(prod(shape), np.int64)
    else:
        bounds = {a.name: a.i for a in node.attribute}
        array = np.array(shape[bounds.get("start", 0) : bounds.get("end", len(shape))], np.int64)
    known.arrays[node.output[0]] = array
    known.folded.add(node.output[0])


def _evaluate(known: Known, node: NodeProto, opsets: Opsets) -> None:
    """Only results of known inputs, all that are not too large; all or none of a node's outputs."""
    inputs: dict[str, Array] = {}
    limit = INLINE if _is_folded_later(node) else WEIGHTS
    for name in node.input:
        array = known.array(name, limit) if name else None
        if name and (array is None or array.dtype.kind not in KINDS):
            return
        if array is not None:
            inputs[name] = array
    types: Mapping[str, ValueType] = known.graph.types
    outputs = [o for o in node.output if o]
    if not inputs or any(prod(types[o].fixed or ()) > limit for o in outputs):
        return
    import numpy as np
    from onnx.reference import ReferenceEvaluator

    # of a graph: of a node alone the evaluator looks at no opset, and takes the newest
    given, made = (
        [onnx.helper.make_empty_tensor_value_info(n) for n in names] for names in (inputs, outputs)
    )
    one = onnx.helper.make_graph([node], "one", given, made)
    evaluator: Any = ReferenceEvaluator(one, opsets={"": opsets.get("", 0)})
    try:
        with np.errstate(all="ignore"):
            arrays = [np.asarray(r) for r in evaluator.run(outputs, inputs)]
    except Exception:  # what the reference cannot do, the run time may: the node stays
        return
    fits = all(
        a.shape == types[o].fixed
        and a.dtype == onnx.helper.tensor_dtype_to_np_dtype(types[o].element)
        and (
            a.dtype == "float32"
            or inline(tensor_type(NAMES[types[o].element], a.shape), raw_bytes(a)) is not None
        )
        for o, a in zip(outputs, arrays, strict=True)
    )
    if fits:
        known.arrays.update(zip(outputs, arrays, strict=True))
        known.folded.update(outputs)
