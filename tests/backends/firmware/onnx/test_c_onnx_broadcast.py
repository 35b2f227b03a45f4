# pyright: basic, reportArgumentType=false
"""Broadcasts of ONNX as C, whole and in rows: what a file says is what runs, without a copy."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported import FLOAT, Exported, compiled
from qdq_pairs import results

import memopt

IMAGE = (1, 6, 9, 8)
KINDS = ("Add", "Mul", "Sub", "Max", "Div", "PRelu")
MEANS = ([2, 3], [1], [1, 2], [1, 3], [2], [3])
FULL = 1000  # networks drawn at random, in full
ROWS = ("none", "all", "auto")


def squeeze_and_excite(e: Exported) -> str:
    """The block of MobileNetV3 and EfficientNet: a product with a number of each channel."""
    wide = e.add("Relu", e.add("Conv", "x", e.reals(16, 3, 3, 3), pads=[1] * 4))
    small = e.add("Conv", e.add("GlobalAveragePool", wide), e.reals(4, 16, 1, 1))
    gate = e.add("HardSigmoid", e.add("Conv", e.add("Relu", small), e.reals(16, 4, 1, 1)))
    product = e.add("Mul", wide, gate)
    return e.add("Conv", product, e.reals(8, 16, 3, 3), pads=[1] * 4, strides=[2, 2])


@pytest.mark.deep
def test_a_gate_is_no_image() -> None:
    """A squeeze-and-excite block of reals: its gate was written out for every pixel, 196,608 B."""
    e = Exported((1, 3, 32, 32))
    assert memopt.plan(e.model(squeeze_and_excite(e)), target="host").arena <= 66_816


def pair(e: Exported, name: str) -> str:
    """Return a tensor as it is of reals, of bytes what a pair makes of it."""
    return name if e.kind == FLOAT else e.pair(name, float(e.rng.uniform(0.01, 0.03)))


def small(e: Exported, image: str, shape: tuple[int, ...] = IMAGE) -> str:
    """A tensor that broadcasts to images: a mean, perhaps of fewer dimensions, perhaps a sum of two
    that lie across."""
    axes = e.rng.choice(len(MEANS))
    made = pair(e, e.add("ReduceMean", image, e.constant(np.int64(MEANS[axes])), keepdims=1))
    if e.rng.random() < 0.4:
        kept = [1 if d in MEANS[axes] else n for d, n in enumerate(shape)]
        while kept[0] == 1 and len(kept) > 1:
            kept = kept[1:]
        made = pair(e, e.add("Reshape", made, e.constant(np.int64(kept))))
    if e.rng.random() < 0.3:
        other = pair(e, e.add("ReduceMean", image, e.constant(np.int64([1, 2])), keepdims=1))
        made = pair(e, e.add("Add", made, other))
    return made


def network(e: Exported) -> str:
    """Images, a convolution, two operators with what broadcasts to them, and a pool; of bytes, all
    of it between pairs."""
    image = pair(e, e.add("Conv", pair(e, e.input() if e.kind != FLOAT else "x"), weights(e, 6)))
    for _ in range(2):
        operands = [image, small(e, image)]
        kind = str(e.rng.choice(KINDS[:3] if e.kind != FLOAT else KINDS))
        if kind == "Div":
            operands[1] = e.add("Add", e.add("Abs", operands[1]), e.constant(np.float32(1)))
        elif kind != "PRelu" and e.rng.random() < 0.5:
            operands.reverse()
        image = pair(e, e.add(kind, *operands))
    return pair(e, e.add("MaxPool", image, kernel_shape=[2, 2]))


def weights(e: Exported, channels: int) -> str:
    if e.kind == FLOAT:
        return e.reals(channels, channels, 1, 1)
    stored = e.rng.integers(-63, 64, (channels, channels, 1, 1)).astype(np.int8)
    names = e.constant(stored), e.constant(np.float32(0.004)), e.constant(np.int8(0))
    return e.add("DequantizeLinear", *names)


@pytest.mark.deep
@pytest.mark.parametrize("rows", ROWS)
def test_random_broadcasts_of_reals(rows: str, tmp_path: Path, lab: Any, fuzz: float) -> None:
    lab.need_tools("host")
    for seed in range(ROWS.index(rows), max(6, int(FULL * fuzz)), len(ROWS)):
        e = Exported(IMAGE)
        e.rng = np.random.default_rng(seed)
        data = e.model(network(e))
        given = e.rng.normal(size=(2, *IMAGE)).astype(np.float32)
        want = np.stack([results(data, {"x": x}, fused=False) for x in given]).reshape(-1)
        (folder := tmp_path / str(seed)).mkdir()
        off = abs(compiled(lab, data, given, folder, rows) - want).max()
        assert off <= 1e-5 * abs(want).max(), seed


@pytest.mark.deep
@pytest.mark.parametrize("rows", ROWS)
def test_random_broadcasts_of_bytes(rows: str, tmp_path: Path, lab: Any, fuzz: float) -> None:
    """Pairs around what broadcasts are folded: no operator of reals is left between them."""
    lab.need_tools("host")
    for seed in range(ROWS.index(rows), max(6, int(FULL * fuzz)), len(ROWS)):
        e = Exported(IMAGE, stored=True)
        e.rng = np.random.default_rng(seed)
        data = e.model(network(e))
        given = e.rng.integers(-128, 128, (2, *IMAGE)).astype(np.int8)
        want = np.stack([results(data, {"x": x}, fused=False) for x in given]).reshape(-1)
        (folder := tmp_path / str(seed)).mkdir()
        assert (compiled(lab, data, given, folder, rows) == want).all(), seed
        used = {path.stem for path in (folder / "c").rglob("memopt_*_f32.c")}
        assert used == {"memopt_dequantize_s8_f32"}, seed
