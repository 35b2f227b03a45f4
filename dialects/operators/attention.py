"""Attention: values weighed by how well queries and keys agree."""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, is_stored, need_reals, unknown
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, rows_of, shape_of
from memopt.dialects.operators.base import TYPES, ComputeOp
from memopt.dialects.operators.traits import Alike


@irdl_op_definition
class AttentionOp(ComputeOp):
    """For each query the values, weighed by the softmax of its products with the keys, times
    `scale`, plus its row of the mask. Each of the `heads` takes the next channels of the queries;
    those of keys and values, of which there may be fewer (`kv_heads`), serve as many in turn."""

    name = "memgraph.attention"
    q = operand_def(AnyTensor)
    k = operand_def(AnyTensor)
    v = operand_def(AnyTensor)
    mask = opt_operand_def(AnyTensor)
    result = result_def(AnyTensor)
    heads = prop_def(IntegerAttr[I64])
    kv_heads = opt_prop_def(IntegerAttr[I64])
    scale = prop_def(FloatAttr[Float32Type])
    traits = traits_def(Pure(), Alike())
    assembly_format = (
        "$q `,` $k `,` $v (`,` $mask^)? `heads` $heads (`kv_heads` $kv_heads^)? `scale` $scale "
        + TYPES
    )

    @property
    def groups(self) -> int:
        """Return how many heads the keys and values have."""
        return (self.kv_heads or self.heads).value.data

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Return queries and keys, and channels of a head of keys and of values."""
        k, v = shape_of(self.k), shape_of(self.v)
        return shape_of(self.q)[1], k[1], k[2] // self.groups, v[2] // self.groups

    def verify_(self) -> None:
        heads, groups = self.heads.value.data, self.groups
        self.require(groups > 0 and heads > 0 and heads % groups == 0, f"{heads} heads of {groups}")
        shapes = [shape_of(value) for value in (self.q, self.k, self.v)]
        self.require(all(len(s) == 3 and s[0] == 1 for s in shapes), "[1, places, channels]")
        q, k, v = shapes
        fits = k[1] == v[1] > 0 and not (k[2] % groups or v[2] % groups)
        self.require(fits and q[2] * groups == k[2] * heads, f"{q}, {k} and {v} do not fit")
        expected = (1, q[1], v[2] // groups * heads)
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")
        if self.mask is not None:
            masks = ((1, q[1], k[1]), (1, 1, k[1]))
            self.require(shape_of(self.mask) in masks, f"the mask's shape must be {masks[0]}")

    def macs(self) -> int:
        """A channel of each key and of each value for each head of each query."""
        return (elements_of(self.q) + elements_of(self.result)) * self.sizes[1]

    def rows_read(self, operand: int, r: int) -> range | None:
        is_own = operand == 0 or (operand == 3 and (rows_of(self.operands[3]) or 0) > 1)
        return range(r, r + 1) if is_own else None

    def may_overwrite(self, operand: int) -> bool:
        return operand == 0 and shape_of(self.q) == shape_of(self.result)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if any(is_stored(value) for value in (*self.operands, self.result)):
            raise unknown(self, "stored integers")
        need_reals(self, *operands)
        real = operands[0].dtype
        counts = self.heads.value.data, self.groups, self.groups
        q, k, v = map(self._by_head, operands[:3], counts)
        scores = (q @ k.swapaxes(1, 2)).astype(real) * real.type(self.scale.value.data)
        if self.mask is not None:
            scores = scores + operands[3]
        parts = np.exp((scores - scores.max(-1, keepdims=True)).astype(np.float64))
        parts = (parts / parts.sum(-1, keepdims=True)).astype(real)
        weighed = parts.astype(np.float64) @ v
        return [weighed.swapaxes(0, 1).reshape(shape_of(self.result)).astype(real)]

    def _by_head(self, x: Array, count: int) -> Array:
        """Return [heads, places, channels of one] of so many heads."""
        parts = x.astype(np.float64).reshape(x.shape[1], count, -1).swapaxes(0, 1)
        return np.repeat(parts, self.heads.value.data // count, axis=0)
