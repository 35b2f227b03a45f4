"""Small networks that PyTorch exported, of other families than CNNs: their arenas.

Of two that differ by their heads alone one is left to `make fuzz`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import memopt
from memopt.cli import main
from memopt.solvers.scheduling.best_first import Search

ARENAS = {"kwt": 76_544, "kwt4": 76_544, "vit": 66_304}
"""Bytes of RAM that the networks of shared/models/families take at most."""


@pytest.mark.deep
def test_how_much_is_searched(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Orders of a U-Net's rows with its rules are counted; for most rules there is none."""
    monkeypatch.setenv("MEMOPT_NATIVE", "0")  # the reference, which takes the same states
    expanded, expand = list[int](), Search._expand  # pyright: ignore[reportPrivateUsage]

    def counted(search: Search, done: int, *more: Any) -> list[tuple[int, int, int, int]]:
        expanded.append(done)
        return expand(search, done, *more)

    monkeypatch.setattr(Search, "_expand", counted)
    path = shared / "models/families/unet_q.onnx"
    plan = memopt.plan(path, rewrite="all", nhwc_io=True, optimize="ram", target="cortex-m4")
    assert plan.arena <= 52_224
    assert len(expanded) <= 180_000


@pytest.mark.deep
@pytest.mark.parametrize("name", ARENAS)
def test_their_arenas(name: str, shared: Path, fuzz: float, tmp_path: Path) -> None:
    if fuzz < 1 and name == "kwt4":
        pytest.skip("in make fuzz")
    path, out = shared / f"models/families/{name}.onnx", tmp_path / "c"
    words = ["compile", str(path), "--rewrite=all", "--nhwc-io", "--optimize=ram"]
    assert main([*words, "--target=host", "-o", str(out)]) == 0
    assert json.loads((out / "report.json").read_text())["plan"]["arena"] <= ARENAS[name]
