# pyright: basic, reportArgumentType=false
"""Decoders, whose queries read no later keys, as C: onnxruntime's numbers, and no mask."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported import Exported, compiled
from onnx import helper
from qdq_pairs import results
from quick_options import QUICK

from memopt.cli import main

PLACES, HEADS, WIDTH = 24, 4, 32
ARENAS = {"none": 18_432, "auto": 9_568, "all": 9_600}


def decoder(e: Exported) -> str:
    """Two layers of nanoGPT (Karpathy 2022): `masked_fill` of what a constant triangle hides."""
    name, split = "x", e.constant(np.int64([WIDTH] * 3))
    shape = e.constant(np.int64([1, PLACES, HEADS, WIDTH // HEADS]))
    triangle = np.tril(np.ones((1, 1, PLACES, PLACES), np.float32))
    for _ in range(2):
        made = e.add("MatMul", e.normalized(name, WIDTH), e.reals(WIDTH, 3 * WIDTH))
        parts = [f"part{len(e.nodes)}{k}" for k in "qkv"]
        e.nodes.append(helper.make_node("Split", [made, split], parts, axis=2))
        q, k, v = (
            e.add("Transpose", e.add("Reshape", part, shape), perm=order)
            for part, order in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
        )
        scores = e.add("Mul", e.add("MatMul", q, k), e.constant(np.float32(0.05)))
        hidden = e.add("Equal", e.constant(triangle), e.constant(np.float32(0)))
        scores = e.add("Where", hidden, e.constant(np.float32(-np.inf)), scores)
        mixed = e.add("MatMul", e.add("Softmax", scores, axis=-1), v)
        mixed = e.add("Transpose", mixed, perm=[0, 2, 1, 3])
        mixed = e.add("Reshape", mixed, e.constant(np.int64([1, PLACES, WIDTH])))
        name = e.add("Add", name, e.add("MatMul", mixed, e.reals(WIDTH, WIDTH)))
        wide = e.add("MatMul", e.normalized(name, WIDTH), e.reals(WIDTH, 4 * WIDTH))
        name = e.add("Add", name, e.add("MatMul", gelu(e, wide), e.reals(4 * WIDTH, WIDTH)))
    return e.add("Identity", name)


def gelu(e: Exported, x: str) -> str:
    """Return a GELU as exporters write it before opset 20."""
    inner = e.add("Erf", e.add("Div", x, e.constant(np.float32(2**0.5))))
    outer = e.add("Add", inner, e.constant(np.float32(1)))
    return e.add("Mul", e.add("Mul", x, outer), e.constant(np.float32(0.5)))


@pytest.mark.deep
@pytest.mark.parametrize("rows", ["none", "auto", "all"])
def test_a_decoder_is_close_to_onnxruntime(rows: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    e = Exported((1, PLACES, WIDTH))
    data = e.model(decoder(e))
    given = e.rng.normal(size=(4, *e.shape)).astype(np.float32)
    want = np.stack([results(data, {"x": x}, fused=False) for x in given]).reshape(-1)
    off = abs(compiled(lab, data, given, tmp_path, rows, "--rewrite=all") - want).max()
    assert off <= 1e-5 * abs(want).max()
    report = json.loads((tmp_path / "c/report.json").read_text())
    assert report["plan"]["arena"] == ARENAS[rows]


@pytest.mark.deep
def test_a_board_computes_the_same(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("cortex-m4")
    e = Exported((1, PLACES, WIDTH))
    path, out = tmp_path / "net.onnx", tmp_path / "c"
    data = e.model(decoder(e))
    path.write_bytes(data)
    x = e.rng.normal(size=e.shape).astype(np.float32)
    words = ["compile", str(path), "--target=cortex-m4", "--rewrite=all", *QUICK]
    assert main([*words, "-o", str(out)]) == 0
    done = lab.run_project(out, [x[None]], "-O2", trace=False)
    want = results(data, {"x": x}, fused=False).reshape(-1)
    assert abs(np.frombuffer(done.output, np.float32) - want).max() <= 1e-5 * abs(want).max()
