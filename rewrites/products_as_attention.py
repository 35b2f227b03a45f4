"""Products with a softmax between them are one attention.

Before:
    !x = tensor<1x3x8xf32>
    !h = tensor<1x3x2x4xf32>
    !q = tensor<1x2x3x4xf32>
    !k = tensor<1x2x4x3xf32>
    !s = tensor<1x2x3x3xf32>
    func.func @main(%q: !x, %k: !x, %v: !x, %m: tensor<3x3xf32>) -> !x {
      %1 = memgraph.reshape %q : (!x) -> !h
      %2 = memgraph.transpose %1 permutation [0, 2, 1, 3] : (!h) -> !q
      %3 = memgraph.reshape %k : (!x) -> !h
      %4 = memgraph.transpose %3 permutation [0, 2, 3, 1] : (!h) -> !k
      %5 = memgraph.reshape %v : (!x) -> !h
      %6 = memgraph.transpose %5 permutation [0, 2, 1, 3] : (!h) -> !q
      %7 = memgraph.batch_matmul %2, %4 : (!q, !k) -> !s
      %c = memgraph.constant dense<0.25> : tensor<f32>
      %8 = memgraph.mul %c, %7 : (tensor<f32>, !s) -> !s
      %9 = memgraph.add %8, %m : (!s, tensor<3x3xf32>) -> !s
      %10 = memgraph.softmax %9 axis 3 beta 1.0 : (!s) -> !s
      %11 = memgraph.batch_matmul %10, %6 : (!s, !q) -> !q
      %12 = memgraph.transpose %11 permutation [0, 2, 1, 3] : (!q) -> !h
      %13 = memgraph.reshape %12 {memgraph.names = ["y"]} : (!h) -> !x
      func.return %13 : !x
    }
After:
    !m = tensor<1x3x3xf32>
    func.func @main(%q: !x, %k: !x, %v: !x, %m: tensor<3x3xf32>) -> !x {
      %1 = memgraph.reshape %m : (tensor<3x3xf32>) -> !m
      %2 = memgraph.attention %q, %k, %v, %1 heads 2 scale 0.25 {memgraph.names = ["y"]}
             : (!x, !x, !x, !m) -> !x
      func.return %2 : !x
    }

No tensor of scores is left: a query needs those of one head. Where the numbers of a head lie is
followed through what only moves them, back to where they lie place by place and head by head,
forward to where the result does; so any sequence of transposes and reshapes is understood. They may
be part of a wider tensor, and the scale may be a factor of the queries, of the keys, or of both:
then a score s is off by at most 2^-21 |s|, as each of three products is rounded elsewhere.

Before:
    !x = tensor<2x1x12xf32>
    !p = tensor<2x1x3x4xf32>
    !t = tensor<3x1x2x4xf32>
    !h = tensor<1x2x4xf32>
    !k = tensor<1x4x2xf32>
    !s = tensor<1x2x2xf32>
    !i = tensor<i32>
    func.func @main(%x: !x) -> !h {
      %1 = memgraph.reshape %x : (!x) -> !p
      %2 = memgraph.transpose %1 permutation [2, 1, 0, 3] : (!p) -> !t
      %a = memgraph.constant dense<0> : !i
      %b = memgraph.constant dense<1> : !i
      %d = memgraph.constant dense<2> : !i
      %c = memgraph.constant dense<0.5> : tensor<f32>
      %3 = memgraph.gather_along %2, %a axis 0 : (!t, !i) -> !h
      %4 = memgraph.gather_along %2, %b axis 0 : (!t, !i) -> !h
      %5 = memgraph.gather_along %2, %d axis 0 : (!t, !i) -> !h
      %6 = memgraph.mul %3, %c : (!h, tensor<f32>) -> !h
      %7 = memgraph.transpose %4 permutation [0, 2, 1] : (!h) -> !k
      %8 = memgraph.mul %7, %c : (!k, tensor<f32>) -> !k
      %9 = memgraph.batch_matmul %6, %8 : (!h, !k) -> !s
      %10 = memgraph.softmax %9 axis 2 beta 1.0 : (!s) -> !s
      %11 = memgraph.batch_matmul %10, %5 : (!s, !h) -> !h
      func.return %11 : !h
    }
After:
    !w = tensor<1x2x12xf32>
    func.func @main(%x: !x) -> !h {
      %1 = memgraph.reshape %x : (!x) -> !w
      %2 = memgraph.slice %1 starts [0, 0, 0] strides [1, 1, 1] : (!w) -> !h
      %3 = memgraph.slice %1 starts [0, 0, 4] strides [1, 1, 1] : (!w) -> !h
      %4 = memgraph.slice %1 starts [0, 0, 8] strides [1, 1, 1] : (!w) -> !h
      %5 = memgraph.attention %2, %3, %4 heads 1 scale 0.25 : (!h, !h, !h) -> !h
      func.return %5 : !h
    }

What is no such move, or not known before, comes before or after the attention.

Before:
    !q = tensor<2x4xf32>
    !s = tensor<2x2xf32>
    !y = tensor<2x8xf32>
    func.func @main(%x: tensor<9xf32>, %q: !q, %i: tensor<2xi32>) -> (!q, !y) {
      %1 = memgraph.slice %x starts [0] strides [1] : (tensor<9xf32>) -> tensor<8xf32>
      %2 = memgraph.reshape %1 : (tensor<8xf32>) -> !q
      %3 = memgraph.gather_along %q, %i axis 0 : (!q, tensor<2xi32>) -> !q
      %4 = memgraph.relu %q : (!q) -> !q
      %5 = memgraph.batch_matmul %3, %2 adj_y : (!q, !q) -> !s
      %6 = memgraph.softmax %5 axis 1 beta 1.0 : (!s) -> !s
      %7 = memgraph.batch_matmul %6, %4 : (!s, !q) -> !q
      %8 = memgraph.relu %7 : (!q) -> !q
      %9 = memgraph.batch_matmul %q, %q adj_y : (!q, !q) -> !s
      %10 = memgraph.softmax %9 axis 1 beta 1.0 : (!s) -> !s
      %11 = memgraph.batch_matmul %10, %q : (!s, !q) -> !q
      %12 = memgraph.concat %11, %q axis 1 : (!q, !q) -> !y
      func.return %8, %12 : !q, !y
    }
After:
    !h = tensor<1x2x4xf32>
    func.func @main(%x: tensor<9xf32>, %q: !q, %i: tensor<2xi32>) -> (!q, !y) {
      %1 = memgraph.slice %x starts [0] strides [1] : (tensor<9xf32>) -> tensor<8xf32>
      %3 = memgraph.gather_along %q, %i axis 0 : (!q, tensor<2xi32>) -> !q
      %4 = memgraph.relu %q : (!q) -> !q
      %5 = memgraph.reshape %3 : (!q) -> !h
      %6 = memgraph.reshape %1 : (tensor<8xf32>) -> !h
      %7 = memgraph.reshape %4 : (!q) -> !h
      %8 = memgraph.attention %5, %6, %7 heads 1 scale 1.0 : (!h, !h, !h) -> !h
      %9 = memgraph.reshape %8 : (!h) -> !q
      %10 = memgraph.relu %9 : (!q) -> !q
      %11 = memgraph.reshape %q : (!q) -> !h
      %12 = memgraph.attention %11, %11, %11 heads 1 scale 1.0 : (!h, !h, !h) -> !h
      %13 = memgraph.reshape %12 : (!h) -> !q
      %14 = memgraph.concat %13, %q axis 1 : (!q, !q) -> !y
      func.return %10, %14 : !q, !y
    }

Scores that something else reads; a softmax along another axis; a mask of each head:

Left alone:
    !q = tensor<3x4xf32>
    !s = tensor<3x3xf32>
    !h = tensor<2x1x4xf32>
    !t = tensor<2x1x1xf32>
    func.func @main(%q: !q, %h: !h, %m: !t) -> (!q, !s, !q, !h) {
      %1 = memgraph.batch_matmul %q, %q adj_y : (!q, !q) -> !s
      %2 = memgraph.softmax %1 axis 1 beta 1.0 : (!s) -> !s
      %3 = memgraph.batch_matmul %2, %q : (!s, !q) -> !q
      %4 = memgraph.batch_matmul %q, %q adj_y : (!q, !q) -> !s
      %5 = memgraph.softmax %4 axis 0 beta 1.0 : (!s) -> !s
      %6 = memgraph.batch_matmul %5, %q : (!s, !q) -> !q
      %7 = memgraph.batch_matmul %h, %h adj_y : (!h, !h) -> !t
      %8 = memgraph.add %7, %m : (!t, !t) -> !t
      %9 = memgraph.softmax %8 axis 2 beta 1.0 : (!t) -> !t
      %10 = memgraph.batch_matmul %9, %h : (!t, !h) -> !h
      func.return %3, %1, %6, %10 : !q, !s, !q, !h
    }
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.dialects.builtin import Float32Type, FloatAttr, ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from memopt.analysis.constants import Constants, constants_of
from memopt.analysis.weights import Weights
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, element_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.quick import number, numbers
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.tensors import elements_of, shape_of
from memopt.dialects.operators.attention import AttentionOp
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.batch_products import BatchMatmulOp
from memopt.dialects.operators.binary import AddOp, DivOp, MulOp
from memopt.dialects.operators.gathering import GatherAlongOp
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.slices import SliceOp
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.dialects.operators.traits import Moves
from memopt.rewrites import Applied, Exact, FunctionRule, erase_unread


@dataclass(frozen=True)
class Heads:
    """Numbers of heads as they lie in a value, `width` for each place, from element `first` on;
    they are times `factor`. `heads` of them in turn serve all."""

    value: SSAValue
    width: int
    first: int
    heads: int
    factor: float


@dataclass(frozen=True)
class Scores:
    """The product of queries and keys that a softmax is of, times `factor`, with a mask added."""

    product: BatchMatmulOp
    factor: float
    mask: SSAValue | None


class ProductsAsAttention(FunctionRule):
    """The rule above."""

    exact: ClassVar[Exact] = "rounding"
    applied: ClassVar[Applied] = "kernels"

    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        softmaxes = [op for op in body_of(func).ops if isinstance(op, SoftmaxOp)]
        module = func.parent_op()
        if not softmaxes or not isinstance(module, ModuleOp):
            return False
        constants = constants_of(Weights.of(module), GENERIC)
        return bool(sum(self._joined(op, constants, rewriter) for op in softmaxes))

    def _joined(self, op: SoftmaxOp, constants: Constants, rewriter: PatternRewriter) -> bool:
        """Replace what leads to a softmax, and what its result is multiplied with."""
        parts = parts_of(op, constants)
        if parts is None:
            return False
        end = cast("OpResult", parts.made).op
        at = InsertPoint.before(end)
        shaped: dict[SSAValue, SSAValue] = {}

        def inserted(new: Operation) -> SSAValue:
            new.location = op.location
            self.derived(new, op)
            rewriter.insert(new, at)
            return new.results[0]

        def of_shape(value: SSAValue, *shape: int) -> SSAValue:
            if shape_of(value) == shape:
                return value
            if value not in shaped:
                type_ = TensorType(element_of(value), shape)
                new = ReshapeOp.create(operands=[value], result_types=[type_])
                shaped[value] = inserted(new)
            return shaped[value]

        def channels_of(part: Heads, count: int) -> SSAValue:
            places = elements_of(part.value) // part.width
            value = of_shape(part.value, 1, places, part.width)
            if count == part.width:
                return value
            properties = {"starts": numbers([0, 0, part.first]), "strides": numbers([1, 1, 1])}
            type_ = TensorType(element_of(value), (1, places, count))
            return inserted(
                SliceOp.create(operands=[value], result_types=[type_], properties=properties)
            )

        q, k, v = parts.parts
        count, queries, depth, width = parts.sizes
        operands = [
            channels_of(q, count * depth),
            channels_of(k, k.heads * depth),
            channels_of(v, v.heads * width),
        ]
        if parts.mask is not None:
            keys = shape_of(parts.mask)[-1]
            operands.append(of_shape(parts.mask, 1, elements_of(parts.mask) // keys, keys))
        shape = (1, queries, count * width)
        is_last = shape_of(parts.made) == shape
        type_ = parts.made.type if is_last else TensorType(element_of(parts.made), shape)
        properties = {
            "heads": number(count),
            "kv_heads": number(k.heads) if k.heads < count else None,
            "scale": FloatAttr(parts.factor, f32),
        }
        new = AttentionOp.create(
            operands=operands,
            result_types=[type_],
            properties={key: value for key, value in properties.items() if value is not None},
        )
        new.location = op.location
        rewriter.insert(new, at)
        if not is_last:
            self.derived(new, op)
            new = ReshapeOp.create(operands=[new.results[0]], result_types=[parts.made.type])
            rewriter.insert(new, at)
        read = list(end.operands)
        self.replaced(end, new, rewriter)
        erase_unread(read, rewriter.erase)
        return True


@dataclass(frozen=True)
class Parts:
    """Queries, keys and values; a mask, and by how much scores are multiplied; the value that is
    made. `sizes`: heads, queries, channels of a head of keys and of values."""

    parts: tuple[Heads, Heads, Heads]
    mask: SSAValue | None
    factor: float
    made: SSAValue
    sizes: tuple[int, int, int, int]


def parts_of(op: SoftmaxOp, constants: Constants) -> Parts | None:
    """Return what the attention around a softmax is made of, None if there is none."""
    last, scores = only_reader(op.result), scores_of(op, constants)
    if scores is None or not isinstance(last, BatchMatmulOp) or last.lhs != op.result:
        return None
    if last.adj_x is not None:
        return None
    product = scores.product
    queries, depth, keys = product.sizes
    batches, width = shape_of(op.result)[:-2], last.sizes[2]
    if shape_of(last.result)[:-2] != batches or 0 in (*batches, queries, depth, keys, width):
        return None
    adjoined = product.adj_x is not None, product.adj_y is None, last.adj_y is not None
    sizes = (queries, depth), (keys, depth), (keys, width)
    values = product.lhs, product.rhs, last.rhs
    q, k, v = (
        heads_of(value, batches, size, turned, constants)
        for value, size, turned in zip(values, sizes, adjoined, strict=True)
    )
    count = elements_of(op.result) // (queries * keys)
    end = together(last.result, count, queries)
    if q is None or k is None or v is None or end is None:
        return None
    if q.heads != count or k.heads != v.heads or v.factor != 1:
        return None
    factor = q.factor * k.factor * scores.factor
    return Parts((q, k, v), scores.mask, factor, end, (count, queries, depth, width))


def scores_of(op: SoftmaxOp, constants: Constants) -> Scores | None:
    """Return the product that a softmax over the last axis is of, with all that is done to it."""
    shape = shape_of(op.input)
    if op.axis.value.data != len(shape) - 1 or op.beta.value.data != 1:
        return None
    value, factor, mask = op.input, 1.0, None
    while isinstance(value, OpResult) and is_real(value) and only_reader(value) is not None:
        if isinstance(value.op, BatchMatmulOp):
            return Scores(value.op, factor, mask)
        if (scaled := scaled_by(value, constants)) is not None:
            value, factor = scaled[0], factor * scaled[1]
        elif mask is None and factor == 1 and (masked := masked_by(value)) is not None:
            value, mask = masked
        else:
            return None
    return None


def masked_by(value: OpResult) -> tuple[SSAValue, SSAValue] | None:
    """Return scores, and the mask that is added to them; None where nothing is."""
    op = value.op
    if not isinstance(op, AddOp) or op.activation is not None:
        return None
    shape = shape_of(value)
    for scores, mask in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if shape_of(scores) == shape and is_mask(mask, shape):
            return scores, mask
    return None


def is_mask(value: SSAValue, shape: Sequence[int]) -> bool:
    """Return whether a value has a number for each key, be it of each query, that all heads of
    scores of that shape share."""
    own = (1,) * (len(shape) - len(shape_of(value))) + shape_of(value)
    shared = all(size == 1 for size in own[:-2])
    return shared and own[-1] == shape[-1]


def scaled_by(value: OpResult, constants: Constants) -> tuple[SSAValue, float] | None:
    """Return the value of which this one is a known multiple, and by what it is multiplied."""
    op = value.op
    if divided := divided_by(op, constants):
        other, number = divided
        scale = 1 / number
    elif isinstance(op, MulOp):
        pairs = ((op.lhs, op.rhs), (op.rhs, op.lhs))
        numbered = ((a, known_number(b, constants)) for a, b in pairs)
        other, scale = next(((a, n) for a, n in numbered if n is not None), (value, None))
    else:
        return None
    fits = shape_of(other) == shape_of(value) and "activation" not in op.properties
    return (other, scale) if scale is not None and fits else None


def divided_by(op: Operation, constants: Constants) -> tuple[SSAValue, float] | None:
    """Return what an operation divides by a number that is known, and that."""
    number = known_number(op.rhs, constants) if isinstance(op, DivOp) else None
    return (op.operands[0], number) if number else None


def known_number(value: SSAValue, constants: Constants) -> float | None:
    """Return the only element of a constant."""
    array = constants(value) if elements_of(value) == 1 else None
    return None if array is None else float(array.item())


def heads_of(
    value: SSAValue,
    batches: Sequence[int],
    size: tuple[int, int],
    turned: bool,
    constants: Constants,
) -> Heads | None:
    """Return where the matrices of an operand of a product lie place by place, and head by head of
    each, as far back as possible. `size`: places and channels of a head, which come first in
    matrices that are `turned`."""
    matrix = size[::-1] if turned else size
    index = np.arange(elements_of(value)).reshape(shape_of(value))
    index = np.broadcast_to(index, (*batches, *matrix)).reshape(-1, *matrix)
    index = index.swapaxes(1, 2) if turned else index
    heads: Heads | None = None
    for at, moved, factor in moved_from(value, constants):
        lies = lying(index if moved is None else moved[index], elements_of(at))
        if lies is not None:
            heads = Heads(at, *lies, factor)
    return heads


def moved_from(
    value: SSAValue, constants: Constants
) -> Iterator[tuple[SSAValue, Array | None, float]]:
    """Yield a value, and what its elements are moved from: with the number of the element there
    that each is, and by what they are multiplied."""
    places, factor = None, 1.0
    yield value, places, factor
    while isinstance(value, OpResult):
        op = value.op
        if (scaled := scaled_by(value, constants)) is not None:
            value, factor = scaled[0], factor * scaled[1]
        elif moves(op):
            before = op.operands[0]
            others = [constants(other) for other in op.operands[1:]]
            if any(other is None for other in others):
                return
            numbered = np.arange(elements_of(before)).reshape(shape_of(before))
            moved = cast("ComputeOp", op).evaluate([numbered, *others])[value.index].reshape(-1)
            value, places = before, moved if places is None else moved[places]
        else:
            return
        yield value, places, factor


def moves(op: Operation) -> bool:
    """Return whether elements of the results are elements of the first operand."""
    return isinstance(op, GatherAlongOp) or (isinstance(op, ComputeOp) and op.has_trait(Moves))


def lying(index: Array, elements: int) -> tuple[int, int, int] | None:
    """Return the width of a place, the first element and how many heads there are, if [heads,
    places, channels] lie place by place."""
    count, places, channels = index.shape
    width, first = elements // places, int(index[0, 0, 0])
    for heads in range(count, 0, -1):
        head, place, channel = np.ogrid[:heads, :places, :channels]
        lies = first + place * width + head * channels + channel
        if width * places == elements and np.array_equal(lies.repeat(count // heads, 0), index):
            return width, first, heads
    return None


def together(value: SSAValue, count: int, places: int) -> SSAValue | None:
    """Return the value into which a product is moved on, where its heads lie beside each other in
    each place; as far on as possible."""
    index = np.arange(elements_of(value)).reshape(shape_of(value))
    wanted = index.reshape(count, places, -1).swapaxes(0, 1).reshape(-1)
    last: SSAValue | None = None
    while True:
        if np.array_equal(index.reshape(-1), wanted):
            last = value
        reader = only_reader(value)
        if not (
            isinstance(reader, ComputeOp) and reader.has_trait(Moves) and len(reader.operands) == 1
        ):
            return last
        index, value = reader.evaluate([index])[0], reader.results[0]


def only_reader(value: SSAValue) -> Operation | None:
    """Return the operation that alone reads a value, and once."""
    uses = list(value.uses)
    return uses[0].operation if len(uses) == 1 else None


def is_real(value: SSAValue) -> bool:
    """Return whether a value is of float32."""
    return isinstance(element_of(value), Float32Type)
