# pyright: basic
"""Sums that int8 kernels round as ONNX does: ties, sums that saturate, extreme scales, all clamps.

Weights are 1 for one tap of a channel and 0 for others, so that a sum is what the test says: a bias
and a byte. Every channel has a scale of its own.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import deep_but
from numpy.typing import NDArray
from xdsl.context import Context

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import only_function
from memopt.passes.memgraph_kernels import MemgraphKernelsPass

Array = NDArray[Any]
CHANNELS = 1024
FULL = 10_000_000  # sums
BYTES = (-128, -3, -2, -1, 0, 1, 2, 127)  # what is added to biases
ENDS = ((-128, ""), (127, ""), (0, ""), (-5, "relu"), (-100, "relu6"))  # zero point, activation


def pairs(rng: np.random.Generator, count: int, largest: int, zero: int) -> tuple[Array, Array]:
    """Biases up to `largest`, and scales: near ties, beyond 24 bits, and any."""
    exponents = rng.choice([rng.integers(-14, -4, count), rng.integers(-40, 20, count)], axis=0)
    mantissas = np.where(rng.random(count) < 0.3, rng.integers(16, 32, count) / 16, 0)
    mantissas = np.where(mantissas == 0, 1 + rng.random(count), mantissas)
    scales = np.ldexp(mantissas.astype(np.float32), exponents)
    ties = (rng.integers(-130, 130, count) - zero + 0.5) / scales.astype(np.float64)
    odd = (1 << rng.integers(24, 31, count)) + rng.integers(-130, 130, count)
    odd *= rng.choice([-1, 1], count)
    anything = rng.integers(-(1 << 31), 1 << 31, count) >> rng.integers(0, 31, count)
    biases = np.where(
        rng.random(count) < 0.5, np.rint(ties), np.where(rng.random(count) < 0.3, odd, anything)
    )
    return np.clip(biases, -largest, largest).astype(np.int64), scales


def numbers(values: Array) -> str:
    return "[" + ", ".join(str(v) for v in values.tolist()) + "]"


def dense(array: Array) -> str:
    return f"dense<{array.tolist()}>"


def network(rng: np.random.Generator, largest: int, channels: int) -> str:
    """Operators of each kind of kernels, of every clamp in turn."""
    vector = "tensor<1x4xi8, #memgraph.encoding<scale = [1.0], zero_point = [0]>>"
    image = "tensor<1x3x5x4xi8, #memgraph.encoding<nhwc, scale = [1.0], zero_point = [0]>>"
    lines, results, types = list[str](), list[str](), list[str]()
    for number, (zero, activation) in enumerate(ENDS):
        for kind in ("fully_connected", "conv_2d", "depthwise_conv_2d"):
            n = {"depthwise_conv_2d": 4}.get(kind, channels)
            biases, scales = pairs(rng, n, largest, zero)
            name = f"{kind[0]}{number}"
            at = {"fully_connected": (n, 4), "conv_2d": (n, 1, 1, 4)}.get(kind, (1, 3, 3, n))
            weights = np.zeros(at, np.int8)
            if kind == "depthwise_conv_2d":
                weights[0, 1, 1] = 1
            else:
                weights[..., 0] = 1
            layout, axis = {"fully_connected": ("", 0), "conv_2d": ("ohwi, ", 0)}.get(
                kind, ("ihwo, ", 3)
            )
            encoding = f"{layout}scale = {numbers(scales)}, zero_point = [0], axis = {axis}"
            w = f"tensor<{'x'.join(map(str, at))}xi8, #memgraph.encoding<{encoding}>>"
            b = f"tensor<{n}xi32>"
            shape, read, of = (f"1x{n}", "%v", vector)
            attributes, result = "", ""
            if kind != "fully_connected":
                shape, read, of = f"1x3x5x{n}", "%i", image
                result = "nhwc, "
                attributes = "window<[1, 1]> groups 1"
            if kind == "depthwise_conv_2d":
                attributes = "window<[3, 3], pad = [1, 1, 1, 1]> groups 4"
            encoding = f"{result}scale = [1.0], zero_point = [{zero}]"
            y = f"tensor<{shape}xi8, #memgraph.encoding<{encoding}>>"
            attributes += f" activation<{activation}>" if activation else ""
            lines += [
                f"  %w{name} = memgraph.constant {dense(weights)} : {w}",
                f"  %b{name} = memgraph.constant {dense(biases)} : {b}",
                f"  %y{name} = memgraph.{kind} {read}, %w{name}, %b{name} {attributes}"
                f" rounding<onnx_even> : ({of}, {w}, {b}) -> {y}",
            ]
            results.append(f"%y{name}")
            types.append(y)
    body = "\n".join([*lines, f"  func.return {', '.join(results)} : {', '.join(types)}"])
    return f"func.func @main(%v: {vector}, %i: {image}) -> ({', '.join(types)}) {{\n{body}\n}}\n"


def check(lab: Any, work: Path, target: str, how: str, seed: int, channels: int) -> int:
    """Return how many sums were the same as they are evaluated."""
    lab.need_tools(target)
    rng = np.random.default_rng(seed)
    largest = ((1 << 31) - 129, (1 << 23) - 257, (1 << 23) - 129)[seed % 3]
    module = load_text(new_context(), network(rng, largest, channels), "net.mlir")
    func = only_function(module)
    vectors = np.array([[[b, 0, 0, 0]] for b in BYTES], np.int8)
    images = rng.choice(BYTES, (len(BYTES), 1, 3, 5, 4)).astype(np.int8)
    runs = [evaluate(func, Weights({}), [v, i]) for v, i in zip(vectors, images, strict=True)]
    lab.plan(module, schedule="source", target=target)
    if how != "none":
        MemgraphKernelsPass(how).apply(Context(), module)
    lab.plan(module, schedule="source")
    last = func.get_return_op()
    assert last is not None
    want = b"".join(run[value].tobytes() for run in runs for value in last.operands)
    flags = lab.SANITIZE if target == "host" else "-O2"
    project = lab.write(module, work, "net", target)
    done = lab.run_project(project, [vectors, images], flags, trace=False)
    assert done.code == 0, done.messages
    got, sums = np.frombuffer(done.output, np.int8), np.frombuffer(want, np.int8)
    assert got.size == sums.size
    assert (got != sums).sum() == 0
    return sums.size


@pytest.mark.deep
@pytest.mark.parametrize(
    "target",
    deep_but(
        ["host", "cortex-m4"],
        [
            "host",
            "cortex-m4",
            "cortex-m7",
            "cortex-m33",
            "cortex-m55",
            "cortex-m3",
            "cortex-m0plus",
        ],
    ),
)
def test_sums_are_rounded_as_they_are_evaluated(
    target: str, tmp_path: Path, lab: Any, fuzz: float
) -> None:
    sums, seed = 0, 0
    while seed < 3 or sums < FULL * fuzz / 7:
        how = ("speed", "none")[seed % 2]
        sums += check(lab, tmp_path / str(seed), target, how, seed, CHANNELS if fuzz == 1 else 64)
        seed += 1
