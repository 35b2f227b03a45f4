# pyright: basic
"""Attention of bytes in C: bit for bit what is evaluated, query by query and all at once."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside import beside, evaluated
from deep import SEEDS, deep_but, seeds
from xdsl.context import Context

from memopt.compile.driver import load_text, new_context
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass

FULL = 2000  # operators
EACH = 20  # in a program
PLACE = "greedy-by-size"  # kernels are compared here, not how few bytes many of them need


class Random:
    """Operators with random sizes and quantizations, in which few scores and results are beyond
    what a byte holds."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def stored(self, shape: tuple[int, ...], scale: float, element: str = "i8") -> str:
        zero = int(self.rng.integers(-40, 40)) + 128 * (element == "ui8")
        sizes = "".join(f"{n}x" for n in shape)
        encoding = f"#memgraph.encoding<scale = [{scale:e}], zero_point = [{zero}]>"
        return f"tensor<{sizes}{element}, {encoding}>"

    def near(self, scale: float) -> float:
        return scale * float(self.rng.uniform(0.5, 1.5))

    def parts(self) -> str:
        if self.rng.random() < 0.1:  # too many steps for products
            return self.stored((), float(10 ** self.rng.uniform(-7, -4)))
        if self.rng.random() < 0.3:
            return self.stored((), float(self.rng.uniform(0.002, 0.02)))
        zero, element = ((-128, "i8"), (0, "ui8"))[int(self.rng.integers(2))]
        scale = 1 / 255 if self.rng.random() < 0.5 else 1 / 256
        encoding = f"#memgraph.encoding<scale = [{scale:e}], zero_point = [{zero}]>"
        return f"tensor<{element}, {encoding}>"

    def operator(self, number: int) -> tuple[str, list[str], str]:
        """Return an operator, the types of what it reads, which are arguments, and its result's;
        few queries or keys, channels that are no multiple of four."""
        queries, keys, groups, shared, depth, width = (
            int(self.rng.integers(1, most)) for most in (12, 40, 4, 4, 40, 20)
        )
        queries += self.rng.random() < 0.7  # one query is no row of several
        heads = groups * shared
        width = depth if self.rng.random() < 0.5 else width  # then it may overwrite the queries
        q, k, v = (float(10 ** self.rng.uniform(-3, -1)) for _ in range(3))
        types = [
            self.stored((1, queries, heads * depth), q),
            self.stored((1, keys, groups * depth), k),
            self.stored((1, keys, groups * width), v),
        ]
        score = self.near(q * k * depth**0.5 * 50)
        factor = float(self.rng.uniform(0.01, 0.3)) / score
        bytes_ = ("i8", "ui8")
        scores = self.stored((), score, bytes_[int(self.rng.integers(2))])
        ways = f"scores {scores} "
        if self.rng.random() < 0.6:
            factor = self.near(1.0)
            scaled = self.near(score * factor * 0.8)
            ways += f"scaled {self.stored((), scaled, bytes_[int(self.rng.integers(2))])} "
        causal = f"causal {self.rng.integers(keys)} " * (self.rng.random() < 0.4)
        ways = f"scale {factor:e} {causal}{ways}parts {self.parts()} rounding<onnx_even>"
        ways = f"heads {heads} " + f"kv_heads {groups} " * (shared > 1) + ways
        result = self.stored((1, queries, heads * width), self.near(v * 0.6))
        names = ", ".join(f"%x{number}_{k}" for k in range(3))
        line = f"  %y{number} = memgraph.attention {names} {ways}"
        return f"{line} : ({', '.join(types)}) -> {result}\n", types, result


def program(seed: int) -> str:
    random = Random(seed)
    operators = [random.operator(number) for number in range(EACH)]
    return beside(operators)


def check(seed: int, target: str, rows: bool, flags: str, folder: Path, lab: Any) -> None:
    """Compare a program, all at once or in rows, with what is evaluated, to the bit."""
    module = load_text(new_context(), program(seed), "net.mlir")
    if rows:
        MemgraphExpandRowsPass(("all",)).apply(Context(), module)
        assert "memgraph.row %" in str(module)
    module = lab.plan(module, place=PLACE, target=target, inplace="on", alignment=4)
    whole = load_text(new_context(), program(seed), "net.mlir")
    inputs = lab.random_inputs(whole, 1, seed)
    run = lab.run_project(lab.write(module, folder, "net", target), inputs, flags, trace=False)
    assert run.code == 0, run.messages
    assert run.output == evaluated(whole, inputs), seed


@pytest.mark.parametrize("part", SEEDS)
def test_random_operators_are_what_evaluate_computes(
    part: str, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools("host")
    for seed in seeds(part, 1, 2, FULL / EACH * fuzz):
        for rows in (False, True):
            check(seed, "host", rows, lab.SANITIZE, tmp_path / f"{seed}{rows}", lab)


@pytest.mark.parametrize(
    "target", deep_but("cortex-m4", ["cortex-m4", "cortex-m3", "cortex-m7", "cortex-m55"])
)
def test_a_board_computes_the_same(target: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools(target)
    for rows in (False, True):
        check(11, target, rows, "-O2", tmp_path / f"{rows}", lab)
