# pyright: basic
"""Attention without softmax as PyTorch's exporters write it: keys and values are added up place by
place, close to what onnxruntime computes."""

from pathlib import Path

import numpy as np
from drawn_network import Drawn, computed, rewritten
from qdq_pairs import results

FULL = 2000  # models
RULES = (
    *("products-by-place", "reshape-of-reshape", "transpose-as-view"),
    *("transpose-of-transpose", "vectors-as-rows"),
)


class Model(Drawn):
    """A linear attention with random choices of its sizes and of how heads are moved."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self.heads, self.depth, self.width = (int(n) for n in self.rng.integers(1, 5, 3))
        self.places = int(self.rng.integers(2, 16))
        self.shape = (1, self.places, int(self.rng.integers(2, 7)))

    def split(self, channels: int, order: tuple[int, ...]) -> str:
        """Return positive products of the input, of heads that are moved to dimension `order`."""
        wide = (self.shape[-1], self.heads * channels)
        weights = self.const(self.rng.normal(size=wide).astype(np.float32))
        value = self.add("Sigmoid", self.add("MatMul", "x", weights))
        shape = np.array([1, self.places, self.heads, channels])
        value = self.add("Reshape", value, self.const(shape))
        return self.add("Transpose", value, perm=list(order))

    def data(self) -> bytes:
        by_head, turned = (0, 2, 1, 3), (0, 2, 3, 1)
        k, v = self.split(self.depth, turned), self.split(self.width, by_head)
        q = self.split(self.depth, by_head)
        summed = self.add("ReduceSum", k, self.const(np.array([3])), keepdims=1)
        kv = self.add("MatMul", k, v)
        if self.rng.random() < 0.3:
            v = self.add("Transpose", v, perm=[0, 1, 3, 2])
            kv = self.add("MatMul", v, self.add("Transpose", k, perm=[0, 1, 3, 2]))
            kv = self.add("Transpose", kv, perm=[0, 1, 3, 2])
        weighed = self.add("MatMul", q, kv)
        if self.rng.random() < 0.5:
            weighed = self.add("Div", weighed, self.add("MatMul", q, summed))
        joined = self.add("Transpose", weighed, perm=list(by_head))
        shape = np.array([1, self.places, self.heads * self.width])
        return self.saved(self.add("Reshape", joined, self.const(shape)), self.shape, 17)


def test_keys_and_values_are_added_up_place_by_place(tmp_path: Path, fuzz: float) -> None:
    for seed in range(max(20, int(FULL * fuzz))):
        m = Model(seed)
        data = m.data()
        module = rewritten(data, RULES, tmp_path / f"{seed}.onnx")
        kinds = {op.name for op in module.walk()}
        is_small = m.depth * m.width < m.places * min(m.depth, m.width)
        assert ("memgraph.outer_products" in kinds) == is_small, seed
        x = m.rng.normal(size=m.shape).astype(np.float32)
        got, want = computed(module, x), results(data, {"x": x}, fused=False)
        assert got.shape == want.shape
        assert abs(got - want).max() <= 1e-5 * max(1, abs(want).max()), seed
