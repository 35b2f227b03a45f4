"""The demo's model in the real run times, before and after planning: needs no shared data."""

import re
from pathlib import Path

import demo_check
import numpy as np
import pytest
from demo_model import Size, Type, demo_model
from tflm_plan import import_for_tflm, planned, write
from tflm_runner import Job, random_inputs, run

from memopt import cli
from memopt.dialects.memgraph.plan import plan_of
from memopt.passes.plan.extract import extract
from memopt.solvers.theory.fusion import modules
from memopt.solvers.theory.fusion_check import is_safe

RUNS = 10


@pytest.mark.deep
@pytest.mark.parametrize(
    ("kind", "size", "before", "after"),
    [
        ("int8", "full", 129_024, 73_728),
        ("float32", "full", 516_096, 294_912),
        ("int8", "small", 1_792, 1_024),
        ("float32", "small", 7_168, 4_096),
    ],
)
def test_planned_demo_answers_the_same_in_less_ram(
    kind: Type, size: Size, before: int, after: int, tmp_path: Path
) -> None:
    """Bytes of TFLM's arena head, measured: the file as it is, the file as planned."""
    data = demo_model(kind, size)
    module, func = planned(data)
    plan = plan_of(func)
    assert plan is not None and plan.optimal and plan.arena == after
    inputs = random_inputs(data, RUNS, 1)
    old, new = run([Job("tflm", data, inputs), Job("tflm", write(module, data), inputs)], tmp_path)
    assert old.error == new.error == ""
    assert (old.head, new.head) == (before, after)
    assert old.total - new.total == before - after
    assert len(old.outputs) == len(new.outputs) == RUNS
    for one, other in zip(old.outputs, new.outputs, strict=True):
        assert np.array_equal(one[0], other[0])
    spread = [np.ptp(np.stack([o[0] for o in old.outputs]), axis=0).max(), np.ptp(old.outputs[0])]
    assert all(spread), "the answer depends on the input, and is not the same for every class"


@pytest.mark.parametrize("size", ["full", "small"])
def test_int8_demo_agrees_with_its_float_original(size: Size, tmp_path: Path) -> None:
    """Quantisation is good enough to be a network, not noise: same class, probabilities near."""
    shape = (1, 96, 96, 3) if size == "full" else (1, 16, 16, 3)
    stored = [np.random.default_rng(i).integers(-128, 128, shape, np.int8) for i in range(RUNS)]
    reals = [x.astype(np.float32) / 128 for x in stored]
    exact, quantised = run(
        [
            Job("litert", demo_model("float32", size), [[x] for x in reals]),
            Job("tflm", demo_model("int8", size), [[x] for x in stored]),
        ],
        tmp_path,
    )
    assert exact.error == quantised.error == ""
    for real, answer in zip(exact.outputs, quantised.outputs, strict=True):
        found = (answer[0].astype(np.float32) + 128) / 256
        assert np.abs(found - real[0]).max() < 0.05


@pytest.mark.parametrize("kind", ["int8", "float32"])
def test_modules_that_fusion_makes_are_found_safe_again(kind: Type) -> None:
    """Looked at alone, the first module's fork is a graph input, and still it is found."""
    _, func = import_for_tflm(demo_model(kind))
    graph = extract(func).graph
    found = modules(graph)
    assert max(len(m.operators) for m in found) > 50
    assert all(is_safe(graph, m.operators) for m in found)


@pytest.mark.deep
def test_the_demo_passes_and_would_notice_a_wrong_answer(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What `make demo` does, with the small model; then with all tensors planned at offset 0."""
    model = tmp_path / "model.tflite"
    model.write_bytes(demo_model(size="small"))
    for target, folder in (("tflm", "tflm"), ("host", "c"), ("cortex-m4", "cortex-m4")):
        output = str(tmp_path / folder)
        assert cli.main(["compile", str(model), f"--target={target}", "-o", output]) == 0
    assert demo_check.main(tmp_path) == 0
    printed = capfd.readouterr().out
    assert "C project c against TFLM: identical" in printed
    assert re.search(r"arena, measured in TFLM +1,792 B .* 1,024 B", printed)

    planned_file = tmp_path / "tflm" / "model.tflite"
    good = planned_file.read_bytes()
    start = good.index(b"\x01\0\0\0\x01\0\0\0") + 12
    count = int.from_bytes(good[start - 4 : start], "little")
    planned_file.write_bytes(good[:start] + bytes(4 * count) + good[start + 4 * count :])
    assert demo_check.main(tmp_path) == 1
    assert "random inputs: DIFFERENT" in capfd.readouterr().out
