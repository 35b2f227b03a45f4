"""Small networks that PyTorch exported, of other families than CNNs: their arenas.

Of two that differ by their heads alone one is left to `make fuzz`.
"""

import json
from pathlib import Path

import pytest

from memopt.cli import main

ARENAS = {"kwt": 76_544, "kwt4": 76_544, "vit": 66_304}
"""Bytes of RAM that the networks of shared/models/families take at most."""


@pytest.mark.deep
@pytest.mark.parametrize("name", ARENAS)
def test_their_arenas(name: str, shared: Path, fuzz: float, tmp_path: Path) -> None:
    if fuzz < 1 and name == "kwt4":
        pytest.skip("in make fuzz")
    path, out = shared / f"models/families/{name}.onnx", tmp_path / "c"
    words = ["compile", str(path), "--rewrite=all", "--nhwc-io", "--optimize=ram"]
    assert main([*words, "--target=host", "-o", str(out)]) == 0
    assert json.loads((out / "report.json").read_text())["plan"]["arena"] <= ARENAS[name]
