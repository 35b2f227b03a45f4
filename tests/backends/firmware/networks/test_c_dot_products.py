# pyright: basic
"""Products of several pixels and channels at once on cores without DSP: what evaluate computes, of
as many channels and taps as they take together, and of a few more."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside import evaluated

from memopt.compile.driver import load_text, new_context

CORES = ("host", "cortex-m0plus", "cortex-m3", "riscv32")
FULL = 100


def stored(shape: list[int], encoding: str, kind: str = "i8") -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{kind}, #memgraph.encoding<{encoding}>>"


def network(rng: np.random.Generator) -> str:
    """A convolution with padding, one of points, and a matrix of what they leave."""
    height, width, channels = (int(n) for n in rng.integers((2, 1, 20), (5, 7, 41)))
    lines, shape = list[str](), [1, height, width, channels]
    image = "nhwc, scale = [1.0], zero_point = [-3]"
    first = before = stored(shape, image)
    for number, taps in enumerate((3, 1, 0)):
        filters, channels = int(rng.integers(1, 23)), shape[-1]
        kind, layout, window = "conv_2d", "ohwi", f" window<[{taps}, {taps}], "
        window += f"pad = [{taps // 2}, {taps // 2}, {taps // 2}, {taps // 2}]> groups 1"
        of = [filters, taps, taps, channels]
        shape = [*shape[:3], filters]
        if taps == 0:
            kind, layout, window, of = "fully_connected", "oi", "", [filters, channels]
            rows = shape[1] * shape[2]
            lines.append(
                f"  %r = memgraph.reshape %{number} : ({before})"
                f" -> {stored([rows, channels], image[6:])}"
            )
            before, shape = stored([rows, channels], image[6:]), [rows, filters]
        weights = rng.choice([-128, 127, 3], of) if rng.integers(2) else rng.integers(-128, 128, of)
        scales = ", ".join(f"{0.02 / max(of) + 1e-4 * k:.6f}" for k in range(filters))
        axis = ", axis = 0" if filters > 1 else ""
        w = stored(of, f"{layout}, scale = [{scales}], zero_point = [0]{axis}")
        after = stored(shape, image if taps else image[6:])
        b = f"tensor<{filters}xi32>"
        bias = rng.integers(-4000, 4000, filters).tolist()
        source = f"%{number}" if taps else "%r"
        lines += [
            f"  %w{number} = memgraph.constant dense<{weights.tolist()}> : {w}",
            f"  %b{number} = memgraph.constant dense<{bias}> : {b}",
            f"  %{number + 1} = memgraph.{kind} {source}, %w{number}, %b{number}{window}"
            f" : ({before}, {w}, {b}) -> {after}",
        ]
        before = after
    body = "\n".join(lines)
    head = f"func.func @main(%0: {first}) -> {before} {{\n{body}\n"
    return f"{head}  func.return %3 : {before}\n}}\n"


@pytest.mark.parametrize("target", CORES)
def test_products_are_what_is_evaluated(target: str, tmp_path: Path, lab: Any, fuzz: float) -> None:
    lab.need_tools(target)
    for seed in range(max(2, int(FULL * fuzz))):
        module = load_text(new_context(), network(np.random.default_rng(seed)), "net.mlir")
        inputs = lab.random_inputs(module, 1, seed)
        want = evaluated(module, inputs)
        lab.plan(module, schedule="source", target=target)
        flags = (lab.SANITIZE,) if target == "host" else ("-O2",)
        folder = lab.write(module, tmp_path / str(seed), "net", target)
        done = lab.run_project(folder, inputs, *flags, trace=False)
        assert done.code == 0, done.messages
        assert done.output == want, seed
