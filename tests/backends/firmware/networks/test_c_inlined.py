"""Virtual tensors, made by their readers in scratch: random networks and real models as C, the same
bits as with a buffer for everything."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_programs import Pairs, compiled
from row_networks import image_of
from virtual_networks import RULES, planned, text_of
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.backends.c.inline.inlined_producers import Inlining, inlining_of
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import plan_of, reads_virtual
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_rewrite import MemgraphRewritePass

FULL = 2_000  # networks
LEAST = 100  # of each way of making what is read, in the full count
PROGRAM = 25  # networks


def inlined(module: ModuleOp, seed: int, rules: tuple[str, ...]) -> list[Inlining]:
    """Return the values that readers make, of a network that is planned with rules."""
    func = planned(module, seed, rules)
    return [inlining_of(op, lambda _: 0) for op in body_of(func).ops if reads_virtual(op)]


@pytest.fixture(scope="module")
def flags(lab: Any) -> tuple[Path, list[str]]:
    lab.need_tools("host")
    return compiled(lab.OBJECTS, lab.SANITIZE)


def ways(inlining: Inlining) -> list[str]:
    """How what is read is made: as a whole, row by row, or several rows of it at a time."""
    window = inlining.window
    how = "whole" if not window.step else "row" if window.size == 1 else "window"
    found = [how, *(made.op.name.removeprefix("memgraph.") for made in inlining.made)]
    return [*found, "several"] if len(inlining.made) > 1 else found


@pytest.mark.deep
def test_random_networks_compute_the_same_bits(
    fuzz: float, flags: tuple[Path, list[str]], tmp_path: Path, record_property: Any
) -> None:
    """Concatenations, slices, functions and sums of products that are virtual, in place or not,
    inputs and outputs in the arena or the caller's, one or two outputs."""
    seen = Counter[str]()
    count = max(25, int(FULL * fuzz))
    for start in range(0, count, PROGRAM):
        pairs = Pairs(tmp_path / str(start))
        for seed in range(start, min(start + PROGRAM, count)):
            rng = np.random.default_rng([seed, 77])
            text = text_of(rng, seed % 3 != 1, 2 if seed % 4 == 3 else 1)
            module = load_text(new_context(), text, "net.mlir")
            rules = tuple(r for r in RULES if rng.random() < 0.7)
            found = inlined(module, seed, rules)
            if not found:
                continue
            whole = load_text(new_context(), text, "net.mlir")
            planned(whole, seed, ())
            func = only_function(whole)
            image, last = image_of(func, rng), func.get_return_op()
            assert last is not None
            sizes = [bytes_of(v.type) or 0 for v in last.operands]
            seen.update(way for each in found for way in ways(each))
            pairs.add(seed, whole, module, image.tobytes(), sizes)
        for seed, before, after in pairs.outputs(flags):
            assert before == after, seed
    record_property("inlined in C", dict(seen))
    assert all(seen[way] for way in ("whole", "row", "window", "several", "concat")), seen
    rare = ("whole", "row", "window", "several", "concat", "slice", "split", "conv_2d", "relu")
    assert fuzz < 1 or all(seen[way] >= LEAST for way in rare), seen


JOINED_TIMES_MAP = """
func.func @main(%x: tensor<1x5x4x3xf32>, %m: tensor<1x5x4x1xf32>) -> tensor<1x5x4x6xf32> {
  %a = memgraph.abs %x : (tensor<1x5x4x3xf32>) -> tensor<1x5x4x3xf32>
  %b = memgraph.neg %x : (tensor<1x5x4x3xf32>) -> tensor<1x5x4x3xf32>
  %c = memgraph.concat %a, %b axis 3
    : (tensor<1x5x4x3xf32>, tensor<1x5x4x3xf32>) -> tensor<1x5x4x6xf32>
  %y = memgraph.mul %m, %c : (tensor<1x5x4x1xf32>, tensor<1x5x4x6xf32>) -> tensor<1x5x4x6xf32>
  return %y : tensor<1x5x4x6xf32>
}
"""


SLICES_OF_EACH = """
!x = tensor<1x4x5x6xf32>
!a = tensor<1x4x4x6xf32>
!b = tensor<1x4x1x6xf32>
func.func @main(%x: !x) -> !a {
  %n = memgraph.abs %x : (!x) -> !x
  %a = memgraph.slice %n starts [0, 0, 0, 0] strides [1, 1, 1, 1] : (!x) -> !a
  %b = memgraph.slice %n starts [0, 0, 4, 0] strides [1, 1, 1, 1] : (!x) -> !b
  %y = memgraph.div %a, %b : (!a, !b) -> !a
  return %y : !a
}
"""


def test_a_row_of_each_image_for_all(tmp_path: Path, lab: Any) -> None:
    """A broadcast along a dimension in the middle makes all rows of what it reads at once."""
    lab.need_tools("host")
    module = load_text(new_context(), SLICES_OF_EACH, "net.mlir")
    planned(module, 0, ("slice-by-readers",))
    assert any(reads_virtual(op) for op in body_of(only_function(module)).ops)
    (x,) = lab.random_inputs(module, 1, 3)
    run = lab.run_project(lab.write(module, tmp_path, "net", "host"), [x], lab.SANITIZE)
    assert run.code == 0, run.messages
    want = abs(x[:, :, :, :4]) / abs(x[:, :, :, 4:])
    assert run.output == want.tobytes()


def test_an_element_for_each_pixel(tmp_path: Path, lab: Any) -> None:
    """What is joined where it is read, times a number for each pixel."""
    lab.need_tools("host")
    module = load_text(new_context(), JOINED_TIMES_MAP, "net.mlir")
    planned(module, 0, ("gather",))
    assert any(reads_virtual(op) for op in body_of(only_function(module)).ops)
    x, by = lab.random_inputs(module, 2, 3)
    run = lab.run_project(lab.write(module, tmp_path, "net", "host"), [x, by], lab.SANITIZE)
    assert run.code == 0, run.messages
    want = np.concatenate([abs(x), -x], axis=4) * by
    assert run.output == want.tobytes()


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "rules", "target", "peak"),
    [
        ("resnet8_int8", ("residual-epilogue",), "cortex-m4", 33_280),
        pytest.param(
            "resnet8_float", ("residual-epilogue",), "host", 133_120, marks=pytest.mark.deep
        ),
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
        for m, folder in zip(forms, ("whole", "inlined"), strict=True)
    ]
    runs = [lab.run_project(p, inputs, flags, trace=False) for p in projects]
    assert [r.code for r in runs] == [0, 0], runs[1].messages
    assert runs[0].output == runs[1].output
    if target != "host":  # each row is made once
        before, after = (r.numbers["instructions"] for r in runs)
        assert after <= 1.01 * before
