"""Rows of one pixel, of which a call makes several: int8 convolutions down a column, whole and in
rows, the same bits as TFLM."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pass_functions import assign_function
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.backends.c.emit.layout import Layout
from memopt.backends.c.rows.row_program import RowOperator
from memopt.backends.c.rows.row_runs import is_run
from memopt.backends.c.weights import packing
from memopt.dialects.memgraph.plan import plan_of
from memopt.dialects.rows.operations import RowOp
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.passes.memgraph_kernels import MemgraphKernelsPass
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.solvers.memories import Bank
from memopt.targets.core.target import all_targets

LAYERS = 7
WAYS = ("whole", "rows", "streamed")
BOARDS = ("cortex-m4", "cortex-m3", "cortex-m55")


def _always(*_: object) -> bool:
    return True


def weights_of(forge: Any, shape: list[int], channels: int, axis: int, extreme: bool) -> int:
    """Random ones, or at their ends, with multipliers that shift to the left now and then."""
    if not extreme:
        return int(forge.weights(shape, channels, axis, True))
    scales = [float(np.float32(forge.rng.uniform(0.001, 2.0))) for _ in range(channels)]
    data = forge.rng.choice([-128, 127], shape)
    kind = forge.graph.tensors[forge.graph.inputs[0]].type
    return int(forge.tensor(shape, kind, data, scales, [0] * channels, axis))


def column(lab: Any, seed: int) -> Any:
    """A forge of layers, of which each reads the one before: windows of one pixel, of several rows,
    to each channel its own and not; strides, dilation, padding and activations."""
    rng = np.random.default_rng(seed)
    schema, forge = lab.forge.schema, lab.forge.Forge(rng, True)
    height, channels = int(rng.integers(9, 14)), 4 * int(rng.integers(1, 6))
    last = forge.input([1, height, 1, channels])
    for layer in range(LAYERS):
        depthwise = layer % 3 == 1
        taps = 1 if layer % 3 == 0 else int(rng.integers(2, 6))
        stride = int(rng.choice([1, 1, 2])) if taps > 1 else 1
        dilation = int(rng.choice([1, 1, 2])) if stride == 1 else 1
        padding = lab.forge.SAME if height < 10 else int(rng.integers(2))
        sizes = (height, 1), (taps, 1), (stride, 1), (dilation, 1)
        height, _ = lab.forge.spatial(*sizes, padding)
        made = channels if depthwise else int(rng.choice([4, 8, 18, 20, 33]))
        shape, axis = ([1, taps, 1, made], 3) if depthwise else ([made, taps, 1, channels], 0)
        weights = weights_of(forge, shape, made, axis, layer % 3 == 0 and seed % 2 == 1)
        bias = forge.bias(last, weights, made, needed=False)
        name = "DepthwiseConv2DOptions" if depthwise else "Conv2DOptions"
        options = getattr(schema, f"{name}T")()
        options.padding, options.strideH, options.strideW = padding, stride, 1
        options.dilationHFactor, options.dilationWFactor = dilation, 1
        options.fusedActivationFunction = int(rng.integers(4))
        if depthwise:
            options.depthMultiplier = 1
        codes = schema.BuiltinOperator
        result = forge.activation([1, height, 1, made])
        forge.operator(
            codes.DEPTHWISE_CONV_2D if depthwise else codes.CONV_2D,
            [last, weights] + ([bias] if bias >= 0 else []),
            result,
            options,
            getattr(schema.BuiltinOptions, name),
        )
        last, channels = result, made
    forge.graph.outputs = [last]  # so that others lie where something else lay
    return forge


def planned(lab: Any, path: Path, target: str, seed: int, way: str) -> ModuleOp:
    """With fast kernels; rows in the order of operators, so that those of one are neighbours."""
    module, context = lab.read_model(path), Context()
    io = "caller" if seed % 3 == 2 else "arena"
    MemgraphModelPass(target=target, alignment=4, inplace="on", io=io).apply(context, module)
    if way != "whole":
        MemgraphExpandRowsPass(("all",), stream_input=way == "streamed").apply(context, module)
    order, place = MemgraphSchedulePass(method="source"), MemgraphPlacePass("greedy-by-size")
    for step in (order, place, MemgraphKernelsPass("speed"), order, place):
        step.apply(context, module)
    assert isinstance(module, ModuleOp)
    return module


def runs_as(
    lab: Any, path: Path, modules: dict[str, ModuleOp], target: str, flags: str
) -> list[str]:
    """What is written for each module, which compute every tensor as TFLM does."""
    plain, texts = lab.plan(lab.read_model(path), schedule="source"), list[str]()
    inputs = lab.random_inputs(plain, 4, 0)
    inputs[0][0], inputs[0][1] = -128, 127
    want = lab.golden("tflm", path, inputs, lab.tensors_of(plain), path.parent / "golden")
    for name, module in modules.items():
        folder = lab.write(module, path.parent / name, "net", target)
        run = lab.run_project(folder, inputs, flags)
        assert run.code == 0, run.messages
        assert lab.unequal_tensors(replace(run, trace=lab.whole_rows(run.trace, 4)), want) == []
        texts.append((folder / "net.c").read_text())
    return texts


def check(lab: Any, target: str, flags: str, seed: int, work: Path) -> Counter[str]:
    """All ways; how many of them in rows have runs, and of all the kernel of points."""
    work.mkdir(parents=True)
    path = column(lab, seed).save(work / "column.tflite")
    modules = {way: planned(lab, path, target, seed, way) for way in WAYS}
    found = Counter[str]()
    for text in runs_as(lab, path, modules, target, flags):
        found["runs"] += "MORE" in text
        found["points"] += "memopt_conv_2d_points_packed_s8" in text
    return found


@pytest.mark.deep
def test_portable_c_equals_tflm(
    fuzz: float, tmp_path: Path, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of all kinds, and rows that lie in several memories."""
    lab.need_tools("host")
    host = all_targets()["host"]
    kinds, words = Counter[int](), packing.block_words

    def counted(kind: int, block: Any) -> Any:
        kinds[kind] += 1
        return words(kind, block)

    monkeypatch.setattr(packing, "block_words", counted)
    monkeypatch.setattr("memopt.backends.c.kernels.packed.pays", _always)
    monkeypatch.setitem(all_targets(), "host", replace(host, isa=("dsp", "c")))
    found, count = Counter[str](), max(6, int(100 * fuzz))
    for seed in range(count):
        found += check(lab, "host", lab.SANITIZE, seed, tmp_path / str(seed))
    assert found["runs"] >= 1.5 * count, found
    assert found["points"] >= 2 * count, found
    assert min(kinds[k] for k in (packing.FUSED, packing.PACKED, packing.PLAIN)) >= 5, kinds


@pytest.mark.deep
@pytest.mark.parametrize("flags", ["-O1", "-O2", "-O3", "-Os"])
def test_boards_equal_tflm(flags: str, fuzz: float, tmp_path: Path, lab: Any) -> None:
    found = Counter[str]()
    for target in BOARDS if fuzz >= 1 else BOARDS[:1]:
        lab.need_tools(target)
        for seed in range(3 if fuzz < 1 else 8):
            found += check(lab, target, flags, seed, tmp_path / f"{target}{seed}")
    assert found["runs"] >= 5, found
    assert found["points"] >= 5, found


@pytest.mark.deep
def test_rows_in_two_memories(
    fuzz: float, tmp_path: Path, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels take the distance of two rows, which has 32 bits: those of two memories go alone."""
    lab.need_tools("host")
    runs = Counter[tuple[bool, bool]]()

    def spied(layout: Layout, o: RowOperator, rows: Sequence[RowOp]) -> bool:
        answer = is_run(layout, o, rows)
        results = {layout.addresses[r.outputs[0]].base for r in rows}
        read = {layout.addresses[v].base for r in rows for v in r.inputs}
        runs[answer, len(results) > 1 or len(read) > 1] += 1
        return answer

    monkeypatch.setattr("memopt.backends.c.rows.row_runs.is_run", spied)
    for seed in range(max(3, int(20 * fuzz))):
        path = column(lab, seed).save(tmp_path / f"{seed}.tflite")
        module = lab.read_model(path)
        MemgraphExpandRowsPass(("all",)).apply(Context(), module)
        lab.ordered(module, method="source", target="host", alignment=4, inplace="on")
        func = lab.main_of(module)
        plan = plan_of(func)
        assert plan is not None
        banks = Bank("fast", plan.peak.data // 2, 1), Bank("slow", 2 * plan.peak.data, 9)
        assign_function(func, banks, time_limit=4)
        runs_as(lab, path, {str(seed): module}, "host", lab.SANITIZE)
    assert runs[True, False] >= 5, runs
    assert runs[False, True] >= 5, runs
    assert runs[True, True] == 0, runs
