"""Expansions of the attention of onnxruntime's optimisers (`com.microsoft`) into ONNX's
operators."""

from math import sqrt

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.expansions.normalization import centred, inverse
from memopt.frontends.onnx.scope import FLOAT, INT32, Scope


def heads_of(s: Scope, name: str, batch: int, length: int, heads: int) -> str:
    """Return [batch, length, all] as [batch, heads, length, each]."""
    parts = s.reshaped(name, (batch, length, heads, -1))
    return s.transposed(parts, [0, 2, 1, 3])


def weighed(
    s: Scope, parts: list[str], lengths: tuple[int, int], width: int, mask: str = ""
) -> str:
    """Return the values of [query, key, value], each [batch, length, all], weighed by how well
    queries and keys, of that `width`, agree; `mask` is added to that."""
    heads, batch = s.get("num_heads", 1), s.shape()[0]
    q, k, v = (
        heads_of(s, name, batch, n, heads)
        for name, n in zip(parts, (lengths[0], lengths[1], lengths[1]), strict=True)
    )
    scale = s.get("scale", 0.0) or 1 / sqrt(width // heads)
    scores = s.add("Mul", s.add("MatMul", q, s.transposed(k, [0, 1, 3, 2])), s.const(scale))
    if mask:
        scores = s.add("Add", scores, mask)
    if s.get("unidirectional", 0):
        later = np.triu(np.full((lengths[0], lengths[1]), -1e4), 1 + lengths[1] - lengths[0])
        scores = s.add("Add", scores, s.const(later))
    mixed = s.transposed(s.add("MatMul", s.add("Softmax", scores, axis=-1), v), [0, 2, 1, 3])
    return s.reshaped(mixed, (batch, lengths[0], -1))


def _mask(s: Scope, index: int) -> str:
    """Return the summand of the scores for a mask of [batch, length], of 1 where a key counts."""
    batch, length = s.shape(index)
    counts = s.add("Cast", s.input(index), to=FLOAT)
    other = s.add("Sub", s.const(1.0), counts)
    other = s.add("Mul", other, s.const(s.get("mask_filter_value", -10000.0)))
    return s.reshaped(other, (batch, 1, 1, length))


@expands("com.microsoft.Attention")
def attention(s: Scope) -> bool:
    """Expand Attention, whose queries, keys and values are a product of the operand."""
    if not s.is_float or s.get("do_rotary", 0) or any(s.has(i) for i in range(4, 8)):
        return s.lacks("a past, a bias of scores or rotated positions")
    sizes = s.get("qkv_hidden_sizes")
    masked = s.has(3)
    if (sizes and len(set(sizes)) > 1) or (masked and len(s.shape(3)) != 2):
        return s.lacks("qkv_hidden_sizes, or a mask of another shape than [batch, length]")
    length = s.shape()[1]
    product = s.add("MatMul", s.x, s.input(1))
    product = s.add("Add", product, s.input(2)) if s.has(2) else product
    width = s.shape(1)[1] // 3
    parts = [s.cut(product, k * width, (k + 1) * width, 2) for k in range(3)]
    mask = _mask(s, 3) if masked else ""
    return s.done("Identity", weighed(s, parts, (length, length), width, mask))


@expands("com.microsoft.MultiHeadAttention")
def multi_head_attention(s: Scope) -> bool:
    """Expand MultiHeadAttention on queries, keys and values, with or without a bias."""
    if not s.is_float or not (s.has(1) and s.has(2)) or any(s.has(i) for i in range(4, 11)):
        return s.lacks("operands other than queries, keys, values and their bias")
    if any(len(s.shape(i)) != 3 for i in range(3)):
        return s.lacks("keys or values of other than three dimensions")
    parts = [s.input(i) for i in range(3)]
    if s.has(3):
        widths = [s.shape(i)[-1] for i in range(3)]
        for k, name in enumerate(parts):
            first = sum(widths[:k])
            parts[k] = s.add("Add", name, s.cut(s.input(3), first, first + widths[k], 0))
    return s.done("Identity", weighed(s, parts, (s.shape()[1], s.shape(1)[1]), s.shape()[-1]))


@expands("com.microsoft.EmbedLayerNormalization")
def embeddings(s: Scope) -> bool:
    """Expand EmbedLayerNormalization: rows of tables of words, positions and segments, added and
    normalized."""
    reads_mask = s.returns(1) and s.node.output[1] in s.known.read
    if reads_mask or s.has(8) or s.element(2) != FLOAT:
        return s.lacks("its mask is read, positions are an operand, or tables are no float32")
    _, length = s.shape()
    total = s.add("Gather", s.input(2), s.x, axis=0)
    total = s.add("Add", total, s.cut(s.input(3), 0, length, 0))
    if s.has(1) and s.has(4):
        total = s.add("Add", total, s.add("Gather", s.input(4), s.input(1), axis=0))
    embedded = total
    _, rest, variance = centred(s, total, [2])
    name = s.add("Mul", rest, inverse(s, variance, s.get("epsilon", 1e-12)))
    s.done("Add", s.add("Mul", name, s.input(5)), s.input(6))
    if s.returns(1):
        s.done("Identity", s.const([0] * s.shape()[0], INT32), result=1)
    return s.done("Identity", embedded, result=2) if s.returns(2) else True
