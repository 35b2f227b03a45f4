"""A mask that hides later keys is none: the attention reads no later keys.

Before:
    !x = tensor<1x3x4xf32>
    !m = tensor<1x3x3xf32>
    func.func @main(%q: !x, %k: !x, %v: !x) -> (!x, !x) {
      %m = memgraph.constant dense<[[[0.0, -1.0e+04, -1.0e+04], [0.0, 0.0, -1.0e+09],
                                     [0.0, 0.0, 0.0]]]> : !m
      %1 = memgraph.attention %q, %k, %v, %m heads 2 scale 0.25 {memgraph.names = ["y"]}
             : (!x, !x, !x, !m) -> !x
      %z = memgraph.constant dense<0.0> : tensor<1x1x3xf32>
      %2 = memgraph.attention %q, %k, %v, %z heads 2 scale 0.25
             : (!x, !x, !x, tensor<1x1x3xf32>) -> !x
      func.return %1, %2 : !x, !x
    }
After:
    func.func @main(%q: !x, %k: !x, %v: !x) -> (!x, !x) {
      %1 = memgraph.attention %q, %k, %v heads 2 scale 0.25 causal 0 {memgraph.names = ["y"]}
             : (!x, !x, !x) -> !x
      %2 = memgraph.attention %q, %k, %v heads 2 scale 0.25 : (!x, !x, !x) -> !x
      func.return %1, %2 : !x, !x
    }

Before:
    !x = tensor<1x2x4xf32>
    !m = tensor<1x2x4xf32>
    func.func @main(%x: !x) -> !x {
      %m = memgraph.constant dense<[[[0.0, -1.0e+09, 0.0, -1.0e+09], [0.0, 0.0, 0.0, 0.0]]]> : !m
      %1 = memgraph.attention %x, %x, %x, %m heads 2 scale 0.25 : (!x, !x, !x, !m) -> !x
      func.return %1 : !x
    }
After:
    func.func @main(%x: !x) -> !x {
      %1 = memgraph.attention %x, %x, %x heads 2 scale 0.25 causal 0 : (!x, !x, !x) -> !x
      func.return %1 : !x
    }

A mask may be made of constants, as PyTorch's older exporter makes one of a lower triangle:

Before:
    !x = tensor<1x2x4xf32>
    !m = tensor<1x2x2xf32>
    !n = tensor<1xf32>
    func.func @main(%x: !x) -> !x {
      %t = memgraph.constant dense<[[[1.0, 0.0], [1.0, 1.0]]]> : !m
      %z = memgraph.constant dense<0.0> : !n
      %i = memgraph.constant dense<"0x000080FF"> : !n
      %h = memgraph.equal %t, %z : (!m, !n) -> tensor<1x2x2xi1>
      %m = memgraph.choose %h, %i, %z : (tensor<1x2x2xi1>, !n, !n) -> !m
      %1 = memgraph.attention %x, %x, %x, %m heads 2 scale 0.25 : (!x, !x, !x, !m) -> !x
      func.return %1 : !x
    }
After:
    func.func @main(%x: !x) -> !x {
      %1 = memgraph.attention %x, %x, %x heads 2 scale 0.25 causal 0 : (!x, !x, !x) -> !x
      func.return %1 : !x
    }

Half of the products, and the mask of as many numbers as queries and keys in flash, are gone. Exact
but for the order of sums, where what is hidden is minus infinity, whose power of e is 0; a finite
number of at most -10,000 instead makes float32's 0 where scores of a query differ by less than
9,896.

A query that reads no key; numbers not far enough below, or another than 0 of what is read; keys
that are hidden in another order; a mask that is computed, or another one of each head:

Left alone:
    !x = tensor<1x2x4xf32>
    !m = tensor<1x2x2xf32>
    func.func @main(%x: !x, %m: !m) -> (!x, !x, !x, !x, !x, !x) {
      %a = memgraph.constant dense<[[[-1.0e+09, -1.0e+09], [0.0, -1.0e+09]]]> : !m
      %1 = memgraph.attention %x, %x, %x, %a heads 2 scale 0.25 : (!x, !x, !x, !m) -> !x
      %b = memgraph.constant dense<[[[0.0, -9.0e+03], [0.0, 0.0]]]> : !m
      %2 = memgraph.attention %x, %x, %x, %b heads 2 scale 0.25 : (!x, !x, !x, !m) -> !x
      %c = memgraph.constant dense<[[[1.0, -1.0e+09], [0.0, 0.0]]]> : !m
      %3 = memgraph.attention %x, %x, %x, %c heads 2 scale 0.25 : (!x, !x, !x, !m) -> !x
      %d = memgraph.constant dense<[[[0.0, -1.0e+09], [-1.0e+09, 0.0]]]> : !m
      %4 = memgraph.attention %x, %x, %x, %d heads 2 scale 0.25 : (!x, !x, !x, !m) -> !x
      %5 = memgraph.attention %x, %x, %x, %m heads 2 scale 0.25 : (!x, !x, !x, !m) -> !x
      %e = memgraph.constant dense<[[[0.0, -1.0e+09, 0.0, 0.0]]]> : tensor<1x1x4xf32>
      %6 = memgraph.attention %x, %x, %x, %e heads 2 scale 0.25
             : (!x, !x, !x, tensor<1x1x4xf32>) -> !x
      func.return %1, %2, %3, %4, %5, %6 : !x, !x, !x, !x, !x, !x
    }
"""

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.analysis.constants import Constants, constants_beside
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.quick import number
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.attention import AttentionOp
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.binary import AddOp
from memopt.rewrites import Rule, erase_unread

FAR = -1e4
"""The greatest score to add that leaves a key no weight."""


class MaskAsCausal(Rule):
    """The rule above."""

    exact = "rounding"
    needs = (AttentionOp,)
    applied = "kernels"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AttentionOp, rewriter: PatternRewriter) -> None:
        if op.mask is None:
            return
        queries, keys, *_ = op.sizes
        mask = constants_beside(op)(op.mask)
        if mask is not None and op.has_mask_by_head:
            mask = of_all_heads(mask.reshape(-1, op.heads.value.data, keys))
        causal = causal_of(mask, queries, keys)
        if causal is None:
            return
        properties = dict(op.properties)
        if causal < keys - 1:
            properties["causal"] = number(min(causal, op.keys_of(0) - 1))
        new = AttentionOp.create(
            operands=[op.q, op.k, op.v], result_types=[op.result.type], properties=properties
        )
        new.location = op.location
        rewriter.insert(new, InsertPoint.before(op))
        before = [op.mask]
        self.replaced(op, new, rewriter)
        erase_unread(before, rewriter.erase)


def of_all_heads(mask: Array) -> Array | None:
    """Return the mask of each head where [rows, heads, keys] are the same for all."""
    return mask[:, 0] if (mask == mask[:, :1]).all() else None


def causal_of(mask: Array | None, queries: int, keys: int) -> int | None:
    """Return how many keys behind the first one query 0 reads, each next query one more; None
    where a mask that is added says something else, or nobody knows."""
    if mask is None:
        return None
    mask = np.broadcast_to(mask.reshape(-1, keys), (queries, keys))
    read = mask == 0
    causal = int(read[0].sum()) - 1
    expected = np.arange(keys) <= np.arange(queries)[:, None] + causal
    is_causal = causal >= 0 and bool((read == expected).all() and (mask[~read] <= FAR).all())
    return causal if is_causal else None


def masked_by(value: SSAValue, constants: Constants) -> tuple[SSAValue, SSAValue] | None:
    """Return scores, and the mask that is added to them; None where nothing is."""
    op = value.owner
    if not isinstance(op, AddOp) or op.activation is not None:
        return None
    shape = shape_of(value)
    for scores, mask in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        fits = shape_of(scores) == shape and (
            is_mask(mask, shape) or is_mask_by_head(mask, shape, constants)
        )
        if fits and not is_constant_expression(scores, GENERIC):
            return scores, mask
    return None


def is_mask(value: SSAValue, shape: Sequence[int]) -> bool:
    """Return whether a value has a number for each key, be it of each query, that all heads of
    scores of that shape share."""
    own = of_rank(value, len(shape))
    shared = all(size == 1 for size in own[:-2])
    return shared and own[-1] == shape[-1]


def is_mask_by_head(value: SSAValue, shape: Sequence[int], constants: Constants) -> bool:
    """Return whether a value that is known has numbers for each key and each head."""
    own = of_rank(value, len(shape))
    fits = own[:-2] == tuple(shape[:-2]) and own[-1] == shape[-1]
    return fits and constants(value) is not None


def of_rank(value: SSAValue, rank: int) -> tuple[int, ...]:
    """Return a value's shape with ones before it."""
    shape = shape_of(value)
    return (*(1,) * (rank - len(shape)), *shape)
