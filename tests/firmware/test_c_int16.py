"""int16 with int8 weights as C: bit for bit TensorFlow Lite Micro's."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forge_int16 import add_int16
from forge_model import INT16, INT32

from memopt.dialects.errors import MemoptError


def forged(lab: Any, seed: int) -> Any:
    forge = lab.forge.Forge(np.random.default_rng(seed), True)
    add_int16(lab.forge, forge)
    return forge


def inputs_of(lab: Any, module: Any, seed: int) -> Any:
    """All integers, and the ends of the range alone."""
    inputs = lab.random_inputs(module, 3, seed)
    for array in inputs:
        array[1] = np.where(array[1] > 0, 32767, -32768)
    return inputs


@pytest.mark.parametrize("target", ["host", "cortex-m4"])
def test_random_ones_equal_tflm(target: str, fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools(target)
    for seed in range(max(6, int(40 * fuzz)) if target == "host" else 2):
        path = forged(lab, seed).save(tmp_path / f"{seed}.tflite")
        module = lab.plan(lab.read_model(path), schedule="source", target=target)
        inputs, work = inputs_of(lab, module, seed), tmp_path / str(seed)
        want = lab.golden("tflm", path, inputs, lab.tensors_of(module), work)
        project = lab.write(module, work / "c", "net", target)
        run = lab.run_project(project, inputs, lab.SANITIZE if target == "host" else None)
        assert run.code == 0, run.messages
        assert lab.unequal_tensors(run, want) == [], f"seed {seed}"


def test_biases_that_no_runtime_has_are_refused(tmp_path: Path, lab: Any) -> None:
    forge = lab.forge.Forge(np.random.default_rng(1), True)
    forge.store_as(INT16)
    forge.wide_bias = INT32
    lab.forge.add_fully_connected(forge, needs_bias=True)
    module = lab.plan(lab.read_model(forge.save(tmp_path / "m.tflite")), target="host")
    with pytest.raises(MemoptError, match="int16 with a bias of 32 bits"):
        lab.write(module, tmp_path / "c", "net", "host")
