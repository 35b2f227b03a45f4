"""Operators that add up one buffer (`channel-wise`), as C: random networks and named ones, with the
numbers of whole operators and of `evaluate`."""

import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_programs import Pairs, Program, compiled
from row_networks import image_of
from row_text import Rng
from sum_networks import INT8, REAL, assert_alike, expected, numbers
from virtual_networks import RULES, planned, text_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.backends.c.emit.source import emit
from memopt.backends.c.inline.sums import part_of
from memopt.cli import main
from memopt.compile.driver import load_text, new_context
from memopt.dialects.arithmetic.stored import is_stored
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import reads_virtual
from memopt.dialects.operators.accumulation import AccumulateOp, sum_of
from memopt.rewrites import named_rules

FULL = 2_000  # networks
LEAST = 100  # of each way of adding up, in the full count
PROGRAM = 25  # networks


def mixed_up(func: FuncOp, rng: Rng) -> None:
    """Let sums be added in any order."""
    for op in body_of(func).ops:
        if isinstance(op, AccumulateOp):
            count = len(op.sums)
            order = rng.permutation(count).tolist()
            op.operands = [*(op.sums[k] for k in order), *op.operands[count:]]


def ways(func: FuncOp) -> Counter[str]:
    """What adds up, and how."""
    found, ops = Counter[str](), list(body_of(func).ops)
    for op in ops:
        whole = sum_of(op)
        if whole is not None:
            part, kind = part_of(op), op.name.removeprefix("memgraph.")
            stored = "int8" if is_stored(whole.result) else "real"
            found[f"{kind} {stored} {'adds' if part.adds else 'overwrites'}"] += 1
            found["inline"] += reads_virtual(op)
            found["order"] += part.adds and whole.sums[0].owner is op
        elif isinstance(op, AccumulateOp):
            stored = "int8" if is_stored(op.result) else "real"
            in_place = stored == "int8" and "inplace" in str(op.attributes.get("memgraph.alias"))
            found.update([f"sum {stored}"], **{"in place": int(in_place)})
            found["three or more"] += len(op.sums) > 2
            found["even"] += "onnx_even" in str(op.properties.get("rounding"))
    return found


@pytest.fixture(scope="module")
def flags(lab: Any) -> tuple[Path, list[str]]:
    lab.need_tools("host")
    return compiled(lab.OBJECTS, lab.SANITIZE)


@pytest.mark.deep
def test_random_networks_compute_the_same(
    fuzz: float, flags: tuple[Path, list[str]], tmp_path: Path, record_property: Any
) -> None:
    """Sums of any order, in place or not, of virtual tensors too."""
    seen = Counter[str]()
    count = max(40, int(FULL * fuzz))
    for start in range(0, count, PROGRAM):
        pairs, want = Pairs(tmp_path / str(start)), dict[int, tuple[FuncOp, list[Any]]]()
        for seed in range(start, min(start + PROGRAM, count)):
            rng = np.random.default_rng([seed, 78])
            quantized = seed % 3 != 1
            text = text_of(rng, quantized, 2 if seed % 4 == 3 else 1, INT8 if quantized else REAL)
            if seed % 6 == 2:
                text = text.replace("tflm_double", "onnx_even")
            module = load_text(new_context(), text, "net.mlir")
            rules = tuple(r for r in (*RULES, "equal-operators") if rng.random() < 0.5)
            method = "source" if quantized and seed % 4 == 0 else "rpo"
            func = planned(
                module, seed, (*rules, "channel-wise"), partial(mixed_up, rng=rng), method
            )
            found = ways(func)
            if not found:
                continue
            seen += found
            whole = load_text(new_context(), text, "net.mlir")
            image = image_of(only_function(whole), rng)
            results = expected(whole, image)
            planned(whole, seed, ())
            sizes = [int(v.nbytes) for v in results]
            want[seed] = func, results
            pairs.add(seed, whole, module, image.tobytes(), sizes)
        for seed, *outputs in pairs.outputs(flags):
            func, results = want[seed]
            before, after = (numbers(func, output) for output in outputs)
            for a, b, c in zip(before, after, results, strict=True):
                assert_alike(b, a, seed)
                assert_alike(b, c, seed)
    record_property("added up in C", dict(seen))
    kinds = ("conv_2d int8", "conv_2d real", "fully_connected real", "mean real")
    usual = [f"{kind} {how}" for kind in kinds for how in ("adds", "overwrites")]
    usual += ["sum int8", "sum real", "in place", "three or more", "order", "even", "inline"]
    missing = [way for way in usual if not seen[way]]
    assert not missing, seen
    assert fuzz < 1 or min(seen[way] for way in usual) >= LEAST, seen


BRANCHES = ((1, 1), (3, 1), (3, 2), (3, 3))  # kernel and dilation
CLASSES = 21


def pyramid(forge: Any, quantized: bool, path: Path) -> Path:
    """Four branches side by side, of which a convolution makes classes: DeepLab's pyramid of
    dilations, before anything else reads it."""
    net: Any = forge.Forge(np.random.default_rng(5), quantized)
    source, joined = net.input([1, 12, 12, 32]), net.activation([1, 12, 12, 48 * len(BRANCHES)])
    made = [convolved(forge, net, source, 48, *how, like=joined) for how in BRANCHES]
    options = forge.schema.ConcatenationOptionsT()
    options.axis = 3
    code, kind = (
        forge.schema.BuiltinOperator.CONCATENATION,
        forge.schema.BuiltinOptions.ConcatenationOptions,
    )
    net.operator(code, made, joined, options, kind)
    net.graph.outputs = [convolved(forge, net, joined, CLASSES, 1, 1)]
    saved: Path = net.save(path)
    return saved


def convolved(
    forge: Any,
    net: Any,
    source: int,
    channels: int,
    size: int,
    dilation: int,
    like: int | None = None,
) -> int:
    """A convolution that keeps height and width; its result."""
    *rest, depth = net.graph.tensors[source].shape
    weights = net.weights([channels, size, size, depth], channels, 0, per_axis=True)
    bias = net.bias(source, weights, channels, needed=True)
    options = forge.schema.Conv2DOptionsT()
    options.padding, options.strideH, options.strideW = forge.SAME, 1, 1
    options.dilationHFactor = options.dilationWFactor = dilation
    options.fusedActivationFunction = 1
    result: int = net.activation([*rest, channels], like=like)
    code, kind = (
        forge.schema.BuiltinOperator.CONV_2D,
        forge.schema.BuiltinOptions.Conv2DOptions,
    )
    net.operator(code, [source, weights, bias], result, options, kind)
    return result


@pytest.mark.deep
@pytest.mark.parametrize(
    ("quantized", "rows", "before", "after"),
    [
        pytest.param(True, "none", 32_976, 23_616, marks=pytest.mark.deep),
        pytest.param(False, "none", 131_904, 58_176, marks=pytest.mark.deep),
        (True, "all", 9_720, 6_696),
        pytest.param(False, "all", 38_880, 32_832, marks=pytest.mark.deep),
    ],
    ids=["int8", "real", "int8 in rows", "real in rows"],
)
def test_a_pyramid_of_dilations_takes_less_ram(
    quantized: bool,
    rows: str,
    before: int,
    after: int,
    tmp_path: Path,
    lab: Any,
    record_property: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By the command, on a Cortex-M4, with the numbers of TensorFlow Lite Micro."""
    lab.need_tools("cortex-m4")
    path = pyramid(lab.forge, quantized, tmp_path / "net.tflite")
    inputs = lab.random_inputs(lab.read_model(path), 2, 3)
    ram, runs = list[int](), list[Any]()
    others = ",".join(rule for rule in named_rules(("all",)) if rule != "channel-wise")
    for rules, peak in ((others, before), ("all", after)):
        folder = tmp_path / str(peak)
        how = ("--target=cortex-m4", "--optimize=ram", f"--rewrite={rules}", f"--rows={rows}")
        assert main(["compile", str(path), *how, "-o", str(folder)]) == 0
        said, report = capsys.readouterr().out, json.loads((folder / "report.json").read_text())
        adds = "adds to" if rows == "none" else "memopt_conv_2d_sum_"
        assert (
            ("channel-wise" in said) == (adds in (folder / "net.c").read_text()) == (rules == "all")
        )
        assert report["plan"]["peak"] == peak and report["plan"]["optimal"]
        ram.append(report["target"]["ram"])
        runs.append(lab.run_project(folder, inputs, trace=False))
        assert runs[-1].code == 0, runs[-1].messages
    number = max(lab.tensors_of(lab.plan(lab.read_model(path))))
    (want,) = lab.golden("tflm", path, inputs, [number], tmp_path / "golden").values()
    for run in runs:
        found = np.frombuffer(run.output, want.dtype).reshape(want.shape)
        assert_alike(found, want, 0)
    record_property("RAM", {"before": ram[0], "after": ram[1]})
    instructions = [run.numbers["instructions"] for run in runs]
    record_property("instructions", instructions)
    assert ram[1] <= ram[0] - (before - after) + 256


# -- named cases ----------------------------------------------------------------------------------

IMAGES = """
!a = tensor<2x3x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-02], zero_point = [3]>>
!c = tensor<2x3x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-02], zero_point = [3]>>
!w = tensor<3x3x2x4xi8, #memgraph.encoding<ohwi, scale = [0.01, 0.02, 0.03],
                                           zero_point = [0, 0, 0], axis = 0>>
!v = tensor<3xi32, #memgraph.encoding<scale = [0.0005, 0.001, 0.0015], zero_point = [0, 0, 0],
                                      axis = 0>>
!y = tensor<2x3x4x3xi8, #memgraph.encoding<nhwc, scale = [5.0e-02], zero_point = [-9]>>
func.func @main(%a: !a) -> !y {{
  %w = memgraph.constant dense<{weights}> : !w
  %v = memgraph.constant dense<{bias}> : !v
  %b = memgraph.relu %a rounding<tflm_double> : (!a) -> !a
  %1 = memgraph.concat %a, %b axis 3 : (!a, !a) -> !c
  %2 = memgraph.conv_2d %1, %w, %v window<[3, 2], pad = [1, 0, 1, 1]> groups 1
         rounding<tflm_double> : (!c, !w, !v) -> !y
  func.return %2 : !y
}}
"""


def two_images(bias: int) -> tuple[ModuleOp, FuncOp]:
    """The network as it is, and a plan of it with sums."""
    weights = np.random.default_rng(1).integers(-127, 128, (3, 3, 2, 4)).tolist()
    text = IMAGES.format(weights=weights, bias=[bias, -5, 900])
    whole, module = (load_text(new_context(), text, "net.mlir") for _ in range(2))
    return whole, planned(module, 2, ("channel-wise",))


def test_several_images(flags: tuple[Path, list[str]], tmp_path: Path) -> None:
    whole, func = two_images(70)
    assert ways(func)["conv_2d int8 adds"] == 1
    image = image_of(only_function(whole), np.random.default_rng(2))
    (want,) = expected(whole, image)
    program, module = Program(tmp_path / "images"), func.parent_op()
    assert isinstance(module, ModuleOp)
    planned(whole, 2, ())
    program.add(whole, "whole", [image.nbytes, want.nbytes])
    program.add(module, "added", [image.nbytes, want.nbytes])
    assert program.run(flags[0], image.tobytes(), flags[1]) == 2 * want.tobytes()


@pytest.mark.parametrize("bias", [(1 << 31) - 4_000, 4_000 - (1 << 31)])
def test_what_may_overflow_is_refused_as_the_whole_operator_is(bias: int) -> None:
    """The sum with its bias; of some of the products none does."""
    whole, func = two_images(bias)
    texts: list[str] = []
    for module in (whole, func.parent_op()):
        assert isinstance(module, ModuleOp)
        if module is whole:
            planned(whole, 2, ())
        with pytest.raises(MemoptError) as refused:
            emit(module, "net", "host")
        texts.append(refused.value.text)
    assert texts == ["C backend: the int32 accumulator could overflow"] * 2


ADDED = """
!h = tensor<1x1x2x4xf32, #memgraph.encoding<nhwc>>
!w = tensor<4x1x1x4xf32, #memgraph.encoding<ohwi>>
!g = tensor<4x1x1x2xf32, #memgraph.encoding<ohwi>>
!d = tensor<1x1x1x4xf32, #memgraph.encoding<ihwo>>
!v = tensor<4xf32>
func.func @main(%a: !h) -> !h {{
  %w = memgraph.constant dense<1.0> : !w
  %g = memgraph.constant dense<1.0> : !g
  %d = memgraph.constant dense<1.0> : !d
  %v = memgraph.constant dense<1.0> : !v
  %m = memgraph.constant dense<1.0> : tensor<4x4xf32>
  %1 = memgraph.{first}
  %2 = memgraph.conv_2d %a, %w window<[1, 1]> groups 1 : (!h, !w) -> !h
  %3 = memgraph.accumulate %1, %2{how}
  func.return %3 : !h
}}
"""
PLAIN = " : (!h, !h) -> !h"


@pytest.mark.parametrize(
    ("first", "how", "message"),
    [
        (
            "depthwise_conv_2d %a, %d window<[1, 1]> groups 4 : (!h, !d) -> !h",
            PLAIN,
            "no kernel for memgraph.depthwise_conv_2d, added up in place, on f32",
        ),
        (
            "conv_2d %a, %g window<[1, 1]> groups 2 : (!h, !g) -> !h",
            PLAIN,
            "a partial sum with a bias, or of channels in groups",
        ),
        (
            "conv_2d %a, %w, %v window<[1, 1]> groups 1 : (!h, !w, !v) -> !h",
            PLAIN,
            "a partial sum with a bias, or of channels in groups",
        ),
        (
            "fully_connected %a, %m, %v keep_dims : (!h, tensor<4x4xf32>, !v) -> !h",
            PLAIN,
            "a partial sum with a bias",
        ),
        (
            "mean %a axes [1] keep_dims : (!h) -> !h",
            ", %v biased : (!h, !h, !v) -> !h",
            "a sum of means with a bias or an activation",
        ),
        (
            "conv_2d %a, %w window<[1, 1]> groups 1 : (!h, !w) -> !h",
            " mean" + PLAIN,
            "a mean of what memgraph.conv_2d leaves, only of means",
        ),
    ],
)
def test_what_no_kernel_adds_up_is_refused_by_name(first: str, how: str, message: str) -> None:
    module = load_text(new_context(), ADDED.format(first=first, how=how), "net.mlir")
    planned(module, 2, ())
    with pytest.raises(MemoptError) as refused:
        emit(module, "net", "host")
    assert refused.value.text == f"C backend: {message}"
