# pyright: basic
"""Blocks of filters in float32 have the bits of the host, and int8 windows of one column and their
sums those of evaluate, whole and in rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside import beside, evaluated
from deep import deep_but
from xdsl.context import Context

from memopt.backends.c.emit.header import bytes_in
from memopt.backends.c.rows import row_runs
from memopt.compile.driver import load_text, new_context
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.passes.memgraph_kernels import MemgraphKernelsPass
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass

FULL = 200
BOARDS = deep_but(["cortex-m4"], ["cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55"])


def numbers(values: Any) -> str:
    return f"[{', '.join(str(v) for v in np.ravel(values).tolist())}]"


def window(rng: np.random.Generator, column: bool) -> tuple[list[int], str, list[int]]:
    """Return the kernel, the window's text and the extents that it takes off, of an image's height
    and width."""
    kernel = [int(rng.integers(1, 12)), 1 if column else int(rng.integers(1, 4))]
    dilation = [int(rng.integers(1, 4)), 1 if column else int(rng.integers(1, 3))]
    pad = [int(rng.integers(kernel[0])), 0 if column else int(rng.integers(kernel[1]))]
    span = [(k - 1) * d for k, d in zip(kernel, dilation, strict=True)]
    text = (
        f"window<{kernel}, dilation = {dilation}, pad = [{pad[0]}, {pad[1]}, {pad[0]}, {pad[1]}]>"
    )
    return kernel, text, [s - 2 * p for s, p in zip(span, pad, strict=True)]


def float_operator(rng: np.random.Generator, number: int) -> tuple[str, list[str], str]:
    """A convolution, a depthwise one or a matrix, of few and of many elements and filters."""
    kind = ("conv_2d", "depthwise_conv_2d", "fully_connected")[number % 3]
    channels, filters = int(rng.integers(1, 22)), int(rng.integers(1, 20))
    kernel, text, less = window(rng, bool(rng.integers(2)))
    height, width = (int(rng.integers(max(1, 1 + n), 6 + max(0, n))) for n in less)
    x, attributes = f"tensor<1x{height}x{width}x{channels}xf32, #memgraph.encoding<nhwc>>", ""
    size = f"1x{height - less[0]}x{width - less[1]}"
    if kind == "fully_connected":
        x, y, shape = f"tensor<2x{channels}xf32>", f"tensor<2x{filters}xf32>", (filters, channels)
        w = f"tensor<{filters}x{channels}xf32>"
    elif kind == "conv_2d":
        shape, attributes = (filters, *kernel, channels), f" {text} groups 1"
        w = f"tensor<{'x'.join(map(str, shape))}xf32, #memgraph.encoding<ohwi>>"
        y = f"tensor<{size}x{filters}xf32, #memgraph.encoding<nhwc>>"
    else:
        filters = channels * int(rng.choice([1, 1, 1, 5]))
        shape, attributes = (1, *kernel, filters), f" {text} groups {channels}"
        w = f"tensor<{'x'.join(map(str, shape))}xf32, #memgraph.encoding<ihwo>>"
        y = f"tensor<{size}x{filters}xf32, #memgraph.encoding<nhwc>>"
    weights = rng.standard_normal(shape).astype(np.float32)
    bias = rng.standard_normal(filters).astype(np.float32)
    text = (
        f"  %w{number} = memgraph.constant dense<{weights.tolist()}> : {w}\n"
        f"  %b{number} = memgraph.constant dense<{bias.tolist()}> : tensor<{filters}xf32>\n"
        f"  %y{number} = memgraph.{kind} %x{number}_0, %w{number}, %b{number}{attributes}"
        f" : ({x}, {w}, tensor<{filters}xf32>) -> {y}\n"
    )
    return text, [x], y


def outputs(lab: Any, module: Any, inputs: list[Any], target: str, work: Path) -> bytes:
    """Return what the planned program computes."""
    flags = (lab.SANITIZE,) if target == "host" else ("-O2",)
    done = lab.run_project(lab.write(module, work, "net", target), inputs, *flags, trace=False)
    assert done.code == 0, done.messages
    return done.output


@pytest.mark.deep
@pytest.mark.parametrize("target", BOARDS)
def test_blocks_of_filters_have_the_bits_of_the_host(
    target: str, tmp_path: Path, lab: Any, fuzz: float
) -> None:
    lab.need_tools(target)
    for seed in range(max(1, int(FULL * fuzz / 10))):
        rng = np.random.default_rng(seed)
        operators = [float_operator(rng, number) for number in range(12)]
        outputs_on: list[bytes] = []
        for on in ("host", target):
            module = load_text(new_context(), beside(operators), "net.mlir")
            inputs = lab.random_inputs(module, 1, seed)
            lab.plan(module, schedule="source", target=on)
            outputs_on.append(outputs(lab, module, inputs, on, tmp_path / f"{seed}{on}"))
            want = np.frombuffer(evaluated(module, inputs), np.float32)
            got = np.frombuffer(outputs_on[-1], np.float32)
            assert abs(got - want).max() <= 1e-4
        assert outputs_on[0] == outputs_on[1], seed


def column(rng: np.random.Generator) -> str:
    """Windows of one column that round as ONNX's, to each channel its own and not, each after the
    other, down an image; then a number of each row is added, and the result to itself."""
    channels, height = int(rng.integers(1, 45)), int(rng.integers(14, 30))
    channels = channels if rng.integers(2) else (channels + 3) // 4 * 4
    lines: list[str] = []

    def image(zero: int, each: int = 1) -> str:
        shape = f"1x{height}x1x{channels if each else 1}"
        return f"tensor<{shape}xi8, #memgraph.encoding<nhwc, scale = [1.0], zero_point = [{zero}]>>"

    zero = int(rng.integers(-128, 128))
    first = before = image(zero)
    last = 0
    for number in range(3):
        taps, dilation = int(rng.integers(1, 11)), int(rng.integers(1, 5))
        stride = int(rng.choice([1, 1, 2])) if dilation == 1 else 1
        span = (taps - 1) * dilation
        pad = int(rng.integers(span // 2, span + 1)) if span else 0
        if (height + 2 * pad - span - 1) // stride < 1:
            break
        own = bool(rng.integers(2))
        made = channels if own else int(rng.choice([4, 8, 18, 20, 33]))
        shape, axis = ((1, taps, 1, made), 3) if own else ((made, taps, 1, channels), 0)
        kind, groups = ("depthwise_conv_2d", channels) if own else ("conv_2d", 1)
        height, channels = (height + 2 * pad - span - 1) // stride + 1, made
        zero = int(rng.choice([-128, 127, 3, -40]))
        weights = rng.integers(-127, 128, shape, np.int8)
        scales = (rng.random(made) * 0.02 / taps + 1e-4).astype(np.float32)
        scales = scales if own else scales / 4
        bias = rng.integers(-4000, 4000, made)
        layout = "ihwo" if own else "ohwi"
        encoding = f"{layout}, scale = {numbers(scales)}, zero_point = [0], axis = {axis}"
        w = f"tensor<{'x'.join(map(str, shape))}xi8, #memgraph.encoding<{encoding}>>"
        b, after = f"tensor<{made}xi32>", image(zero)
        active = rng.choice(["", " activation<relu>"])
        lines += [
            f"  %w{number} = memgraph.constant dense<{weights.tolist()}> : {w}",
            f"  %b{number} = memgraph.constant dense<{bias.tolist()}> : {b}",
            f"  %{number + 1} = memgraph.{kind} %{number}, %w{number}, %b{number}"
            f" window<[{taps}, 1], stride = [{stride}, 1], dilation = [{dilation}, 1],"
            f" pad = [{pad}, 0, {pad}, 0]> groups {groups}{active} rounding<onnx_even>"
            f" : ({before}, {w}, {b}) -> {after}",
        ]
        before, last = after, number + 1
    of_row = image(5, 0)
    lines += [
        f"  %a = memgraph.add %{last}, %n rounding<onnx_even> : ({before}, {of_row}) -> {before}",
        f"  %y = memgraph.add %a, %{last} rounding<onnx_even> : ({before}, {before}) -> {before}",
    ]
    body = "\n".join(lines)
    head = f"func.func @main(%0: {first}, %n: {of_row}) -> {before} {{\n{body}\n"
    return f"{head}  func.return %y : {before}\n}}\n"


def in_rows(module: Any, target: str) -> None:
    """Plan with fast kernels, rows in the order of operators, so that those of one are
    neighbours."""
    context = Context()
    MemgraphModelPass(target=target, alignment=4, inplace="on").apply(context, module)
    MemgraphExpandRowsPass(("all",)).apply(context, module)
    order, place = MemgraphSchedulePass(method="source"), MemgraphPlacePass("greedy-by-size")
    for step in (order, place, MemgraphKernelsPass("speed"), order, place):
        step.apply(context, module)


@pytest.mark.deep
@pytest.mark.parametrize("target", ["host", *BOARDS])
def test_windows_of_one_column_are_what_is_evaluated(
    target: str, tmp_path: Path, lab: Any, fuzz: float
) -> None:
    lab.need_tools(target)
    for seed in range(max(3, int(FULL * fuzz))):
        text = column(np.random.default_rng(seed))
        module = load_text(new_context(), text, "net.mlir")
        inputs = lab.random_inputs(module, 1, seed)
        want = evaluated(module, inputs)
        for way in ("whole", "rows", "fast rows"):
            module = load_text(new_context(), text, "net.mlir")
            if way == "fast rows":
                in_rows(module, target)
            else:
                lab.ordered(module, target=target, alignment=4, inplace="on")
                if way == "rows":
                    MemgraphExpandRowsPass(("all",)).apply(Context(), module)
                lab.plan(module, "rpo", "best-fit")
            got = outputs(lab, module, inputs, target, tmp_path / f"{seed}{way[:4]}")
            assert got == want, (seed, way)


def test_sums_alone_take_several_rows_of_each_operand(tmp_path: Path, lab: Any) -> None:
    """No window is there that reads more rows than they do."""
    image = "tensor<1x6x1x4xi8, #memgraph.encoding<nhwc, scale = [1.0], zero_point = [3]>>"
    text = (
        f"func.func @main(%a: {image}, %b: {image}) -> {image} {{\n"
        f"  %y = memgraph.add %a, %b : ({image}, {image}) -> {image}\n"
        f"  func.return %y : {image}\n}}\n"
    )
    module = load_text(new_context(), text, "net.mlir")
    inputs = lab.random_inputs(module, 1, 0)
    want = evaluated(module, inputs)
    in_rows(module, "host")
    assert outputs(lab, module, inputs, "host", tmp_path) == want
    source = next(tmp_path.rglob("net.c")).read_text(encoding="utf-8")
    assert "enum { MORE" in source
    assert "const void *in[12];" in source


def test_rows_at_once_overwrite_nothing_that_is_still_read(
    tmp_path: Path, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that writes two rows channel by channel may write the second one where the first one
    reads: at the same place, where it has read the channel, and not beside it."""
    refused: list[int] = []
    joined = row_runs.is_run

    def watched(layout: Any, o: Any, rows: Any) -> bool:
        answer = joined(layout, o, rows)
        if o.call.in_runs == "by_twos" and len(rows) % 2 == 0:
            begins = [layout.addresses[v].offset for v in rows[-1].outputs]
            size = bytes_in(rows[-1].outputs[0])
            reads = [layout.addresses[v].offset for v in rows[-2].inputs]
            beside = [r for r in reads for b in begins if 0 < abs(r - b) < size]
            assert not (answer and beside)
            refused.extend(beside)
        return answer

    monkeypatch.setattr(row_runs, "is_run", watched)
    module = load_text(new_context(), column(np.random.default_rng(9)), "net.mlir")
    in_rows(module, "cortex-m4")
    lab.write(module, tmp_path, "net", "cortex-m4")
    assert refused
