"""Contraction in the IR: what hyper-nodes say of a module is what the module does.

On random functions with views, slices, concats, in-place results and every `io`, a fused function
has the optimum of the flat one, and opened again it is the flat function.
"""

import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest
from random_functions import random_function
from xdsl.context import Context
from xdsl.dialects.func import FuncOp

from memopt.dialects.errors import MemoptError
from memopt.dialects.plan import functions
from memopt.dialects.verify_plan import verify_plan
from memopt.driver import build_pipeline, load_model
from memopt.passes.extract import extract
from memopt.passes.memgraph_fuse import fuse_function
from memopt.passes.memgraph_schedule import schedule_function
from memopt.solvers.chains import reduced

FUNCTIONS = 4_000
LARGE = 400  # operators of a graph that `make fuzz` alone takes


def kinds(func: FuncOp) -> Counter[str]:
    """What the function is made of, whatever the order and whatever was decided in it."""
    lines = (re.sub(r"%\w+|memgraph\.(order|alias)[^,}]*", "", x) for x in str(func).splitlines())
    return Counter(line for line in lines if "func.func" not in line)


@pytest.mark.parametrize("seed", range(4))
def test_fused_functions_keep_the_optimum_and_open_again(seed: int, fuzz: float) -> None:
    nodes = repeated = 0
    count = round(FUNCTIONS * fuzz / 4)
    for i in range(count):
        rng = random.Random(4 * i + seed)
        module = random_function(rng, 10)
        flat, fused = next(functions(module.clone())), next(functions(module))
        try:
            wanted = schedule_function(flat, "search", None)
        except MemoptError:
            continue  # aliases that contradict each other
        nodes += fuse_function(fused)
        module.verify()
        repeated += "memgraph.repeated" in str(fused)
        found = schedule_function(fused, "search", None)
        assert (found.peak, found.lower_bound) == (wanted.peak, wanted.lower_bound), 4 * i + seed
        verify_plan(fused)
        assert kinds(fused) == kinds(flat), 4 * i + seed
    assert nodes > count / 10
    assert repeated or count < 100  # about one in thirty


def rows(shared: Path) -> list[dict[str, str]]:
    return json.loads((shared / "graphs" / "optima.json").read_text())


def test_the_ir_is_contracted_as_far_as_the_solver_does(shared: Path, fuzz: float) -> None:
    """On every row of optima.json: the size that `--fuse` reaches is the solver's."""
    missed: list[str] = []
    for row in rows(shared):
        if int(row["operators"]) > LARGE and fuzz < 1:
            continue
        name = f"{row['graph']} {row['prepare']}"
        module = load_model(shared / "graphs" / f"{row['graph']}.json", {})
        pipeline = "memgraph-model{alignment=1}"
        if row["prepare"]:
            pipeline += f",memgraph-prepare{{conventions={row['prepare']}}}"
        for step in build_pipeline(pipeline):
            step.apply(Context(), module)
        func = next(functions(module))
        wanted = len(reduced(extract(func).graph)[0])
        fuse_function(func)
        found = len(extract(func).graph)
        if found != wanted:
            missed.append(f"{name}: {found} operators, the solver {wanted}")
    assert not missed
