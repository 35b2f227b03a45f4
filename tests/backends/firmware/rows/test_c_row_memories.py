"""Rows in several memories, as C: every bit is that of the whole operators' C."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pass_functions import assign_function
from row_networks import network
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from memopt.compile.driver import load_text, new_context
from memopt.dialects.attributes.placement import SlotAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import offsets_of, plan_of
from memopt.dialects.operators.movement import CopyOp
from memopt.dialects.rows.operations import RowOp, SplitRowsOp
from memopt.passes import memgraph_memory
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.solvers.memories import Assignment, Bank, MemoryProblem, assign, cost_of
from memopt.verify.plan import verify_plan


def ops_of(module: ModuleOp) -> Iterable[Operation]:
    return only_function(module).body.block.ops


def rows_in_several(module: ModuleOp) -> bool:
    """Whether an operator makes rows in two memories."""
    memories: dict[SSAValue, set[str]] = {}
    for op in ops_of(module):
        if isinstance(op, RowOp) and isinstance(place := (offsets_of(op) or [None])[0], SlotAttr):
            memories.setdefault(op.operator, set()).add(place.memory.data)
    return any(len(found) > 1 for found in memories.values())


def restless(problem: MemoryProblem, time_limit: float | None) -> Assignment:
    """As `assign`, but moves cost next to nothing while it decides, so that there are some."""
    tenants = tuple(replace(t, copied=1 if t.movable else 0) for t in problem.tenants)
    found = assign(replace(problem, tenants=tenants), time_limit)
    return Assignment(found.visits, cost_of(problem, found.visits), 0)


def over(lab: Any, text: str, rng: np.random.Generator, **model: Any) -> ModuleOp | None:
    """The network in rows over two or three memories of random size; None if it does not fit."""
    module = load_text(new_context(), text, "n.mlir")
    rows = "all" if rng.random() < 0.7 else "auto"
    MemgraphExpandRowsPass((rows,), stream_input=bool(rng.random() < 0.2)).apply(Context(), module)
    lab.ordered(module, target="host", alignment=4, inplace="on", **model)
    func = lab.main_of(module)
    plan = plan_of(func)
    assert plan is not None
    peak = plan.peak.data
    first = int(rng.integers(peak // 4, peak + 1))
    banks = [Bank("fast", first, 1), Bank("slow", int(rng.integers(peak - first, 2 * peak)), 9)]
    if rng.random() < 0.3:
        banks.append(Bank("far", 4 * peak, 20))
    try:
        assign_function(func, tuple(banks), time_limit=4)
    except MemoptError as error:
        assert "do not fit into" in error.text, error
        return None
    verify_plan(func, placed=True)
    return module


@pytest.mark.deep
@pytest.mark.parametrize("quantized", [True, False])
def test_random_networks_compute_the_same_bits(
    quantized: bool, fuzz: float, tmp_path: Path, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inputs in parts that die alone, and rows of one tensor in two memories."""
    lab.need_tools("host")
    seen = Counter[str]()
    for seed in range(max(4, int(80 * fuzz))):
        rng = np.random.default_rng([seed, quantized])
        text = network(rng, quantized, branch=seed % 2 == 0, outputs=1 + seed % 3 // 2)
        whole = lab.plan(load_text(new_context(), text, "n.mlir"), "source", target="host")
        with monkeypatch.context() as patch:
            if seed % 4:
                patch.setattr(memgraph_memory, "assign", restless)
            module = over(lab, text, rng, io=("arena", "caller")[seed % 2], method="rpo")
        if module is None:
            seen["no room"] += 1
            continue
        plan = plan_of(lab.main_of(module))
        assert plan is not None
        seen["in several"] += sum(m.bytes.data > 0 for m in plan.memories) > 1
        seen["input in parts"] += any(isinstance(op, SplitRowsOp) for op in ops_of(module))
        seen["rows in several"] += rows_in_several(module)
        seen["moved"] += any(isinstance(op, CopyOp) for op in ops_of(module))
        inputs = lab.random_inputs(whole, 2, seed)
        work = tmp_path / str(seed)
        want = lab.run_project(lab.write(whole, work / "whole", "net", "host"), inputs, trace=False)
        project = lab.write(module, work / "rows", "net", "host")
        got = lab.run_project(project, inputs, lab.SANITIZE, trace=False)
        assert (want.code, got.code) == (0, 0), got.messages
        assert got.output == want.output, f"seed {seed}"
    assert all(seen[k] for k in ("in several", "input in parts", "rows in several")), seen
