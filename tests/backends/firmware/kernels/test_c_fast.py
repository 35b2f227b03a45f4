"""Kernels that take scratch to be faster (memgraph-kernels), and their packed weights."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_programs import Program, compiled
from deep import deep_but
from fast_networks import (
    OPERATORS,
    add_deep,
    add_depthwise,
    add_some,
    add_words,
    check,
    extreme,
)
from numpy.typing import NDArray
from row_networks import cut_some, image_of, network
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.backends.c.weights import packing
from memopt.compile.driver import load_text, new_context
from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import FAST, FORMS, NARROW, SCRATCH, mark_fast
from memopt.dialects.operators.convolution import DepthwiseConv2DOp
from memopt.dialects.rows.operations import RowOp
from memopt.passes.memgraph_kernels import Gaps, MemgraphKernelsPass
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.passes.plan.words import HOW, RAM
from memopt.targets.core.kernels import fast_forms
from memopt.targets.core.target import target_named

Array = NDArray[Any]
FULL = 500  # networks
PROGRAM = 25  # networks
NHWC = "#memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>"
IHWO = "#memgraph.encoding<ihwo, scale = [5.0e-02], zero_point = [0]>>"


@pytest.mark.deep
@pytest.mark.usefixtures("host_as_dsp")
def test_random_operators_equal_tflm(
    fuzz: float, tmp_path: Path, lab: Any, kinds: Counter[int]
) -> None:
    lab.need_tools("host")
    fast = 0
    for seed in range(max(2, int(50 * fuzz))):
        forge = lab.forge.Forge(np.random.default_rng(seed), True)
        add_some(lab, forge)
        form = FORMS[seed % len(FORMS)]
        fast += check(lab, forge, "host", lab.SANITIZE, tmp_path / str(seed), form)
    assert fast >= 60
    assert kinds[packing.FUSED] >= 60


@pytest.mark.deep
@pytest.mark.usefixtures("host_as_dsp")
def test_extreme_operators_equal_tflm(
    fuzz: float, tmp_path: Path, lab: Any, kinds: Counter[int]
) -> None:
    lab.need_tools("host")
    count, refused = max(2, int(50 * fuzz)), 0
    for seed in range(count):
        forge = extreme(lab, np.random.default_rng(seed))
        add_deep(lab, forge)
        add_words(lab, forge)
        add_some(lab, forge)
        form = FORMS[seed % len(FORMS)]
        try:
            check(lab, forge, "host", lab.SANITIZE, tmp_path / str(seed), form)
        except MemoptError as error:  # where a multiplier shifts such a sum to the left
            assert "the int32 accumulator could overflow" in str(error)
            refused += 1
    assert refused <= count / 10
    assert min(kinds[k] for k in (packing.FUSED, packing.PACKED, packing.PLAIN)) >= 20, kinds


@pytest.mark.deep
@pytest.mark.usefixtures("host_as_mve")
def test_blocks_of_vectors_equal_tflm(fuzz: float, tmp_path: Path, lab: Any) -> None:
    """Random and extreme operators, and 1x1 windows that are read where they lie."""
    lab.need_tools("host")
    fast = 0
    for seed in range(max(2, int(50 * fuzz))):
        rng = np.random.default_rng(100 + seed)
        forge = extreme(lab, rng) if seed % 2 else lab.forge.Forge(rng, True)
        add_deep(lab, forge, (16, 48, 64, 40), 3 + int(rng.integers(24)))
        for kernel in ((1, 1), (2, 3), (5, 5), (7, 2), (3, 3)):
            add_depthwise(lab, forge, kernel, int(rng.integers(1, 40)))
        add_depthwise(lab, forge, (7, 7), 17, 70)  # of more than one strip
        lab.forge.add_convolution(forge, depthwise=True)
        add_some(lab, forge)
        for form in FORMS:
            fast += check(lab, forge, "host", lab.SANITIZE, tmp_path / f"{seed}{form}", form)
    assert fast >= 16


@pytest.mark.parametrize(
    ("kernels", "form", "stride"),
    deep_but(
        ("host_as_mve", NARROW, 1),
        [(k, f, s) for k in ("host_as_dsp", "host_as_mve") for f in FORMS for s in (1, 2)],
        several=True,
    ),
)
def test_scratch_is_as_long_as_what_is_kept_there(
    kernels: str, form: str, stride: int, tmp_path: Path, lab: Any, request: pytest.FixtureRequest
) -> None:
    """To the byte: a network of one operator, whose scratch is an array of its own."""
    request.getfixturevalue(kernels)
    lab.need_tools("host")
    for k_h, k_w, width in ((3, 3, 9), (3, 3, 40), (2, 2, 20), (5, 4, 9), (7, 7, 70)):
        forge = lab.forge.Forge(np.random.default_rng(stride), True)
        add_depthwise(lab, forge, (k_h, k_w), 20, width, stride)
        work = tmp_path / f"{k_h}{width}"
        fast = check(lab, forge, "host", lab.SANITIZE, work, form, "shared-objects")
        assert fast == (kernels == "host_as_mve" or k_h == 3)
        text = (work / "c" / "net.c").read_text()
        assert len(re.findall(r"^static uint8_t object_\d", text, re.MULTILINE)) == 2 + fast


@pytest.mark.parametrize("kernels", ["host_as_dsp", "host_as_mve"])
def test_a_part_of_a_row_may_be_padding(
    kernels: str, tmp_path: Path, lab: Any, request: pytest.FixtureRequest
) -> None:
    """Whole parts of it, and more of the last one: no file of TFLite has such."""
    request.getfixturevalue(kernels)
    lab.need_tools("host")
    for seed, (width, right, stride) in enumerate(((5, 25, 1), (4, 20, 2), (9, 1, 1), (10, 3, 2))):
        rng = np.random.default_rng(seed)
        y = f"tensor<1x4x{(width + 1 + right - 3) // stride + 1}x5xi8, {NHWC}"
        x, w = f"tensor<1x4x{width}x5xi8, {NHWC}", f"tensor<1x3x3x5xi8, {IHWO}"
        weights = rng.integers(-128, 128, (1, 3, 3, 5)).tolist()
        text = (
            f"func.func @main(%x: {x}) -> {y} {{\n  %w = memgraph.constant dense<{weights}> : {w}\n"
            f"  %y = memgraph.depthwise_conv_2d %x, %w window<[3, 3], stride = [1, {stride}],"
            f" pad = [1, 1, 1, {right}]> groups 5 rounding<tflm_double> : ({x}, {w}) -> {y}\n"
            f"  func.return %y : {y}\n}}\n"
        )
        module = load_text(new_context(), text, "net.mlir")
        func = only_function(module)
        image = rng.integers(-128, 128, (1, 1, 4, width, 5)).astype(np.int8)
        op = next(op for op in func.body.block.ops if isinstance(op, DepthwiseConv2DOp))
        want = evaluate(func, Weights({}), [image[0]])[op.result]
        lab.plan(module, target="host")
        mark_fast(op, NARROW)
        scratch = fast_forms(op, target_named("host"))[NARROW]
        op.attributes[SCRATCH] = ArrayAttr([ScratchAttr(scratch, -1)])
        lab.plan(module)
        project = lab.write(module, tmp_path / str(seed), "net", "host")
        run = lab.run_project(project, [image], lab.SANITIZE, trace=False)
        assert run.code == 0, run.messages
        assert run.output == want.tobytes()


@pytest.mark.deep
@pytest.mark.parametrize("flags", ["-O1", "-O2", "-O3", "-Os"])
def test_on_the_board(flags: str, fuzz: float, tmp_path: Path, lab: Any) -> None:
    """The instructions of the core, by random and extreme operators."""
    if fuzz < 1 and flags not in ("-O2", "-O3"):  # a Cortex-M33, and an M55 with Helium
        pytest.skip("in make fuzz")
    for target in lab.cores_of(len(flags) + ord(flags[-1]), fuzz):
        lab.need_tools(target)
        usual = lab.forge.Forge(np.random.default_rng(7), True)
        for number, forge in enumerate((usual, extreme(lab, np.random.default_rng(8)))):
            add_deep(lab, forge)
            add_deep(lab, forge, (16, 40, 48), 20)
            add_words(lab, forge)
            add_depthwise(lab, forge, (5, 4), 21)
            add_depthwise(lab, forge, (7, 7), 17, 70)
            add_some(lab, forge)
            for form in FORMS:
                work = tmp_path / f"{target}{number}{form}"
                fast = check(lab, forge, target, flags, work, form)
                # those of vectors are faster than fast ones for the DSP extension
                assert fast >= OPERATORS // 2 or target_named(target).isa[0] != "dsp"


def network_of(text: str, seed: int, how: str) -> ModuleOp:
    """In rows, two of three networks, with fast kernels."""
    module, context = load_text(new_context(), text, "net.mlir"), Context()
    MemgraphModelPass(target="host", alignment=4, inplace="on" if seed % 2 else "off").apply(
        context, module
    )
    if seed % 3:
        cut_some(only_function(module), seed, np.random.default_rng(seed))
    order, place = MemgraphSchedulePass(method="rpo"), MemgraphPlacePass("greedy-by-size")
    for step in (order, place, MemgraphKernelsPass(how), *((order, place) if how != RAM else ())):
        step.apply(context, module)
    return module


@pytest.mark.deep
@pytest.mark.parametrize(("kernels", "first"), [("host_as_dsp", 0), ("host_as_mve", PROGRAM)])
def test_networks_compute_the_same_bits(
    kernels: str, first: int, fuzz: float, tmp_path: Path, lab: Any, request: pytest.FixtureRequest
) -> None:
    """As `evaluate` says, in rows and whole; no plan of less RAM lays scratch over anything."""
    request.getfixturevalue(kernels)
    lab.need_tools("host")
    objects, flags = compiled(lab.OBJECTS, lab.SANITIZE)
    whole = in_rows = 0
    count = max(2 * PROGRAM, int(FULL * fuzz))
    for start in range(first, count, PROGRAM):
        program = Program(tmp_path / str(start))
        given, want = b"", b""
        for seed in range(start, min(start + PROGRAM, count)):
            rng = np.random.default_rng(30_000 + seed)
            text = network(rng, True, branch=seed % 2 == 1)
            func = only_function(load_text(new_context(), text, "net.mlir"))
            image = image_of(func, rng)
            last = func.get_return_op()
            assert last is not None
            result = evaluate(func, Weights({}), [image])[last.operands[0]].tobytes()
            module = network_of(text, seed, HOW[seed % len(HOW)])
            program.add(module, f"whole{seed}", [image.nbytes, len(result)])
            given, want = given + image.tobytes(), want + result
            for op in lab.main_of(module).body.block.ops:
                whole += FAST in op.attributes
                in_rows += isinstance(op, RowOp) and FAST in op.whole.attributes
        assert program.run(objects, given, flags) == want, start
    assert whole >= 2
    assert in_rows >= 10


def test_scratch_among_rows_that_end_anywhere_is_aligned() -> None:
    """Rows are aligned to their elements, scratch to what tensors are."""
    assert _lowest_gap([(0, 4), (4, 19)]) == 20
    assert _lowest_gap([(1, 5), (16, 17)]) == 8
    assert _lowest_gap([(1, 5), (15, 16)]) == 16


def _lowest_gap(spans: Sequence[tuple[int, int]]) -> int:
    """The lowest place for 8 bytes, aligned to 4, in a step in which all spans are."""
    lives = [range(3, 5)] * len(spans)
    return Gaps.of(dict(enumerate(spans)), lives, 4).lowest(4, [8])[0]
