# pyright: basic
"""Products that are added up place by place, and products with such sums: in C, whole and in rows,
what is evaluated. Of small whole numbers other than 0, whose sums are exact in any order."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside import assert_compiled, beside
from deep import deep_but

from memopt.compile.driver import load_text, new_context

FULL = 2000  # operators
EACH = 20  # in a program


def random_operator(rng: np.random.Generator, number: int) -> tuple[str, list[str], str]:
    """Return either operator as text, the types of its arguments, and of its result."""
    places, groups, depth, width = (int(v) for v in rng.integers(1, 7, 4))
    x, y = f"%x{number}_0", f"%x{number}_1"
    if rng.random() < 0.5:
        kinds = [f"tensor<1x{places}x{groups * n}xf32>" for n in (depth, width)]
        result = f"tensor<{groups * depth}x{width}xf32>"
        text = f"memgraph.outer_products {x}, {y} groups {groups}"
    else:
        rows, turned = int(rng.integers(1, 4)), [bool(rng.integers(2)) for _ in range(2)]
        left = f"{depth}x{rows}" if turned[0] else f"{rows}x{depth}"
        right = f"{width}x{depth}" if turned[1] else f"{depth}x{width}"
        kinds = [f"tensor<1x{places}x{groups}x{left}xf32>", f"tensor<{groups}x{right}xf32>"]
        result = f"tensor<1x{places}x{groups}x{rows}x{width}xf32>"
        text = f"memgraph.batch_matmul {x}, {y}" + " adj_x" * turned[0] + " adj_y" * turned[1]
    return f"  %y{number} = {text} : ({', '.join(kinds)}) -> {result}\n", kinds, result


def check(seed: int, target: str, flags: str, folder: Path, lab: Any) -> None:
    rng = np.random.default_rng(seed)
    text = beside([random_operator(rng, k) for k in range(EACH)])
    module = load_text(new_context(), text, "net.mlir")
    shapes = [x.shape for x in lab.random_inputs(module, 1, seed)]
    inputs = [
        (rng.integers(1, 10, shape) * rng.choice([-1, 1], shape)).astype(np.float32)
        for shape in shapes
    ]
    assert_compiled(text, inputs, ("none", "all")[seed % 2], target, flags, folder, lab)


@pytest.mark.deep
def test_random_operators_are_what_evaluate_computes(fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for seed in range(max(2, int(FULL / EACH * fuzz))):
        check(seed, "host", lab.SANITIZE, tmp_path / str(seed), lab)


@pytest.mark.deep
@pytest.mark.parametrize("target", deep_but("cortex-m4", ["cortex-m4", "cortex-m7", "cortex-m55"]))
def test_a_board_computes_the_same(target: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools(target)
    check(11, target, "-O2", tmp_path / "c", lab)


CONSTANT_VALUES = """
!x = tensor<1x3x4xf32>
!c = tensor<1x3x2xf32>
!s = tensor<4x2xf32>
func.func @main(%x: !x) -> !s {
  %c = memgraph.constant dense<[[[1., 2.], [3., 4.], [5., 6.]]]> : !c
  %y = memgraph.outer_products %x, %c groups 1 : (!x, !c) -> !s
  return %y : !s
}
"""


@pytest.mark.parametrize("rows", ["none", "all"])
def test_values_may_be_constant(rows: str, tmp_path: Path, lab: Any) -> None:
    """In rows, each call reads its row of the constant."""
    lab.need_tools("host")
    x = np.arange(1, 13, dtype=np.float32).reshape(1, 1, 3, 4)  # one run
    assert_compiled(CONSTANT_VALUES, [x], rows, "host", lab.SANITIZE, tmp_path / "net", lab)
