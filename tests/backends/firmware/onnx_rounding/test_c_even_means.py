# pyright: basic
"""Means, sums and average pools that round as ONNX's: every sum of a window, without floats."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside import assert_evaluated
from deep import deep_but
from numpy.typing import NDArray

from memopt.compile.driver import load_text, new_context
from memopt.targets.core.target import target_named

Array = NDArray[Any]
SCALE = 0.0235294122
BOARDS = ["host", *(f"cortex-{m}" for m in ("m4", "m55", "m7", "m33", "m3", "m0plus"))]


def every_sum(count: int) -> Array:
    """Return a row of `count` bytes for each sum that they can have."""
    sums = np.arange(-128 * count, 127 * count + 1)
    least, more = np.divmod(sums, count)
    return (least[:, None] + (np.arange(count) < more[:, None])).astype(np.int8)


def steps(rng: np.random.Generator, scale: float, number: int) -> list[tuple[float, int]]:
    """Return scales and zero points of results: with ties, close to ties, and any."""
    ratios = [1.0, 2.0, 0.5, 0.25, *np.exp(rng.uniform(-4, 4, number))]
    zero_points = [-128, 127, 0, *rng.integers(-128, 128, len(ratios))]
    scales = [float(np.float32(scale * ratio)) for ratio in ratios]
    return list(zip(scales, zero_points, strict=False))


def network(rng: np.random.Generator, count: int, number: int) -> str:
    zero = int(rng.choice([-128, 0, 3, 127]))
    rows, lines, results, types = 255 * count + 1, list[str](), list[str](), list[str]()
    x = f"tensor<{rows}x{count}xi8, #memgraph.encoding<scale = [{SCALE}], zero_point = [{zero}]>>"
    of = f"nhwc, scale = [{SCALE}], zero_point = [{zero}]"
    image = f"tensor<1x5x4x6xi8, #memgraph.encoding<{of}>>"
    for i, (scale, zero_point) in enumerate(steps(rng, SCALE, number)):
        encoding = f"scale = [{scale}], zero_point = [{zero_point}]"
        y = f"tensor<{rows}xi8, #memgraph.encoding<{encoding}>>"
        name = ("mean", "reduce_sum")[i % 4 == 3]
        lines.append(f"  %m{i} = memgraph.{name} %x axes [1] rounding<onnx_even> : ({x}) -> {y}")
        p = f"tensor<1x4x4x6xi8, #memgraph.encoding<nhwc, {encoding}>>"
        activation = ("", " activation<relu6>", " activation<relu>")[i % 3]
        lines.append(
            f"  %p{i} = memgraph.average_pool_2d %i window<[3, 2], pad = [1, 0, 0, 1]>{activation}"
            f" rounding<onnx_even> : ({image}) -> {p}"
        )
        results += [f"%m{i}", f"%p{i}"]
        types += [y, p]
    body = "\n".join([*lines, f"  func.return {', '.join(results)} : {', '.join(types)}"])
    return f"func.func @main(%x: {x}, %i: {image}) -> ({', '.join(types)}) {{\n{body}\n}}\n"


@pytest.mark.parametrize("target", deep_but(BOARDS[:3], BOARDS))
@pytest.mark.parametrize("count", [1, 4, 9, 49])
def test_every_sum_is_rounded_as_it_is_evaluated(
    count: int, target: str, tmp_path: Path, lab: Any, fuzz: float
) -> None:
    lab.need_tools(target)
    rng = np.random.default_rng(count)
    module = load_text(new_context(), network(rng, count, max(4, int(40 * fuzz))), "net.mlir")
    inputs = [every_sum(count), rng.integers(-128, 128, (1, 5, 4, 6)).astype(np.int8)]
    text = assert_evaluated(module, inputs, target, tmp_path, lab)
    if "fp64" in target_named(target).isa:  # it computes doubles faster than such integers
        assert "mean_s8" in text
        return
    assert "double" not in text and "mean_s8" not in text
    assert count > 4 or re.search(r"\.least = ", text)


def test_windows_of_too_many_sums_are_computed_by_doubles(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    rng, lines, types = np.random.default_rng(0), list[str](), list[str]()
    of = f"nhwc, scale = [{SCALE}], zero_point = [3]"
    image = f"tensor<1x130x128x2xi8, #memgraph.encoding<{of}>>"
    for i, operator in enumerate(("mean {} axes [1, 2]", "average_pool_2d {} window<[130, 128]>")):
        shape = ("1x2", "1x1x1x2")[i]
        of = ("", "nhwc, ")[i]
        y = f"tensor<{shape}xi8, #memgraph.encoding<{of}scale = [0.0005], zero_point = [0]>>"
        line = f"memgraph.{operator.format('%x')} rounding<onnx_even>"
        lines.append(f"  %{i} = {line} : ({image}) -> {y}\n")
        types.append(y)
    kinds = ", ".join(types)
    body = f"{''.join(lines)}  func.return %0, %1 : {kinds}"
    text = f"func.func @main(%x: {image}) -> ({kinds}) {{\n{body}\n}}\n"
    module = load_text(new_context(), text, "net.mlir")
    inputs = [rng.integers(-128, 128, (1, 130, 128, 2)).astype(np.int8)]
    text = assert_evaluated(module, inputs, "host", tmp_path, lab)
    assert "memopt_mean_s8_params" in text and "memopt_average_pool_2d_s8_params" in text
