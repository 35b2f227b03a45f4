# pyright: basic
"""Attention with rotary positions as exporters write it: found, in rows as at once, and close to
what onnxruntime computes."""

from pathlib import Path

import numpy as np
from drawn_network import Drawn, computed, rewritten
from onnx import helper
from qdq_pairs import results
from xdsl.context import Context

from memopt.dialects.operators.attention import AttentionOp
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass

FULL = 2000  # models
EACH = 4  # of which one is computed in rows too
RULES = ("rotation-before-heads", "products-as-attention", "mask-as-causal")


class Model(Drawn):
    """A network with random choices of its sizes; an even number of `turned` channels of a head."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self.heads, self.half, self.rest = (int(n) for n in self.rng.integers(1, 4, 3))
        self.rest *= int(self.rng.random() < 0.4)
        self.places = int(self.rng.integers(2, 7))
        self.turned, self.depth = 2 * self.half, 2 * self.half + self.rest
        self.width = self.heads * self.depth
        angles = self.rng.normal(size=(self.places, self.half))
        shape = (1,) * int(self.rng.integers(3)) + (self.places, self.turned)
        angles = np.concatenate([angles, angles], 1).reshape(shape).astype(np.float32)
        self.cos, self.sin = self.const(np.cos(angles)), self.const(np.sin(angles))

    def by_head(self) -> str:
        weights = self.rng.normal(size=(self.width, self.width)) / self.width**0.5
        value = self.add("MatMul", "x", self.const(weights.astype(np.float32)))
        shape = self.const(np.array([1, self.places, self.heads, self.depth]))
        return self.add("Transpose", self.add("Reshape", value, shape), perm=[0, 2, 1, 3])

    def parts(self, value: str, first: int, second: int) -> tuple[str, str]:
        """Return so many channels and those behind them: by slices, or split."""
        if self.rng.random() < 0.5:
            names = [f"{value}_first", f"{value}_second"]
            sizes = self.const(np.array([first, second]))
            self.nodes.append(helper.make_node("Split", [value, sizes], names, axis=3))
            return names[0], names[1]
        ends = (0, first), (first, np.iinfo(np.int64).max)
        one, other = (
            self.add("Slice", value, *(self.const(np.array([n])) for n in (*end, 3)))
            for end in ends
        )
        return one, other

    def rotated(self, value: str) -> str:
        """Return heads turned by their places, all channels of each or the first ones."""
        if self.rest:
            value, still = self.parts(value, self.turned, self.rest)
            return self.add("Concat", self._rotated(value), still, axis=3)
        return self._rotated(value)

    def _rotated(self, value: str) -> str:
        first, second = self.parts(value, self.half, self.half)
        other = self.add("Concat", self.add("Neg", second), first, axis=3)
        terms = [self.add("Mul", value, self.cos), self.add("Mul", other, self.sin)]
        return self.add("Add", *(terms if self.rng.random() < 0.5 else terms[::-1]))


def attention(m: Model) -> bytes:
    q, k, v = m.rotated(m.by_head()), m.rotated(m.by_head()), m.by_head()
    scores = m.add("MatMul", q, m.add("Transpose", k, perm=[0, 1, 3, 2]))
    scores = m.add("Mul", scores, m.const(np.float32(m.depth**-0.5)))
    if m.rng.random() < 0.5:
        later = np.triu(np.full((m.places, m.places), -1e9, np.float32), 1)
        scores = m.add("Add", scores, m.const(later))
    result = m.add("MatMul", m.add("Softmax", scores, axis=-1), v)
    result = m.add("Transpose", result, perm=[0, 2, 1, 3])
    result = m.add("Reshape", result, m.const(np.array([1, m.places, m.width])))
    return m.saved(result, (1, m.places, m.width), 17)


def test_attention_is_found_and_close_to_onnxruntime(tmp_path: Path, fuzz: float) -> None:
    for seed in range(max(16, int(FULL * fuzz))):
        m = Model(seed)
        data = attention(m)
        module = rewritten(data, RULES, tmp_path / f"{seed}.onnx")
        assert [isinstance(op, AttentionOp) for op in module.walk()].count(True) == 1, seed
        x = m.rng.normal(size=(1, m.places, m.width)).astype(np.float32)
        got = computed(module, x)
        want = results(data, {"x": x}, fused=False)
        assert got.shape == want.shape
        assert abs(got - want).max() <= 2e-5 * max(1, abs(want).max()), seed
        if seed % EACH == 0:
            MemgraphExpandRowsPass(("all",)).apply(Context(), module)
            assert "memgraph.row_kernel" in str(module)
            assert np.array_equal(computed(module, x), got), seed
