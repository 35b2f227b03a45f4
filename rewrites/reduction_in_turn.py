"""A reduction over axes between which others lie is one over neighbours after the other.

The group of neighbours with the rows (dimension 1) goes last, so that these can be added up one by
one; of others the largest goes first, so that what lies between both is small.

Before:
    !x = tensor<2x3x4x5xf32>
    !y = tensor<2x4xf32>
    !z = tensor<1x3x1x5xf32>
    func.func @main(%x: !x) -> (!y, !z) {
      %1 = memgraph.mean %x axes [1, 3] {memgraph.names = ["y"]} : (!x) -> !y
      %2 = memgraph.reduce_sum %x axes [0, 2] keep_dims : (!x) -> !z
      func.return %1, %2 : !y, !z
    }
After:
    !v = tensor<2x3x4x1xf32>
    !w = tensor<2x3x1x5xf32>
    func.func @main(%x: !x) -> (!y, !z) {
      %a = memgraph.mean %x axes [3] keep_dims : (!x) -> !v
      %1 = memgraph.mean %a axes [1, 3] {memgraph.names = ["y"]} : (!v) -> !y
      %b = memgraph.reduce_sum %x axes [2] keep_dims : (!x) -> !w
      %2 = memgraph.reduce_sum %b axes [0, 2] keep_dims : (!w) -> !z
      func.return %1, %2 : !y, !z
    }

Exact: the largest number of several is the largest of theirs, and integers are added and
multiplied in any order. Where others lie between the axes a kernel copies the operand into scratch
first, which takes more than what lies between both reductions.

Of stored integers, too, what is taken as it is:

Before:
    !x = tensor<2x3x2x2x3xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !y = tensor<3x2xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    func.func @main(%x: !x) -> !y {
      %1 = memgraph.reduce_max %x axes [0, 2, 4] : (!x) -> !y
      func.return %1 : !y
    }
After:
    !v = tensor<2x3x2x2x1xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<2x3x1x2x1xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    func.func @main(%x: !x) -> !y {
      %a = memgraph.reduce_max %x axes [4] keep_dims : (!x) -> !v
      %b = memgraph.reduce_max %a axes [2] keep_dims : (!v) -> !w
      %1 = memgraph.reduce_max %b axes [0, 2, 4] : (!w) -> !y
      func.return %1 : !y
    }

Not over neighbours, between which dimensions of 1 may lie; of stored integers that are rounded; of
nothing; of what is known before run time:

Left alone:
    !x = tensor<2x3x1x5xf32>
    !y = tensor<2x1xf32>
    !q = tensor<2x3x4x5xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !r = tensor<2x4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !n = tensor<2x3x0x5xf32>
    !m = tensor<3x5xf32>
    !c = tensor<2x1x2xf32>
    !k = tensor<1xf32>
    func.func @main(%x: !x, %q: !q, %n: !n) -> (!y, !r, !r, !m, !k) {
      %1 = memgraph.mean %x axes [1, 3] : (!x) -> !y
      %2 = memgraph.mean %q axes [1, 3] rounding<tflm_double> : (!q) -> !r
      %3 = memgraph.reduce_sum %q axes [1, 3] rounding<tflm_double> : (!q) -> !r
      %4 = memgraph.reduce_sum %n axes [0, 2] : (!n) -> !m
      %c = memgraph.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : !c
      %5 = memgraph.reduce_sum %c axes [0, 2] : (!c) -> !k
      func.return %1, %2, %3, %4, %5 : !y, !r, !r, !m, !k
    }
"""

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import TensorType, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.quick import numbers
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.tensors import AnyTensor, encoding_of, shape_of
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.over_axes import OverAxesOp
from memopt.rewrites import FunctionRule

ROWS = 1  # the dimension of images along which they are cut


class ReductionInTurn(FunctionRule):
    """The rule above."""

    exact = "bits"
    needs = (OverAxesOp,)
    applied = "kernels"

    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        reductions = [
            op for op in body_of(func).ops if isinstance(op, OverAxesOp) and lies_apart(op)
        ]
        for op in reductions:
            while len(groups := neighbours(op.numbers, shape_of(op.input))) > 1:
                self.take(op, groups, rewriter)
            self.changed(op, rewriter)
        return bool(reductions)

    def take(
        self, op: OverAxesOp, groups: Sequence[Sequence[int]], rewriter: PatternRewriter
    ) -> None:
        """Let the operation read what is left of its operand along one of the groups."""
        shape = shape_of(op.input)
        without_rows = [group for group in reversed(groups) if ROWS not in group]
        axes = max(without_rows, key=lambda group: prod(shape[axis] for axis in group))
        sizes = [1 if d in axes else n for d, n in enumerate(shape)]
        before = cast("AnyTensor", op.input.type)
        type_ = TensorType(before.element_type, sizes, before.encoding)
        properties = {**op.properties, "axes": numbers(axes), "keep_dims": UnitAttr()}
        first = type(op).create(operands=[op.input], result_types=[type_], properties=properties)
        first.location = op.location
        self.derived(first, op)
        rewriter.insert(first, InsertPoint.before(op))
        op.operands[0] = first.results[0]


def lies_apart(op: OverAxesOp) -> bool:
    """Return whether a reduction at run time is one over several groups of neighbours, and the same
    if these go one after the other."""
    shape = shape_of(op.input)
    return (
        op.goes_in_turn
        and 0 not in shape
        and encoding_of(op.input).axis.data < 0
        and len(neighbours(op.numbers, shape)) > 1
        and not is_constant_expression(op.result, GENERIC)
    )


def neighbours(axes: Sequence[int], shape: Sequence[int]) -> list[list[int]]:
    """Return the axes of more than one element in groups between which nothing lies."""
    groups: list[list[int]] = []
    for axis in sorted(a for a in axes if shape[a] != 1):
        if groups and prod(shape[groups[-1][-1] + 1 : axis]) == 1:
            groups[-1].append(axis)
        else:
            groups.append([axis])
    return groups
