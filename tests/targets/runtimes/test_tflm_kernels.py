"""Scratch formulas against what TFLM's kernels really ask for: one small model per kernel."""

from pathlib import Path

import numpy as np
import pytest
from tflite_builder import Extra, Graph, Op, T, build, bytes_behind
from tflm_kernel_models import BINARY, INT8_KERNELS, MODELS, MOVES, UNARY, in_a_row
from tflm_plan import import_for_tflm, planned, write
from tflm_runner import Answer, Job, random_inputs, run

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.plan import plan_of
from memopt.formats import tflite_control
from memopt.targets.tflm.arena import file_operators, tflm_arena
from memopt.targets.tflm.scratch import scratch_bytes

QUIET = {"transpose_conv_float"}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    jobs = [Job("tflm", data, random_inputs(data, 1, 0)) for data in MODELS.values()]
    return dict(zip(MODELS, run(jobs, tmp_path_factory.mktemp("kernels")), strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_tflm_asks_for_the_scratch_that_we_expect(name: str, answers: dict[str, Answer]) -> None:
    _, func = import_for_tflm(MODELS[name])
    scratch = [s for op, _ in file_operators(func) for s in scratch_bytes(op) or ()]
    assert bool(scratch) == (name not in QUIET)
    assert answers[name].error == ""
    assert tflm_arena(func, planned=False).head == answers[name].head


def test_planned_kernels_with_scratch_stay_within_their_plan(tmp_path: Path) -> None:
    jobs: list[Job] = []
    arenas: list[int] = []
    for data in MODELS.values():
        module, func = planned(data)
        plan = plan_of(func)
        assert plan is not None
        arenas.append(plan.arena)
        inputs = random_inputs(data, 2, 1)
        jobs += [Job("tflm", d, inputs) for d in (data, write(module, data))]
    found = run(jobs, tmp_path)
    for name, arena, before, after in zip(MODELS, arenas, found[::2], found[1::2], strict=True):
        assert after.head == arena <= before.head, name
        assert len(before.outputs) == 2
        for a, b in zip(before.outputs, after.outputs, strict=True):
            assert np.array_equal(a[0], b[0]), name


# -- LiteRT reads what moved --------------------------------------------------------------------


def branches(extra: Extra | None = None) -> bytes:
    tensors = [T("x", [64], "FLOAT32"), *[T(n, [64], "FLOAT32") for n in "abcd"]]
    tensors += [T("y", [64], "FLOAT32"), T("w", [64], "FLOAT32", np.arange(64, dtype=np.float32))]
    ops = [
        Op("NEG", [0], [1]),
        Op("ADD", [0, 6], [2], ("Add", {})),
        Op("EXP", [1], [3]),
        Op("ABS", [2], [4]),
        Op("ADD", [3, 4], [5], ("Add", {})),
    ]
    return build(Graph(tensors, ops, [0], [5]), extra=extra)


def test_litert_reads_moved_control_dependencies_and_buffers(tmp_path: Path) -> None:
    edges = tflite_control.serialize([((0, 2), (1, 3))])
    controlled = branches(Extra(metadata={tflite_control.KEY: edges}))
    plain = branches()
    outside = bytes_behind(plain, [6])
    jobs: list[Job] = []
    for data in (plain, controlled, outside):
        inputs = random_inputs(data, 3, 5)
        jobs += [Job("litert", data, inputs), Job("litert", write(planned(data)[0], data), inputs)]
    found = run(jobs, tmp_path)
    assert [a.error for a in found] == [""] * 6
    first = found[0].outputs
    assert all(np.array_equal(a, b) for f in found for a, b in zip(first, f.outputs, strict=True))
    assert np.ptp(first[0][0]) > 1


def test_tflm_reads_what_was_behind_the_file(tmp_path: Path) -> None:
    """TFLM reads no buffer behind the flatbuffer (tflite-micro#3196): there it computes with what
    its arena holds."""
    plain = branches()
    outside = bytes_behind(plain, [6])
    inputs = random_inputs(plain, 2, 5)
    jobs = [Job("tflm", data, inputs) for data in (plain, write(planned(outside)[0], outside))]
    right, ours = run(jobs, tmp_path)
    assert np.array_equal(right.outputs, ours.outputs) and ours.error == ""


# -- results in their operands' place ------------------------------------------------------------


def test_results_may_take_their_operands_place_in_tflm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With views and in-place on, every such kernel of TFLM still gives the same answer."""
    import tflm_plan

    on = ModelAttr("tflm", 16, "arena", views=True, inplace=True, scratch="tflm")
    cases = [(n, "FLOAT32") for n in (*UNARY, *BINARY, *MOVES)]
    cases += [(n, "INT8") for n in (*INT8_KERNELS, *MOVES)]
    jobs: list[Job] = []
    arenas: list[int] = []
    for name, type_ in cases:
        data = in_a_row(name, type_)
        monkeypatch.setattr(tflm_plan, "TFLM", on)
        module, func = planned(data)
        plan = plan_of(func)
        assert plan is not None
        arenas.append(plan.arena)
        inputs = random_inputs(data, 2, 3)
        jobs += [Job("tflm", d, inputs) for d in (data, write(module, data))]
    found = run(jobs, tmp_path)
    for case, arena, before, after in zip(cases, arenas, found[::2], found[1::2], strict=True):
        assert (before.error, after.error) == ("", ""), case
        assert after.head == arena < before.head, case
        for a, b in zip(before.outputs, after.outputs, strict=True):
            assert np.array_equal(a[0], b[0], equal_nan=True), case
            assert np.ptp(np.nan_to_num(a[0])) > 0, case
