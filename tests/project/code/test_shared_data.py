"""With the public models alone tests of other shared data skip, and say of what."""

from pathlib import Path

import pytest
from places import ROOT
from shared_path import SharedPath


def test_folders_that_are_not_there_are_named(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    shared = SharedPath(tmp_path)
    assert shared / "models" / "net.tflite" == tmp_path / "models/net.tflite"
    for folder, path in (("graphs", "graphs"), ("families", "models/families/tcn.onnx")):
        with pytest.raises(pytest.skip.Exception, match=f"^needs {folder} of the shared data"):
            _ = shared / path
    (tmp_path / "graphs").mkdir()
    assert not (shared / "graphs" / "darts.json").exists()  # a mistake, where the folder is there


def test_the_workflow_is_green_without_it() -> None:
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert "if: vars.MEMOPT_SHARED_REPOSITORY == ''\n" in workflow
    assert "make lint demo test" in workflow
