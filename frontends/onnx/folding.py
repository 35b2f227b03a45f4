"""Folding before run time: small constants, and the subgraphs that compute shapes from them.

Exporters write shapes as operators (`Shape`, `Gather`, `Concat`, ...). Where all their inputs are
known and their results small, they are evaluated here, with onnx's reference implementation, and
vanish. The same pass closes gaps in the types, one node at a time, with the values it knows.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final

import onnx
import onnx.defs
from onnx import NodeProto

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.operators.traits import Folds
from memopt.formats.onnx_weights import constant_tensor, fill_tensor, raw_bytes
from memopt.frontends.core.constants import inline
from memopt.frontends.core.types import tensor_type
from memopt.frontends.onnx.checks import DEFAULT_DOMAINS
from memopt.frontends.onnx.expansions import expanded
from memopt.frontends.onnx.functions import Body, branches, deciding, inlined
from memopt.frontends.onnx.known import Known
from memopt.frontends.onnx.loading import Graph, ValueType, kind_of
from memopt.frontends.onnx.loops import steps
from memopt.frontends.onnx.operators import OPERATORS
from memopt.frontends.onnx.result_types import Opsets, complete_types, drop_unread
from memopt.frontends.onnx.scope import RefusedError
from memopt.frontends.onnx.sequences import without_sequence
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
NEWEST: Final[Opsets] = {"": onnx.defs.onnx_opset_version()}
INLINE: Final = 1024  # elements of what is computed here and would be a constant expression
# elements of weights that are computed from others, such as normalized ones
WEIGHTS: Final = 1 << 18
# whose integers are what they are, whatever they stand for before and behind
OF_INTEGERS: Final = ("ConvInteger", "MatMulInteger", "QGemm", "QLinearConv", "QLinearMatMul")
KINDS: Final = "biuf"  # numpy's kinds of the arrays that folding looks at


def fold(graph: Graph) -> Known:
    """Evaluate what can be, take operators apart that others say as well, complete `graph.types`.
    Raises MemoptError for what stays unknown."""
    known = Known(graph)
    for name, tensor in graph.given.items():
        known.made_constant(known.elements(tensor, name), name)
    known.read.update(graph.outputs)
    known.note_read(node for _, node in graph.nodes)
    products = [n for _, n in graph.nodes if n.op_type in OF_INTEGERS]
    known.bare.update(name for n in products for name in (*n.input, *n.output))
    for index, node in graph.nodes:
        _take(known, index, node, graph.opsets)
    return known


def _take(known: Known, index: int, node: NodeProto, opsets: Opsets) -> None:
    """One node by these opsets: it is known, made of others, or stays."""
    is_own = node.domain in DEFAULT_DOMAINS
    if not is_own and (expanded := _expanded(known, index, kind_of(node), node, 0)) is not None:
        _take_all(known, index, expanded, NEWEST)  # first, for only these say its types
        return
    if is_own and node.op_type == "Constant" and (tensor := constant_tensor(node)) is not None:
        known.made_constant(known.elements(tensor, node.output[0]), node.output[0])
        return
    if (sides := branches(known, index, node)) is not None:
        try:
            for nodes in sides:  # before types: the other branch may have another shape
                _take_all(known, index, nodes, opsets)
        except MemoptError as error:
            raise MemoptError(f"{error.text}{deciding(known, node)}", error.place) from None
        return
    if (turns := steps(known, node)) is not None:
        for nodes, are_own in turns:
            _take_all(known, index, nodes, opsets if are_own else NEWEST)
        return
    if (nodes := without_sequence(known, node)) is not None:
        _take_all(known, index, nodes, NEWEST)
        return
    drop_unread(known, node, opsets)
    complete_types(known, index, node, opsets)
    if known.is_stated(node):
        known.nodes.append((index, node))
        return
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
    _take_all(known, index, body[0], body[1])


def _take_all(known: Known, index: int, nodes: Sequence[NodeProto], opsets: Opsets) -> None:
    """The nodes that one of the file is made of."""
    known.note_read(nodes)
    for node in nodes:
        _take(known, index, node, opsets)


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
    """Note the facts about a node that stays for which expansions of later nodes ask."""
    if node.op_type == "DequantizeLinear":
        known.dequantized.update(dict.fromkeys(node.output, node))
        _note_number(known, node)
    is_own = node.domain in DEFAULT_DOMAINS and node.op_type in OPERATORS
    folds = is_own and _is_folded_later(node)
    if folds and all(known.is_steady(name) for name in node.input if name):
        known.steady.update(node.output)


def _is_folded_later(node: NodeProto) -> bool:
    """Return whether an operation of constants is a constant expression: these stay in the file."""
    entry = OPERATORS.get(node.op_type)
    return entry is None or all(kind.has_trait(Folds) for kind in entry.kinds)


def _note_number(known: Known, node: NodeProto) -> None:
    """The one number that a constant stands for: what is between stays stored."""
    stored, scale, *zero = (known.array(name, 1) for name in node.input if name)
    if stored is None or scale is None or stored.size != 1 or scale.size != 1:
        return
    less = zero[0] if zero and zero[0] is not None else np.zeros((), np.int64)
    real = (stored.astype(np.int64) - less.astype(np.int64)).astype(np.float32) * scale
    known.numbers[node.output[0]] = float(real.reshape(-1)[0])


def _is_known(known: Known, node: NodeProto, opsets: Opsets) -> bool:
    """Return whether all results are known before run time; they are kept then."""
    if node.op_type == "ConstantOfShape":
        _fill(known, node)
    elif node.op_type in ("Shape", "Size"):
        _shape(known, node)
    elif node.op_type in FOLDABLE:
        _evaluate(known, node, opsets)
    return all(o in known.folded or o in known.fills for o in node.output if o)


def _fill(known: Known, node: NodeProto) -> None:
    """`ConstantOfShape` of a known shape is a constant, never materialised unless it is small."""
    if not known.is_constant(node.input[0]):
        return
    name = node.output[0]
    shape = known.graph.types[name].fixed or ()
    of_file = any(n.op_type == node.op_type and name in n.output for _, n in known.graph.nodes)
    if not of_file and prod(shape) <= WEIGHTS:  # of a function's body, or that of a branch
        known.made_constant(np.full(shape, known.elements(fill_tensor(node), name)), name)
        return
    known.fills[name] = node
    if prod(shape) <= INLINE:
        element = known.elements(fill_tensor(node), name)
        if element.dtype.kind in KINDS:
            known.arrays[name] = np.full(shape, element)


def _shape(known: Known, node: NodeProto) -> None:
    type_ = known.graph.types.get(node.input[0])
    shape = type_.fixed if type_ else None
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
    from onnx.reference import ReferenceEvaluator

    # of a graph: of a node alone the evaluator looks at no opset, and takes the newest
    given, results = (
        [onnx.helper.make_empty_tensor_value_info(n) for n in names] for names in (inputs, outputs)
    )
    one = onnx.helper.make_graph([node], "one", given, results)
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
