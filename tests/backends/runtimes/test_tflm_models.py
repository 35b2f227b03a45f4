"""Planned files in the real run times: the same answers, and the arena that was promised."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflm_models import IN_LITERT, IN_TFLM
from tflm_plan import planned, write
from tflm_runner import Answer, Job, random_inputs, run

from memopt.dialects.memgraph.plan import plan_of
from memopt.targets.tflm.arena import file_operators, tflm_arena
from memopt.targets.tflm.scratch import scratch_bytes

RUNS = 10  # inputs per model in `make fuzz`
WITH_SCRATCH = ("dtln_noise_suppression", "keyword_scrambled_int8", "mcunet_vww_int8")
HEADS = {  # bytes: the file as it is, the file as we plan it
    "mobilenet_vww96_int8": (73_728, 55_296),
    "mobilenet_vww96_float": (294_912, 221_184),
    "keyword_scrambled_int8": (672, 672),
    "dtln_noise_suppression": (1_424, 1_424),
}


@dataclass(frozen=True)
class Case:
    arena: int
    predicted: int
    baseline: int
    has_scratch: bool
    before: Answer
    after: Answer


@pytest.fixture(scope="module")
def cases(
    shared: Path, fuzz: float, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Case]]:
    """All models planned, and both files run on the same inputs: one subprocess for all."""
    names = (*IN_TFLM, *IN_LITERT)
    jobs: list[Job] = []
    plans: list[tuple[int, int, int, bool]] = []
    for seed, name in enumerate(names):
        data = (shared / "models" / f"{name}.tflite").read_bytes()
        module, func = planned(data)
        plan = plan_of(func)
        assert plan is not None
        scratch = any(scratch_bytes(op) for op, _ in file_operators(func))
        baseline = tflm_arena(func, planned=False, source_order=True).head
        plans.append((plan.arena, tflm_arena(func).head, baseline, scratch))
        inputs = random_inputs(data, max(3, round(RUNS * fuzz)), seed)
        runtime = "litert" if name in IN_LITERT else "tflm"
        jobs += [Job(runtime, data, inputs), Job(runtime, write(module, data), inputs)]
    answers = run(jobs, tmp_path_factory.mktemp("runs"))
    yield {
        name: Case(*plans[i], answers[2 * i], answers[2 * i + 1]) for i, name in enumerate(names)
    }


def same(a: tuple[tuple[Any, ...], ...], b: tuple[tuple[Any, ...], ...]) -> bool:
    return len(a) == len(b) >= 3 and all(
        np.array_equal(x, y)
        for one, other in zip(a, b, strict=True)
        for x, y in zip(one, other, strict=True)
    )


@pytest.mark.deep
@pytest.mark.parametrize("name", IN_TFLM)
def test_tflm_answers_the_same_in_the_promised_arena(name: str, cases: dict[str, Case]) -> None:
    case = cases[name]
    assert case.before.error == case.after.error == ""
    assert same(case.before.outputs, case.after.outputs)
    assert any(np.ptp(o[0]) for o in case.before.outputs) or len(case.before.outputs[0][0]) == 1
    assert case.baseline == case.before.head, "TFLM's own planner is predicted exactly"
    assert case.predicted == case.after.head, "what TFLM makes of our plan is predicted exactly"
    assert case.after.head == case.arena, "with and without scratch"
    assert case.has_scratch == (name in WITH_SCRATCH)
    assert case.after.total <= case.before.total
    if name in HEADS:
        assert (case.before.head, case.after.head) == HEADS[name]


@pytest.mark.deep
@pytest.mark.parametrize("name", IN_LITERT)
def test_litert_answers_the_same(name: str, cases: dict[str, Case]) -> None:
    case = cases[name]
    assert case.before.error == case.after.error == ""
    assert same(case.before.outputs, case.after.outputs)


def test_swiftnet_goes_from_351_to_301_kb(shared: Path) -> None:
    # 376,320 is what TFLM's planner makes of the file's own order, whose peak is 351,232.
    data = (shared / "models" / "swiftnet_cell_vww_uint8.tflite").read_bytes()
    _, source = planned(data, schedule="source")
    _, best = planned(data)
    before, after = plan_of(source), plan_of(best)
    assert before is not None and after is not None
    assert (before.peak.data, after.peak.data, after.arena) == (351_232, 301_056, 301_056)
    assert after.optimal
    assert tflm_arena(best, planned=False, source_order=True).head == 376_320


def test_planning_a_planned_file_replaces_the_plan(shared: Path, tmp_path: Path) -> None:
    data = (shared / "models" / "mobilenet_vww96_int8.tflite").read_bytes()
    once = write(planned(data)[0], data)
    bad_module, bad_func = planned(once, place="tflm")
    twice = write(bad_module, once)
    thrice = write(planned(twice)[0], twice)
    assert thrice == once, "the same plan again gives the same bytes"
    assert len(twice) == len(once)
    inputs = random_inputs(data, 1, 0)
    answers = run([Job("tflm", d, inputs) for d in (once, twice, thrice)], tmp_path)
    assert [a.head for a in answers] == [55_296, tflm_arena(bad_func).head, 55_296]


def test_a_wrong_plan_is_noticed_by_these_tests(shared: Path, tmp_path: Path) -> None:
    """All tensors at offset 0: TFLM runs it and answers nonsense, which the comparison sees."""
    data = (shared / "models" / "resnet8_int8.tflite").read_bytes()
    good = write(planned(data)[0], data)
    start = good.index(b"\x01\0\0\0\x01\0\0\0")
    count = int.from_bytes(good[start + 8 : start + 12], "little")
    bad = good[: start + 12] + bytes(4 * count) + good[start + 12 + 4 * count :]
    inputs = random_inputs(data, RUNS, 0)
    first, second = run([Job("tflm", good, inputs), Job("tflm", bad, inputs)], tmp_path)
    assert first.error == "" and not same(first.outputs, second.outputs)
