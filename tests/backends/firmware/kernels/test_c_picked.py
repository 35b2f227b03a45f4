"""Mirrors, pads and blocks of pixels, as C and as the operation evaluates, against LiteRT."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forge_model import FLOAT32, INT8, INT16, INT32, UINT8, Forge
from forge_picks import add_batches, add_pads

KINDS = {"float32": FLOAT32, "int8": INT8, "uint8": UINT8, "int16": INT16, "int32": INT32}


@pytest.mark.parametrize("name", KINDS)
def test_equal_to_litert(name: str, fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for seed in range(max(1, int(40 * fuzz))):
        forge = Forge(np.random.default_rng(seed), name != "float32", KINDS[name])
        for _ in range(6):
            add_pads(forge)
            add_batches(forge)
        path = forge.save(tmp_path / f"{seed}.tflite")
        module = lab.plan(lab.read_model(path), schedule="source")
        inputs, tensors = lab.random_inputs(module, 2, seed), lab.tensors_of(module)
        want = lab.golden("litert_ref", path, inputs, tensors, tmp_path / str(seed))
        assert len(want) == 6 * 8
        project = lab.write(module, tmp_path / str(seed) / "c", "net", "host")
        run = lab.run_project(project, inputs, lab.SANITIZE)
        assert run.code == 0, run.messages
        assert lab.unequal_tensors(run, want) == [], f"seed {seed}"
