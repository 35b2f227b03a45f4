"""docs/guides/pytorch.md: from the export that is kept to the firmware in QEMU."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from console import run_page
from places import ROOT
from tools import need_tools

DOCS = ROOT / "docs"
TEXT = (DOCS / "guides/pytorch.md").read_text(encoding="utf-8")
EXAMPLES = DOCS / "examples" / "pytorch"


@pytest.mark.deep
def test_the_commands_print_what_the_page_says(tmp_path: Path) -> None:
    need_tools("cortex-m4")
    (tmp_path / "docs").symlink_to(DOCS)
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    assert run_page(TEXT, tmp_path, os.environ | {"PATH": path, "COLUMNS": "200"}) >= 8


def test_the_code_of_the_page_is_that_of_the_export() -> None:
    (block,) = (b.split("```")[0] for b in TEXT.split("```python\n")[1:])
    code = (EXAMPLES / "net.py").read_text()
    assert all(line.split("  #")[0] in code for line in block.splitlines())


def test_pytorch_gives_the_export_that_is_kept(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install torch")
    pytest.importorskip("onnxscript", reason="needs PyTorch's exporter: pip install onnxscript")
    script = str(EXAMPLES / "net.py")
    subprocess.run([sys.executable, script], cwd=tmp_path, check=True, capture_output=True)
    files = [folder / "net.onnx" for folder in (EXAMPLES, tmp_path)]
    kept, made = (onnx.load_model_from_string(file.read_bytes()) for file in files)
    assert [n.op_type for n in made.graph.node] == [n.op_type for n in kept.graph.node]
    for one, other in zip(made.graph.initializer, kept.graph.initializer, strict=True):
        values = (onnx.numpy_helper.to_array(t) for t in (one, other))
        np.testing.assert_allclose(*values, rtol=1e-6)
