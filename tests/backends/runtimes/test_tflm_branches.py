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
from tflite_builder import Extra, Graph, Op, T, build
from tflm_runner import Job, random_inputs, run
from xdsl.dialects.builtin import ArrayAttr

from memopt.backends.tflm import PLAN_NAME, write_tflm
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
@pytest.mark.parametrize("is_shared", [False, True])
def test_random_branches_run_the_same_in_the_arena_of_the_plan(
    fuzz: float, tmp_path: Path, is_shared: bool
) -> None:
    """Compare the head of the file without and with its plan, and every output, with the
    wheel's."""
    jobs: list[Job] = []
    expected: list[tuple[int, int, int]] = []
    for seed in range(max(12, round(FULL * fuzz))):
        data = branch_model(seed, is_shared=is_shared)
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


def test_one_subgraph_of_two_operators_has_one_place(tmp_path: Path, capsys: Any) -> None:
    """Check the answers of the plan in the wheel, and that another place in one of the operators is
    refused."""
    data = build(*run_twice())
    (tmp_path / "net.tflite").write_bytes(data)
    command = ["compile", str(tmp_path / "net.tflite"), "--target=tflm"]
    assert main([*command, "-o", str(tmp_path / "out")]) == 0
    planned = (tmp_path / "out" / "net.tflite").read_bytes()
    inputs = random_inputs(data, 4, 1)
    old, new = run([Job("tflm", d, inputs) for d in (data, planned)], tmp_path)
    assert (old.error, new.error) == ("", "") and new.head < old.head
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert (report["source"]["arena"], report["plan"]["arena"]) == (old.head, new.head)
    for a, b in zip(old.outputs, new.outputs, strict=True):
        assert np.array_equal(a[0], b[0])
    capsys.readouterr()
    assert main(["verify", "--json", str(tmp_path / "out" / "net.tflite")]) == 0
    assert json.loads(capsys.readouterr().out)[0]["arena"] == new.head
    text = (tmp_path / "out" / "plan.mlir").read_text()
    func = only_function(load_text(new_context(), text, "net.mlir"))
    op = next(op for op in func.body.block.ops if run_by(op))
    scratch: Any = op.attributes[SCRATCH]
    higher = [ScratchAttr(s.bytes.data, s.offset.data + 1024) for s in scratch.data]
    op.attributes[SCRATCH] = ArrayAttr(higher)
    with pytest.raises(MemoptError, match=r"runs @subgraph_1 at \d+, another operator elsewhere"):
        verify_plan(func, placed=True)


def run_twice() -> list[Graph]:
    """Return a graph whose two IF run the same subgraphs, with much between them."""
    inner = [T(name, [1, 8], "FLOAT32") for name in "xmy"]
    branches = [
        Graph(inner, [Op(a, [0], [1]), Op(b, [1], [2])], [0], [2])
        for a, b in (("NEG", "ABS"), ("ABS", "NEG"))
    ]
    options = ("If", {"thenSubgraphIndex": 1, "elseSubgraphIndex": 2})
    sizes = (1, 8, 8, 64, 8, 8)
    tensors = [T(f"t{i}", [1, n], "FLOAT32" if i else "BOOL") for i, n in enumerate(sizes)]
    zeros = T("zeros", [1, 56], "FLOAT32", np.zeros((1, 56), np.float32))
    corner = [T(n, [2], "INT32", np.array(v, np.int32)) for n, v in (("b", [0, 0]), ("s", [1, 8]))]
    operators = [
        Op("IF", [0, 1], [2], options),
        Op("CONCATENATION", [2, 6], [3], ("Concatenation", {"axis": 1})),
        Op("SLICE", [3, 7, 8], [4]),
        Op("IF", [0, 4], [5], options),
    ]
    return [Graph([*tensors, zeros, *corner], operators, [0, 1], [5]), *branches]


def test_subgraphs_that_nobody_runs_lie_on_each_other(tmp_path: Path, capsys: Any) -> None:
    """Check the head and the total of a file in which TFLM lays them side by side, and the refusal
    of one that TFLM cannot prepare."""
    main_graph, *_ = run_twice()
    one = Graph(main_graph.tensors[1:3], [Op("NEG", [0], [1])], [0], [1])
    other = Graph(
        [T(n, [1, 400], "FLOAT32") for n in "xmy"],
        [Op("NEG", [0], [1]), Op("ABS", [1], [2])],
        [0],
        [2],
    )
    data = build(one, other)
    (tmp_path / "net.tflite").write_bytes(data)
    command = ["compile", str(tmp_path / "net.tflite"), "--target=tflm", "--force"]
    assert main([*command, "-o", str(tmp_path / "out")]) == 0
    planned = (tmp_path / "out" / "net.tflite").read_bytes()
    old, new = run([Job("tflm", d, random_inputs(data, 1, 1)) for d in (data, planned)], tmp_path)
    module = load_text(new_context(), (tmp_path / "out" / "plan.mlir").read_text(), "net.mlir")
    func = only_function(module)
    model = read_model(data, "net.tflite")
    for answer, has_plan in ((old, False), (new, True)):
        need = interpreter_arena(func, model, WHEEL, planned=has_plan)
        assert (answer.error, answer.head, answer.total) == ("", need.head, need.total)
    assert (old.head, new.head) == (4800, 1600)
    capsys.readouterr()
    sums = [T("x", [1, 8], scale=(1.0,)), T("a", [1], "INT32", np.array([1], np.int32))]
    ops = [Op("SUM", [0, 1], [2], ("Reducer", {"keepDims": True}))]
    asking = Graph([*sums, T("y", [1, 1], scale=(1.0,))], ops, [0], [2])
    (tmp_path / "net.tflite").write_bytes(build(one, asking))
    assert main([*command, "-o", str(tmp_path / "out")]) == 1
    text = "subgraph 1 operator 0 (SUM): error: asks for scratch in a subgraph that nobody runs"
    assert text in capsys.readouterr().err
    assert main([*command[:2], "--target=host", "-o", str(tmp_path / "c")]) == 1
    assert "a model of one function is needed" in capsys.readouterr().err


@pytest.mark.parametrize("has_plan", [False, True])
def test_a_plan_that_needs_more_is_not_written(has_plan: bool, tmp_path: Path, capsys: Any) -> None:
    """Check that all is left to TFLM where the scratch of what a loop runs ends higher, also where
    the file has a plan, by which it needs more yet."""
    data = branch_model(7)
    plain = data
    if has_plan:
        tensors = sum(len(graph.tensors) for graph in read_model(data, "net.tflite").subgraphs)
        plan = np.array([1, 1, tensors, *range(0, 256 * tensors, 256)], np.int32).tobytes()
        data = branch_model(7, extra=Extra(metadata={PLAN_NAME: plan}))
    (tmp_path / "net.tflite").write_bytes(data)
    out = tmp_path / "out"
    assert main(["compile", str(tmp_path / "net.tflite"), "--target=tflm", "-o", str(out)]) == 0
    assert "the file is written without one" in capsys.readouterr().err
    planned = (out / "net.tflite").read_bytes()
    report = json.loads((out / "report.json").read_text())
    jobs = [Job("tflm", d, random_inputs(data, 1, 1)) for d in (data, plain, planned)]
    given, old, new = run(jobs, tmp_path)
    assert (given.error, old.error, new.error, new.head) == ("", "", "", old.head)
    assert (given.head > new.head) == has_plan
    assert report["target"]["arena"] == report["target"]["interpreter"]["head"] == old.head
