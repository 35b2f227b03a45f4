"""Vectors beside rows of them are such rows themselves.

What works vector by vector does so however these are counted. So where it reads rows, or what is
reshaped of rows, or all that reads it reshapes it to rows, it works on rows, and what it makes is
reshaped:

Before:
    !x = tensor<1x4x6xf32>
    !t = tensor<4x1x6xf32>
    !m = tensor<4x6xf32>
    !n = tensor<4x3xf32>
    !u = tensor<1x1x1x1x6xf32>
    !v = tensor<1x1x4x1x6xf32>
    func.func @main(%x: !x, %z: !t, %w: tensor<3x6xf32>, %c: tensor<6xf32>, %u: !u) -> (!n, !v) {
      %1 = memgraph.reshape %x : (!x) -> !t
      %2 = memgraph.layer_normalization %1, %c axis 2 epsilon 1.0e-05
             : (!t, tensor<6xf32>) -> !t
      %3 = memgraph.add %2, %c : (!t, tensor<6xf32>) -> !t
      %4 = memgraph.add %z, %3 : (!t, !t) -> !t
      %5 = memgraph.fully_connected %4, %w {memgraph.names = ["y"]} : (!t, tensor<3x6xf32>) -> !n
      %6 = memgraph.reshape %3 : (!t) -> !v
      %7 = memgraph.mul %u, %6 : (!u, !v) -> !v
      func.return %5, %7 : !n, !v
    }
After:
    !y = tensor<1x4x3xf32>
    func.func @main(%x: !x, %z: !t, %w: tensor<3x6xf32>, %c: tensor<6xf32>, %u: !u) -> (!n, !v) {
      %1 = memgraph.layer_normalization %x, %c axis 2 epsilon 1.0e-05
             : (!x, tensor<6xf32>) -> !x
      %2 = memgraph.add %1, %c : (!x, tensor<6xf32>) -> !x
      %3 = memgraph.reshape %z : (!t) -> !x
      %4 = memgraph.add %3, %2 : (!x, !x) -> !x
      %5 = memgraph.fully_connected %4, %w keep_dims {memgraph.names = ["y_rows"]}
             : (!x, tensor<3x6xf32>) -> !y
      %6 = memgraph.reshape %5 {memgraph.names = ["y"]} : (!y) -> !n
      %7 = memgraph.reshape %u : (!u) -> tensor<6xf32>
      %8 = memgraph.mul %7, %2 : (tensor<6xf32>, !x) -> !x
      %9 = memgraph.reshape %8 : (!x) -> !v
      func.return %6, %9 : !n, !v
    }

Rows may be those of an image, and lie behind:

Before:
    !x = tensor<8x6xf32>
    !p = tensor<1x2x4x6xf32, #memgraph.encoding<nhwc>>
    !y = tensor<1x2x4x3xf32, #memgraph.encoding<nhwc>>
    !z = tensor<8x3xf32>
    !q = tensor<8x3xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !r = tensor<1x2x4x3xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    func.func @main(%x: !x, %p: !p, %w: tensor<3x6xf32>) -> (!y, !r, !y, !z) {
      %1, %2 = memgraph.split %x axis 1 : (!x) -> (!z, !z)
      %3 = memgraph.softmax %1 axis 1 beta 1.0 : (!z) -> !z
      %4 = memgraph.reshape %3 : (!z) -> !y
      %5 = memgraph.quantize %2 rounding<onnx_even> : (!z) -> !q
      %6 = memgraph.reshape %5 : (!q) -> !r
      %7 = memgraph.reshape %p : (!p) -> !x
      %8 = memgraph.slice %7 starts [0, 3] strides [1, 1] : (!x) -> tensor<8x1xf32>
      %9 = memgraph.slice %7 starts [0, 1] strides [1, 2] : (!x) -> tensor<8x2xf32>
      %10 = memgraph.concat %8, %9 axis 1 : (tensor<8x1xf32>, tensor<8x2xf32>) -> !z
      %11 = memgraph.mean %7 axes [1] keep_dims : (!x) -> tensor<8x1xf32>
      %12 = memgraph.mul %11, %10 : (tensor<8x1xf32>, !z) -> !z
      %13 = memgraph.reshape %12 : (!z) -> !y
      %14 = memgraph.fully_connected %p, %w : (!p, tensor<3x6xf32>) -> !z
      func.return %4, %6, %13, %14 : !y, !r, !y, !z
    }
After:
    !a = tensor<1x2x4x1xf32, #memgraph.encoding<nhwc>>
    !b = tensor<1x2x4x2xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x, %p: !p, %w: tensor<3x6xf32>) -> (!y, !r, !y, !z) {
      %0 = memgraph.reshape %x : (!x) -> !p
      %1, %2 = memgraph.split %0 axis 3 : (!p) -> (!y, !y)
      %3 = memgraph.reshape %1 : (!y) -> !z
      %4 = memgraph.reshape %2 : (!y) -> !z
      %5 = memgraph.reshape %3 : (!z) -> !y
      %6 = memgraph.softmax %5 axis 3 beta 1.0 : (!y) -> !y
      %7 = memgraph.reshape %6 : (!y) -> !z
      %8 = memgraph.reshape %7 : (!z) -> !y
      %9 = memgraph.reshape %4 : (!z) -> !y
      %10 = memgraph.quantize %9 rounding<onnx_even> : (!y) -> !r
      %11 = memgraph.reshape %10 : (!r) -> !q
      %12 = memgraph.reshape %11 : (!q) -> !r
      %13 = memgraph.slice %p starts [0, 0, 0, 3] strides [1, 1, 1, 1] : (!p) -> !a
      %14 = memgraph.slice %p starts [0, 0, 0, 1] strides [1, 1, 1, 2] : (!p) -> !b
      %15 = memgraph.concat %13, %14 axis 3 : (!a, !b) -> !y
      %16 = memgraph.mean %p axes [3] keep_dims : (!p) -> !a
      %17 = memgraph.mul %16, %15 : (!a, !y) -> !y
      %18 = memgraph.reshape %17 : (!y) -> !z
      %19 = memgraph.reshape %18 : (!z) -> !y
      %20 = memgraph.fully_connected %p, %w keep_dims : (!p, tensor<3x6xf32>) -> !y
      %21 = memgraph.reshape %20 : (!y) -> !z
      func.return %8, %12, %19, %21 : !y, !r, !y, !z
    }

Rows of other vectors do not count:

Before:
    !x = tensor<1x4x6xf32>
    !y = tensor<1x8x3xf32>
    !z = tensor<4x6xf32>
    func.func @main(%x: !x, %y: !y) -> !z {
      %1 = memgraph.reshape %y : (!y) -> !z
      %2 = memgraph.reshape %x : (!x) -> !z
      %3 = memgraph.add %1, %2 : (!z, !z) -> !z
      func.return %3 : !z
    }
After:
    func.func @main(%x: !x, %y: !y) -> !z {
      %1 = memgraph.reshape %y : (!y) -> !z
      %2 = memgraph.reshape %1 : (!z) -> !x
      %3 = memgraph.add %2, %x : (!x, !x) -> !x
      %4 = memgraph.reshape %3 : (!x) -> !z
      func.return %4 : !z
    }

Exact: the same elements in the same order. No rows are near; one reader takes a tensor as it is;
vectors are others, or there is a single one; they are in rows:

Left alone:
    !x = tensor<1x4x6xf32>
    !t = tensor<4x1x6xf32>
    !m = tensor<4x6xf32>
    !f = tensor<24xf32>
    !o = tensor<2x12xf32>
    !h = tensor<1x6xf32>
    !i = tensor<1x1x6xf32>
    func.func @main(%x: !x, %m: !m, %h: !h, %i: !i) -> (!m, !x, !m, !o, !h, !x) {
      %1 = memgraph.relu %m : (!m) -> !m
      %2 = memgraph.relu %m : (!m) -> !m
      %3 = memgraph.reshape %2 : (!m) -> !x
      %4 = memgraph.reshape %x : (!x) -> !o
      %5 = memgraph.relu %4 : (!o) -> !o
      %6 = memgraph.reshape %i : (!i) -> !h
      %7 = memgraph.relu %6 : (!h) -> !h
      %8 = memgraph.relu %x : (!x) -> !x
      %9 = memgraph.relu %8 : (!x) -> !x
      func.return %1, %3, %2, %5, %7, %9 : !m, !x, !m, !o, !h, !x
    }
"""

from collections.abc import Iterator
from math import prod
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.tensors import AnyTensor, encoding_of, rows_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.slices import JoiningOp
from memopt.dialects.operators.traits import Pointwise
from memopt.rewrites import EVERY, FunctionRule
from memopt.rewrites.sequences_as_images import reshape_around, reshaped


class VectorsAsRows(FunctionRule):
    """The rule above; of whole functions, so that it comes after those that find what exporters
    took apart."""

    exact = "bits"
    needs = EVERY
    applied = "kernels"
    keeps_claims = False

    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        ops = [op for op in body_of(func).ops if isinstance(op, ComputeOp)]
        ways = (*ops, *reversed(ops))  # from what is read to its readers, and from them back
        return bool(sum(self._on_rows(op, rewriter) for op in ways if op.parent))

    def _on_rows(self, op: ComputeOp, rewriter: PatternRewriter) -> bool:
        """Let an operation work on rows that are near it, if it may."""
        rows = None if has_rows(op.results[0]) else rows_near(op)
        properties = None if rows is None else op.over_vectors(len(shape_of(rows)))
        types = None if rows is None or properties is None else types_on(rows, op)
        if properties is None or types is None:
            return False
        operands = [
            next((v for v in reshaped_of(value) if v.type == type_), None)
            or reshaped(value, type_, op, rewriter)
            for value, type_ in zip(op.operands, types, strict=False)
        ]
        results = types[len(op.operands) :]
        reshape_around(self, op, operands, results, properties, "rows", rewriter)
        return True


def has_rows(value: SSAValue) -> bool:
    """Return whether a tensor has several rows."""
    return (rows_of(value) or 0) > 1


def vectors_of(value: SSAValue) -> int:
    """Return how many vectors along the last dimension a tensor has."""
    return prod(shape_of(value)[:-1])


def rows_near(op: ComputeOp) -> SSAValue | None:
    """Return rows with the vectors that an operation works on: what an operand is, or is reshaped
    of, or what all readers reshape the results into."""
    count = vectors_of(op.results[0])
    for value in op.operands:
        for source in reshaped_of(value):
            if has_rows(source) and vectors_of(source) == count:
                return source
    readers = [use.operation for result in op.results for use in result.uses]
    into = [r.result for r in readers if isinstance(r, ReshapeOp) and has_rows(r.result)]
    return into[0] if into and len(into) == len(readers) else None


def reshaped_of(value: SSAValue) -> Iterator[SSAValue]:
    """Yield a value, and what it is reshaped of, from the nearest on."""
    yield value
    while isinstance(value, OpResult) and isinstance(value.op, ReshapeOp):
        value = value.op.input
        yield value


def types_on(rows: SSAValue, op: ComputeOp) -> list[Attribute] | None:
    """Return the types of the operands and the results of an operation that works on rows; None if
    there is one that none is known for."""
    types = [type_beside(rows, op, k) for k in range(len(op.operands))]
    types += [in_rows(rows, result) for result in op.results]
    known = [type_ for type_ in types if type_ is not None]
    return known if len(known) == len(types) else None


def type_beside(rows: SSAValue, op: ComputeOp, operand: int) -> Attribute | None:
    """Return the type of an operand of an operation that works on rows; None if there is none."""
    value = op.operands[operand]
    if operand and not op.has_trait(Pointwise) and not isinstance(op, JoiningOp):
        return value.type
    if vectors_of(value) != 1:
        return in_rows(rows, value)
    shape, encoding = shape_of(value), cast("AnyTensor", value.type).encoding
    fits = len(shape) <= len(shape_of(rows))  # of one vector, for all
    return value.type if fits else TensorType(element_of(value), shape[-1:], encoding)


def in_rows(rows: SSAValue, value: SSAValue) -> Attribute | None:
    """Return the type of a tensor whose vectors stand as others do in rows; None if there are
    not as many, or its dimensions mean something."""
    old, layout = encoding_of(value), encoding_of(rows).layout.data
    if value.type == rows.type:
        return value.type
    if vectors_of(value) != vectors_of(rows) or old.layout.data or old.axis.data >= 0:
        return None
    plain = cast("AnyTensor", value.type).encoding
    encoding = EncodingAttr(layout, old.scales, old.zero_points) if layout else plain
    shape = [*shape_of(rows)[:-1], *shape_of(value)[-1:]]
    return TensorType(element_of(value), shape, encoding)
