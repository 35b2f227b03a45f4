"""Products of bytes with a softmax between pairs are one attention.

As `products-as-attention`, of what `qdq-fold` leaves. All that is stored between the products stays
as it was: the types of the scores, of the scaled ones and of their softmax are the operator's.

Before:
    !x = tensor<1x3x8xi8, #memgraph.encoding<scale = [5.0e-02], zero_point = [3]>>
    !h = tensor<1x3x2x4xi8, #memgraph.encoding<scale = [5.0e-02], zero_point = [3]>>
    !q = tensor<1x2x3x4xi8, #memgraph.encoding<scale = [5.0e-02], zero_point = [3]>>
    !k = tensor<1x2x4x3xi8, #memgraph.encoding<scale = [5.0e-02], zero_point = [3]>>
    !g = tensor<1x2x4x3xi8, #memgraph.encoding<scale = [2.5e-02], zero_point = [-9]>>
    !c = tensor<1x1x1x1xi8, #memgraph.encoding<scale = [2.5e-01], zero_point = [2]>>
    !s = tensor<1x2x3x3xi8, #memgraph.encoding<scale = [2.0e-01], zero_point = [7]>>
    !t = tensor<1x2x3x3xi8, #memgraph.encoding<scale = [1.0e-01], zero_point = [-7]>>
    !f = tensor<1x2x3x3xf32>
    !p = tensor<1x2x3x3xi8, #memgraph.encoding<scale = [3.90625e-03], zero_point = [-128]>>
    !r = tensor<1x2x3x4xi8, #memgraph.encoding<scale = [4.0e-02], zero_point = [1]>>
    !o = tensor<1x3x2x4xi8, #memgraph.encoding<scale = [4.0e-02], zero_point = [1]>>
    !y = tensor<1x3x8xi8, #memgraph.encoding<scale = [4.0e-02], zero_point = [1]>>
    func.func @main(%q: !x, %k: !x, %v: !x) -> !y {
      %c = memgraph.constant dense<4> : !c
      %1 = memgraph.reshape %q : (!x) -> !h
      %2 = memgraph.transpose %1 permutation [0, 2, 1, 3] : (!h) -> !q
      %3 = memgraph.reshape %k : (!x) -> !h
      %4 = memgraph.transpose %3 permutation [0, 2, 3, 1] : (!h) -> !k
      %m = memgraph.mul %4, %c rounding<onnx_even> : (!k, !c) -> !g
      %5 = memgraph.relu6 %m rounding<onnx_even> : (!g) -> !g
      %6 = memgraph.reshape %v : (!x) -> !h
      %7 = memgraph.transpose %6 permutation [0, 2, 1, 3] : (!h) -> !q
      %8 = memgraph.batch_matmul %2, %5 rounding<onnx_even> : (!q, !g) -> !s
      %9 = memgraph.mul %c, %8 rounding<onnx_even> : (!c, !s) -> !t
      %10 = memgraph.dequantize %9 : (!t) -> !f
      %11 = memgraph.softmax %10 axis 3 beta 1.0 : (!f) -> !f
      %12 = memgraph.quantize %11 rounding<onnx_even> : (!f) -> !p
      %13 = memgraph.batch_matmul %12, %7 rounding<onnx_even> : (!p, !q) -> !r
      %14 = memgraph.transpose %13 permutation [0, 2, 1, 3] : (!r) -> !o
      %15 = memgraph.reshape %14 {memgraph.names = ["y"]} : (!o) -> !y
      func.return %15 : !y
    }
After:
    !a = tensor<1x3x8xi8, #memgraph.encoding<scale = [2.5e-02], zero_point = [-9]>>
    !s0 = tensor<i8, #memgraph.encoding<scale = [2.0e-01], zero_point = [7]>>
    !t0 = tensor<i8, #memgraph.encoding<scale = [1.0e-01], zero_point = [-7]>>
    !p0 = tensor<i8, #memgraph.encoding<scale = [3.90625e-03], zero_point = [-128]>>
    !b = tensor<1x1x1xi8, #memgraph.encoding<scale = [2.5e-01], zero_point = [2]>>
    func.func @main(%q: !x, %k: !x, %v: !x) -> !y {
      %c = memgraph.constant dense<4> : !c
      %1 = memgraph.reshape %c : (!c) -> !b
      %m = memgraph.mul %k, %1 rounding<onnx_even> : (!x, !b) -> !a
      %2 = memgraph.relu6 %m rounding<onnx_even> : (!a) -> !a
      %3 = memgraph.attention %q, %2, %v heads 2 scale 5.0e-01 scores !s0 scaled !t0 parts !p0
             rounding<onnx_even> {memgraph.names = ["y"]} : (!x, !a, !x) -> !y
      func.return %3 : !y
    }

A mask that is known to hide later keys is the operator's, too:

Before:
    !q = tensor<2x4xi8, #memgraph.encoding<scale = [5.0e-02], zero_point = [3]>>
    !s = tensor<2x2xi8, #memgraph.encoding<scale = [2.0e-01], zero_point = [7]>>
    !f = tensor<2x2xf32>
    !p = tensor<2x2xi8, #memgraph.encoding<scale = [3.90625e-03], zero_point = [-128]>>
    func.func @main(%q: !q) -> (!q) {
      %m = memgraph.constant dense<[[0.0, -1.0e+04], [0.0, 0.0]]> : !f
      %1 = memgraph.batch_matmul %q, %q adj_y rounding<onnx_even> : (!q, !q) -> !s
      %2 = memgraph.dequantize %1 : (!s) -> !f
      %3 = memgraph.add %2, %m : (!f, !f) -> !f
      %4 = memgraph.softmax %3 axis 1 beta 1.0 : (!f) -> !f
      %5 = memgraph.quantize %4 rounding<onnx_even> : (!f) -> !p
      %6 = memgraph.batch_matmul %5, %q rounding<onnx_even> : (!p, !q) -> !q
      func.return %6 : !q
    }
After:
    !h = tensor<1x2x4xi8, #memgraph.encoding<scale = [5.0e-02], zero_point = [3]>>
    !s0 = tensor<i8, #memgraph.encoding<scale = [2.0e-01], zero_point = [7]>>
    !p0 = tensor<i8, #memgraph.encoding<scale = [3.90625e-03], zero_point = [-128]>>
    func.func @main(%q: !q) -> (!q) {
      %1 = memgraph.reshape %q : (!q) -> !h
      %2 = memgraph.attention %1, %1, %1 heads 1 scale 1.0 causal 0 scores !s0 parts !p0
             rounding<onnx_even> : (!h, !h, !h) -> !h
      %3 = memgraph.reshape %2 : (!h) -> !q
      func.return %3 : !q
    }

Exponentials come from a table of float32: a part of a softmax that is within 2^-16 of half a step
may be rounded otherwise, and what is made of it a step off. Functions of queries, keys and values,
element by element, are those of what they are moved from. What scales scores may be an operation of
real numbers between pairs, or of those that the softmax is of:

Before:
    !q = tensor<1x3x4xi8, #memgraph.encoding<scale = [5.0e-02], zero_point = [3]>>
    !s = tensor<1x3x3xi8, #memgraph.encoding<scale = [2.0e-01], zero_point = [7]>>
    !f = tensor<1x3x3xf32>
    !t = tensor<1x3x3xi8, #memgraph.encoding<scale = [1.0e-01], zero_point = [-7]>>
    !p = tensor<1x3x3xi8, #memgraph.encoding<scale = [3.90625e-03], zero_point = [-128]>>
    !r = tensor<1x3x4xf32>
    !k = tensor<1x4x3xi8, #memgraph.encoding<scale = [5.0e-02], zero_point = [3]>>
    !g = tensor<1x4x3xf32>
    !l = tensor<1x4x3xi8, #memgraph.encoding<scale = [2.0e-01], zero_point = [4]>>
    func.func @main(%q: !q, %x: !r) -> (!q, !q) {
      %c = memgraph.constant dense<3.0> : tensor<f32>
      %0 = memgraph.reshape %x : (!r) -> !r
      %k = memgraph.quantize %0 rounding<onnx_even> : (!r) -> !q
      %g = memgraph.transpose %k permutation [0, 2, 1] : (!q) -> !k
      %h = memgraph.dequantize %g : (!k) -> !g
      %i = memgraph.mul %h, %c : (!g, tensor<f32>) -> !g
      %j = memgraph.quantize %i rounding<onnx_even> : (!g) -> !l
      %1 = memgraph.batch_matmul %q, %j rounding<onnx_even> : (!q, !l) -> !s
      %2 = memgraph.dequantize %1 : (!s) -> !f
      %3 = memgraph.div %2, %c : (!f, tensor<f32>) -> !f
      %4 = memgraph.quantize %3 rounding<onnx_even> : (!f) -> !t
      %5 = memgraph.dequantize %4 : (!t) -> !f
      %6 = memgraph.softmax %5 axis 2 beta 1.0 : (!f) -> !f
      %7 = memgraph.quantize %6 rounding<onnx_even> : (!f) -> !p
      %20 = memgraph.dequantize %q : (!q) -> !r
      %21 = memgraph.relu %20 : (!r) -> !r
      %v = memgraph.quantize %21 rounding<onnx_even> : (!r) -> !q
      %8 = memgraph.batch_matmul %7, %v rounding<onnx_even> : (!p, !q) -> !q
      %z = memgraph.quantize %x rounding<onnx_even> : (!r) -> !q
      %11 = memgraph.batch_matmul %z, %q adj_y rounding<onnx_even> : (!q, !q) -> !s
      %12 = memgraph.dequantize %11 : (!s) -> !f
      %13 = memgraph.mul %12, %c : (!f, tensor<f32>) -> !f
      %14 = memgraph.softmax %13 axis 2 beta 1.0 : (!f) -> !f
      %15 = memgraph.quantize %14 rounding<onnx_even> : (!f) -> !p
      %16 = memgraph.batch_matmul %15, %q rounding<onnx_even> : (!p, !q) -> !q
      func.return %8, %16 : !q, !q
    }
After:
    !s0 = tensor<i8, #memgraph.encoding<scale = [2.0e-01], zero_point = [7]>>
    !t0 = tensor<i8, #memgraph.encoding<scale = [1.0e-01], zero_point = [-7]>>
    !p0 = tensor<i8, #memgraph.encoding<scale = [3.90625e-03], zero_point = [-128]>>
    !j = tensor<1x3x4xi8, #memgraph.encoding<scale = [2.0e-01], zero_point = [4]>>
    func.func @main(%q: !q, %x: !r) -> (!q, !q) {
      %c = memgraph.constant dense<3.0> : tensor<f32>
      %k = memgraph.quantize %x rounding<onnx_even> : (!r) -> !q
      %h = memgraph.dequantize %k : (!q) -> !r
      %i = memgraph.mul %h, %c : (!r, tensor<f32>) -> !r
      %j = memgraph.quantize %i rounding<onnx_even> : (!r) -> !j
      %20 = memgraph.dequantize %q : (!q) -> !r
      %21 = memgraph.relu %20 : (!r) -> !r
      %v = memgraph.quantize %21 rounding<onnx_even> : (!r) -> !q
      %1 = memgraph.attention %q, %j, %v heads 1 scale 3.3333334e-01 scores !s0 scaled !t0 parts !p0
             rounding<onnx_even> : (!q, !j, !q) -> !q
      %z = memgraph.quantize %x rounding<onnx_even> : (!r) -> !q
      %2 = memgraph.attention %z, %q, %q heads 1 scale 3.0 scores !s0 parts !p0
             rounding<onnx_even> : (!q, !q, !q) -> !q
      func.return %1, %2 : !q, !q
    }

Not bytes that are rounded otherwise. More stands in
`tests/rewrites/unit/left_alone/stored-products-as-attention.txt`.

Left alone:
    !q = tensor<3x4xi8, #memgraph.encoding<scale = [5.0e-02], zero_point = [3]>>
    !s = tensor<3x3xi8, #memgraph.encoding<scale = [2.0e-01], zero_point = [7]>>
    !f = tensor<3x3xf32>
    !p = tensor<3x3xi8, #memgraph.encoding<scale = [3.90625e-03], zero_point = [-128]>>
    func.func @main(%q: !q) -> (!q) {
      %1 = memgraph.batch_matmul %q, %q adj_y rounding<onnx_even> : (!q, !q) -> !s
      %2 = memgraph.dequantize %1 : (!s) -> !f
      %3 = memgraph.softmax %2 axis 1 beta 1.0 : (!f) -> !f
      %4 = memgraph.quantize %3 rounding<onnx_even> : (!f) -> !p
      %5 = memgraph.batch_matmul %4, %q : (!p, !q) -> !q
      func.return %5 : !q
    }
"""

from collections.abc import Sequence
from typing import cast

from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from memopt.analysis.constants import Constants
from memopt.dialects.arithmetic.even_rounding import dequantized, quantized, rounds_even
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import dtype_of, is_stored, limits_of
from memopt.dialects.attributes.quick import number
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.batch_products import BatchMatmulOp
from memopt.dialects.operators.quantization import QuantizeOp
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.dialects.operators.traits import Pointwise
from memopt.rewrites import FunctionRule
from memopt.rewrites.mask_as_causal import causal_of, is_mask, masked_by
from memopt.rewrites.products_as_attention import (
    Heads,
    Parts,
    ProductsAsAttention,
    Scores,
    Source,
    is_over_last,
    known_number,
    like,
    parts_of,
    scaled_by,
)
from memopt.rewrites.qdq_fold import EVEN, per_tensor


class StoredProductsAsAttention(ProductsAsAttention, FunctionRule):
    """The rule above."""

    exact = "rounding"
    needs = (BatchMatmulOp,)
    applied = "kernels"

    def parts(self, op: SoftmaxOp, constants: Constants) -> Parts | None:
        scores = stored_scores_of(op, constants)
        last = None if scores is None else scores.parts.get_user_of_unique_use()
        if scores is None or not isinstance(last, BatchMatmulOp) or not is_of_bytes(last):
            return None
        parts = parts_of(scores, constants, function_of)
        values = scores.product.lhs, scores.product.rhs, last.rhs
        if parts is None or like(parts.result, ()) != like(last.result, ()):
            return None
        heads = zip(parts.parts, values, strict=True)
        return parts if all(is_moved_as_stored(*one, constants) for one in heads) else None


def stored_scores_of(op: SoftmaxOp, constants: Constants) -> Scores | None:
    """Return the product of bytes that a softmax between pairs, or of bytes, is of, scaled once at
    most."""
    parts = op.result if is_even_byte(op.result) else stored_as(op.result)
    steps = tuple[Operation, ...]()
    value, more = read_scores(op.input, constants)
    while (source := function_of(value, constants)) is not None and value.has_one_use():
        value, steps = source.value, (*source.steps, *steps)
    product, stored = value.owner, [value, *(v for step in steps for v in stored_by(step))]
    if not isinstance(product, BatchMatmulOp) or not value.has_one_use():
        return None
    if parts is None or not is_over_last(op) or not is_of_bytes(product):
        return None
    if len(stored) > 2 or not all(map(is_even_byte, stored[1:])):
        return None
    factor = factor_of(steps, stored, constants)
    if factor is None:
        return None
    names = zip(("scores", "scaled"), stored, strict=False)
    types: dict[str, Attribute] = {name: like(v, ()) for name, v in (*names, ("parts", parts))}
    return Scores(product, factor, (), parts, types | more | {"rounding": EVEN})


def read_scores(value: SSAValue, constants: Constants) -> tuple[SSAValue, dict[str, Attribute]]:
    """Return scores without a mask that hides later keys, and what the attention says of it."""
    is_real = value.has_one_use() and not is_stored(value)
    masked = masked_by(value, constants) if is_real else None
    if masked is None or not is_mask(masked[1], shape_of(value)):
        return value, {}
    scores, mask = masked
    queries, keys = shape_of(value)[-2:]
    causal = causal_of(constants(mask), queries, keys)
    return (value, {}) if causal is None else (scores, {"causal": number(causal)})


def stored_as(value: SSAValue) -> SSAValue | None:
    """Return the bytes that a value is stored as, which nothing else reads."""
    user = value.get_user_of_unique_use()
    return user.result if isinstance(user, QuantizeOp) and is_even_byte(user.result) else None


def stored_by(step: Operation) -> list[SSAValue]:
    """Return the results of stored integers."""
    return [v for v in step.results if is_stored(v)]


def is_of_bytes(op: BatchMatmulOp) -> bool:
    """Return whether it is a product of stored bytes as ONNX rounds it."""
    return all(map(per_tensor, op.operands)) and is_even_byte(op.result)


def is_even_byte(value: SSAValue) -> bool:
    """Return whether a result is stored as bytes, rounded as ONNX's."""
    return rounds_even(cast("OpResult", value).op) and per_tensor(value)


def factor_of(
    steps: Sequence[Operation], stored: Sequence[SSAValue], constants: Constants
) -> float | None:
    """Return by what scores are multiplied, all at once, to be what the operations make of each of
    them; None where that is another real number."""
    scores, *scaled = stored
    op, value, factor = cast("OpResult", scores).op, scores, 1.0
    low, high = limits_of(op, scores)
    each = reals = np.arange(low, high + 1).astype(dtype_of(scores))
    for step in steps:
        number = scaled_by(step.results[0], constants)
        factor *= 1.0 if number is None else number.factor
        read = [reals if v is value else constants(v) for v in step.operands]
        value, reals = step.results[0], cast("ComputeOp", step).evaluate(read)[0].reshape(-1)
    products = dequantized(op, each, scores) * np.float32(factor)
    for at in scaled:
        products = dequantized(op, quantized(op, products, at), at)
    reals = dequantized(op, reals, value) if is_stored(value) else reals
    return factor if factor > 0 and np.allclose(reals, products, 1e-6, 0) else None


def function_of(value: SSAValue, constants: Constants) -> Source | None:
    """Return what a value is a function of, element by element, with numbers that are known."""
    op = value.owner
    if not isinstance(op, ComputeOp) or not op.has_trait(Pointwise):
        return None
    sources = [v for v in op.operands if known_number(v, constants) is None]
    return Source(sources[0], steps=(op,)) if len(sources) == 1 else None


def is_moved_as_stored(part: Heads, value: SSAValue, constants: Constants) -> bool:
    """Return whether heads are moved as they are stored: not as real numbers, which qdq-fold sees
    to, for then they are made real and stored again with nothing between."""
    results = [step.results[0] for step in part.source.steps]
    sources = [part.source.value, *results]
    operands = [*(source.value for v in results if (source := function_of(v, constants))), value]
    is_in_reals = any(
        is_stored(a) and not is_stored(b) and is_stored(c)
        for a, b, c in zip(sources, sources[1:], sources[2:], strict=False)
    )
    alike = (like(a, ()) == like(b, ()) for a, b in zip(sources, operands, strict=True))
    return all(alike) and not is_in_reals
