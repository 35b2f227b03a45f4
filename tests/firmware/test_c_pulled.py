"""What is no buffer, made by its readers in scratch: random networks and real models as C, the same
bits as with a buffer for everything."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_programs import Program, compiled
from channel_networks import mixed, sparse_text
from row_networks import image_of, network
from row_steps import KERNELS, convolution, depthwise, function, pool, same, side_by_side, two
from row_text import Rng, Text
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.backends.c.pulling import Pulling, pulling_of, pulls
from memopt.dialects.functions import body_of, only_function
from memopt.dialects.plan import plan_of
from memopt.dialects.tensors import bytes_of
from memopt.driver import load_text, new_context
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_rewrite import MemgraphRewritePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.passes.rewrite_search import applied, runnable
from memopt.verify.plan import verify_plan

FULL = 2_000  # networks
LEAST = 100  # of each way of making what is read, in the full count
PROGRAM = 25  # networks
RULES = (
    "kernel-wise",
    "slice-as-view",
    "slice-by-readers",
    "function-by-readers",
    "gather",
    "residual-epilogue",
)


def joined(net: Text) -> None:
    """Two or three tensors beside one another, perhaps joined themselves, and what reads them."""
    side_by_side(net)
    for _ in range(net.pick(0, 1, 2)):
        net.pick(depthwise, pool, function, same)(net)
    net.pick(convolution, depthwise, two, pool)(net)


def residual(net: Text) -> None:
    """A sum of products added to what it is made of."""
    anchor = net.last
    if net.pick(True, False):
        mixed(net, anchor, anchor[1][3])
    else:
        same(net)
    if net.last[1] == anchor[1]:
        net.add(f"add {anchor[0]}, {net.last[0]}{net.rounding}", [anchor, net.last], anchor[1])


def halves(net: Text) -> None:
    """The first channels and the others, each read for itself."""
    name, shape = net.last
    if shape[3] > 1:
        parts = [(*shape[:3], 1), (*shape[:3], shape[3] - 1)]
        types = [net.type_of(part) for part in parts]
        names = net.line(f"split {name} axis 3", [net.type_of(shape)], types)
        for made in zip(names, parts, strict=True):
            net.made.append(made)
            net.pick(pool, function)(net)


STEPS = (joined, joined, residual, halves, *KERNELS)


def text_of(rng: Rng, quantized: bool, outputs: int) -> str:
    if rng.random() < 0.3:
        return network(rng, quantized, branch=True, outputs=outputs)
    return sparse_text(rng, outputs, STEPS, quantized)


def planned(module: ModuleOp, seed: int, rules: tuple[str, ...]) -> list[Pulling]:
    """Plan it with rules wherever kernels run what they leave; what is pulled."""
    func, context = only_function(module), Context()
    io, inplace = ("caller" if seed % 2 else "arena"), ("on" if seed % 3 else "off")
    MemgraphModelPass(target="host", alignment=4, inplace=inplace, io=io).apply(context, module)
    applied(func, runnable(func, dict.fromkeys(rules)))
    MemgraphSchedulePass(method="rpo").apply(context, module)
    MemgraphPlacePass("greedy-by-size").apply(context, module)
    verify_plan(func, placed=True)
    return [pulling_of(op, lambda _: 0) for op in body_of(func).ops if pulls(op)]


@pytest.fixture(scope="module")
def flags(lab: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    lab.need_tools("host")
    return compiled(tmp_path_factory.mktemp("objects"), lab.SANITIZE)


def ways(pulling: Pulling) -> list[str]:
    """How what is read is made: as a whole, row by row, or several rows of it at a time."""
    window = pulling.window
    how = "whole" if not window.step else "row" if window.size == 1 else "window"
    found = [how, *(made.op.name.removeprefix("memgraph.") for made in pulling.made)]
    return [*found, "several"] if len(pulling.made) > 1 else found


def test_random_networks_compute_the_same_bits(
    fuzz: float, flags: tuple[Path, list[str]], tmp_path: Path, record_property: Any
) -> None:
    """Concatenations, slices, functions and sums of products that are no buffers, in place or not,
    inputs and outputs in the arena or the caller's, one or two outputs."""
    seen = Counter[str]()
    count = max(50, int(FULL * fuzz))
    for start in range(0, count, PROGRAM):
        program, given, want = Program(tmp_path / str(start)), b"", list[tuple[int, int]]()
        for seed in range(start, min(start + PROGRAM, count)):
            rng = np.random.default_rng([seed, 77])
            text = text_of(rng, seed % 3 != 1, 2 if seed % 4 == 3 else 1)
            module = load_text(new_context(), text, "net.mlir")
            rules = tuple(r for r in RULES if rng.random() < 0.7)
            found = planned(module, seed, rules)
            if not found:
                continue
            whole = load_text(new_context(), text, "net.mlir")
            planned(whole, seed, ())
            func = only_function(whole)
            image, last = image_of(func, rng), func.get_return_op()
            assert last is not None
            sizes = [bytes_of(v.type) or 0 for v in last.operands]
            seen.update(way for each in found for way in ways(each))
            given += image.tobytes()
            want.append((seed, sum(sizes)))
            program.add(whole, f"whole{seed}", [image.nbytes, *sizes])
            program.add(module, f"pulled{seed}", [image.nbytes, *sizes])
        output = program.run(flags[0], given, flags[1])
        for seed, size in want:
            before, after, output = output[:size], output[size : 2 * size], output[2 * size :]
            assert before == after, seed
        assert not output
    record_property("pulled in C", dict(seen))
    assert all(seen[way] for way in ("whole", "row", "window", "several", "concat")), seen
    rare = ("whole", "row", "window", "several", "concat", "slice", "split", "conv_2d", "relu")
    assert fuzz < 1 or all(seen[way] >= LEAST for way in rare), seen


@pytest.mark.parametrize(
    ("name", "rules", "target", "peak"),
    [
        ("resnet8_int8", ("residual-epilogue",), "cortex-m4", 33_280),
        ("resnet8_float", ("residual-epilogue",), "host", 133_120),
    ],
)
def test_real_models_compute_the_same(
    name: str,
    rules: tuple[str, ...],
    target: str,
    peak: int,
    shared: Path,
    tmp_path: Path,
    lab: Any,
) -> None:
    """The bits of the whole operators' C, with less RAM."""
    lab.need_tools(target)
    path = shared / "models" / f"{name}.tflite"
    forms = [lab.read_model(path) for _ in range(2)]
    for module, its in zip(forms, ((), rules), strict=True):
        MemgraphModelPass(target, inplace="on").apply(Context(), module)
        MemgraphRewritePass(its).apply(Context(), module)
        lab.plan(module, target=target, inplace="on")
    plan = plan_of(lab.main_of(forms[1]))
    assert plan is not None and plan.peak.data == peak
    inputs = lab.random_inputs(forms[0], 3, 7)
    flags = lab.SANITIZE if target == "host" else None
    projects = [
        lab.write(m, tmp_path / folder, "net", target)
        for m, folder in zip(forms, ("whole", "pulled"), strict=True)
    ]
    runs = [lab.run_project(p, inputs, flags, trace=False) for p in projects]
    assert [r.code for r in runs] == [0, 0], runs[1].messages
    assert runs[0].output == runs[1].output
    if target != "host":  # each row is made once
        before, after = (r.numbers["instructions"] for r in runs)
        assert after <= 1.01 * before
