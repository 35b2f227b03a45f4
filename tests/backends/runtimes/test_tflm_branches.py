"""Tests of IF and WHILE planned for TensorFlow Lite Micro: the functions that they run lie in their
scratch."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from branch_models import branch_model
from pass_functions import place_function, schedule_function
from tflite_builder import Graph, Op, T, build
from tflm_runner import Job, random_inputs, run
from xdsl.dialects.builtin import ArrayAttr

from memopt.backends.tflm import write_tflm
from memopt.backends.tflm.interpreter import interpreter_arena
from memopt.backends.tflm.structs import WHEEL
from memopt.cli import main
from memopt.compile.driver import load_text, new_context
from memopt.compile.pipelines import SettledOptions
from memopt.compile.run_passes import Seconds, plan_module
from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions, only_function, run_by
from memopt.dialects.memgraph.plan import SCRATCH, plan_of
from memopt.formats.tflite import read_model
from memopt.frontends.tflite.read import read
from memopt.targets.tflm.arena import tflm_arena
from memopt.verify.plan import verify_plan

FULL = 400  # networks


@pytest.mark.deep
def test_random_branches_run_the_same_in_the_arena_of_the_plan(fuzz: float, tmp_path: Path) -> None:
    """Compare the head of the file without and with its plan, and every output, with the
    wheel's."""
    jobs: list[Job] = []
    expected: list[tuple[int, int, int]] = []
    for seed in range(max(12, round(FULL * fuzz))):
        data = branch_model(seed)
        module = read(data, "net.tflite")
        before = tflm_arena(only_function(module), planned=False, source_order=True).head
        plan_module(new_context(), module, SettledOptions(target="tflm"), Seconds())
        func = only_function(module)
        plan = plan_of(func)
        assert plan is not None and tflm_arena(func).head <= plan.arena
        try:
            planned = write_tflm(module, source=data)
        except MemoptError as error:  # more than TFLM's own planner needs
            assert "with this plan TFLM needs" in str(error)
            continue
        total = interpreter_arena(func, read_model(data, "net.tflite"), WHEEL).total
        expected.append((before, tflm_arena(func, hold_unread=False).head, total))
        inputs = random_inputs(data, 2, seed)
        jobs += [Job("tflm", d, inputs) for d in (data, planned)]
    assert len(expected) >= 10
    answers = run(jobs, tmp_path)
    for heads, old, new in zip(expected, answers[::2], answers[1::2], strict=True):
        assert (old.error, new.error) == ("", "")
        assert (old.head, new.head, new.total) == heads
        for a, b in zip(old.outputs, new.outputs, strict=True):
            assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_the_plan_is_in_the_text_and_in_the_file(tmp_path: Path, capsys: Any) -> None:
    """Check that the plan is true after printing and reading, and that the file says the same
    arena."""
    path = tmp_path / "net.tflite"
    path.write_bytes(branch_model(1))
    assert main(["compile", str(path), "--target=tflm", "-o", str(tmp_path / "out")]) == 0
    text = (tmp_path / "out" / "plan.mlir").read_text()
    again = load_text(new_context(), text, "net.mlir")
    arenas = [verify_plan(func, placed=True).arena for func in functions(again)]
    assert len(arenas) > 2
    capsys.readouterr()
    assert main(["verify", "--json", str(tmp_path / "out" / "net.tflite")]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[0]["arena"] == arenas[0] and len(rows) == len(arenas)


def test_less_than_what_is_run_needs_is_refused() -> None:
    """Check that plans that are true but for the written scratch are refused."""
    for scratch in (None, 16):
        module = read(branch_model(3), "net.tflite")
        plan_module(new_context(), module, SettledOptions(target="tflm"), Seconds())
        func = only_function(module)
        op = next(op for op in func.body.block.ops if run_by(op))
        op.attributes.pop(SCRATCH)
        if scratch is not None:
            op.attributes[SCRATCH] = ArrayAttr([ScratchAttr(scratch)])
        schedule_function(func, "auto", 20)
        place_function(func, "greedy-by-size", 20)
        with pytest.raises(MemoptError, match=r"runs @subgraph_.*, whose arena of .* is not"):
            verify_plan(func, placed=True)


def test_unknown_scratch_inside_a_branch_leaves_the_file_to_tflm(
    tmp_path: Path, capsys: Any
) -> None:
    inner = [T("x", [1, 8], "FLOAT32"), T("y", [1, 8], "FLOAT32")]
    branch = Graph(inner, [Op("CUSTOM:mine", [0], [1])], [0], [1])
    options = ("If", {"thenSubgraphIndex": 1, "elseSubgraphIndex": 2})
    outer = Graph([T("c", [1], "BOOL"), *inner], [Op("IF", [0, 1], [2], options)], [0, 1], [2])
    (tmp_path / "net.tflite").write_bytes(build(outer, branch, branch))
    command = ["compile", str(tmp_path / "net.tflite"), "--target=tflm"]
    assert main([*command, "-o", str(tmp_path / "out")]) == 0
    assert "CUSTOM:mine in TFLM is not known" in capsys.readouterr().out
    (plan,) = (
        data[slice(*model.buffers[buffer])]
        for data in [(tmp_path / "out" / "net.tflite").read_bytes()]
        for model in [read_model(data, "net.tflite")]
        for _, buffer in model.metadata
    )
    assert set(struct.unpack(f"<{len(plan) // 4}i", plan)[3:]) == {-1}


def test_one_subgraph_of_two_operators_is_refused(tmp_path: Path, capsys: Any) -> None:
    inner = [T("x", [1, 8], "FLOAT32"), T("y", [1, 8], "FLOAT32")]
    branch = Graph(inner, [Op("NEG", [0], [1])], [0], [1])
    options = ("If", {"thenSubgraphIndex": 1, "elseSubgraphIndex": 2})
    tensors = [T("c", [1], "BOOL"), *inner, T("z", [1, 8], "FLOAT32")]
    ops = [Op("IF", [0, 1], [2], options), Op("IF", [0, 2], [3], options)]
    (tmp_path / "net.tflite").write_bytes(build(Graph(tensors, ops, [0, 1], [3]), branch, branch))
    command = ["compile", str(tmp_path / "net.tflite"), "--target=tflm"]
    assert main([*command, "-o", str(tmp_path / "out")]) == 1
    assert "@subgraph_1: error: is run by two operators" in capsys.readouterr().err
