# pyright: basic
"""Layer normalization as flax and haiku write it: one operator, close to what onnxruntime
computes."""

from pathlib import Path

import numpy as np
from drawn_network import Drawn, computed, rewritten
from qdq_pairs import results

FULL = 2000  # models
RULES = (
    *("broadcast-by-readers", "factors-in-turn", "layer-normalization", "moments-as-variance"),
    *("reshape-of-reshape", "sum-as-mean"),
)


class Model(Drawn):
    """A network with random choices of its sizes."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self.shape = (1, *(int(n) for n in self.rng.integers(2, 7, self.rng.integers(1, 3))))
        self.shape = (*self.shape, int(self.rng.integers(3, 20)))
        self.kept = (*self.shape[:-1], 1)
        self.keeps, self.sums, self.expands = (bool(self.rng.random() < 0.5) for _ in range(3))

    def either(self, kind: str, one: str, other: str) -> str:
        return self.add(kind, *((one, other) if self.rng.random() < 0.5 else (other, one)))

    def number(self, value: float) -> str:
        return self.const(np.full((1,) * int(self.rng.integers(3)), value, np.float32))

    def mean(self, value: str) -> str:
        count = self.shape[-1]
        last = self.const(np.array([-1]))
        if not self.sums:
            return self.add("ReduceMean", value, last, keepdims=int(self.keeps))
        total = self.add("ReduceSum", value, last, keepdims=int(self.keeps))
        if self.rng.random() < 0.5:
            return self.add("Div", total, self.number(count))
        return self.either("Mul", total, self.number(1 / count))

    def with_ones(self, value: str) -> str:
        return value if self.keeps else self.add("Reshape", value, self.const(np.array(self.kept)))

    def wide(self, value: str) -> str:
        return (
            self.add("Expand", value, self.const(np.array(self.shape))) if self.expands else value
        )

    def data(self, last: str) -> bytes:
        return self.saved(last, self.shape, 18)


def normalization(m: Model) -> bytes:
    mean, squares = m.mean("x"), m.mean(m.add("Mul", "x", "x"))
    variance = m.add("Sub", squares, m.add("Mul", mean, mean))
    variance = m.either("Max", m.number(0), variance) if m.rng.random() < 0.7 else variance
    total = m.either("Add", m.with_ones(variance), m.const(np.float32(1e-2)))
    root = m.add("Sqrt", total)
    factor = m.add("Reciprocal", root) if m.rng.random() < 0.5 else None
    factor = factor or m.add("Div", m.const(np.float32(1)), root)
    scale, shift = (m.const(m.rng.normal(size=m.shape[-1]).astype(np.float32)) for _ in range(2))
    rest = m.add("Sub", "x", m.wide(m.with_ones(mean)))
    if m.rng.random() < 0.7:
        rest = m.either("Mul", rest, m.either("Mul", m.wide(factor), scale))
    else:
        rest = m.either("Mul", m.either("Mul", rest, m.wide(factor)), scale)
    return m.data(m.either("Add", rest, shift) if m.rng.random() < 0.8 else rest)


def test_normalizations_by_moments_are_one_operator(tmp_path: Path, fuzz: float) -> None:
    for seed in range(max(20, int(FULL * fuzz))):
        m = Model(seed)
        data = normalization(m)
        module = rewritten(data, RULES, tmp_path / f"{seed}.onnx")
        kinds = {op.name for op in module.walk() if op.name.startswith("memgraph.")}
        moved = {"memgraph.constant", "memgraph.reshape"}
        assert kinds - moved == {"memgraph.layer_normalization"}, seed
        x = m.rng.normal(size=m.shape).astype(np.float32)
        got = computed(module, x)
        want = results(data, {"x": x}, fused=False)
        assert got.shape == want.shape
        assert abs(got - want).max() <= 1e-4 * max(1, abs(want).max()), seed
