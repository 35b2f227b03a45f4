"""`pad-into-window` over random windows: what it changes computes the same, in int8 to the bit."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import new_context
from memopt.dialects.memgraph.functions import only_function
from memopt.rewrites import apply_rules
from memopt.text.ir_text import parse_module

CASES = 6_000
KINDS = ("conv_2d", "depthwise_conv_2d", "max_pool_2d", "average_pool_2d")


@dataclass(frozen=True)
class Case:
    """A pad and the window that reads it, as IR, with the shapes of the arguments."""

    kind: str
    is_int8: bool
    text: str
    shapes: tuple[tuple[int, ...], ...]


def drawn(rng: random.Random) -> Case | None:
    """A random case; None where the window does not fit into what it reads."""
    kind, is_int8 = rng.choice(KINDS), rng.random() < 0.6
    channels, out = rng.randint(1, 3), rng.randint(1, 3)
    size = [rng.randint(1, 6) for _ in range(2)]
    kernel, stride, dilation = ([rng.randint(1, m) for _ in range(2)] for m in (3, 3, 2))
    if "pool" in kind:
        dilation = [1, 1]
    before, after = ([rng.choice((0, 0, 1, 2, 3)) for _ in range(2)] for _ in range(2))
    own = [rng.choice((0, 0, 1, 2)) for _ in range(4)]
    deep = int(rng.random() < 0.1)  # then channels are padded too, which no window can say
    padded = [n + b + a for n, b, a in zip(size, before, after, strict=True)]
    whole = [n + b + a for n, b, a in zip(padded, own[:2], own[2:], strict=True)]
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    if any(n < s for n, s in zip(whole, spans, strict=True)):
        return None
    made = [(n - s) // t + 1 for n, s, t in zip(whole, spans, stride, strict=True)]
    read = channels + deep
    if kind != "conv_2d":
        out = read

    nchw = not is_int8 and rng.random() < 0.5

    def shape(depth: int, plane: Sequence[int]) -> tuple[int, ...]:
        return (1, depth, *plane) if nchw else (1, *plane, depth)

    zero = rng.choice((-128, -128, 0, 3, 127))
    scale = f", scale = [5.0e-01], zero_point = [{zero}]" if is_int8 else ""
    element, layout = ("i8" if is_int8 else "f32"), ("nchw" if nchw else "nhwc")

    def tensor(dimensions: Sequence[int], encoding: str) -> str:
        return f"tensor<{'x'.join(map(str, dimensions))}x{element}, #memgraph.encoding<{encoding}>>"

    x, p, y = (
        tensor(s, layout + scale)
        for s in (shape(channels, size), shape(read, padded), shape(out, made))
    )
    value = rng.choice(("0.0", "0.0", "0.0", "-0.0", "1.0"))
    window = f"window<{kernel}, stride = {stride}, dilation = {dilation}, pad = {own}>"
    lows, highs = shape(0, before), shape(deep, after)
    pads = f"before {[0, *lows[1:]]} after {[0, *highs[1:]]} value {value}"
    shapes = [shape(channels, size)]
    if "conv" in kind:
        depth = 1 if kind.startswith("depthwise") else read
        if nchw:
            weights, order = (out, depth, *kernel), "oihw"
        elif kind.startswith("depthwise"):
            weights, order = (1, *kernel, out), "ihwo"
        else:
            weights, order = (out, *kernel, depth), "ohwi"
        numbers = ", scale = [1.0e-01], zero_point = [0]" if is_int8 else ""
        w = tensor(weights, order + numbers)
        groups = read if kind.startswith("depthwise") else 1
        rounding = " rounding<tflm_double>" if is_int8 else ""
        operation = f"memgraph.{kind} %1, %w {window} groups {groups}{rounding} : ({p}, {w}) -> {y}"
        arguments = f"%x: {x}, %w: {w}"
        shapes.append(weights)
    else:
        counted = kind[0] == "a" and not is_int8 and rng.random() < 0.6  # of floats, as in ONNX
        counted = " count_include_pad" * counted
        operation = f"memgraph.{kind} %1 {window}{counted} : ({p}) -> {y}"
        arguments = f"%x: {x}"
    text = (
        f"func.func @main({arguments}) -> {y} {{\n"
        f"  %1 = memgraph.pad %x {pads} : ({x}) -> {p}\n"
        f"  %2 = {operation}\n  func.return %2 : {y}\n}}\n"
    )
    return Case(kind, is_int8, text, tuple(shapes))


def computed(module: ModuleOp, inputs: Sequence[Any]) -> Any:
    """What the only function returns."""
    func = only_function(module)
    returned = func.get_return_op()
    assert returned is not None
    return evaluate(func, Weights.of(module), inputs)[returned.operands[0]]


@pytest.mark.deep
def test_a_window_takes_a_pad_and_computes_the_same(fuzz: float) -> None:
    rng, met = random.Random(11), Counter[tuple[str, bool, bool]]()
    for number in range(max(CASES // 20, int(CASES * fuzz))):  # so that each kind is met
        case = drawn(rng)
        if case is None:
            continue
        module = parse_module(new_context(), case.text, "random.mlir")
        try:
            module.verify()
        except VerifyException:
            continue  # such as a window that sees nothing
        after = module.clone()
        changed = apply_rules(after, ("pad-into-window",))
        after.verify()
        met[case.kind, case.is_int8, changed] += 1
        assert ("memgraph.pad" in {op.name for op in after.walk()}) != changed, case.text
        if not changed:
            continue
        draw: Any = np.random.default_rng(number)
        inputs: list[Any] = [
            draw.integers(-128, 128, s).astype(np.int8)
            if case.is_int8
            else draw.normal(size=s).astype(np.float32)
            for s in case.shapes
        ]
        old, new = computed(module, inputs), computed(after, inputs)
        if case.is_int8:
            assert np.array_equal(old, new), case.text
        else:  # only the order of the sums may be another
            assert np.allclose(old, new, rtol=1e-5, atol=1e-5), case.text
    for kind in KINDS:
        for is_int8 in (True, False):
            assert met[kind, is_int8, False], (kind, is_int8)
            # max pools leave out the lowest integer alone, averages count padding of floats alone
            never = {("max_pool_2d", False), ("average_pool_2d", True)}
            assert bool(met[kind, is_int8, True]) == ((kind, is_int8) not in never), met
