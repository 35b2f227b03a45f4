"""Attention, ONNX's and that of onnxruntime's optimisers (`com.microsoft`): one operation of each
sequence; of many sequences ONNX's other operators."""

from math import sqrt

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.expansions.normalization import centred, inverse
from memopt.frontends.onnx.expansions.quantizing import product, real
from memopt.frontends.onnx.scope import FLOAT, INT32, Scope

MOST = 16  # sequences, each of which is an operation
SEQUENCES = 3  # queries, keys, values


def heads_of(s: Scope, name: str, batch: int, length: int, heads: int) -> str:
    """Return [batch, length, all] as [batch, heads, length, each]."""
    parts = s.reshaped(name, (batch, length, heads, -1))
    return s.transposed(parts, [0, 2, 1, 3])


def weighed(
    s: Scope, parts: list[str], lengths: tuple[int, int], widths: tuple[int, int], mask: str = ""
) -> str:
    """Return the values of [query, key, value], each [batch, length, all], weighed by how well
    queries and keys agree; `mask` is added to that. `widths`: of those, and of values."""
    heads, batch = s.get("num_heads", 1), s.shape()[0]
    scale, behind = s.get("scale", 0.0) or 1 / sqrt(widths[0] // heads), lengths[1] - lengths[0]
    is_causal = s.get("unidirectional", 0)
    if 0 < batch <= MOST and 0 not in lengths and (behind >= 0 or not is_causal):
        masks = [s.reshaped(mask, (batch, 1, lengths[1]))] if mask else []
        causal = behind if is_causal else None
        size, operands = (batch, lengths[0], widths[1]), [*parts, *masks]
        return _each(s, operands, size, (heads, heads), scale, causal)
    q, k, v = (
        heads_of(s, name, batch, n, heads)
        for name, n in zip(parts, (lengths[0], lengths[1], lengths[1]), strict=True)
    )
    scores = s.add("Mul", s.add("MatMul", q, s.transposed(k, [0, 1, 3, 2])), s.const(scale))
    if mask:
        scores = s.add("Add", scores, mask)
    if is_causal:
        later = np.triu(np.full((lengths[0], lengths[1]), -1e4), 1 + lengths[1] - lengths[0])
        scores = s.add("Add", scores, s.const(later))
    mixed = s.transposed(s.add("MatMul", s.add("Softmax", scores, axis=-1), v), [0, 2, 1, 3])
    return s.reshaped(mixed, (batch, lengths[0], -1))


def _each(
    s: Scope,
    parts: list[str],
    size: tuple[int, int, int],
    heads: tuple[int, int],
    scale: float,
    causal: int | None,
) -> str:
    """Return the operations of [query, key, value, mask] of each sequence one behind the other,
    each [sequences, length, all], whose result has that size; a mask may be one of all."""
    given = {"heads": heads[0], "kv_heads": heads[1], "scale": scale, "causal": causal}
    count, one = size[0], (1, *size[1:])
    if count == 1:
        return s.own("Attention", FLOAT, one, *parts, **given)
    shared = _shared(s, parts, count)
    results: list[str] = []
    for k in range(count):
        own = [p if p in shared else s.cut(p, k, k + 1, 0) for p in parts]
        results.append(s.own("Attention", FLOAT, one, *own, **given))
    return s.add("Concat", *results, axis=0)


def _shared(s: Scope, parts: list[str], count: int) -> list[str]:
    """Return the parts that all sequences have in common: a known mask of a single one."""
    *_, last = parts
    array = s.known.array(last) if len(parts) > SEQUENCES else None
    return [last] if array is not None and array.shape[0] < count else []


def _mask(s: Scope, index: int) -> str:
    """Return what is added to scores for a mask of [batch, length], above 0 where a key counts."""
    batch, length = s.shape(index)
    counts = s.add("Greater", s.input(index), s.const(0, s.element(index)))
    filter_value = s.const(s.get("mask_filter_value", -10000.0))
    summand = s.add("Where", counts, s.const(0.0), filter_value)
    return s.reshaped(summand, (batch, 1, 1, length))


@expands("com.microsoft.Attention")
def attention(s: Scope) -> bool:
    """Expand Attention, whose queries, keys and values are a product of the operand."""
    if not s.is_float or s.get("do_rotary", 0) or any(s.has(i) for i in range(4, 8)):
        return s.lacks("a past, a bias of scores or rotated positions")
    sizes = s.get("qkv_hidden_sizes")
    if (sizes and len(set(sizes)) > 1) or not _is_of_keys(s, 3):
        return s.lacks("qkv_hidden_sizes, or a mask of another shape than [batch, length]")
    projected = s.add("MatMul", s.x, s.input(1))
    return _of_itself(s, s.add("Add", projected, s.input(2)) if s.has(2) else projected, 3)


@expands("com.microsoft.QAttention")
def attention_of_bytes(s: Scope) -> bool:
    """Expand QAttention, the same with a product of bytes."""
    if s.get("do_rotary", 0) or s.has(8) or s.element(3) != FLOAT:
        return s.lacks("a past, rotated positions or scales of another type than float32")
    if not _is_of_keys(s, 5):
        return s.lacks("a mask of another shape than [batch, length]")
    total = product(s, [s.x, s.input(1), *(s.input(i) if s.has(i) else "" for i in (6, 7))])
    return _of_itself(s, real(s, total, s.add("Mul", s.input(3), s.input(4)), 2), 5)


def _is_of_keys(s: Scope, index: int) -> bool:
    """Return whether an operand is no mask, or one of [batch, length]."""
    return not s.has(index) or len(s.shape(index)) == 2


def _of_itself(s: Scope, projected: str, mask: int) -> bool:
    """Let the node be the attention of queries, keys and values beside each other."""
    length, width = s.shape()[1], s.shape(1)[1] // 3
    parts = [s.cut(projected, k * width, (k + 1) * width, 2) for k in range(3)]
    summand = _mask(s, mask) if s.has(mask) else ""
    return s.done("Identity", weighed(s, parts, (length, length), (width, width), summand))


@expands("com.microsoft.MultiHeadAttention")
def multi_head_attention(s: Scope) -> bool:
    """Expand MultiHeadAttention on queries, keys and values, with or without a bias."""
    if not s.is_float or not (s.has(1) and s.has(2)) or any(s.has(i) for i in range(5, 11)):
        return s.lacks("operands other than queries, keys, values, their bias and a mask of keys")
    if any(len(s.shape(i)) != 3 for i in range(3)) or not _is_of_keys(s, 4):
        return s.lacks("keys or values of other than three dimensions, or a mask of other than two")
    parts = [s.input(i) for i in range(3)]
    if s.has(3):
        widths = [s.shape(i)[-1] for i in range(3)]
        for k, name in enumerate(parts):
            first = sum(widths[:k])
            parts[k] = s.add("Add", name, s.cut(s.input(3), first, first + widths[k], 0))
    lengths, sizes = (s.shape()[1], s.shape(1)[1]), (s.shape()[2], s.shape(2)[2])
    mask = _mask(s, 4) if s.has(4) else ""
    return s.done("Identity", weighed(s, parts, lengths, sizes, mask))


@expands("Attention", floats=True)
def standard_attention(s: Scope) -> bool:
    """Expand ONNX's Attention of few sequences, whose masks are known to hide all of no query."""
    if _has_more(s):
        return False
    shapes = [s.shape(i) for i in range(3)]
    ranks, count = {len(shape) for shape in shapes}, shapes[0][0]
    if ranks not in ({3}, {4}) or count > MOST or any(0 in shape for shape in shapes):
        return s.lacks(f"more than {MOST} sequences, or a tensor without elements")
    by_head = ranks == {4}
    heads = (s.get("q_num_heads"), s.get("kv_num_heads"))
    heads = (shapes[0][1], shapes[1][1]) if by_head else heads
    if None in heads:
        return s.lacks("no numbers of heads")
    queries, keys = (shape[2] if by_head else shape[1] for shape in shapes[:2])
    width = shapes[0][3] if by_head else shapes[0][2] // heads[0]
    causal = 0 if s.get("is_causal", 0) else None
    mask = _known_mask(s, (heads[0], queries, keys), causal) if s.has(3) else None
    if s.has(3) and mask is None:
        return s.lacks("a mask that is computed, or that may hide all of a query")
    parts = [_by_place(s, i) if by_head else s.input(i) for i in range(3)]
    scale = s.get("scale", 1 / sqrt(width))
    masks = [] if mask is None else [s.const(mask)]
    channels = shapes[2][3] * heads[0] if by_head else shapes[2][2] // heads[1] * heads[0]
    result = _each(s, [*parts, *masks], (count, queries, channels), heads, scale, causal)
    if by_head:
        result = s.transposed(s.reshaped(result, (count, queries, heads[0], -1)), [0, 2, 1, 3])
    return s.done("Identity", result)


def _has_more(s: Scope) -> bool:
    """Return whether ONNX's Attention has a part that the operation has not."""
    if any(s.has(i) for i in range(4, 7)) or any(s.returns(i) for i in range(1, 4)):
        return not s.lacks("a past, or results other than the first")
    if s.get("softcap", 0.0) or s.get("softmax_precision", FLOAT) != FLOAT:
        return not s.lacks("softcap, or softmax_precision of another type than float32")
    if max(s.get("left_window_size", -1), s.get("right_window_size", -1)) >= 0:
        return not s.lacks("a window of keys")
    return False


def _by_place(s: Scope, index: int) -> str:
    """Return an operand of [sequences, heads, length, each] as [sequences, length, all]."""
    count, heads, length, each = s.shape(index)
    turned = s.transposed(s.input(index), [0, 2, 1, 3])
    return s.reshaped(turned, (count, length, heads * each))


def _known_mask(s: Scope, size: tuple[int, int, int], causal: int | None) -> Array | None:
    """Return what is added to scores of heads, queries and keys as [sequences or 1, queries, keys],
    with keys of each head in turn where they differ; None where that is not known, or may hide all
    keys of a query."""
    (heads, queries, keys), mask = size, s.array(3)
    if mask is None or mask.ndim < 2 or mask.shape[-1] != keys:
        return None
    if mask.dtype == bool:
        mask = np.where(mask, 0, -np.inf)
    mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    own = heads if mask.shape[1] > 1 else 1
    mask = np.broadcast_to(mask, (mask.shape[0], own, queries, keys))
    read = np.tril(mask > -np.inf, keys if causal is None else causal)
    if not read.any(-1).all():
        return None
    return mask.swapaxes(1, 2).reshape(mask.shape[0], queries, own * keys)


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
