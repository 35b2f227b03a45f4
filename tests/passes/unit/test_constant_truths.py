"""Comparisons of constants are constants where that takes no flash that nobody asked for."""

import pytest
from rule_examples import parsed

from memopt.dialects.memgraph.functions import only_function
from memopt.passes.plan.extract import extract

SQUARE = "tensor<8x8xi1>"
GREATER = f"%m = memgraph.greater %a, %b : (tensor<8x1xi16>, tensor<1x8xi16>) -> {SQUARE}"
NOT = f"%n = memgraph.logical_not %m : ({SQUARE}) -> {SQUARE}"
OF_FLOATS = f"({SQUARE}, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>"
OF_NUMBERS = f"({SQUARE}, tensor<f32>, tensor<f32>) -> tensor<8x8xf32>"
MASKED = f"%s = memgraph.choose %m, %z, %z : {OF_NUMBERS}"
ADDED = "(tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>"
FLAT = f"(tensor<8x8xi32>, tensor<8x8xi32>) -> {SQUARE}"


@pytest.mark.parametrize(
    ("lines", "runs"),
    [
        # a square of 64 B, of a column and a row of 16 B
        ([GREATER, f"%r = memgraph.choose %m, %x, %z : {OF_FLOATS}"], ["greater", "choose"]),
        (
            [GREATER, NOT, f"%r = memgraph.choose %n, %x, %z : {OF_FLOATS}"],
            ["greater", "logical_not", "choose"],
        ),
        # 64 B of 256
        (
            [
                f"%m = memgraph.greater %c, %c : {FLAT}",
                NOT,
                f"%r = memgraph.choose %n, %x, %z : {OF_FLOATS}",
            ],
            ["choose"],
        ),
        # a mask that is added, of which the comparison is never written
        (
            [GREATER, MASKED, f"%r = memgraph.add %x, %s : {ADDED}"],
            ["add"],
        ),
        # it is read at run time, too
        (
            [
                *(GREATER, MASKED, f"%t = memgraph.choose %m, %x, %z : {OF_FLOATS}"),
                f"%r = memgraph.add %t, %s : {ADDED}",
            ],
            ["greater", "choose", "choose", "add"],
        ),
    ],
)
def test_flash_is_spent_on_no_square(lines: list[str], runs: list[str]) -> None:
    body = "\n".join(lines)
    module = parsed(f"""func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {{
      %a = memgraph.constant dense<1> : tensor<8x1xi16>
      %b = memgraph.constant dense<2> : tensor<1x8xi16>
      %c = memgraph.constant dense<2> : tensor<8x8xi32>
      %z = memgraph.constant dense<0.5> : tensor<f32>
      {body}
      func.return %r : tensor<8x8xf32>
    }}""")
    operations = extract(only_function(module)).memory.operations
    assert [op.name.removeprefix("memgraph.") for op in operations] == runs
