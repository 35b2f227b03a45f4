"""Attention: values weighed by how well queries and keys agree."""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr
from xdsl.ir import Block, SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, traits_def

from memopt.dialects.arithmetic.even_rounding import dequantized, multiplier, quantized, rounds_even
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import (
    LEAST_RESULT,
    Array,
    dtype_of,
    is_stored,
    limits_of,
    need_reals,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.attributes.operators import RoundingAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, rows_of, shape_of
from memopt.dialects.operators.base import ROUNDING, TYPES, OneResultOp
from memopt.dialects.operators.products import requantized
from memopt.dialects.operators.traits import Alike


@operation_definition
class AttentionOp(OneResultOp):
    """For each query the values, weighed by the softmax of its products with the keys, times
    `scale`, plus its row of the mask, which has numbers for all heads, or for each in turn. Each of
    the `heads` takes the next channels of the queries; those of keys and values, of which there may
    be fewer (`kv_heads`), serve as many in turn. `causal` n: query i reads keys 0 to i + n alone.

    Of bytes the types `scores`, `scaled` and `parts` say how the products, those times `scale`, and
    their softmax are stored; without `scaled` the softmax is of scores times `scale`."""

    name = "memgraph.attention"
    q = operand_def(AnyTensor)
    k = operand_def(AnyTensor)
    v = operand_def(AnyTensor)
    mask = opt_operand_def(AnyTensor)
    heads = prop_def(IntegerAttr[I64])
    kv_heads = opt_prop_def(IntegerAttr[I64])
    scale = prop_def(FloatAttr[Float32Type])
    causal = opt_prop_def(IntegerAttr[I64])
    scores = opt_prop_def(AnyTensor)
    scaled = opt_prop_def(AnyTensor)
    parts = opt_prop_def(AnyTensor)
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Alike())
    assembly_format = (
        "$q `,` $k `,` $v (`,` $mask^)? `heads` $heads (`kv_heads` $kv_heads^)? `scale` $scale "
        "(`causal` $causal^)? (`scores` $scores^)? (`scaled` $scaled^)? (`parts` $parts^)?"
        + ROUNDING
        + " "
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
            rows, numbers = (q[1], 1), (k[1], heads * k[1])
            masks = [(1, row, width) for width in numbers for row in rows]
            self.require(shape_of(self.mask) in masks, f"the mask's shape must be {masks[0]}")
        self.require(self.causal is None or self.causal.value.data >= 0, "a query without keys")
        of_bytes = self.scores is not None
        self.require(of_bytes == (self.parts is not None), "types of scores and of parts")
        self.require(of_bytes or self.scaled is None, "a type of scaled scores, none of scores")

    def macs(self) -> int:
        """Return a channel of each key that is read, and of its value, for each head and query."""
        queries, *_ = self.sizes
        channels = shape_of(self.q)[2] + shape_of(self.result)[2]
        return channels * sum(map(self.keys_of, range(queries)))

    def keys_of(self, query: int) -> int:
        """Return how many keys, from the first on, a query reads."""
        _, keys, _, _ = self.sizes
        return keys if self.causal is None else min(keys, query + 1 + self.causal.value.data)

    def alike(self, r: int) -> bool:
        return self.causal is None

    def rows_read(self, operand: int, r: int) -> range | None:
        is_own = operand == 0 or (operand == 3 and (rows_of(self.operands[3]) or 0) > 1)
        return range(r, r + 1) if is_own else None

    def may_overwrite(self, operand: int) -> bool:
        return operand == 0 and shape_of(self.q) == shape_of(self.result)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if any(is_stored(value) for value in (*self.operands, self.result)):
            return [self._of_bytes(operands)]
        need_reals(self, *operands)
        real = operands[0].dtype
        counts = self.heads.value.data, self.groups, self.groups
        q, k, v = map(self._by_head, operands[:3], counts)
        scores = (q @ k.swapaxes(1, 2)).astype(real) * real.type(self.scale.value.data)
        if self.mask is not None:
            scores = scores + self._mask_by_head(operands[3])
        scores[..., self._unread()] = -np.inf
        parts = np.exp((scores - scores.max(-1, keepdims=True)).astype(np.float64))
        parts = (parts / parts.sum(-1, keepdims=True)).astype(real)
        weighed = parts.astype(np.float64) @ v
        return [weighed.swapaxes(0, 1).reshape(shape_of(self.result)).astype(real)]

    @property
    def has_mask_by_head(self) -> bool:
        """Return whether each head has a mask of its own."""
        keys = shape_of(self.k)[1]
        return self.mask is not None and shape_of(self.mask)[2] > keys

    def _mask_by_head(self, mask: Array) -> Array:
        """Return [1, rows, keys of all heads] as [heads or 1, rows, keys]."""
        heads = self.heads.value.data if self.has_mask_by_head else 1
        return mask.reshape(mask.shape[1], heads, -1).swapaxes(0, 1)

    def _unread(self) -> Array:
        """Return for each query which keys it does not read."""
        queries, keys, _, _ = self.sizes
        read = np.array([self.keys_of(query) for query in range(queries)], np.int64)
        return np.arange(keys) >= read.reshape(queries, 1)

    # -- of bytes ---------------------------------------------------------------------------------
    def stages(self) -> tuple[SSAValue, SSAValue, SSAValue]:
        """Return values of the types of scores, of what the softmax is of, and of its result.

        Raises MemoptError unless all that is stored are bytes of one scale, rounded as ONNX's.
        """
        if self.scores is None or self.parts is None or self.mask is not None:
            raise unknown(self, "stored integers with a mask, or without types of scores and parts")
        types = self.scores, self.scaled or self.scores, self.parts
        scores, scaled, parts = Block(arg_types=types).args
        for value in (self.q, self.k, self.v, scores, scaled, parts, self.result):
            if stored_bits(self, value, unsigned=True) != 8 or not rounds_even(self):
                raise unknown(self, "int16, or bytes that are rounded otherwise than ONNX's")
            if not per_tensor(self, value)[0] >= LEAST_RESULT:
                raise unknown(self, f"a scale below {LEAST_RESULT}")
        if not 0 < float(self.scale.value.data) < np.inf:
            raise unknown(self, "a scale that is not above 0")
        return scores, scaled, parts

    def reals(self) -> tuple[float, float]:
        """Return by what sums of products are multiplied to be scores, and results."""
        scores, _, parts = self.stages()
        q, k, v, score, part, result = (
            per_tensor(self, x)[0] for x in (self.q, self.k, self.v, scores, parts, self.result)
        )
        return multiplier(q, k, score), multiplier(part, v, result)

    def scaled_scores(self) -> Array:
        """Return what is stored of each score, from the least on, times `scale`."""
        scores, scaled, _ = self.stages()
        low, high = limits_of(self, scores)
        each = np.arange(low, high + 1)
        if self.scaled is None:
            return each
        products = dequantized(self, each, scores) * np.float32(self.scale.value.data)
        return quantized(self, products, scaled).astype(np.int64)

    def exponentials(self) -> Array:
        """Return the float32 exponentials of 0 to 255 steps below the largest scaled score."""
        _, scaled, _ = self.stages()
        factor = 1.0 if self.scaled is not None else float(self.scale.value.data)
        steps = np.arange(256, dtype=np.float64) * per_tensor(self, scaled)[0] * factor
        return np.exp(-steps).astype(np.float32)

    def _of_bytes(self, operands: Sequence[Array]) -> Array:
        """Return the result of bytes: exponentials by a table and their sum, in order, are
        float32; all products are exact."""
        scores, _, parts = self.stages()
        counts = self.heads.value.data, self.groups, self.groups
        q, k, v = (
            self._by_head(x.astype(np.float64) - per_tensor(self, value)[1], count)
            for x, value, count in zip(operands, (self.q, self.k, self.v), counts, strict=True)
        )
        to_score, to_result = self.reals()
        stored = self._stored_as(scores, q @ k.swapaxes(1, 2), to_score)
        scaled = self.scaled_scores()[stored - limits_of(self, scores)[0]]
        unread = self._unread()
        scaled[..., unread] = scaled.min()
        each = self.exponentials()[scaled.max(-1, keepdims=True) - scaled]
        each[..., unread] = 0
        total = np.add.accumulate(each, -1)[..., -1:]
        weights = quantized(self, each / total, parts).astype(np.float64)
        weighed = (weights - per_tensor(self, parts)[1]) @ v
        result = self._stored_as(self.result, weighed, to_result)
        shaped = result.swapaxes(0, 1).reshape(shape_of(self.result))
        return shaped.astype(dtype_of(self.result))

    def _stored_as(self, value: SSAValue, sums: Array, real: float) -> Array:
        """Return sums times a real number as integers of a value's type."""
        steps = requantized(self, sums.astype(np.int64), None, [real], 8)
        return np.clip(steps + per_tensor(self, value)[1], *limits_of(self, value))

    def _by_head(self, x: Array, count: int) -> Array:
        """Return [heads, places, channels of one] of so many heads."""
        parts = x.astype(np.float64).reshape(x.shape[1], count, -1).swapaxes(0, 1)
        return np.repeat(parts, self.heads.value.data // count, axis=0)
