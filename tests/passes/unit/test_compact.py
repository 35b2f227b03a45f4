# pyright: basic
"""Moves within an arena: written, verified beside the solver, evaluated, and taken out again."""

from dataclasses import replace
from random import Random

import numpy as np
from moved_networks import moved, write

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import build_pipeline, check_module, load_text, new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import is_move
from memopt.solvers.errors import ProblemError
from memopt.text.ir_text import module_text
from memopt.verify.plan import verify_plan

FULL = 3_000  # networks


def test_moves_are_verified_and_change_no_number(fuzz: float) -> None:
    rng = Random(3)
    count = 0
    for _ in range(max(25, int(FULL * fuzz))):
        module, planned, layout = moved(rng)
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
