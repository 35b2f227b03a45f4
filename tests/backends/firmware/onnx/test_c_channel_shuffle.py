# pyright: basic
"""Channel shuffles as exporters write them: rows pass, and every element is where onnxruntime has
it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside import arenas_whole_and_in_rows
from deep import deep_but
from onnx import helper
from onnx_programs import compare, saved
from published_networks import PUBLISHED

from memopt.compile.driver import load_model
from memopt.rewrites import apply_rules

FULL = 2000  # shuffles
EACH = 20  # in a network


def shuffles(rng: np.random.Generator) -> tuple[list[Any], dict[str, Any], Any]:
    """Return a chain of shuffles between pools, its constants and its input; every second with a
    Q/DQ pair around each."""
    groups, each, h, w = (int(v) for v in rng.integers(1, 6, 4))
    channels = groups * each
    x = rng.normal(size=(1, channels, h, w)).astype(np.float32)
    constants: dict[str, Any] = {"whole": np.array(x.shape), "s": np.float32(0.02), "z": np.int8(3)}
    quantized, nodes, last = rng.random() < 0.5, list[Any](), "x"

    def node(kind: str, *more: str, **attributes: Any) -> None:
        nonlocal last
        count = len(nodes)
        if quantized:
            nodes.append(helper.make_node("QuantizeLinear", [last, "s", "z"], [f"q{count}"]))
            nodes.append(
                helper.make_node("DequantizeLinear", [f"q{count}", "s", "z"], [f"d{count}"])
            )
            last = f"d{count}"
        nodes.append(helper.make_node(kind, [last, *more], [f"y{count}"], **attributes))
        last = f"y{count}"

    divisors = [d for d in range(1, channels + 1) if channels % d == 0]
    for k in range(EACH):
        d = int(rng.choice(divisors))
        constants[f"g{k}"], order = np.array([1, d, channels // d, h, w]), [0, 2, 1, 3, 4]
        if rng.random() < 0.3:  # height and width as one
            constants[f"g{k}"], order = np.array([1, d, channels // d, h * w]), order[:4]
        node("MaxPool", kernel_shape=[1, 1])
        node("Reshape", f"g{k}")
        node("Transpose", perm=order)
        node("Reshape", "whole")
    node("MaxPool", kernel_shape=[1, 1])
    return nodes, constants, x


@pytest.mark.deep
def test_shuffles_are_onnxruntimes(fuzz: float, tmp_path: Path, lab: Any) -> None:
    """In rows and whole, with sanitizers."""
    pytest.importorskip("onnxruntime")
    lab.need_tools("host")
    for seed in range(max(2, int(FULL / EACH * fuzz))):
        rng = np.random.default_rng(seed)
        nodes, constants, x = shuffles(rng)
        path = saved(tmp_path / f"{seed}.onnx", nodes, {"x": x}, constants)
        options = ("--rewrite=all", f"--rows={('all', 'none')[seed % 2]}")
        compare(lab, path, {"x": x}, rtol=0, atol=0, options=options)


@pytest.mark.deep
@pytest.mark.parametrize("target", deep_but("host", ["host", "cortex-m4"]))
def test_rows_pass_a_unit(target: str, tmp_path: Path, lab: Any) -> None:
    """The unit of a ShuffleNet takes less than its input, which is there as a whole, and half."""
    lab.need_tools(target)
    path = PUBLISHED["shufflenet.onnx"](tmp_path / "m.onnx")
    module = load_model(path, {})
    assert apply_rules(module, ("channel-shuffle",))
    kinds = [op.name for op in module.walk()]
    assert "memgraph.channel_permutation" in kinds and "memgraph.transpose" not in kinds
    x = np.random.default_rng(2).normal(size=(1, 3, 16, 16)).astype(np.float32)
    whole, rows = arenas_whole_and_in_rows(lab, path, x, target, tmp_path)
    assert rows <= 1.5 * x.nbytes < whole, (whole, rows)
