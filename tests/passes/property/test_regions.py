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
from pass_functions import fuse_function, schedule_function
from random_functions import random_function
from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.dialects.func import FuncOp

from memopt.compile.driver import build_pipeline, load_model, load_text, new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.structure import HyperNode
from memopt.passes import memgraph_schedule
from memopt.passes.plan.extract import extract
from memopt.solvers.problems.memory_graph import Schedule
from memopt.solvers.theory.chains import reduced
from memopt.verify.plan import verify_plan

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


def lie(rng: random.Random, func: FuncOp) -> bool:
    """Let a hyper-node say something else of an operand: that it ends inside, or that it stays."""
    nodes = [op for op in func.body.block.ops if isinstance(op, HyperNode) and op.inputs]
    if not nodes:
        return False
    node = rng.choice(nodes)
    changed = set(node.kept_operands) ^ {rng.randrange(len(node.inputs))}
    node.properties["kept"] = DenseArrayBase.from_list(i64, sorted(changed))
    return True


def believed(seed: int) -> bool | None:
    """Whether a lie is believed: another peak or bound. None if it is refused, or there is none."""
    rng = random.Random(seed)
    module = random_function(rng, 10)
    flat, fused = next(functions(module.clone())), next(functions(module))
    try:
        wanted = schedule_function(flat, "search", None)
        fuse_function(fused)
        if not lie(rng, fused):
            return None
        found = schedule_function(fused, "search", None)
    except MemoptError:
        return None
    return (found.peak, found.lower_bound) != (wanted.peak, wanted.lower_bound)


def test_a_node_that_lies_is_refused_or_costs_nothing(fuzz: float) -> None:
    answers = Counter(believed(seed) for seed in range(round(FUNCTIONS * fuzz)))
    assert not answers[True]
    assert answers[False]


# x ends with A, and `kept` denies it: the node seems to take 28 B, not 20 B, above the rest. Node
# first is 30 B and seems to be 38 B; q first is 34 B, so that 34 B seems to be the optimum.
DENIED = """
func.func @main(%x: tensor<8xi8>, %g: tensor<10xi8>) -> (tensor<1xi8>, tensor<2xi8>)
    attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %y = memgraph.fused (%i = %x : tensor<8xi8>) KEPT -> tensor<1xi8> {
    %a = memgraph.opaque "A"(%i) : (tensor<8xi8>) -> tensor<8xi8>
    %b = memgraph.opaque "B"(%a) {memgraph.scratch = [#memgraph.scratch<11>]}
      : (tensor<8xi8>) -> tensor<1xi8>
    memgraph.yield %b : tensor<1xi8>
  }
  %q = memgraph.opaque "q"(%g) {memgraph.scratch = [#memgraph.scratch<14>]}
    : (tensor<10xi8>) -> tensor<2xi8>
  func.return %y, %q : tensor<1xi8>, tensor<2xi8>
}
"""


def denied(kept: str) -> Schedule:
    module = load_text(new_context(True), DENIED.replace("KEPT", kept), "denied.mlir")
    return schedule_function(next(functions(module)), "search", None)


def test_without_the_comparison_a_lie_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_contraction(*_: object) -> None:
        return None

    assert (denied("").peak, denied("").optimal) == (30, True)
    with pytest.raises(MemoptError, match="hides what it does"):
        denied("kept [0]")
    monkeypatch.setattr(memgraph_schedule, "is_contraction", is_contraction)
    assert (denied("kept [0]").peak, denied("kept [0]").optimal) == (34, True)


def rows(shared: Path) -> list[dict[str, str]]:
    return json.loads((shared / "graphs" / "optima.json").read_text())


@pytest.mark.deep
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
