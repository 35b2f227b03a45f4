# pyright: basic
"""Sums, differences and products of two bytes that round as ONNX's: all pairs, by integers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside import assert_evaluated
from deep import deep_but
from numpy.typing import NDArray

from memopt.compile.driver import load_text, new_context

BOARDS = ["host", *(f"cortex-{m}" for m in ("m4", "m55", "m7", "m33", "m3", "m0plus"))]
A, B = 0.0235294122, 0.0156862754  # scales
TIES = {3: 2 * A, 5: 2 * A * B}  # scales that leave floats to compute
ACTIVATIONS = ("", " activation<relu>", " activation<relu6>")


def tensor(shape: str, scale: float, zero_point: int) -> str:
    encoding = f"scale = [{float(np.float32(scale))}], zero_point = [{zero_point}]"
    return f"tensor<{shape}xi8, #memgraph.encoding<{encoding}>>"


def network(rng: np.random.Generator, number: int) -> str:
    """All pairs, equal bytes, and one byte beside all."""
    zero_points = [int(z) for z in rng.choice([-128, -7, 0, 127], 2)]
    x, y = (tensor("256x256", s, z) for s, z in zip((A, B), zero_points, strict=True))
    r, o = tensor("256", A, zero_points[0]), tensor("1", A, zero_points[0])
    lines, results, types = list[str](), list[str](), list[str]()
    for i in range(number):
        name = ("add", "sub", "mul")[i % 3]
        scale = (A * B if name == "mul" else A) * np.exp(rng.uniform(-1, 5 if name == "mul" else 2))
        scale = TIES.get(i, float(scale))
        z = tensor("256x256", scale, int(rng.choice([-128, 0, 5])))
        operand, kind = (("%x", x), ("%r", r), ("%o", o))[0 if i in TIES else i // 3 % 3]
        lines.append(
            f"  %{i} = memgraph.{name} {operand}, %y{ACTIVATIONS[i // 2 % 3]} rounding<onnx_even>"
            f" : ({kind}, {y}) -> {z}"
        )
        results.append(f"%{i}")
        types.append(z)
    body = "\n".join([*lines, f"  func.return {', '.join(results)} : {', '.join(types)}"])
    arguments = f"%x: {x}, %y: {y}, %r: {r}, %o: {o}"
    return f"func.func @main({arguments}) -> ({', '.join(types)}) {{\n{body}\n}}\n"


@pytest.mark.parametrize("target", deep_but(BOARDS[:3], BOARDS))
def test_all_pairs_are_rounded_as_they_are_evaluated(
    target: str, tmp_path: Path, lab: Any, fuzz: float
) -> None:
    lab.need_tools(target)
    rng, every = np.random.default_rng(1), np.arange(-128, 128).astype(np.int8)
    for number in range(max(1, int(10 * fuzz))):
        a, b = np.repeat(every, 256).reshape(256, 256), np.tile(every, (256, 1))
        inputs = [a, b, every, rng.choice(every, 1)]
        folder = tmp_path / str(number)
        module = load_text(new_context(), network(rng, 12), "net.mlir")
        text = assert_evaluated(module, inputs, target, folder, lab)
        lines = [text.count(f"{name}_s8_params") for name in ("sum_line", "product_even")]
        assert sum(lines) >= 9 and min(lines) >= 3
        assert text.count("binary_even_s8_params") >= 2  # ties


def sums(rng: np.random.Generator, rounding: str) -> tuple[str, list[NDArray[np.int8]]]:
    """Return sums of two tensors, and their operands: all pairs, and rows of any length."""
    every = np.arange(-128, 128, dtype=np.int8)
    shapes = [(256, 256, 1), *((2, n, 1) for n in map(int, rng.permutation(40)[:11] + 1))]
    lines, types, inputs = list[str](), list[str](), list[NDArray[np.int8]]()
    for i, shape in enumerate(shapes):
        scales = A, A * float(np.exp(rng.uniform(-2, 2))), A * float(np.exp(rng.uniform(-1, 2)))
        text = "x".join(map(str, shape))
        x, y, z = (tensor(text, s, int(rng.choice([-128, -7, 0, 127]))) for s in scales)
        name = ("add", "sub")[i % 2]
        lines.append(
            f"  %{i} = memgraph.{name} %x{i}, %y{i}{ACTIVATIONS[i % 3]} rounding<{rounding}>"
            f" : ({x}, {y}) -> {z}"
        )
        types += [f"%x{i}: {x}", f"%y{i}: {y}", z]
        inputs += [rng.choice(every, shape) for _ in "xy"]
    inputs[0][...] = every[:, None, None]
    inputs[1][...] = every[:, None]
    names = ", ".join(f"%{i}" for i in range(len(shapes)))
    results = ", ".join(types[2::3])
    arguments = ", ".join(t for t in types if t.startswith("%"))
    body = "\n".join([*lines, f"  func.return {names} : {results}"])
    return f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}\n", inputs


@pytest.mark.parametrize("rounding", ["onnx_even", "tflm_double"])
@pytest.mark.parametrize("target", deep_but("cortex-m55", BOARDS))
def test_sums_of_rows_of_any_length(
    target: str, rounding: str, tmp_path: Path, lab: Any, fuzz: float
) -> None:
    """And of all pairs, which Helium adds up in fours."""
    lab.need_tools(target)
    rng = np.random.default_rng(2)
    for number in range(max(1, int(100 * fuzz))):
        text, inputs = sums(rng, rounding)
        module = load_text(new_context(), text, "net.mlir")
        code = assert_evaluated(module, inputs, target, tmp_path / str(number), lab)
        assert "sum_line_s8_params" in code and "_shift, output_shift;" not in code
