"""Kernels that take scratch to be faster (memgraph-kernels), and their packed weights."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_programs import Program, compiled
from deep import deep_but
from numpy.typing import NDArray
from row_networks import cut_some, image_of, network
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.backends.c.weights import packing
from memopt.compile.driver import load_text, new_context
from memopt.dialects.attributes.operators import RoundingAttr
from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import FAST, FORMS, NARROW, ORDER, SCRATCH, WIDE, mark_fast
from memopt.dialects.operators.convolution import DepthwiseConv2DOp
from memopt.dialects.rows.operations import RowOp
from memopt.passes.memgraph_kernels import HOW, RAM, MemgraphKernelsPass, lowest_gap
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.targets.core import registry
from memopt.targets.core.kernels import fast_forms
from memopt.targets.core.registry import target_named

Array = NDArray[Any]
OPERATORS = 40  # per model
FULL = 500  # networks
PROGRAM = 25  # networks
NHWC = "#memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>"
IHWO = "#memgraph.encoding<ihwo, scale = [5.0e-02], zero_point = [0]>>"


def _always(*_: object) -> bool:
    return True


@pytest.fixture
def host_as_dsp(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that takes the kernels for the DSP extension, in portable C, also where a board would
    not gain by them: their bits are the same."""
    for family in ("narrow", "packed"):  # the first imports the second, unpatched
        monkeypatch.setattr(f"memopt.backends.c.kernels.{family}.pays", _always)
    host = registry.all_targets()["host"]
    monkeypatch.setitem(registry.all_targets(), "host", replace(host, isa=("dsp", "c")))


@pytest.fixture
def host_as_mve(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for Helium."""
    host = registry.all_targets()["host"]
    monkeypatch.setitem(registry.all_targets(), "host", replace(host, isa=("mve", "c")))


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """Counts the blocks of each kind that are packed."""
    found: Counter[int] = Counter()
    words = packing.block_words

    def counted(kind: int, block: Any) -> Array:
        found[kind] += 1
        return words(kind, block)

    monkeypatch.setattr(packing, "block_words", counted)
    return found


def planned(
    lab: Any,
    path: Path,
    target: str,
    form: str = WIDE,
    place: str = "auto",
    rounding: str = "tflm_double",
) -> tuple[ModuleOp, int]:
    """With all fast kernels that there are, of this form where there is one, and how many operators
    have one."""
    module = lab.read_model(path)
    for op in module.walk():
        if "rounding" in op.properties:
            op.properties["rounding"] = RoundingAttr(rounding)
    lab.plan(module, schedule="source", target=target)
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
    found = lab.random_inputs(module, 3, 5)
    for array in found:
        array[0], array[1] = -128, 127
    return found


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
    """Of four channels and more, or of one from which several are made; images of one column and of
    one row, too; or as wanted."""
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
    place: str = "auto",
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
    """The same of one that rounds as ONNX does, as it is evaluated."""
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
    strips = re.findall(r"depthwise_strips_s8_params [^;]*\.kinds = (\w+),", text)
    tables = [re.findall(rf"\b{name}\[.*?}};", text, re.DOTALL)[0] for name in strips]
    rare = {
        "OTHER_BLOCKS": re.search(r"\.packed = {[^}]*\.kinds = [^N]", text),
        "WIDE_BLOCKS": re.search(r"blocks_s8_params [^;]*\.wide = [^N]", text),
        "WIDE_STRIPS": any(re.search(r"\b2\b", table.partition("=")[2]) for table in tables),
    }
    for file in (project / "kernels").iterdir():
        for name, there in re.findall(r"\n#define MEMOPT_WITH_(\w+) (\d)\n", file.read_text()):
            assert int(there) == bool(rare[name]), (file, name)


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


@pytest.mark.usefixtures("host_as_dsp")
def test_operators_that_round_as_onnx_are_what_evaluate_computes(
    fuzz: float, tmp_path: Path, lab: Any, kinds: Counter[int]
) -> None:
    lab.need_tools("host")
    fast = 0
    for seed in range(max(2, int(50 * fuzz))):
        forge = (extreme, usual)[seed % 2](lab, np.random.default_rng(seed))
        add_deep(lab, forge)
        add_words(lab, forge)
        add_some(lab, forge)
        form = FORMS[seed // 2 % len(FORMS)]
        fast += check_even(lab, forge, "host", lab.SANITIZE, tmp_path / str(seed), form)
    assert fast >= 60
    assert min(kinds[k] for k in (packing.FLOAT, packing.PACKED, packing.PLAIN)) >= 5, kinds
    assert kinds[packing.FUSED] == 0


@pytest.mark.parametrize(
    "target", deep_but("cortex-m4", ["cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55"])
)
def test_a_board_rounds_as_onnx(target: str, tmp_path: Path, lab: Any) -> None:
    """By its FPU, or by Helium."""
    lab.need_tools(target)
    for number, make in enumerate((usual, extreme)):
        forge = make(lab, np.random.default_rng(7 + number))
        add_deep(lab, forge)
        add_deep(lab, forge, (16, 40, 48), 20)
        add_words(lab, forge)
        add_depthwise(lab, forge, (5, 4), 21)
        add_depthwise(lab, forge, (7, 7), 17, 70)
        add_some(lab, forge)
        for form in FORMS:
            fast = check_even(lab, forge, target, "-O2", tmp_path / f"{number}{form}", form)
            assert fast >= OPERATORS // 2 or target_named(target).isa[0] != "dsp"


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
            rng = np.random.default_rng(20_000 + seed)
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
    assert lowest_gap([(0, 4), (4, 19)], 8, 4) == 20
    assert lowest_gap([(1, 5), (16, 17)], 8, 4) == 8
    assert lowest_gap([(1, 5), (15, 16)], 8, 4) == 16
