# pyright: basic
"""Moves within an arena: written, verified beside the solver, evaluated, and taken out again."""

from dataclasses import replace
from random import Random

import numpy as np
from moved_networks import moved, write

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import build_pipeline, check_module, load_text, new_context
from memopt.dialects.attributes.quick import array, number
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import OFFSET, is_move, plan_of
from memopt.dialects.memgraph.write_plan import order_facts, write_plan
from memopt.passes.memgraph_compact import MemgraphCompactPass
from memopt.solvers.errors import ProblemError
from memopt.text.ir_text import module_text
from memopt.verify.plan import verify_plan

FULL = 3_000  # networks


def test_moves_are_verified_and_change_no_number(fuzz: float) -> None:
    rng = Random(3)
    count = 0
    for case in range(max(25, int(FULL * fuzz))):
        module, planned, layout = moved(rng, "generic" + " align-io=64" * (case % 3 == 0))
        try:
            layout.answer.verify(layout.problem)
        except ProblemError:  # a place was not found
            continue
        inputs = [np.array([rng.uniform(-2, 2) for _ in range(n)], np.float32) for n in (5, 10, 15)]
        func = planned.func
        before = evaluate(func, Weights({}), inputs)
        last = body_of(func).last_op
        assert last is not None
        want = [before[v] for v in last.operands]
        write(planned, layout)
        check_module(module)
        assert planned.facts is not None
        assert verify_plan(func, placed=True).peak == planned.facts.peak
        after = evaluate(func, Weights({}), inputs)
        assert all(np.array_equal(after[v], w) for v, w in zip(last.operands, want, strict=True))
        assert sum(map(is_move, body_of(func).ops)) == len(layout.answer.moves)
        count += len(layout.answer.moves)
        again = load_text(new_context(), module_text(module), "net.mlir")
        verify_plan(only_function(again), placed=True)
        for step in build_pipeline("memgraph-place,memgraph-verify-plan{placed=true}"):
            step.apply(new_context(), again)
        assert not any(map(is_move, body_of(only_function(again)).ops))
    assert count > 25


def test_two_readings_of_wrong_moves(fuzz: float) -> None:
    """The verifier of plans refuses what the problem's own does, and nothing else."""
    rng = Random(4)
    refused = accepted = 0
    for _ in range(max(40, int(FULL * fuzz))):
        _, planned, layout = moved(rng)
        moves = list(layout.answer.moves)
        if not moves or min(layout.answer.offsets) < 0:
            continue
        k = rng.randrange(len(moves))
        other = moves[k].offset + rng.choice((-32, -16, 16, 32))
        moves[k] = moves[k]._replace(offset=max(0, other))
        wrong = replace(layout, answer=replace(layout.answer, moves=tuple(moves)))
        wider = replace(layout.problem, arena=4 * layout.problem.arena)
        try:
            wrong.answer.verify(wider)
            legal = True
        except ProblemError:
            legal = False
        write(planned, wrong)
        try:
            verify_plan(planned.func, placed=True)
            assert legal
            accepted += 1
        except MemoptError:
            assert not legal
            refused += 1
    assert refused and accepted


CHAIN = """func.func @main() {
  %a = memgraph.opaque "A"() : () -> tensor<16xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<16xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%b) : (tensor<16xi8>) -> tensor<16xi8>
  func.return
}"""


def test_a_bound_that_was_read_proves_no_move() -> None:
    context = new_context()
    module = load_text(context, CHAIN, "chain.mlir")
    for step in build_pipeline("memgraph-schedule{method=source},memgraph-place"):
        step.apply(context, module)
    func = only_function(module)
    list(body_of(func).ops)[2].attributes[OFFSET] = array([number(32)])
    plan = plan_of(func)
    assert plan is not None
    write_plan(func, order_facts(plan).in_one_arena(48, 48))  # a and c may share their bytes
    MemgraphCompactPass().apply(context, module)
    assert verify_plan(func, placed=True).plan.arena == 32
