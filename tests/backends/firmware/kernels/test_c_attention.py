# pyright: basic
"""Attention in C: close to what is evaluated, the same query by query as all at once."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside import beside
from deep import SEEDS, deep_but, seeds
from xdsl.context import Context

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import only_function
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass

FULL = 2000  # operators
EACH = 20  # in a program
PLACE = "greedy-by-size"  # kernels are compared here, not how few bytes many of them need


def kind(*shape: int) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def random_operator(rng: np.random.Generator, number: int) -> tuple[str, list[str], str]:
    """Return a random operator, the types of what it reads, which are arguments, and its result's;
    few queries or keys, channels that are no multiple of four."""
    queries, keys, groups, shared, depth, width = (
        int(rng.integers(1, most)) for most in (12, 12, 4, 4, 10, 10)
    )
    queries += rng.random() < 0.7  # one query is no row of several
    heads = groups * shared
    width = depth if rng.random() < 0.5 else width  # then it may overwrite the queries
    types = [kind(1, queries, heads * depth), kind(1, keys, groups * depth)]
    types.append(kind(1, keys, groups * width))
    if mask := int(rng.integers(3)):
        by_head = rng.random() < 0.4
        types.append(kind(1, queries if mask == 1 else 1, keys * (heads if by_head else 1)))
    names = ", ".join(f"%x{number}_{k}" for k in range(len(types)))
    ways = f"heads {heads} " + f"kv_heads {groups} " * (shared > 1)
    result = kind(1, queries, heads * width)
    ways += f"scale {rng.uniform(0.1, 2):e} "
    ways += f"causal {rng.integers(keys)} " * (rng.random() < 0.4)
    line = f"  %y{number} = memgraph.attention {names} {ways}"
    return f"{line} : ({', '.join(types)}) -> {result}\n", types, result


def program(seed: int) -> str:
    rng = np.random.default_rng(seed)
    operators = [random_operator(rng, number) for number in range(EACH)]
    return beside(operators)


def outputs(seed: int, target: str, rows: bool, flags: str, folder: Path, lab: Any) -> list[Any]:
    """Return the inputs of a program, and what it computes of them, all at once or in rows."""
    module = load_text(new_context(), program(seed), "net.mlir")
    if rows:
        MemgraphExpandRowsPass(("all",)).apply(Context(), module)
        assert "memgraph.row %" in str(module)
    module = lab.plan(module, place=PLACE, target=target, inplace="on", alignment=4)
    inputs = lab.random_inputs(load_text(new_context(), program(seed), "net.mlir"), 1, seed)
    run = lab.run_project(lab.write(module, folder, "net", target), inputs, flags, trace=False)
    assert run.code == 0, run.messages
    return [inputs, run.output]


def check(seed: int, inputs: list[Any], output: bytes) -> None:
    """A sum of n products is off by less than n 2^-23 of their sizes, a part of the softmax by as
    much as a score; both are small here."""
    module = load_text(new_context(), program(seed), "net.mlir")
    func = only_function(module)
    last = func.get_return_op()
    assert last is not None
    values = evaluate(func, Weights({}), [x[0] for x in inputs])
    want = np.concatenate([values[v].reshape(-1) for v in last.operands])
    got = np.frombuffer(output, np.float32)
    assert abs(got - want).max() <= 1e-5, seed


@pytest.mark.parametrize("part", SEEDS)
def test_random_operators_are_what_evaluate_computes(
    part: str, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools("host")
    for seed in seeds(part, 1, 2, FULL / EACH * fuzz):
        computed = outputs(seed, "host", False, lab.SANITIZE, tmp_path / f"{seed}w", lab)
        check(seed, *computed)
        by_row = outputs(seed, "host", True, lab.SANITIZE, tmp_path / f"{seed}r", lab)
        assert by_row[1] == computed[1], seed


@pytest.mark.parametrize("target", deep_but("cortex-m4", ["cortex-m4", "cortex-m7", "cortex-m55"]))
def test_a_board_computes_the_same(target: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools(target)
    for rows in (False, True):
        check(11, *outputs(11, target, rows, "-O2", tmp_path / f"{rows}", lab))
