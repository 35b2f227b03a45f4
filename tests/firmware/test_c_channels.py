"""Networks without their dead and constant channels, as C: the bits of the whole ones."""

from pathlib import Path
from typing import Any

import pytest
from firmware_helpers import load
from xdsl.context import Context

from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.passes.memgraph_rewrite import MemgraphRewritePass

lab: Any = load("lab")
MODELS = ("hello_world_int8", "mobilenet_vww96_int8", "person_detect_int8")
RULE = MemgraphRewritePass(("constant-channels",))


def project(path: Path, directory: Path, target: str, narrow: bool, rows: bool = False) -> Path:
    module = lab.read_model(path)
    if narrow:
        RULE.apply(Context(), module)
    if rows:
        MemgraphExpandRowsPass(("all",)).apply(Context(), module)
    lab.plan(module, "rpo" if rows else "auto", "greedy-by-size" if rows else "auto", alignment=4)
    made: Path = lab.write(module, directory, path.stem, target)
    return made


@pytest.mark.parametrize("name", MODELS)
def test_c_computes_the_same(name: str, shared: Path, tmp_path: Path, fuzz: float) -> None:
    """Whole and in rows, under the sanitizers; by default the large ones in one of both."""
    path = shared / "models" / f"{name}.tflite"
    inputs = lab.random_inputs(lab.read_model(path), max(1, int(100 * fuzz)), seed=5)
    want = lab.run_project(project(path, tmp_path / "as-it-was", "host", narrow=False), inputs)
    assert want.code == 0 and want.output
    forms = (False, True) if fuzz >= 1 or name == MODELS[0] else (name == MODELS[1],)
    for rows in forms:
        directory = project(path, tmp_path / f"narrow-{rows}", "host", narrow=True, rows=rows)
        got = lab.run_project(directory, inputs, lab.SANITIZE, trace=False)
        assert got.code == 0, got.messages
        assert got.output == want.output


def test_fewer_instructions_on_a_cortex_m4(
    shared: Path, tmp_path: Path, fuzz: float, record_property: Any
) -> None:
    """vww96 has half of its multiplications left."""
    lab.need_tools("cortex-m4")
    path = shared / "models" / "mobilenet_vww96_int8.tflite"
    inputs = lab.random_inputs(lab.read_model(path), max(1, int(100 * fuzz)), seed=6)
    names = ("whole", "narrow")
    runs = [
        lab.run_project(
            project(path, tmp_path / n, "cortex-m4", n == "narrow"), inputs, trace=False
        )
        for n in names
    ]
    assert [run.code for run in runs] == [0, 0]
    assert runs[0].output == runs[1].output
    before, after = (run.numbers["instructions"] for run in runs)
    record_property("instructions", (before, after))
    assert after < before * 0.7, (before, after)
