"""Picked stretches that have rows, and the nearest that have none."""

import pytest

from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.operators.picked import PickingOp

HALF = "terms [0, 0, 1, 1, 2, 2] numbers"
CASES = {
    "mirrored": (f"sizes [1, 3, 2] {HALF} [0, 1, 0, 1, 1, 0]", [1, 0, 1]),
    "a column of what fills": (f"sizes [1, 3, 2] {HALF} [0, 1, 0, 1, -1, 0]", [1, 0, 1]),
    "a row above": (f"sizes [1, 3, 2] {HALF} [0, -1, 0, 1, 1, 0]", None),
    "a row below": (f"sizes [1, 3, 2] {HALF} [0, 0, 1, 2, 1, 0]", None),
    "another image": (f"sizes [1, 3, 2] {HALF} [-1, 0, 1, 0, 1, 0]", None),
    "upright": ("sizes [1, 3, 2] terms [0, 0, 1, 2, 2, 1] numbers [0, 1, 0, 1, 1, 0]", None),
    "askew": (
        "sizes [1, 3, 2] terms [0, 0, 1, 1, 2, 2, 2, 1] numbers [0, 1, 0, 0, 1, 0, 0, 1]",
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_rows(name: str) -> None:
    attributes, rows = CASES[name]
    x, y = (f"tensor<1x{n}x2x2xi8, #memgraph.encoding<nhwc>>" for n in (2, 3))
    text = (
        f"func.func @main(%x: {x}) -> {y} {{\n"
        f"  %y = memgraph.picked %x shape [1, 2, 2] {attributes} : ({x}) -> {y}\n"
        f"  func.return %y : {y}\n}}"
    )
    (op,) = (
        op
        for op in body_of(only_function(load_text(new_context(), text, "net.mlir"))).ops
        if isinstance(op, PickingOp)
    )
    assert op.rows_mode == (None if rows is None else "fresh")
    needed = None if rows is None else [range(r, r + 1) for r in rows]
    assert needed is None or [op.rows_needed(0, r) for r in range(3)] == needed
