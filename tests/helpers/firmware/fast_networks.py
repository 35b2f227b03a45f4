# pyright: basic
"""Random networks of operators that have fast kernels, and what their C computes."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.dialects.attributes.operators import RoundingAttr
from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.memgraph.plan import FAST, ORDER, SCRATCH, WIDE, mark_fast
from memopt.passes.memgraph_kernels import MemgraphKernelsPass
from memopt.targets.core.kernels import fast_forms
from memopt.targets.core.target import target_named

Array = NDArray[Any]
OPERATORS = 40  # per model


def planned(
    lab: Any,
    path: Path,
    target: str,
    form: str = WIDE,
    place: str = "greedy-by-size",
    rounding: str = "tflm_double",
) -> tuple[ModuleOp, int]:
    """With all fast kernels that there are, of this form where there is one, and how many operators
    have one."""
    module = lab.read_model(path)
    for op in module.walk():
        if "rounding" in op.properties:
            op.properties["rounding"] = RoundingAttr(rounding)
    lab.plan(module, schedule="source", place="greedy-by-size", target=target)
    MemgraphKernelsPass("speed").apply(Context(), module)
    for op in lab.main_of(module).body.block.ops:
        there = (
            fast_forms(op, target_named(target)) if form != WIDE and FAST in op.attributes else {}
        )
        if form in there:
            mark_fast(op, form)
            op.attributes.pop(SCRATCH, None)
            if there[form]:
                op.attributes[SCRATCH] = ArrayAttr([ScratchAttr(there[form], -1)])
    lab.plan(module, schedule="source", place=place)
    return module, sum(FAST in op.attributes for op in lab.main_of(module).body.block.ops)


def extreme(lab: Any, rng: np.random.Generator) -> Any:
    """A forge of weights at their ends, and of multipliers that shift to the left."""

    class Extreme(lab.forge.Forge):  # type: ignore[name-defined, misc]
        def weights(self, shape: Any, channels: int, axis: int, per_axis: bool) -> int:
            way = int(self.rng.integers(4))
            ends = self.rng.choice([-128, 127], shape)
            data = (ends, np.full(shape, -128), np.full(shape, 127), np.sign(ends) * 127)[way]
            largest = float(self.rng.choice([0.02, 4.0]))
            count = channels if per_axis else 1
            scales = [float(np.float32(self.rng.uniform(0.001, largest))) for _ in range(count)]
            last = axis if per_axis else 0
            return int(self.tensor(shape, lab.forge.INT8, data, scales, [0] * count, last))

    return Extreme(rng, True)


def usual(lab: Any, rng: np.random.Generator) -> Any:
    return lab.forge.Forge(rng, True)


def extreme_inputs(module: ModuleOp, lab: Any) -> list[Array]:
    """All at one end, all at the other, and random ones."""
    inputs = lab.random_inputs(module, 3, 5)
    for array in inputs:
        array[0], array[1] = -128, 127
    return inputs


def add_deep(
    lab: Any, forge: Any, all_taps: Sequence[int] = (512, 516, 1030), channels: int = 17
) -> None:
    """Products of so many taps that a sum leaves no room for another one in its word."""
    for taps in all_taps:
        source = forge.input([1, 2, 3, taps])
        weights = forge.weights([channels, 1, 1, taps], channels, 0, True)
        options: Any = lab.forge.schema.Conv2DOptionsT()
        options.strideH = options.strideW = 1
        forge.operator(
            lab.forge.schema.BuiltinOperator.CONV_2D,
            [source, weights],
            forge.activation([1, 2, 3, channels]),
            options,
            lab.forge.schema.BuiltinOptions.Conv2DOptions,
        )


def add_words(lab: Any, forge: Any) -> None:
    """Windows and rows whose channels are words, as narrow kernels compute them."""
    schema = lab.forge.schema
    pick = forge.rng.integers
    for _ in range(4):
        stride, dilation = [int(v) for v in pick(1, 3, 2)], [int(v) for v in pick(1, 3, 2)]
        kernel, padding = [int(v) for v in pick(1, 6, 2)], int(pick(2))
        inputs, channels = 4 * int(pick(1, 5)), int(pick(4, 20))
        if pick(3) == 0:  # one run
            inputs, padding = int(pick(16, 70)), lab.forge.VALID
            kernel, dilation = [1, kernel[1]], [1, 1]
        least = [1 + (k - 1) * d for k, d in zip(kernel, dilation, strict=True)]
        size = [int(pick(3 if padding == lab.forge.SAME else n, n + 8)) for n in least]
        source = forge.input([1, *size, inputs])
        weights = forge.weights([channels, *kernel, inputs], channels, 0, True)
        bias = forge.bias(source, weights, channels, needed=False)
        options: Any = schema.Conv2DOptionsT()
        options.padding, (options.strideH, options.strideW) = padding, stride
        options.dilationHFactor, options.dilationWFactor = dilation
        options.fusedActivationFunction = int(pick(4))
        out = lab.forge.spatial(size, kernel, stride, dilation, padding)
        forge.operator(
            schema.BuiltinOperator.CONV_2D,
            [source, weights] + ([bias] if bias >= 0 else []),
            forge.activation([1, *out, channels]),
            options,
            schema.BuiltinOptions.Conv2DOptions,
        )
        rows, taps = int(pick(1, 3)), 4 * int(pick(1, 20))
        source = forge.input([rows, taps])
        weights = forge.weights([channels, taps], channels, 0, False)
        forge.operator(
            schema.BuiltinOperator.FULLY_CONNECTED,
            [source, weights],
            forge.activation([rows, channels]),
            schema.FullyConnectedOptionsT(),
            schema.BuiltinOptions.FullyConnectedOptions,
        )


def add_depthwise(
    lab: Any,
    forge: Any,
    kernel: Sequence[int] = (3, 3),
    channels: int = 0,
    width: int = 0,
    along: int = 0,
) -> None:
    """A depthwise convolution of four channels and more, or of one from which several are made;
    images of one column and of one row, too; or as wanted."""
    schema = lab.forge.schema
    pick = forge.rng.integers
    inputs, padding = channels or int(pick(4, 15)), int(pick(2))
    if channels == 0 and pick(4) == 0:
        inputs, channels = 1, int(pick(1, 10))
    channels = channels or inputs
    stride = [int(pick(1, 4)), along or int(pick(1, 3))]
    least = (1, 1) if padding == lab.forge.SAME else kernel
    size = [int(pick(least[0], 10)), width or int(pick(least[1], 10))]
    source = forge.input([int(pick(1, 3)), *size, inputs])
    weights = forge.weights([1, *kernel, channels], channels, 3, bool(pick(2)))
    bias = forge.bias(source, weights, channels, needed=False)
    options: Any = schema.DepthwiseConv2DOptionsT()
    options.depthMultiplier = channels // inputs
    options.padding, (options.strideH, options.strideW) = padding, stride
    options.fusedActivationFunction = int(pick(4))
    out = lab.forge.spatial(size, kernel, stride, [1, 1], padding)
    shape = [*forge.graph.tensors[source].shape[:1], *out, channels]
    forge.operator(
        schema.BuiltinOperator.DEPTHWISE_CONV_2D,
        [source, weights] + ([bias] if bias >= 0 else []),
        forge.activation(shape),
        options,
        schema.BuiltinOptions.DepthwiseConv2DOptions,
    )


def add_some(lab: Any, forge: Any) -> None:
    """Random ones of those that have such kernels."""
    for _ in range(OPERATORS // 2):
        lab.forge.add_convolution(forge, depthwise=False)
        lab.forge.add_fully_connected(forge)
        lab.forge.add_fully_connected(forge, below=(3, 400, 40))
        add_depthwise(lab, forge)
    add_depthwise(lab, forge, width=30)  # of several parts of a row
    for name in 2 * ("ADD", "SUB"):
        code = getattr(lab.forge.schema.BuiltinOperator, name)
        options = getattr(lab.forge.schema, f"{name.title()}OptionsT")()
        kind = getattr(lab.forge.schema.BuiltinOptions, f"{name.title()}Options")
        lab.forge.add_binary(forge, code, options, kind)


def check(
    lab: Any,
    forge: Any,
    target: str,
    flags: str,
    work: Path,
    form: str = WIDE,
    place: str = "greedy-by-size",
) -> int:
    """Every tensor of a forged network is as in TFLM; how many operators have fast kernels."""
    work.mkdir()
    path = forge.save(work / "random.tflite")
    module, fast = planned(lab, path, target, form, place)
    arrays = extreme_inputs(module, lab)
    want = lab.golden("tflm", path, arrays, lab.tensors_of(module), work / "golden")
    check_project(lab, module, arrays, want, target, flags, work)
    return fast


def check_even(lab: Any, forge: Any, target: str, flags: str, work: Path, form: str = WIDE) -> int:
    """`check` of a network that rounds as ONNX does, against what is evaluated."""
    work.mkdir()
    path = forge.save(work / "random.tflite")
    module, fast = planned(lab, path, target, form, rounding="onnx_even")
    arrays = extreme_inputs(module, lab)
    func, weights = lab.main_of(module), Weights.of(module, work)
    runs = [evaluate(func, weights, [array[i] for array in arrays]) for i in range(len(arrays[0]))]
    traced = {
        tensor: result
        for op in func.body.block.ops
        if ORDER in op.attributes
        for tensor, result in zip(
            op.attributes["memgraph.source"].tensor_ids, op.results, strict=True
        )
    }
    want = {tensor: np.stack([run[value] for run in runs]) for tensor, value in traced.items()}
    check_project(lab, module, arrays, want, target, flags, work)
    return fast


def check_project(
    lab: Any,
    module: ModuleOp,
    arrays: list[Array],
    want: dict[int, Array],
    target: str,
    flags: str,
    work: Path,
) -> None:
    project = lab.write(module, work / "c", "net", target)
    check_blocks(project)
    run = lab.run_project(project, arrays, flags)
    assert run.code == 0, run.messages
    assert lab.unequal_tensors(run, want) == []


def check_blocks(project: Path) -> None:
    """Kernels have code of what is rare if a table of the network needs it, and only then."""
    text = (project / "net.c").read_text()
    arrays = dict(re.findall(r"(\w+)\[\d*\] = {(.*?)};", text, re.DOTALL))
    strips = re.findall(r"depthwise_strips_s8_params [^;]*\.kinds = (\w+),", text)
    shifts = re.findall(r"\.shift = ([a-z]\w*),", text)
    rare = {
        "COLUMNS": re.search(r"conv_2d_points|conv_2d\w+_params \w+ = {[^}]*\.out_w = 1,", text),
        "LINES": any(re.search(r"\b9[6-9]\b", arrays[name]) for name in shifts),
        "OTHER_BLOCKS": re.search(r"\.packed = {[^}]*\.kinds = [^N]", text),
        "WIDE_BLOCKS": re.search(r"blocks_s8_params [^;]*\.wide = [^N]", text),
        "WIDE_STRIPS": any(re.search(r"\b2\b", arrays[name]) for name in strips),
    }
    for file in (project / "kernels").iterdir():
        for name, there in re.findall(r"\n#define MEMOPT_WITH_(\w+) (\d)\n", file.read_text()):
            assert int(there) == bool(rare[name]), (file, name)
