# pyright: basic
"""Products of each place of a sequence with one matrix: place by place the same as all at once."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside import evaluated
from deep import deep_but
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp

from memopt.compile.driver import load_text, new_context
from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import FAST, FORMS, SCRATCH, WIDE, mark_fast
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.rows.operations import RowOp
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.passes.memgraph_kernels import MemgraphKernelsPass
from memopt.targets.core.kernels import fast_forms
from memopt.targets.core.target import all_targets, target_named

FULL = 200


def program(seed: int, stored: bool, together: bool = False) -> str:
    """Return a product of places, or of a few vectors in each; or of all `together`, which rows
    add up."""
    rng = np.random.default_rng(seed)
    rows, each, depth, width = (int(n) for n in rng.integers(1, 9, 4))
    inside = (each,) if rng.random() < 0.5 and not together else ()
    shapes: list[tuple[int, ...]] = [(1, rows + 1, *inside, n) for n in (depth, width)]
    if together:
        shapes[1] = (1, width)
        depth *= rows + 1
    element = "i8, #memgraph.encoding<scale = [5.0e-02], zero_point = [3]>" if stored else "f32"
    x, y = (f"tensor<{'x'.join(map(str, s))}x{element}>" for s in shapes)
    w = f"tensor<{width}x{depth}x{'i8' if stored else 'f32'}"
    w += ", #memgraph.encoding<scale = [1.0e-02], zero_point = [0]>>" if stored else ">"
    weights = rng.integers(-127, 128, (width, depth)) if stored else rng.normal(size=(width, depth))
    rounding = ("tflm_double", "onnx_even")[seed % 2]
    return (
        f"func.func @main(%x: {x}) -> {y} {{\n"
        f"  %w = memgraph.constant dense<{weights.tolist()}> : {w}\n"
        f"  %y = memgraph.fully_connected %x, %w{'' if together else ' keep_dims'}"
        f"{f' rounding<{rounding}>' if stored else ''} : ({x}, {w}) -> {y}\n"
        f"  func.return %y : {y}\n}}\n"
    )


@pytest.mark.deep
@pytest.mark.parametrize("stored", [False, True])
def test_a_place_is_what_it_is_in_all(stored: bool, fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for seed in range(max(3, int(FULL * fuzz))):
        outputs: list[bytes] = []
        for rows in (False, True):
            module = load_text(new_context(), program(seed, stored), "net.mlir")
            inputs = lab.random_inputs(module, 2, seed)
            if rows:
                MemgraphExpandRowsPass(("all",)).apply(Context(), module)
                ops = body_of(only_function(module)).ops
                assert not any(isinstance(op, FullyConnectedOp) for op in ops), seed
            module = lab.plan(module, target="host", alignment=4)
            folder = lab.write(module, tmp_path / f"{seed}{rows}", "net", "host")
            run = lab.run_project(folder, inputs, lab.SANITIZE, trace=False)
            assert run.code == 0, run.messages
            outputs.append(run.output)
        assert outputs[0] == outputs[1], seed


def fast(module: ModuleOp, form: str, target: str, lab: Any) -> tuple[ModuleOp, int]:
    """Return the plan in rows with fast kernels, of that form where there is one, and how many
    rows have one."""
    MemgraphExpandRowsPass(("all",)).apply(Context(), module)
    lab.plan(module, target=target, alignment=4)
    MemgraphKernelsPass("speed").apply(Context(), module)
    rows = [op for op in module.walk() if isinstance(op, RowOp) and FAST in op.operation.attributes]
    for row in rows:
        forms = fast_forms(row, target_named(target))
        if form in forms:
            mark_fast(row.operation, form)
            row.attributes.pop(SCRATCH, None)
            if forms[form]:
                row.attributes[SCRATCH] = ArrayAttr([ScratchAttr(forms[form], -1)])
    return lab.plan(module), len(rows)


def check_fast(form: str, target: str, flags: str, cases: int, folder: Path, lab: Any) -> None:
    """Compare places, and vectors that rows add up, which have no fast kernel, with evaluation."""
    count, kernels = 0, Counter[str]()
    for seed in range(cases):
        together = seed % 4 == 3
        whole = load_text(new_context(), program(seed, True, together), "net.mlir")
        inputs = lab.random_inputs(whole, 1, seed)
        text = program(seed, True, together)
        module, marked = fast(load_text(new_context(), text, "net.mlir"), form, target, lab)
        assert not (together and marked), seed
        count += marked
        folder_of_case = lab.write(module, folder / str(seed), "net", target)
        kernels.update(p.stem for p in folder_of_case.glob("kernels/*.c"))
        run = lab.run_project(folder_of_case, inputs, flags, trace=False)
        assert run.code == 0, run.messages
        assert run.output == evaluated(whole, inputs), seed
    suffix = "packed" if form == WIDE else "narrow"
    assert count > 0 and kernels[f"memopt_fully_connected_{suffix}_s8"] > 0, kernels


@pytest.mark.deep
@pytest.mark.parametrize("form", FORMS)
def test_fast_kernels_compute_places(
    form: str, fuzz: float, tmp_path: Path, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.need_tools("host")
    host = all_targets()["host"]
    monkeypatch.setitem(all_targets(), "host", replace(host, isa=("dsp", "c")))
    check_fast(form, "host", lab.SANITIZE, max(12, int(FULL * fuzz)), tmp_path, lab)


@pytest.mark.deep
@pytest.mark.parametrize("target", deep_but("cortex-m4", ["cortex-m4", "cortex-m7", "cortex-m33"]))
def test_boards_compute_places_fast(target: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools(target)
    check_fast(WIDE, target, "-O2", 8, tmp_path, lab)
