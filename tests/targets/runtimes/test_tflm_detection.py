"""Bytes that TFLM keeps and asks for where it finds objects, as the wheel reports them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forge_detection import add_detection
from forge_model import Forge
from tflm_plan import import_for_tflm
from tflm_runner import Job, random_inputs, run

from memopt.backends.tflm import write_tflm
from memopt.backends.tflm.interpreter import interpreter_arena
from memopt.backends.tflm.structs import WHEEL
from memopt.cli import main
from memopt.compile.driver import new_context
from memopt.compile.pipelines import SettledOptions
from memopt.compile.run_passes import Seconds, plan_module
from memopt.dialects.memgraph.plan import plan_of
from memopt.formats.tflite import read_model

SEEDS = 6


def model(seed: int, path: Path) -> bytes:
    """Return a file of one to three detections of reals."""
    forge = Forge(np.random.default_rng(seed), quantized=False)
    for _ in range(1 + seed % 3):
        add_detection(forge)
    return forge.save(path).read_bytes()


def test_the_wheel_reports_what_is_known_of_detections(tmp_path: Path) -> None:
    """Compare head and tail of files as they are and as they are planned, and their answers."""
    jobs: list[Job] = []
    expected: list[tuple[int, int]] = []
    for seed in range(SEEDS):
        data = model(seed, tmp_path / "net.tflite")
        module, func = import_for_tflm(data)
        file = read_model(data, "net.tflite")
        before = interpreter_arena(func, file, WHEEL, planned=False)
        plan_module(new_context(), module, SettledOptions(target="tflm"), Seconds())
        need, plan = interpreter_arena(func, file, WHEEL), plan_of(func)
        assert plan is not None and plan.arena >= need.head
        expected += [(before.head, before.tail), (need.head, need.tail)]
        inputs = random_inputs(data, 2, seed)
        jobs += [Job("tflm", d, inputs) for d in (data, write_tflm(module, source=data))]
    answers = run(jobs, tmp_path)
    assert [(a.error, a.head, a.tail) for a in answers] == [("", *each) for each in expected]
    for old, new in zip(answers[::2], answers[1::2], strict=True):
        for a, b in zip(old.outputs, new.outputs, strict=True):
            assert all(np.array_equal(x, y) for x, y in zip(written(a), written(b), strict=True))


def written(outputs: tuple[Any, ...]) -> list[Any]:
    """Return boxes, classes and scores up to the number of objects; TFLM leaves what is behind."""
    groups = [outputs[i : i + 4] for i in range(0, len(outputs), 4)]
    return [each[0, : int(count[0])] for *parts, count in groups for each in (*parts,)]


def test_the_arena_is_known_and_stored_boxes_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for quantized in (False, True):
        forge = Forge(np.random.default_rng(1), quantized)
        add_detection(forge)
        path = forge.save(tmp_path / "net.tflite")
        assert main(["compile", str(path), "--target=tflm", "-o", str(tmp_path / "out")]) == 0
        captured = capsys.readouterr()
        assert "kTensorArenaSize" in captured.out and "not known" not in captured.out
        text = "Detection_PostProcess): TFLM finds objects of FLOAT32 alone, not of UINT8"
        assert (text in captured.err) == quantized
