"""Bytes that TFLM keeps and asks for in its own custom operators, as the wheel reports them."""

from pathlib import Path

import numpy as np
import pytest
from forge_model import Forge
from forge_signal import OPERATORS, add_signal
from tflm_plan import import_for_tflm
from tflm_runner import Job, random_inputs, run

from memopt.backends.tflm.interpreter import interpreter_arena
from memopt.backends.tflm.structs import WHEEL
from memopt.formats.tflite import read_model

SEEDS = 3


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> dict[str, bytes]:
    """A few random models of each operator, and the preprocessor of audio."""
    path = tmp_path_factory.mktemp("signal") / "net.tflite"
    models: dict[str, bytes] = {}
    for name in OPERATORS:
        for seed in range(SEEDS):
            forge = Forge(np.random.default_rng(seed), True)
            add_signal(forge, name)
            models[f"{name} {seed}"] = forge.save(path).read_bytes()
    models["preprocessor"] = (shared / "cases" / "audio_preprocessor_int8.tflite").read_bytes()
    return models


def test_the_wheel_reports_what_is_known_of_signal_operators(
    files: dict[str, bytes], tmp_path: Path
) -> None:
    jobs = [Job("tflm", data, random_inputs(data, 1, 0)) for data in files.values()]
    wrong: list[str] = []
    for (name, data), answer in zip(files.items(), run(jobs, tmp_path), strict=True):
        assert answer.error == "", (name, answer.error)
        _, func = import_for_tflm(data)
        need = interpreter_arena(func, read_model(data, name), WHEEL, planned=False)
        if (need.head, need.tail) != (answer.head, answer.tail):
            wrong.append(f"{name}: {need}, TFLM {answer.head} and {answer.tail}")
    assert not wrong, "\n".join(wrong)
