# pyright: basic
"""Products of each place of a sequence with one matrix: place by place the same as all at once."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context

from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass

FULL = 200


def program(seed: int, stored: bool) -> str:
    """Return a product of places, or of a few vectors in each."""
    rng = np.random.default_rng(seed)
    rows, each, depth, width = (int(n) for n in rng.integers(1, 9, 4))
    inside = (each,) if rng.random() < 0.5 else ()
    shapes = [(1, rows + 1, *inside, n) for n in (depth, width)]
    element = "i8, #memgraph.encoding<scale = [5.0e-02], zero_point = [3]>" if stored else "f32"
    x, y = (f"tensor<{'x'.join(map(str, s))}x{element}>" for s in shapes)
    w = f"tensor<{width}x{depth}x{'i8' if stored else 'f32'}"
    w += ", #memgraph.encoding<scale = [1.0e-02], zero_point = [0]>>" if stored else ">"
    weights = rng.integers(-127, 128, (width, depth)) if stored else rng.normal(size=(width, depth))
    rounding = ("tflm_double", "onnx_even")[seed % 2]
    return (
        f"func.func @main(%x: {x}) -> {y} {{\n"
        f"  %w = memgraph.constant dense<{weights.tolist()}> : {w}\n"
        f"  %y = memgraph.fully_connected %x, %w keep_dims"
        f"{f' rounding<{rounding}>' if stored else ''} : ({x}, {w}) -> {y}\n"
        f"  func.return %y : {y}\n}}\n"
    )


@pytest.mark.parametrize("stored", [False, True])
def test_a_place_is_what_it_is_in_all(stored: bool, fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for seed in range(max(3, int(FULL * fuzz))):
        outputs: list[bytes] = []
        for rows in (False, True):
            module = load_text(new_context(), program(seed, stored), "net.mlir")
            inputs = lab.random_inputs(module, 2, seed)
            if rows:
                MemgraphExpandRowsPass(("all",)).apply(Context(), module)
                ops = body_of(only_function(module)).ops
                assert not any(isinstance(op, FullyConnectedOp) for op in ops), seed
            module = lab.plan(module, target="host", alignment=4)
            folder = lab.write(module, tmp_path / f"{seed}{rows}", "net", "host")
            run = lab.run_project(folder, inputs, lab.SANITIZE, trace=False)
            assert run.code == 0, run.messages
            outputs.append(run.output)
        assert outputs[0] == outputs[1], seed
