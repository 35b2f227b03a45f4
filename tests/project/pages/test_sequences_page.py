# pyright: basic
"""docs/guides/sequences.md: its commands, its table, and 64 steps of each network in QEMU against
onnxruntime."""

import importlib
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from console import run_page
from places import ROOT

TEXT = (ROOT / "docs/guides/sequences.md").read_text(encoding="utf-8")
MADE = runpy.run_path(str(ROOT / "docs/examples/sequences/networks.py"))
STEPS = 64
TIES = {
    "keywords": {},
    "voice": {"h": "h_next"},
    "characters": {
        "place": "place_next",
        **{f"{part}{layer}": f"{part}{layer}_next" for part in "kv" for layer in range(2)},
    },
}
onnxruntime = pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands of the page ran."""
    importlib.import_module("tools").need_tools("cortex-m4")
    work = tmp_path_factory.mktemp("sequences")
    (work / "docs").symlink_to(ROOT / "docs")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    assert run_page(TEXT, work, os.environ | {"PATH": path, "COLUMNS": "200"}) == 5
    return work


def answers(model: bytes, given: dict[str, Any], ties: dict[str, str], fed: str) -> list[Any]:
    """Return the inputs and outputs of each step by onnxruntime: states begin with zeros, and `fed`
    is what was answered the step before."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    kinds = {"tensor(float)": np.float32, "tensor(int64)": np.int64}
    state = {v.name: np.zeros(v.shape, kinds[v.type]) for v in session.get_inputs()}
    names, found = [v.name for v in session.get_outputs()], []
    for step in range(STEPS):
        taken = state | {name: array[step] for name, array in given.items()}
        made = dict(zip(names, session.run(None, taken), strict=True))
        found.append((taken, made))
        state |= {name: made[output] for name, output in ties.items()}
        state |= {fed: made["next"]} if fed else {}
    return found


@pytest.mark.deep
@pytest.mark.parametrize("name", TIES)
def test_the_answers_are_those_of_onnxruntime(name: str, folder: Path) -> None:
    rng, fed = np.random.default_rng(5), "character" if name == "characters" else ""
    given: dict[str, Any] = {}
    if name != "characters":
        size, shown = {"keywords": (49, "sound"), "voice": (1, "frame")}[name]
        given[shown] = rng.normal(size=(STEPS, 1, size, 40)).astype(np.float32)
    wanted = answers(MADE["NETWORKS"][name](), given, TIES[name], fed)
    lab = importlib.import_module("lab")
    asked = np.stack([taken[fed] for taken, _ in wanted]) if fed else next(iter(given.values()))
    run = lab.run_project(folder / name, [asked], trace=False)
    assert run.code == 0, run.messages
    answered = {"keywords": "words", "voice": "voice", "characters": "next"}[name]
    want = np.stack([made[answered] for _, made in wanted])
    got = np.frombuffer(run.output, want.dtype).reshape(want.shape)
    if fed:
        assert len(set(want.ravel().tolist())) > STEPS // 8  # it does not say one thing alone
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, atol=2e-5)
        assert (got.argmax(-1) == want.argmax(-1)).all()


@pytest.mark.deep
@pytest.mark.parametrize("name", TIES)
def test_the_table_is_what_was_measured(name: str, folder: Path) -> None:
    """Bytes to the byte where they are planned; what a compiler makes, nearly."""
    row = re.search(rf"^\| {name} \|(.*)\|$", TEXT, re.MULTILINE)
    assert row is not None
    arena, stays, flash, cycles = (int(c.replace(",", "")) for c in row[1].split("|"))
    report = json.loads((folder / name / "report.json").read_text())
    facts = report["target"]
    assert (arena, stays) == (facts["arena"], report["persistent"])
    assert facts["flash"] == pytest.approx(flash, rel=0.03)
    assert facts["cycles_estimated"] == pytest.approx(cycles, rel=0.03)


@pytest.mark.deep
def test_the_calls_of_the_page_compile(folder: Path) -> None:
    importlib.import_module("tools").need_tools("host")
    blocks = re.findall(r"^```c\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    for name, block in zip(("voice", "characters"), blocks, strict=True):
        begin = f'#include "{name}.h"\nint microphone(float *frame);\nvoid used(void);\n'
        held = "static uint8_t arena[40000];\n"
        inside = "float frame[40], probability;\n" if name == "voice" else "int n;\n"
        source = folder / f"used_{name}.c"
        source.write_text(f"{begin}{held}void used(void) {{\n{inside}{block}}}\n")
        include = ["-I", str(folder / name), "-o", os.devnull]
        subprocess.run(["cc", "-Wall", "-Werror", "-c", str(source), *include], check=True)
