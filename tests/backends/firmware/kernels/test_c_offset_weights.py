# pyright: basic
"""Fully connected int8 weights with a zero point: C on the host and on boards, whole, in rows and
rewritten, equal to TensorFlow Lite Micro; packed, equal to what is evaluated."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside import evaluated
from deep import deep_but
from quick_options import QUICK
from xdsl.context import Context

from memopt.cli import main as memopt
from memopt.compile.driver import load_text, new_context
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.passes.memgraph_kernels import MemgraphKernelsPass
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_rewrite import MemgraphRewritePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.targets.core.target import all_targets

FULL = 200  # networks
ZERO_POINTS = (-128, -127, -1, 5, 126, 127)


def first_layer(lab: Any, rng: np.random.Generator) -> Any:
    """A convolution of one or two images."""
    forge = lab.forge.Forge(rng, True)
    lab.forge.add_convolution(forge, False)
    return forge


def forged(lab: Any, seed: int, path: Path) -> Path:
    """A convolution, all of its image to a fully connected layer, and layers of their own."""
    rng = np.random.default_rng(seed)
    forge = first_layer(lab, rng)
    while forge.graph.tensors[forge.graph.inputs[0]].shape[0] != 1:
        forge = first_layer(lab, rng)
    for _ in range(3):
        lab.forge.add_fully_connected(forge)
    image = forge.graph.outputs[0]
    shape = forge.graph.tensors[image].shape
    wide, out = math.prod(shape[1:]), 5
    schema = lab.forge.schema
    weights = forge.weights([out, wide], out, 0, per_axis=False)
    bias = forge.bias(image, weights, out, needed=True)
    options = schema.FullyConnectedOptionsT()
    result = forge.activation([shape[0], out])
    code, kind = schema.BuiltinOperator.FULLY_CONNECTED, schema.BuiltinOptions
    inputs = [image, weights, bias]
    forge.operator(code, inputs, result, options, kind.FullyConnectedOptions)
    for operator in forge.graph.operators[1:]:
        quantized = forge.graph.tensors[operator.inputs[1]].quantization
        if len(quantized.scale) == 1:
            quantized.zeroPoint = [int(forge.rng.integers(-128, 128))]
    saved = forge.save(path)
    assert isinstance(saved, Path)
    return saved


def check(lab: Any, seed: int, target: str, how: str, work: Path) -> None:
    """The outputs of a network, planned in one way."""
    work.mkdir()
    path, context = forged(lab, seed, work / "random.tflite"), Context()
    module = lab.read_model(path)
    inputs = lab.random_inputs(module, 2, seed)
    tensors = [lab.source_tensor(v) for v in lab.main_of(module).body.block.last_op.operands]
    want = lab.golden("tflm", path, inputs, tensors, work / "golden")
    planned = [MemgraphSchedulePass("rpo"), MemgraphPlacePass("greedy-by-size")]
    steps: list[Any] = [MemgraphModelPass(target=target)]
    steps += [MemgraphRewritePass(("all",))] if how == "rewritten" else []
    steps += [MemgraphExpandRowsPass(("all",))] if how == "rows" else []
    for step in (*steps, *planned, MemgraphKernelsPass("speed"), *planned):
        step.apply(context, module)
    flags = lab.SANITIZE if target == "host" else None
    ran = lab.run_project(lab.write(module, work / "c", "net", target), inputs, flags, trace=False)
    assert ran.code == 0, ran.messages
    each = b"".join(want[t][run].tobytes() for run in range(2) for t in tensors)
    assert ran.output == each, (seed, target, how)


@pytest.mark.deep
@pytest.mark.parametrize("how", ["whole", "rows", "rewritten"])
def test_random_ones_equal_tflm(how: str, fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for seed in range(max(2, int(FULL * fuzz))):
        check(lab, seed, "host", how, tmp_path / str(seed))


@pytest.mark.parametrize("how", ["whole", "rows"])
@pytest.mark.parametrize(
    "target",
    deep_but("cortex-m4", ["cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55"]),
)
def test_boards_equal_tflm(target: str, how: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools(target)
    check(lab, 3, target, how, tmp_path / target)


def program(seed: int) -> str:
    """Return a layer of few vectors, some so long that they have several sums, with
    weights up to both ends."""
    rng = np.random.default_rng(seed)
    rows, width = (int(n) for n in rng.integers((1, 4), (4, 10)))
    depth = int(rng.integers(1, 40) if seed % 3 else rng.integers(245, 520))
    zero_point = ZERO_POINTS[seed % 6]
    weights = rng.integers(-128, 128, (width, depth))
    weights[rng.random(weights.shape) < 0.2] = -128
    weights[rng.random(width) < 0.5] //= 2
    weights[rng.random(width) < 0.3] = -128
    scales = 5e-2, 1e-2, 1e-1 * math.sqrt(depth)
    x, w, y = (
        f"tensor<{shape}xi8, #memgraph.encoding<scale = [{scale:e}], zero_point = [{zero}]>>"
        for shape, scale, zero in zip(
            (f"{rows}x{depth}", f"{width}x{depth}", f"{rows}x{width}"),
            scales,
            (3, zero_point, -7),
            strict=True,
        )
    )
    rounding = ("tflm_double", "onnx_even")[seed // 6 % 2]
    return (
        f"func.func @main(%x: {x}) -> {y} {{\n"
        f"  %w = memgraph.constant dense<{weights.tolist()}> : {w}\n"
        f"  %y = memgraph.fully_connected %x, %w rounding<{rounding}> : ({x}, {w}) -> {y}\n"
        f"  func.return %y : {y}\n}}\n"
    )


def check_packed(seed: int, target: str, flags: str, folder: Path, lab: Any) -> None:
    """Compare the packed kernel with evaluation, of random numbers and of those at both ends."""
    module = load_text(new_context(), program(seed), "net.mlir")
    (given,) = lab.random_inputs(module, 1, seed)[0]
    runs = np.stack([given, np.full_like(given, -128), np.full_like(given, 127)])
    want = b"".join(evaluated(module, [run[None]]) for run in runs)
    lab.plan(module, target=target, alignment=4)
    MemgraphKernelsPass("speed").apply(Context(), module)
    written = lab.write(lab.plan(module), folder, "net", target)
    assert (written / "kernels/memopt_fully_connected_packed_offset_s8.c").exists(), seed
    ran = lab.run_project(written, [runs], flags, trace=False)
    assert ran.code == 0, ran.messages
    assert ran.output == want, seed


@pytest.mark.deep
def test_packed_ones_are_what_is_evaluated(
    fuzz: float, tmp_path: Path, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.need_tools("host")
    host = all_targets()["host"]
    monkeypatch.setitem(all_targets(), "host", replace(host, isa=("dsp", "c")))
    for seed in range(max(12, int(FULL * fuzz))):
        check_packed(seed, "host", lab.SANITIZE, tmp_path / str(seed), lab)


@pytest.mark.deep
@pytest.mark.parametrize("target", deep_but("cortex-m4", ["cortex-m4", "cortex-m7", "cortex-m33"]))
def test_boards_compute_packed_ones(target: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools(target)
    for seed in range(0, 12, 2):
        check_packed(seed, target, "-O2", tmp_path / str(seed), lab)


def test_the_model_of_a_report_compiles(shared: Path, tmp_path: Path) -> None:
    path = str(shared / "cases" / "kinds" / "fc_weight_zp.tflite")
    assert memopt(["compile", path, "--target=cortex-m4", *QUICK, "-o", str(tmp_path / "out")]) == 0
