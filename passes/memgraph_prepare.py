"""`memgraph-prepare{conventions=frelu,view}`: the conventions under which networks are compared.

Papers count the same network differently; this makes ours the one of the figure at hand. Where no
convention is named, every node executes as it stands in the file.

`frelu`: a Relu (also Relu6, Clip) that alone reads its input is merged into what makes that input,
as converters do. A typed operation takes it as its `activation`; an opaque one just loses its
reader and says so in `memgraph.merged`.

Before:
    %1 = memgraph.conv_2d %0, %w window<[3, 3]> groups 1 : (T0, W) -> T1
    %2 = memgraph.relu %1 : (T1) -> T1
    %3 = memgraph.opaque "Conv"(%2) : (T1) -> T1
    %4 = memgraph.opaque "Relu"(%3) {memgraph.names = ["y"]} : (T1) -> T1
After:
    %1 = memgraph.conv_2d %0, %w window<[3, 3]> groups 1 activation<relu> : (T0, W) -> T1
    %3 = memgraph.opaque "Conv"(%1) {memgraph.merged = ["Relu"], memgraph.names = ["y"]}
         : (T1) -> T1

It is left alone where the merged operation would compute something else: between different shapes
or quantizations, after an operation that has no activation, and where one is taken already. A Relu
looks through reshapes that it alone reads, for it does not care about shapes.

`view`: Reshape, Flatten, Squeeze and Unsqueeze cost nothing: their result is the operand.

Before:
    %2 = memgraph.opaque "Flatten"(%1) : (tensor<1x8x1x1xf32>) -> tensor<1x8xf32>
After:
    %2 = memgraph.opaque "Flatten"(%1) {memgraph.alias = [[#memgraph.alias<operand = 0,
         kind = view>]]} : (tensor<1x8x1x1xf32>) -> tensor<1x8xf32>

and the function's model gets `views = on`; without this convention it gets `views = off`, under
which reshapes copy. A merged operation is not what stands in the file, so it loses its
`memgraph.source`: a writer that copies operators from there refuses it. Plans are dropped.
"""

from dataclasses import dataclass
from math import prod
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from memopt.dialects.attributes import ActivationAttr, EncodingAttr
from memopt.dialects.functions import functions
from memopt.dialects.names import name_of, operator_name
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.by_name import RELUS, VIEWS
from memopt.dialects.plan import ALIAS, MODEL, drop_plan, model_of
from memopt.dialects.plan_attributes import AliasAttr, ModelAttr
from memopt.dialects.structure import OpaqueOp
from memopt.dialects.tensors import bytes_of, is_buffer, shape_of
from memopt.passes.option import option

CONVENTIONS = ("frelu", "view")
MERGED, NAMES, SOURCE = "memgraph.merged", "memgraph.names", "memgraph.source"


@dataclass(frozen=True)
class MemgraphPreparePass(ModulePass):
    """Merge ReLUs and take reshapes as views, as a published figure counts them."""

    name = "memgraph-prepare"

    conventions: tuple[str, ...] = option(
        (), "frelu: a Relu merges into its producer; view: reshapes cost nothing"
    )

    def __post_init__(self) -> None:
        for convention in self.conventions:
            if convention not in CONVENTIONS:
                known = ", ".join(CONVENTIONS)
                text = f"memgraph-prepare: {convention!r} is not one of: {known}"
                raise PassFailedException(text)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            drop_plan(func)
            if "frelu" in self.conventions:
                merge_relus(func)
            take_views(func, "view" in self.conventions)


# -- frelu --------------------------------------------------------------------------------------


def merge_relus(func: FuncOp) -> int:
    """Merge what can be, in block order. Returns how many Relus are gone."""
    count = 0
    for op in list(func.body.walk()):
        if is_relu(op) and (producer := mergeable(op)) is not None:
            merge(op, producer)
            count += 1
    return count


def is_relu(op: Operation) -> bool:
    """Typed, or opaque by name with one operand that is no constant."""
    if isinstance(op, ComputeOp):
        return op.AS_ACTIVATION is not None
    if not isinstance(op, OpaqueOp) or op.op_name.data not in RELUS or len(op.results) != 1:
        return False
    model = ModelAttr()
    data = [v for v in op.operands if not is_constant_expression(v, model)]
    return len(data) == 1 and data[0] is op.operands[0]


def mergeable(relu: Operation) -> OpResult | None:
    """The result that can take the Relu: its input, or the input of reshapes that lead to it."""
    value = relu.operands[0]
    if not same_numbers(value.type, relu.results[0].type):
        return None
    if shape_of(value) != shape_of(relu.results[0]):  # whatever it is, not element by element
        return None
    nearest = value if accepts(value, relu) else None
    while isinstance(value, OpResult) and value.has_one_use() and is_reshape(value.op):
        source = value.op.operands[0]
        if not same_numbers(source.type, value.type) or prod(shape_of(source)) != prod(
            shape_of(value)
        ):
            break
        value = source
        if accepts(value, relu):
            return cast("OpResult", value)
    return cast("OpResult | None", nearest)


def is_reshape(op: Operation) -> bool:
    if isinstance(op, ComputeOp):
        return op.IS_VIEW
    return isinstance(op, OpaqueOp) and op.op_name.data in VIEWS


def accepts(value: SSAValue, relu: Operation) -> bool:
    """Whether the operation behind `value` can apply the Relu to it, and nobody sees it before."""
    if not isinstance(value, OpResult) or not value.has_one_use():
        return False
    if is_constant_expression(value, ModelAttr()):
        return False
    if isinstance(value.op, OpaqueOp):
        return True
    free = isinstance(value.op, ComputeOp) and value.op.takes_activation
    return free and isinstance(relu, ComputeOp)


def same_numbers(a: Attribute, b: Attribute) -> bool:
    """Whether two tensor types store numbers in the same way."""
    if not isinstance(a, TensorType) or not isinstance(b, TensorType):
        return False
    types = [cast("TensorType[Attribute]", a), cast("TensorType[Attribute]", b)]
    encodings = [t.encoding if isinstance(t.encoding, EncodingAttr) else None for t in types]
    meanings = [
        (e.scales, e.zero_points, e.axis.data) if e and e.quantized else None for e in encodings
    ]
    return types[0].element_type == types[1].element_type and meanings[0] == meanings[1]


def merge(relu: Operation, result: OpResult) -> None:
    """Apply `relu` inside the operation behind `result`, which takes over the Relu's name."""
    producer = result.op
    merged = operator_name(relu).split(" ")[0]
    if isinstance(producer, OpaqueOp):
        before = producer.attributes.get(MERGED)
        entries = cast("ArrayAttr[Attribute]", before).data if before is not None else ()
        producer.attributes[MERGED] = ArrayAttr([*entries, StringAttr(merged)])
    else:
        kind = cast("ComputeOp", relu).AS_ACTIVATION
        assert kind is not None
        producer.properties["activation"] = ActivationAttr(kind)
    producer.attributes.pop(SOURCE, None)
    last = relu.operands[0]  # of the producer, or of the last reshape after it
    rename(last, name_of(relu.results[0]))
    layout = joined_layout(last.type, relu.results[0].type)
    if layout is not None and isinstance(last, OpResult):
        last = Rewriter.replace_value_with_new_type(last, layout)
    relu.results[0].replace_all_uses_with(last)
    relu.detach()
    relu.erase()


def rename(value: SSAValue, name: str) -> None:
    if isinstance(value, OpResult):
        names = [StringAttr(name_of(r)) for r in value.op.results]
        names[value.index] = StringAttr(name)
        value.op.attributes[NAMES] = ArrayAttr(names)


def joined_layout(old: Attribute, new: Attribute) -> Attribute | None:
    """`new` if it names a layout and `old`, otherwise equal, does not."""
    a, b = cast("TensorType[Any]", old), cast("TensorType[Any]", new)
    if a == b or not isinstance(b.encoding, EncodingAttr) or not b.encoding.layout.data:
        return None
    named = isinstance(a.encoding, EncodingAttr) and a.encoding.layout.data
    return None if named or a.get_shape() != b.get_shape() else new


# -- view ---------------------------------------------------------------------------------------


def take_views(func: FuncOp, on: bool) -> None:
    """Reshapes are views of their operand, or copy: opaque ones by alias, typed ones by model."""
    old = model_of(func)
    func.attributes[MODEL] = ModelAttr(
        old.target.data,
        old.alignment.data,
        old.io.data,
        on,
        old.has_inplace,
        old.scratch.data,
    )
    for op in func.body.walk():
        if isinstance(op, OpaqueOp) and op.op_name.data in VIEWS:
            op.attributes.pop(ALIAS, None)
            if on and is_whole_view(op):
                view: list[Attribute] = [AliasAttr(0, "view")]
                op.attributes[ALIAS] = ArrayAttr([ArrayAttr(view)])


def is_whole_view(op: OpaqueOp) -> bool:
    """Whether the result can be the operand: one buffer each, of the same size."""
    if len(op.results) != 1 or not op.operands or op.stateful is not None:
        return False
    source, result = op.operands[0], op.results[0]
    return (
        is_buffer(source.type)
        and is_buffer(result.type)
        and not is_constant_expression(source, ModelAttr())
        and bytes_of(source.type) == bytes_of(result.type)
    )
