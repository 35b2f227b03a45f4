# pyright: basic
"""Attention as exporters take it apart: found in each of their forms, and close to what onnxruntime
computes."""

from pathlib import Path

import numpy as np
from drawn_network import Drawn, computed, rewritten
from onnx import helper
from qdq_pairs import results

from memopt.dialects.operators.attention import AttentionOp

FULL = 2000  # models
RULES = (
    *("choice-as-mask", "products-as-attention", "mask-as-causal"),
    *("constants-into-weights", "channels-into-weights"),
)


class Model(Drawn):
    """A network with random choices of its sizes."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self.is_causal, self.is_biased = False, False
        self.heads, self.places, self.depth = (int(n) for n in self.rng.integers(1, 6, 3))
        self.places += 1
        self.width = self.heads * self.depth

    def reshaped(self, value: str, *shape: int) -> str:
        return self.add("Reshape", value, self.const(np.array(shape, np.int64)))

    def scaled(self, value: str, factor: float) -> str:
        if self.rng.random() < 0.5:
            return self.add("Mul", value, self.const(np.float32(factor)))
        return self.add("Div", value, self.const(np.float32(1 / factor)))

    def product(self, value: str, columns: int) -> str:
        weights = self.rng.normal(size=(self.width, columns)) / self.width**0.5
        value = self.add("MatMul", value, self.const(weights.astype(np.float32)))
        bias = self.const(self.rng.normal(size=columns).astype(np.float32))
        return self.add("Add", value, bias)

    def data(self, last: str) -> bytes:
        return self.saved(last, (1, self.places, self.width), 17)


def by_head(m: Model, value: str, turned: bool = False) -> str:
    """Return heads before places, and the places last if `turned`, in one step or two."""
    parts = m.reshaped(value, 1, m.places, m.heads, m.depth)
    if turned and m.rng.random() < 0.5:
        return m.add("Transpose", parts, perm=[0, 2, 3, 1])
    value = m.add("Transpose", parts, perm=[0, 2, 1, 3])
    return m.add("Transpose", value, perm=[0, 1, 3, 2]) if turned else value


def places_first(m: Model, value: str, turned: bool) -> str:
    """Return the same of [places, 1, channels], as torch.nn.MultiheadAttention has it."""
    value = m.reshaped(value, m.places, m.heads, m.depth)
    value = m.add("Transpose", value, perm=[1, 0, 2])
    value = m.reshaped(value, 1, m.heads, m.places, m.depth)
    return m.add("Transpose", value, perm=[0, 1, 3, 2]) if turned else value


def joined(m: Model, product: str) -> list[str]:
    """Return three parts of a product of all, each by head."""
    first = m.rng.random() < 0.5
    size = m.width
    if m.rng.random() < 0.5:
        names = [f"{product}_{k}" for k in range(3)]
        m.nodes.append(helper.make_node("Split", [product, m.const([size] * 3)], names, axis=2))
        parts = names
    else:
        product = m.reshaped(product, 1, m.places, 3, size)
        product = m.add("Transpose", product, perm=[2, 0, 1, 3])
        parts = [m.add("Gather", product, m.const(np.int64(k)), axis=0) for k in range(3)]
    if first:
        return [places_first(m, part, k == 1) for k, part in enumerate(parts)]
    return [by_head(m, part, k == 1) for k, part in enumerate(parts)]


def beside(m: Model, product: str) -> list[str]:
    """Return three parts of a product that has those of each head beside each other, by head."""
    parts = m.reshaped(product, 1, m.places, m.heads, 3, m.depth)
    if m.rng.random() < 0.5:
        names = [f"{parts}_{k}" for k in range(3)]
        m.nodes.append(helper.make_node("Split", [parts, m.const([1] * 3)], names, axis=3))
        return [by_head(m, name, k == 1) for k, name in enumerate(names)]
    parts = m.add("Transpose", parts, perm=[3, 0, 2, 1, 4])
    q, k, v = (m.add("Gather", parts, m.const(np.int64(i)), axis=0) for i in range(3))
    return [q, m.add("Transpose", k, perm=[0, 1, 3, 2]), v]


def masked(m: Model, scores: str) -> str:
    """Return scores with a mask of some shape: of keys, or of queries and keys, later ones far
    below; with a bias of each head before or behind it."""
    scores = by_head_biased(m, scores) if m.rng.random() < 0.3 else scores
    n, kind = m.places, int(m.rng.integers(6))
    if kind == 0:
        return scores
    if kind == 5:
        return by_head_biased(m, scores)
    if kind == 4:
        return chosen(m, scores)
    m.is_causal = kind == 1
    far = (-np.inf, -1e9, -1e4)[int(m.rng.integers(3))]
    mask = np.triu(np.full((n, n), far), 1) if kind == 1 else m.rng.normal(size=(n, n))
    mask = mask[:1] if kind == 3 else mask
    shape = (1,) * int(m.rng.integers(3)) + mask.shape
    operands = [scores, m.const(mask.reshape(shape).astype(np.float32))]
    return m.add("Add", *(operands if m.rng.random() < 0.5 else operands[::-1]))


def by_head_biased(m: Model, scores: str) -> str:
    """Return scores with a bias of each head: of relative positions, or ALiBi's, of each key."""
    m.is_biased = True
    bias = m.rng.normal(size=(1, m.heads, m.places, m.places))
    bias = bias[:, :, -1:] if m.rng.random() < 0.3 else bias
    bias = bias[0] if m.rng.random() < 0.5 else bias
    operands = [scores, m.const(bias.astype(np.float32))]
    return m.add("Add", *(operands if m.rng.random() < 0.5 else operands[::-1]))


def chosen(m: Model, scores: str) -> str:
    """Return scores of which a choice hides some: later ones, as nanoGPT, GPT-2 and exporters of
    masked_fill have it, or any."""
    n, far = m.places, m.const(np.float32((-np.inf, -1e9, -1e4)[int(m.rng.integers(3))]))
    m.is_causal = m.rng.random() < 0.7
    shown = np.tril(np.ones((n, n), bool)) if m.is_causal else m.rng.random((n, n)) < 0.5
    shown[:, 0] |= not m.is_causal
    triangles = (np.tril(np.ones((n, n), bool), k) for k in range(n - 1))
    m.is_causal = any(np.array_equal(shown, one) for one in triangles)
    shown = shown.reshape((1,) * int(m.rng.integers(3)) + shown.shape)
    if m.rng.random() < 0.5:
        return m.add("Where", m.const(shown), scores, far)
    hidden = m.add("Equal", m.const(shown.astype(np.float32)), m.const(np.float32(0)))
    return m.add("Where", hidden, far, scores)


def attention(m: Model) -> bytes:
    if m.rng.random() < 0.6:
        parts = joined if m.rng.random() < 0.6 else beside
        q, k, v = parts(m, m.product("x", 3 * m.width))
    else:
        q, k, v = (by_head(m, m.product("x", m.width), part == 1) for part in range(3))
    factor, way = m.depth**-0.5, int(m.rng.integers(4))
    if way == 1:
        q = m.scaled(q, factor)
    elif way == 2:
        q, k = m.scaled(q, factor**0.5), m.scaled(k, factor**0.5)
    scores = m.add("MatMul", q, k)
    scores = m.scaled(scores, factor) if way == 3 else scores
    parts = m.add("Softmax", masked(m, scores), axis=-1)
    result = m.add("MatMul", parts, v)
    if m.rng.random() < 0.5:
        result = m.add("Transpose", result, perm=[0, 2, 1, 3])
        result = m.reshaped(result, 1, m.places, m.width)
    else:
        result = m.add("Transpose", result, perm=[2, 0, 1, 3])
        result = m.reshaped(result, m.places, m.width)
    return m.data(result)


def test_attention_is_found_and_close_to_onnxruntime(tmp_path: Path, fuzz: float) -> None:
    for seed in range(max(20, int(FULL * fuzz))):
        m = Model(seed)
        data = attention(m)
        module = rewritten(data, RULES, tmp_path / f"{seed}.onnx")
        (found,) = [op for op in module.walk() if isinstance(op, AttentionOp)]
        is_causal = m.is_causal and not m.is_biased
        assert (found.causal is not None and found.mask is None) == is_causal, seed
        kinds = [op.name.removeprefix("memgraph.") for op in module.walk()]
        assert kinds.count("attention") == 1, seed
        assert not {"softmax", "batch_matmul"} & set(kinds), seed
        x = m.rng.normal(size=(1, m.places, m.width)).astype(np.float32)
        got = computed(module, x)
        want = results(data, {"x": x}, fused=False)
        assert got.shape == want.shape
        assert abs(got - want).max() <= 2e-5 * max(1, abs(want).max()), seed
