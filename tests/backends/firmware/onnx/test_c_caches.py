# pyright: basic
"""Caches of keys and values as exporters write them, tied by --state: each step as C has what
onnxruntime computes."""

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import ROOT
from quick_options import QUICK

from memopt.cli import main

onnxruntime = pytest.importorskip("onnxruntime")
Net = runpy.run_path(str(ROOT / "docs/examples/sequences/networks.py"))["Net"]
PLACES, HEADS, EACH = 6, 2, 4
WIDTH, STEPS = HEADS * EACH, 9


def rows(net: Any, cache: str, row: str) -> str:
    """[places, width], a row at a place: PyTorch's `cache[place] = row`."""
    return net.add("ScatterND", cache, net.shaped("place", 1, 1), row, name=f"{cache}_next")


def batch(net: Any, cache: str, row: str) -> str:
    """[1, places, width], by an index of two dimensions."""
    zero = net.constant(np.zeros(1, np.int64))
    at = net.shaped(net.add("Concat", zero, "place", axis=0), 1, 2)
    return net.add("ScatterND", cache, at, row, name=f"{cache}_next")


def where(net: Any, cache: str, row: str) -> str:
    """[1, places, width], chosen by a mask of places."""
    here = net.add("Equal", net.constant(np.arange(PLACES).reshape(1, -1, 1)), "place")
    return net.add("Where", here, net.shaped(row, 1, 1, WIDTH), cache, name=f"{cache}_next")


def shift(net: Any, cache: str, row: str) -> str:
    """[1, places, width], all but the first and the new one."""
    bounds = [net.constant(np.array([n], np.int64)) for n in (1, PLACES, 1)]
    rest = net.add("Slice", cache, *bounds)
    return net.add("Concat", rest, net.shaped(row, 1, 1, WIDTH), axis=1, name=f"{cache}_next")


def heads(net: Any, cache: str, row: str) -> str:
    """[1, heads, places, each], by ScatterElements, as of `index_copy`."""
    shape = net.constant(np.array([1, HEADS, 1, EACH], np.int64))
    at = net.add("Expand", net.shaped("place", 1, 1, 1, 1), shape)
    update = net.shaped(row, 1, HEADS, 1, EACH)
    return net.add("ScatterElements", cache, at, update, axis=2, name=f"{cache}_next")


SHAPES = {
    rows: (PLACES, WIDTH),
    batch: (1, PLACES, WIDTH),
    where: (1, PLACES, WIDTH),
    shift: (1, PLACES, WIDTH),
    heads: (1, HEADS, PLACES, EACH),
}
TIES = {"place": "place_next", "k": "k_next", "v": "v_next"}


def network(update: Callable[..., str]) -> bytes:
    """One layer of attention of one query; the place goes round."""
    net = Net(11)
    seen = net.add("LessOrEqual", net.constant(np.arange(PLACES)), "place")
    mask = net.add("Where", seen, *(net.constant(np.float32(n)) for n in (0, -1e9)))
    q, k, v = (net.linear("x", WIDTH, WIDTH) for _ in range(3))
    k, v = update(net, "k", k), update(net, "v", v)
    q = net.of_heads(q, 1, HEADS, WIDTH)
    if update is heads:
        k = net.add("Transpose", k, perm=[0, 1, 3, 2])
    else:
        k = net.of_heads(k, PLACES, HEADS, WIDTH, keys=True)
        v = net.of_heads(v, PLACES, HEADS, WIDTH)
    y = net.shaped(net.attended(q, k, v, HEADS, WIDTH, mask), 1, WIDTH)
    net.add("Identity", net.linear(y, WIDTH, WIDTH), name="y")
    one, count = (net.constant(np.array([n], np.int64)) for n in (1, PLACES))
    net.add("Mod", net.add("Add", "place", one), count, name="place_next")
    given = {"x": (1, WIDTH), "place": (1,), "k": SHAPES[update], "v": SHAPES[update]}
    made = {"y": (1, WIDTH), **{n: given[s] for s, n in TIES.items()}}
    return net.model(given, made, ("place", "place_next"))


@pytest.mark.deep
@pytest.mark.parametrize("update", SHAPES)
@pytest.mark.parametrize("rewrite", ["", "none"])
def test_steps_are_those_of_onnxruntime(
    update: Callable[..., str], rewrite: str, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools("host")
    path, out = tmp_path / "net.onnx", tmp_path / "c"
    path.write_bytes(network(update))
    words = [f"--state={a}:{b}" for a, b in TIES.items()]
    words += [f"--rewrite={rewrite}"] if rewrite else []
    assert main(["compile", str(path), "-o", str(out), *QUICK, *words]) == 0
    x = np.random.default_rng(3).normal(size=(STEPS, 1, WIDTH)).astype(np.float32)
    run = lab.run_project(out, [x], lab.SANITIZE, trace=False)
    assert run.code == 0, run.messages
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [v.name for v in session.get_outputs()]
    state: dict[str, Any] = {n: np.zeros(SHAPES[update], np.float32) for n in "kv"}
    state["place"] = np.zeros(1, np.int64)
    wanted = []
    for step in range(STEPS):
        made = dict(zip(names, session.run(None, {"x": x[step], **state}), strict=True))
        state = {a: made[b] for a, b in TIES.items()}
        wanted.append(made["y"])
    got = np.frombuffer(run.output, np.float32).reshape(STEPS, 1, WIDTH)
    np.testing.assert_allclose(got, np.stack(wanted), atol=2e-6)
    plan = (out / "plan.mlir").read_text()
    in_place = plan.count("memgraph.update_variable"), plan.count(" in_place")
    assert rewrite or in_place == {where: (0, 3), shift: (0, 3)}.get(update, (2, 1))
