"""uint8 models as C: every tensor equals LiteRT's reference kernels bit for bit."""

from pathlib import Path
from typing import Any

import pytest


@pytest.mark.deep
@pytest.mark.parametrize("name", ["swiftnet_cell_vww_uint8"])
def test_equal_to_litert_everywhere(name: str, shared: Path, tmp_path: Path, lab: Any) -> None:
    path = shared / "models" / f"{name}.tflite"
    module = lab.plan(lab.read_model(path))
    tensors = lab.tensors_of(module)
    inputs = lab.random_inputs(module, 2, seed=5)
    want = lab.golden("litert_ref", path, inputs, tensors, tmp_path / "golden")
    for target in ("host", "cortex-m4"):
        lab.need_tools(target)
        directory = lab.write(module, tmp_path / target, name, target)
        some = 2 if target == "host" else 1
        flags = (lab.SANITIZE,) if target == "host" else ()
        run = lab.run_project(directory, [a[:some] for a in inputs], *flags)
        assert run.code == 0, run.messages
        assert lab.unequal_tensors(run, {k: v[:some] for k, v in want.items()}) == []
