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
    !p = tensor<2x2x3x2xf32>
    !t = tensor<3x2x2x2xf32>
    !h = tensor<2x2x2xf32>
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
      %7 = memgraph.transpose %4 permutation [0, 2, 1] : (!h) -> !h
      %8 = memgraph.mul %7, %c : (!h, tensor<f32>) -> !h
      %9 = memgraph.batch_matmul %6, %8 : (!h, !h) -> !h
      %10 = memgraph.softmax %9 axis 2 beta 1.0 : (!h) -> !h
      %11 = memgraph.batch_matmul %10, %5 : (!h, !h) -> !h
      %12 = memgraph.transpose %11 permutation [1, 0, 2] : (!h) -> !h
      func.return %12 : !h
    }
After:
    !w = tensor<1x2x12xf32>
    !y = tensor<1x2x4xf32>
    func.func @main(%x: !x) -> !h {
      %1 = memgraph.reshape %x : (!x) -> !w
      %2 = memgraph.picked %1 shape [1, 2, 12] sizes [1, 2, 4] terms [0, 0, 1, 1, 2, 2]
             numbers [0, 0, 1, 0, 1, 6, 7] : (!w) -> !y
      %3 = memgraph.picked %1 shape [1, 2, 12] sizes [1, 2, 4] terms [0, 0, 1, 1, 2, 2]
             numbers [0, 0, 1, 2, 3, 8, 9] : (!w) -> !y
      %4 = memgraph.picked %1 shape [1, 2, 12] sizes [1, 2, 4] terms [0, 0, 1, 1, 2, 2]
             numbers [0, 0, 1, 4, 5, 10, 11] : (!w) -> !y
      %5 = memgraph.attention %2, %3, %4 heads 2 scale 0.25 : (!y, !y, !y) -> !y
      %6 = memgraph.reshape %5 : (!y) -> !h
      func.return %6 : !h
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
      %m = memgraph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : !s
      %9 = memgraph.batch_matmul %q, %q adj_y : (!q, !q) -> !s
      %13 = memgraph.add %m, %9 : (!s, !s) -> !s
      %10 = memgraph.softmax %13 axis 1 beta 1.0 : (!s) -> !s
      %11 = memgraph.batch_matmul %10, %q : (!s, !q) -> !q
      %12 = memgraph.concat %11, %q axis 1 : (!q, !q) -> !y
      func.return %8, %12 : !q, !y
    }
After:
    !h = tensor<1x2x4xf32>
    !m = tensor<1x2x2xf32>
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
      %m = memgraph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : !s
      %11 = memgraph.reshape %q : (!q) -> !h
      %n = memgraph.reshape %m : (!s) -> !m
      %12 = memgraph.attention %11, %11, %11, %n heads 1 scale 1.0 : (!h, !h, !h, !m) -> !h
      %13 = memgraph.reshape %12 : (!h) -> !q
      %14 = memgraph.concat %13, %q axis 1 : (!q, !q) -> !y
      func.return %10, %14 : !q, !y
    }

A mask that is known may be another one of each head, or several, which are added up before run
time: a score is off by half a unit in the last place of each sum.

Before:
    !h = tensor<2x1x4xf32>
    !s = tensor<2x1x1xf32>
    func.func @main(%h: !h) -> !h {
      %a = memgraph.constant dense<[[[1.0]], [[2.0]]]> : !s
      %b = memgraph.constant dense<3.0> : tensor<1x1xf32>
      %1 = memgraph.batch_matmul %h, %h adj_y : (!h, !h) -> !s
      %2 = memgraph.add %a, %1 : (!s, !s) -> !s
      %3 = memgraph.add %2, %b : (!s, tensor<1x1xf32>) -> !s
      %4 = memgraph.softmax %3 axis 2 beta 1.0 : (!s) -> !s
      %5 = memgraph.batch_matmul %4, %h : (!s, !h) -> !h
      func.return %5 : !h
    }
After:
    !x = tensor<1x1x8xf32>
    func.func @main(%h: !h) -> !h {
      %a = memgraph.constant dense<[[[1.0]], [[2.0]]]> : !s
      %b = memgraph.constant dense<3.0> : tensor<1x1xf32>
      %1 = memgraph.reshape %h : (!h) -> !x
      %2 = memgraph.add %a, %b : (!s, tensor<1x1xf32>) -> !s
      %3 = memgraph.transpose %2 permutation [1, 0, 2] : (!s) -> tensor<1x2x1xf32>
      %4 = memgraph.reshape %3 : (tensor<1x2x1xf32>) -> tensor<1x1x2xf32>
      %5 = memgraph.attention %1, %1, %1, %4 heads 2 scale 1.0
             : (!x, !x, !x, tensor<1x1x2xf32>) -> !x
      %6 = memgraph.reshape %5 : (!x) -> !h
      func.return %6 : !h
    }

Scores that something else reads, a softmax along another axis, a mask of each head that is computed
are left alone, as is more in `tests/rewrites/unit/left_alone/products-as-attention.txt`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import gcd, prod
from typing import cast

from xdsl.dialects.builtin import Float32Type, FloatAttr, NoneAttr, TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from memopt.analysis.constants import Constants, constants_beside
from memopt.analysis.moved_elements import moves, together
from memopt.dialects.arithmetic.even_rounding import dequantized
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, element_of, is_stored
from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.attributes.quick import number, numbers
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, encoding_of, shape_of
from memopt.dialects.operators.attention import AttentionOp
from memopt.dialects.operators.batch_products import BatchMatmulOp
from memopt.dialects.operators.binary import AddOp, DivOp, MulOp
from memopt.dialects.operators.movement import ReshapeOp, TransposeOp
from memopt.dialects.operators.picked import PickedOp, picks_along
from memopt.dialects.operators.slices import SliceOp
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.rewrites import FunctionRule, erase_unread
from memopt.rewrites.mask_as_causal import masked_by


@dataclass(frozen=True)
class Source:
    """Value of which another is made element by element: times `factor`, by `steps`."""

    value: SSAValue
    factor: float = 1.0
    steps: tuple[Operation, ...] = ()


Scaling = Callable[[SSAValue, Constants], Source | None]


@dataclass(frozen=True)
class Heads:
    """Numbers of heads as they lie in the value of a source, `width` for each place: `channels` of
    it, one head after the other. `heads` of them in turn serve all."""

    source: Source
    width: int
    channels: tuple[int, ...]
    heads: int


@dataclass(frozen=True)
class Scores:
    """The product of queries and keys that a softmax is of, times `factor`, with masks added.
    `parts` is what the values are weighed by; `more` are properties of the attention."""

    product: BatchMatmulOp
    factor: float
    masks: tuple[SSAValue, ...]
    parts: SSAValue
    more: Mapping[str, Attribute]


class ProductsAsAttention(FunctionRule):
    """The rule above."""

    exact = "rounding"
    needs = (BatchMatmulOp,)
    applied = "kernels"

    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        softmaxes = [op for op in body_of(func).ops if isinstance(op, SoftmaxOp)]
        constants = constants_beside(func)
        return bool(sum(self._joined(op, constants, rewriter) for op in softmaxes))

    def parts(self, op: SoftmaxOp, constants: Constants) -> "Parts | None":
        """Return what the attention around a softmax is made of, None if there is none."""
        scores = scores_of(op, constants)
        return scores and parts_of(scores, constants, scaled_by)

    def _joined(self, op: SoftmaxOp, constants: Constants, rewriter: PatternRewriter) -> bool:
        """Replace what leads to a softmax, and what its result is multiplied with."""
        parts = self.parts(op, constants)
        if parts is None:
            return False
        end = cast("OpResult", parts.result).op
        build = Builder(self, op, end, rewriter)
        inserted, of_shape = build.inserted, build.of_shape

        def mask_of(masks: Sequence[SSAValue]) -> SSAValue:
            mask = masks[0]
            for more in masks[1:]:
                shape = np.broadcast_shapes(shape_of(mask), shape_of(more))
                mask = inserted(AddOp, [mask, more], like(mask, shape), {})
            heads, keys = prod(shape_of(mask)[:-2]), shape_of(mask)[-1]
            rows = elements_of(mask) // heads // keys
            if heads > 1:
                turned = {"permutation": numbers([1, 0, 2])}
                type_ = like(mask, (rows, heads, keys))
                mask = inserted(TransposeOp, [of_shape(mask, heads, rows, keys)], type_, turned)
            return of_shape(mask, 1, rows, heads * keys)

        q, k, v = parts.parts
        count, queries = q.heads, elements_of(q.source.value) // q.width
        operands = [build.channels_of(part, constants) for part in parts.parts]
        operands += [mask_of(parts.masks)] if parts.masks else []
        shape = (1, queries, len(v.channels) // v.heads * count)
        is_last = shape_of(parts.result) == shape
        properties = {**parts.more, "heads": number(count), "scale": FloatAttr(parts.factor, f32)}
        if k.heads < count:
            properties["kv_heads"] = number(k.heads)
        type_ = parts.result.type if is_last else like(parts.result, shape)
        new = inserted(AttentionOp, operands, type_, properties)
        if not is_last:
            new = inserted(ReshapeOp, [new], parts.result.type, {})
        before = list(end.operands)
        self.replaced(end, new.op, rewriter)
        erase_unread(before, rewriter.erase)
        return True


@dataclass
class Builder:
    """Operations that a rule inserts before `end`, made of `op`; `shaped` are reshapes."""

    rule: FunctionRule
    op: Operation
    end: Operation
    rewriter: PatternRewriter
    shaped: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def inserted(
        self,
        kind: type[Operation],
        read: Sequence[SSAValue],
        type_: Attribute,
        properties: Mapping[str, Attribute],
    ) -> OpResult:
        new = kind.create(operands=read, result_types=[type_], properties=properties)
        new.location = self.op.location
        self.rule.derived(new, self.op)
        self.rewriter.insert(new, InsertPoint.before(self.end))
        return new.results[0]

    def of_shape(self, value: SSAValue, *shape: int) -> SSAValue:
        if shape_of(value) == shape:
            return value
        if value not in self.shaped:
            self.shaped[value] = self.inserted(ReshapeOp, [value], like(value, shape), {})
        return self.shaped[value]

    def channels_of(self, part: Heads, constants: Constants) -> SSAValue:
        """Return the channels of heads, one head after the other, place by place."""
        width, channels = part.width, part.channels
        places, first = elements_of(part.source.value) // width, channels[0]
        value = self.of_shape(part.source.value, 1, places, width)
        type_ = like(value, (1, places, len(channels)))
        if channels != (*range(first, first + len(channels)),):
            picks = picks_along((1, places, width), ([0], range(places), channels))
            value = self.inserted(PickedOp, [value], type_, picks)
        elif len(channels) < width:
            properties = {"starts": numbers([0, 0, first]), "strides": numbers([1, 1, 1])}
            value = self.inserted(SliceOp, [value], type_, properties)
        for step in part.source.steps:
            read = [
                value if known_number(v, constants) is None else self.of_shape(v, *shape_of(v)[:3])
                for v in step.operands
            ]
            type_ = like(step.results[0], shape_of(value))
            value = self.inserted(type(step), read, type_, step.properties)
        return value


@dataclass(frozen=True)
class Parts:
    """Queries, keys and values; masks, and by how much scores are multiplied; more properties; the
    value that the attention replaces."""

    parts: tuple[Heads, Heads, Heads]
    masks: tuple[SSAValue, ...]
    factor: float
    more: Mapping[str, Attribute]
    result: SSAValue


def parts_of(scores: Scores, constants: Constants, scaled: Scaling) -> Parts | None:
    """Return what an attention of those scores is made of, None if there is none."""
    last = scores.parts.get_user_of_unique_use()
    if not isinstance(last, BatchMatmulOp) or last.lhs != scores.parts or last.adj_x is not None:
        return None
    product = scores.product
    queries, depth, keys = product.sizes
    batches, width = shape_of(scores.parts)[:-2], last.sizes[2]
    if shape_of(last.result)[:-2] != batches or 0 in (*batches, queries, depth, keys, width):
        return None
    adjoined = product.adj_x is not None, product.adj_y is None, last.adj_y is not None
    shapes = (queries, depth), (keys, depth), (keys, width)
    values = product.lhs, product.rhs, last.rhs
    q, k, v = (
        heads_of(value, batches, size, turned, moved_from(value, constants, scaled))
        for value, size, turned in zip(values, shapes, adjoined, strict=True)
    )
    count = elements_of(scores.parts) // (queries * keys)
    end = together(last.result, count, queries)
    if q is None or k is None or v is None or end is None:
        return None
    if q.heads != count or k.heads != v.heads or v.source.factor != 1:
        return None
    factor = q.source.factor * k.source.factor * scores.factor
    return Parts((q, k, v), scores.masks, factor, scores.more, end)


def scores_of(op: SoftmaxOp, constants: Constants) -> Scores | None:
    """Return the product that a softmax over the last axis is of, with all that is done to it."""
    if not is_over_last(op):
        return None
    value, factor, masks = op.input, 1.0, tuple[SSAValue, ...]()
    while isinstance(element_of(value), Float32Type) and value.has_one_use():
        if isinstance(value.owner, BatchMatmulOp):
            return Scores(value.owner, factor, masks, op.result, {})
        if (scaled := scaled_by(value, constants)) is not None:
            value, factor = scaled.value, factor * scaled.factor
        elif factor == 1 and (masked := masked_by(value, constants)) is not None:
            value, masks = masked[0], (masked[1], *masks)
            if len(masks) > 1 and any(constants(mask) is None for mask in masks):
                return None
        else:
            return None
    return None


def is_over_last(op: SoftmaxOp) -> bool:
    """Return whether a softmax is over the last axis, of the powers of e."""
    return op.axis.value.data == len(shape_of(op.input)) - 1 and op.beta.value.data == 1


def scaled_by(value: SSAValue, constants: Constants) -> Source | None:
    """Return the value of which this one is a known multiple, and by what it is multiplied."""
    if not isinstance(op := value.owner, Operation):
        return None
    if divided := divided_by(op, constants):
        other, scale = divided
    elif isinstance(op, MulOp):
        pairs = ((op.lhs, op.rhs), (op.rhs, op.lhs))
        numbered = ((a, known_number(b, constants)) for a, b in pairs)
        other, scale = next(((a, n) for a, n in numbered if n is not None), (value, None))
    else:
        return None
    fits = shape_of(other) == shape_of(value) and "activation" not in op.properties
    return Source(other, scale) if scale is not None and fits else None


def divided_by(op: Operation, constants: Constants) -> tuple[SSAValue, float] | None:
    """Return what an operation divides by a number that is known, and one over that."""
    number = known_number(op.rhs, constants) if isinstance(op, DivOp) else None
    return (op.operands[0], 1 / number) if number else None


def known_number(value: SSAValue, constants: Constants) -> float | None:
    """Return the only element of a constant, of a stored one the number that it stands for."""
    array = constants(value) if elements_of(value) == 1 else None
    if array is None:
        return None
    op = cast("OpResult", value).op
    return float((dequantized(op, array, value) if is_stored(value) else array).item())


def heads_of(
    value: SSAValue,
    batches: Sequence[int],
    size: tuple[int, int],
    turned: bool,
    sources: Iterable[tuple[Source, Array | None]],
) -> Heads | None:
    """Return where the matrices of an operand of a product lie place by place, and head by head of
    each, as far back as possible. `size`: places and channels of a head, which come first in
    matrices that are `turned`."""
    matrix = size[::-1] if turned else size
    index = np.arange(elements_of(value)).reshape(shape_of(value))
    index = np.broadcast_to(index, (*batches, *matrix)).reshape(-1, *matrix)
    index = index.swapaxes(1, 2) if turned else index
    heads: Heads | None = None
    for source, moved in sources:
        at = elements_of(source.value)
        lies = lying(index if moved is None else moved[index], at)
        heads = heads if lies is None else Heads(source, *lies)
    return heads


def moved_from(
    value: SSAValue, constants: Constants, scaled: Scaling
) -> Iterator[tuple[Source, Array | None]]:
    """Yield a value, and what its elements are moved from, with the number of the element there
    that each is."""
    places, source = None, Source(value)
    yield source, places
    while isinstance(value := source.value, OpResult):
        op = value.op
        if (before := scaled(value, constants)) is not None:
            factor, steps = before.factor * source.factor, (*before.steps, *source.steps)
            source = Source(before.value, factor, steps)
        elif moves(op):
            others = [constants(other) for other in op.operands[1:]]
            if any(other is None for other in others):
                return
            source = replace(source, value=op.operands[0])
            shape = shape_of(source.value)
            numbered = np.arange(prod(shape)).reshape(shape)
            moved = op.evaluate([numbered, *others])[value.index].reshape(-1)
            places = moved if places is None else moved[places]
        else:
            return
        yield source, places


def lying(index: Array, elements: int) -> tuple[int, tuple[int, ...], int] | None:
    """Return the width of a place, the channels of its heads, one head after the other, and how
    many heads there are, if [heads, places, channels] lie place by place."""
    count, places, _ = index.shape
    width, channels = elements // places, index[:, 0]
    _, place, _ = np.ogrid[:count, :places, :1]
    lies = channels[:, None] + width * place
    if width * places != elements or not np.array_equal(index, lies):
        return None
    differs: Array = channels[1:] != channels[:-1]
    others = np.flatnonzero(differs.any(-1)) + 1
    times = gcd(count, *others.tolist())
    return width, tuple(channels[::times].reshape(-1).tolist()), count // times


def like(value: SSAValue, shape: Sequence[int]) -> AnyTensor:
    """Return a type of that shape, with the value's elements."""
    old = encoding_of(value)
    stored = EncodingAttr("", old.scales, old.zero_points) if is_stored(value) else NoneAttr()
    return TensorType(element_of(value), shape, stored)
