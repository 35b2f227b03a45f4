"""Random functions planned over several memories: verified, run on bytes, with seeded changes."""

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast
from unittest.mock import patch

import pytest
from changed_plans import same_results
from memory_assignments import least_cost, small
from pass_functions import assign_function, schedule_function
from random_functions import random_function
from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import PassFailedException, VerifyException

from memopt.compile.driver import new_context
from memopt.dialects.attributes.memories import MemoryAttr
from memopt.dialects.attributes.placement import SlotAttr
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import PLAN, plan_of
from memopt.dialects.operators.movement import CopyOp
from memopt.passes import memgraph_memory
from memopt.passes.memgraph_traffic import measure_function
from memopt.passes.plan.extract import extract
from memopt.passes.plan.inplace import only_chosen
from memopt.passes.plan.memory_tenants import tenants_of
from memopt.solvers.memories import (
    Assignment,
    Bank,
    MemoryProblem,
    Use,
    assign,
    cost_of,
    cost_order,
    packing,
)
from memopt.solvers.memories.cost_bound import bound_of_costs
from memopt.verify.plan import verify_plan

CASES = 2_000
IN_PLACE = "{memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]}"


def restless(rng: random.Random) -> Callable[[MemoryProblem, float | None], Assignment]:
    """As `assign`, for uses of random weight and moves that cost next to nothing: many moves."""

    def solve(problem: MemoryProblem, time_limit: float | None) -> Assignment:
        tenants = tuple(
            replace(
                t,
                uses=tuple(Use(u.step, rng.randrange(50) if u.bytes else 0) for u in t.uses),
                copied=1 if t.movable else 0,
            )
            for t in problem.tenants
        )
        found = assign(MemoryProblem(problem.banks, tenants, problem.steps), time_limit)
        answer = Assignment(found.visits, cost_of(problem, found.visits), 0)
        answer.verify(problem)
        return answer

    return solve


def planned(rng: random.Random) -> tuple[FuncOp, FuncOp] | str:
    """(as drawn, planned over memories of random size), or why it was refused."""
    solve = restless(rng) if rng.random() < 0.5 else assign
    with patch.object(memgraph_memory, "assign", solve):
        return planned_by_pass(rng)


def planned_by_pass(rng: random.Random) -> tuple[FuncOp, FuncOp] | str:
    module = random_function(rng, 8)
    before = next(functions(module.clone()))
    func = next(functions(module))
    try:
        schedule_function(func, rng.choice(("auto", "source", "greedy")), None)
        plan = plan_of(func)
        assert plan is not None
        peak = plan.peak.data
        banks = [Bank("fast", rng.randint(0, peak), 1), Bank("slow", rng.randint(0, 2 * peak), 4)]
        if rng.random() < 0.4:
            banks.append(Bank("far", 4 * peak, rng.choice((5, 40))))
        assign_function(func, tuple(banks), rng.random() < 0.8)
    except MemoptError as error:
        return error.text
    except PassFailedException as error:  # the file's order against in-place aliases
        return str(error)
    return before, func


def test_plans_over_memories_verify_and_compute_the_same(fuzz: float) -> None:
    seen = Counter[str]()
    for seed in range(max(40, round(CASES * fuzz))):
        rng = random.Random(seed)
        answer = planned(rng)
        if isinstance(answer, str):
            seen["no room" if "are missing" in answer else "refused"] += 1
            continue
        before, func = answer
        verify_plan(func, placed=True)
        assert same_results(rng, before, func), f"seed {seed}"
        plan = plan_of(func)
        assert plan is not None and plan.costs is not None
        seen["planned"] += 1
        seen["moved"] += any(isinstance(op, CopyOp) for op in func.body.block.ops)
        seen["in several"] += sum(m.bytes.data > 0 for m in plan.memories) > 1
        again = func.clone()
        banks = tuple(Bank(m.memory.data, m.capacity.data, m.cost.data) for m in plan.memories)
        assign_function(again, banks)  # drops the moves and finds the least cost
        best = plan_of(again)
        assert best is not None and best.costs is not None and best.costs.optimal, f"seed {seed}"
        assert best.costs.cost.data <= plan.costs.cost.data, f"seed {seed}"
    assert all(seen[k] for k in ("planned", "moved", "in several", "no room")), seen


@pytest.mark.deep
def test_reordered_plans_verify_and_compute_the_same(
    fuzz: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And cost no more than in the order before, and no less than what bounds all orders; that is
    proven where each order was assigned."""
    monkeypatch.setattr(cost_order, "FEW", 4)
    monkeypatch.setattr(packing, "LEAST_TRIES", 20)
    seen = Counter[str]()
    for seed in range(max(80, round(CASES * fuzz / 10))):
        rng = random.Random(seed)
        module = random_function(rng, 8)
        before, func = next(functions(module.clone())), next(functions(module))
        try:
            schedule_function(func, rng.choice(("auto", "source", "greedy")), None)
        except (MemoptError, PassFailedException):
            continue
        peak = plan_of(func)
        assert peak is not None
        banks = (
            Bank("fast", rng.randint(peak.peak.data // 3, peak.peak.data), 1),
            Bank("slow", 1 << 20, 4),
        )
        stays = assign_function(func.clone(), banks)
        answer = assign_function(func, banks, reorder=True)
        verify_plan(func, placed=True)
        assert same_results(rng, before, func), f"seed {seed}"
        plan = plan_of(func)
        assert plan is not None and plan.costs is not None
        assert plan.costs.orders_lower_bound.data <= answer.cost == plan.costs.cost.data
        assert answer.cost <= stays.cost
        seen["cheaper"] += answer.cost < stays.cost
        seen["bounded"] += plan.costs.orders_lower_bound.data > 0
        seen["proven"] += plan.costs.orders_lower_bound.data == answer.cost
    assert all(seen[k] for k in ("cheaper", "bounded", "proven")), seen


def bases(rng: random.Random) -> str:
    """Return a function of which some results lie in place, some of these without bytes."""
    sizes = {"%x": 32, "%y": 16 * rng.randint(1, 3)}
    free, read, lines = ["%x", "%y"], set[str](), list[str]()
    for k in range(rng.randint(4, 5)):
        given = rng.sample(free, rng.randint(1, 2))
        read |= set(given)
        over = rng.random() < 0.5
        most = sizes[given[0]] if over else 48
        sizes[f"%{k}"] = rng.choice([0, 0, *range(16, most + 1, 16)])
        alias = IN_PLACE if over else ""
        types = ", ".join(f"tensor<{sizes[v]}xi8>" for v in given)
        made = f"-> tensor<{sizes[f'%{k}']}xi8>"
        lines.append(f'%{k} = memgraph.opaque "{k}"({", ".join(given)}) {alias} : ({types}) {made}')
        free = [v for v in free if not over or v != given[0]] + [f"%{k}"]
    ends = [v for v in free[1:] if v not in read or rng.random() < 0.4]
    types = ", ".join(f"tensor<{sizes[v]}xi8>" for v in ends)
    made = "\n".join([*lines, f"func.return {', '.join(ends)} : {types}"])
    inputs = f"%x: tensor<{sizes['%x']}xi8>, %y: tensor<{sizes['%y']}xi8>"
    return f"func.func @main({inputs}) -> ({types}) {{\n{made}\n}}"


def test_all_orders_of_results_in_place_are_bounded(fuzz: float) -> None:
    """By what the best of all orders costs in the best of all assignments, by brute force: the
    bound of what is live in every order is not above it, and the answer is that."""
    seen = Counter[str]()
    for seed in range(max(30, round(CASES * fuzz / 4))):
        rng = random.Random(seed)
        func = next(functions(Parser(new_context(), bases(rng)).parse_module()))
        extracted = only_chosen(extract(func), {})
        before = extracted.graph.predecessors
        banks = Bank("fast", 16 * rng.randint(2, 5), 1), Bank("slow", 1 << 10, 4)

        def problem_in(order: Sequence[int]) -> MemoryProblem:
            return tenants_of(extracted, banks, False, order).problem  # noqa: B023

        problems = [problem_in(order) for order in cost_order.orders_of(before)]
        if not small(problems[0]) or len(problems) > cost_order.FEW:
            continue
        costs = [least_cost(problem) for problem in problems]
        optimum = min(cost for cost in costs if cost is not None)
        bound = bound_of_costs(problems[0], before)
        answer = cost_order.least_cost_order(problem_in, before)
        assert bound <= optimum == answer.lower_bound == answer.assignment.cost, seed
        seen["met"] += bound == optimum > problems[0].least
        seen["cases"] += optimum > problems[0].least
        seen["orders"] += costs[0] != optimum
    assert seen["met"] > seen["cases"] / 4 and seen["orders"], seen


def change(rng: random.Random, func: FuncOp) -> None:
    """One slot elsewhere, or one number of the memories wrong."""
    plan = plan_of(func)
    assert plan is not None
    banks = list(plan.memories)
    if rng.random() < 0.4:
        k = rng.randrange(len(banks))
        b = banks[k]
        old = [b.bytes.data, b.capacity.data, b.cost.data, b.moved.data]
        old[rng.randrange(4)] += rng.choice((-16, -1, 1, 16))
        banks[k] = MemoryAttr(b.memory.data, "bank", *(max(0, v) for v in old))
        func.attributes[PLAN] = PlanAttr(
            plan.peak.data,
            0,
            "none",
            "order",
            banks,
            0,
            traffic=plan.costs,
            fingerprint=plan.fingerprint.data,
        )
        return
    holders = [op for op in func.body.block.ops if "memgraph.offset" in op.attributes]
    if not holders:
        return
    op = rng.choice(holders)
    places = list(cast("ArrayAttr[Attribute]", op.attributes["memgraph.offset"]).data)
    k = rng.randrange(len(places))
    place = places[k]
    if isinstance(place, SlotAttr):
        bank = rng.choice([b.memory.data for b in banks])
        offset = rng.choice((place.offset.data, 16 * rng.randrange(8)))
        places[k] = SlotAttr(bank, offset)
        op.attributes["memgraph.offset"] = ArrayAttr(places)


def test_a_changed_plan_is_refused_or_still_right(fuzz: float) -> None:
    """Nothing that the verifier lets through computes another result or overflows a memory."""
    refused = same = 0
    for seed in range(max(40, round(CASES * fuzz))):
        rng = random.Random(seed)
        answer = planned(rng)
        if isinstance(answer, str):
            continue
        before, func = answer
        text = str(func)
        try:
            change(rng, func)
            if str(func) == text:
                continue
            verify_plan(func, placed=True)
        except (MemoptError, VerifyException):
            refused += 1
            continue
        same += 1
        assert same_results(rng, before, func), f"seed {seed}"
        plan = plan_of(func)
        assert plan is not None
        for m in plan.memories:
            assert m.bytes.data <= m.capacity.data
    assert refused > same


def test_nothing_is_moved_off_the_chip_where_the_peak_fits(fuzz: float) -> None:
    """And with less on it Belady's rule moves no less than the exact choice, which shrinks as the
    chip grows."""
    fits = moves = 0
    seen = Counter[str]()
    for seed in range(max(40, round(CASES * fuzz / 2))):
        rng = random.Random(seed)
        func = next(functions(random_function(rng, 8)))
        try:
            schedule_function(func, "source", None)
            plan = plan_of(func)
            assert plan is not None
            peak = plan.peak.data
            assert measure_function(func, peak).moved.data == 0, f"seed {seed}"
            fits += 1
            before = 0
            for on_chip in (peak, peak * 3 // 4, peak // 2):
                least = measure_function(func, on_chip, "exact")
                rule = measure_function(func, on_chip)
                assert least.lower_bound.data == least.moved.data <= rule.moved.data
                assert least.moved.data >= before
                before = least.moved.data
            moves += before > 0
            verify_plan(func)
        except MemoptError as error:
            seen[re.sub(r"\S*[\d#]\S*", "_", error.text)] += 1
        except PassFailedException as error:  # scratch too large, or in place against the order
            seen[re.sub(r"\S*[\d#]\S*", "_", str(error))] += 1
    assert fits and moves and fits > sum(seen.values()), seen
