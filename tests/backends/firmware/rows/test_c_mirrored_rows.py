"""Mirrored borders in rows between windows: C computes the bits of whole operators, of stored
integers those that `evaluate` says."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_programs import Program, compiled
from row_networks import image_of
from row_steps import mirrored, pool, same
from row_text import Text

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import build_pipeline, load_text, new_context
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.rows.operations import RowOp

FULL = 2_000  # networks
PLANNED = (
    "memgraph-model{{target=host alignment=4 inplace=on}}{},memgraph-schedule{{method=rpo}},"
    "memgraph-place{{method=greedy-by-size}},memgraph-verify-plan{{placed=true}}"
)


def network(rng: np.random.Generator, quantized: bool) -> str:
    net = Text(rng, quantized)
    first = (1, *(int(v) for v in rng.integers(1, 7, 2)), int(rng.integers(1, 4)))
    net.made.append(("%x", first))
    for _ in range(int(rng.integers(1, 3))):
        mirrored(net)
        net.pick(same, pool)(net)
    name, shape = net.last
    body = "".join(f"  {line}\n" for line in net.lines)
    types = f"(%x: {net.type_of(first)}) -> {net.type_of(shape)}"
    return f"func.func @main{types} {{\n{body}  func.return {name} : {net.type_of(shape)}\n}}\n"


@pytest.mark.deep
def test_rows_compute_the_same_bits(fuzz: float, lab: Any, tmp_path: Path) -> None:
    lab.need_tools("host")
    cc, options = compiled(lab.OBJECTS, lab.SANITIZE)
    program, given, want = Program(tmp_path / "nets"), b"", list[tuple[int, bytes]]()
    for seed in range(max(12, int(FULL * fuzz))):
        rng = np.random.default_rng([seed, 83])
        text = network(rng, seed % 2 == 0)
        func = only_function(load_text(new_context(), text, "net.mlir"))
        image = image_of(func, rng)
        last = func.get_return_op()
        assert last is not None
        result = evaluate(func, Weights({}), [image])[last.operands[0]].tobytes()
        given += image.tobytes()
        want.append((seed, result))
        for form, rows in ((f"whole{seed}", ""), (f"rows{seed}", ",memgraph-expand-rows")):
            module = load_text(new_context(), text, "net.mlir")
            for step in build_pipeline(PLANNED.format(rows)):
                step.apply(new_context(), module)
            cut = [op for op in body_of(only_function(module)).ops if isinstance(op, RowOp)]
            assert bool(rows) == any(op.whole.name == "memgraph.mirrored" for op in cut)
            program.add(module, form, [image.nbytes, len(result)])
    found = program.run(cc, given, options)
    for seed, result in want:
        whole, in_rows, found = (
            found[: len(result)],
            found[len(result) : 2 * len(result)],
            found[2 * len(result) :],
        )
        assert whole == in_rows, seed
        assert seed % 2 or whole == result, seed
    assert not found
