"""Picked stretches that have rows, the nearest that have none, and scales that go with indices."""

from collections.abc import Sequence
from contextlib import nullcontext

import pytest

from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.operators.picked import PickingOp
from memopt.verify.windows import windows_of

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


def picked(shapes: Sequence[str], attributes: str, encoding: str = "nhwc") -> PickingOp:
    """Return the operator between images of these shapes."""
    x, y = (f"tensor<{shape}xi8, #memgraph.encoding<{encoding}>>" for shape in shapes)
    text = (
        f"func.func @main(%x: {x}) -> {y} {{\n"
        f"  %y = memgraph.picked %x {attributes} : ({x}) -> {y}\n"
        f"  func.return %y : {y}\n}}"
    )
    (op,) = (
        op
        for op in body_of(only_function(load_text(new_context(), text, "net.mlir"))).ops
        if isinstance(op, PickingOp)
    )
    return op


@pytest.mark.parametrize(
    "picks",
    ["shape [] sizes [] terms [] numbers []", "shape [1] sizes [1] terms [0, 0] numbers [0]"],
)
@pytest.mark.parametrize("result", ["1x2x12x3", "1x8x3x3"])
def test_rows_of_another_size_are_none(picks: str, result: str) -> None:
    op = picked(["1x4x6x3", result], picks)
    assert op.rows_mode is None
    assert windows_of(op, 0, 0) is None


@pytest.mark.parametrize("name", CASES)
def test_rows(name: str) -> None:
    attributes, rows = CASES[name]
    op = picked(["1x2x2x2", "1x3x2x2"], f"shape [1, 2, 2] {attributes}")
    assert op.rows_mode == (None if rows is None else "fresh")
    needed = None if rows is None else [range(r, r + 1) for r in rows]
    assert needed is None or [op.rows_needed(0, r) for r in range(3)] == needed


@pytest.mark.parametrize("index", [-1, 1, 2])
def test_an_index_without_a_scale_is_refused(index: int) -> None:
    encoding = "scale = [1.0, 2.0], zero_point = [0, 0], axis = 0"
    numbers = f"shape [2] sizes [2] terms [0, 0] numbers [0, {index}]"
    op = picked(["2x3", "2x3"], numbers, encoding)
    with nullcontext() if index == 1 else pytest.raises(MemoptError, match="other scales"):
        op.need_numbers()
