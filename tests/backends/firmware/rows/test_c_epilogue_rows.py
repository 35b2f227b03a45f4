"""A residual network in rows of which sums make the rows of their convolutions: the same bits as
of rows that are buffers, with less RAM and few more instructions. Random ones are in
test_c_inlined_rows.py."""

from pathlib import Path
from typing import Any

import pytest
from xdsl.context import Context

from memopt.dialects.memgraph.plan import plan_of
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_rewrite import MemgraphRewritePass


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "target", "peaks"),
    [
        ("resnet8_int8", "cortex-m4", (10_304, 9_920)),
        ("resnet8_float", "host", (40_448, 38_912)),
    ],
)
def test_resnet8_computes_the_same(
    name: str, target: str, peaks: tuple[int, int], shared: Path, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools(target)
    path = shared / "models" / f"{name}.tflite"
    forms = [lab.read_model(path) for _ in range(2)]
    for module, rules in zip(forms, ((), ("residual-epilogue",)), strict=True):
        MemgraphModelPass(target, inplace="on").apply(Context(), module)
        MemgraphRewritePass(rules, rows=True).apply(Context(), module)
        MemgraphExpandRowsPass().apply(Context(), module)
        lab.plan(module, target=target, inplace="on")
    plans = [plan_of(lab.main_of(m)) for m in forms]
    assert tuple(p.peak.data for p in plans if p is not None) == peaks
    inputs = lab.random_inputs(forms[0], 3, 7)
    flags = lab.SANITIZE if target == "host" else None
    projects = [
        lab.write(m, tmp_path / folder, "net", target)
        for m, folder in zip(forms, ("buffers", "epilogue"), strict=True)
    ]
    runs = [lab.run_project(p, inputs, flags, trace=False) for p in projects]
    assert [r.code for r in runs] == [0, 0], runs[1].messages
    assert runs[0].output == runs[1].output
    if target != "host":
        before, after = (r.numbers["instructions"] for r in runs)
        assert after <= 1.01 * before
