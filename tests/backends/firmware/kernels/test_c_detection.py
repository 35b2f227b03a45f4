"""Tests of detections as C, against LiteRT."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from against_runtime import compared
from forge_detection import POSTPROCESS, add_detection, flexbuffers
from forge_model import Forge

from memopt.cli import main as memopt
from memopt.dialects.memgraph.custom import OPTIONS
from memopt.frontends.core.typed import NotTyped
from memopt.frontends.tflite.custom_ops import flexible_options


@pytest.mark.parametrize("quantized", [False, True])
def test_objects_are_those_of_litert(
    quantized: bool, fuzz: float, tmp_path: Path, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check objects against LiteRT's, which leaves any bytes behind the last object, where zeros
    stand here. Files need not say how large results are."""
    lab.need_tools("host")
    golden = lab.golden

    def without_rest(*arguments: Any) -> dict[int, Any]:
        tensors = golden(*arguments)
        for boxes in (t for t, a in tensors.items() if a.ndim == 4):
            for run, count in enumerate(tensors[boxes + 3].reshape(-1).astype(int)):
                assert 0 <= count <= tensors[boxes].shape[2]
                for tensor in range(boxes, boxes + 3):
                    tensors[tensor][run, 0, count:] = 0
        return tensors

    monkeypatch.setattr(lab, "golden", without_rest)
    objects = 0.0
    for seed in range(max(2, int(60 * fuzz))):
        forge = Forge(np.random.default_rng(seed), quantized)
        for number in range(10):
            add_detection(forge, says_shapes=number % 3 > 0)
        results = compared(lab, forge, seed, tmp_path)
        objects += sum(float(a.sum()) for a in results.values() if a.shape[1:] == (1,))
    assert objects > 50


@pytest.mark.parametrize(
    "changed",
    [
        {"max_classes_per_detection": 2},
        {"nms_iou_threshold": 0.0},
        {"y_scale": 0.0},
        {"num_classes": 9},
        {"max_detections": "many"},
    ],
)
def test_what_runtimes_do_not_say_is_refused(
    changed: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forge = Forge(np.random.default_rng(1), False)
    add_detection(forge, **changed)
    path = forge.save(tmp_path / "net.tflite")
    assert memopt(["compile", str(path), "--target=host", "-o", str(tmp_path / "c")]) == 1
    assert "no kernel for CUSTOM:TFLite_Detection_PostProcess" in capsys.readouterr().err


def test_a_custom_operator_that_is_known_is_not_declared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forge = Forge(np.random.default_rng(1), False)
    add_detection(forge)
    path, needs = forge.save(tmp_path / "net.tflite"), tmp_path / "needs.json"
    needs.write_text(f'{{"{POSTPROCESS}": {{}}}}')
    command = ["compile", str(path), "--target=host", f"--custom={needs}"]
    assert memopt([*command, "-o", str(tmp_path / "c")]) == 1
    assert f"{POSTPROCESS} has a kernel here" in capsys.readouterr().err


@pytest.mark.parametrize("fuzzed", range(3))
def test_options_that_no_flexbuffer_has(fuzzed: int) -> None:
    """Check that changed bytes are read or refused, in no time: nothing nested is followed."""
    rng = np.random.default_rng(fuzzed)
    said = {"a": 1, "b": 2.5, "list": [1, 2, 3], "nested": {"x": [[1, 2], [3]]}, "text": "y"}
    data = bytes(flexbuffers.Dumps(said))
    known = flexible_options({OPTIONS: data.hex()})
    assert known == {"a": 1, "b": 2.5, "list": [1, 2, 3]}
    refused = 0
    for _ in range(300):
        changed = bytearray(data)
        for place in rng.integers(0, len(data), 3):
            changed[place] = int(rng.integers(256))
        try:
            flexible_options({OPTIONS: changed.hex()})
        except NotTyped:
            refused += 1
    assert 30 < refused < 300
