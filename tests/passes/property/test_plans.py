"""Plans of random functions: what we plan verifies, and what verifies computes the same.

The second half is the test of the verifier: a random change to a plan is either refused, or the
function still computes, on an arena of bytes, what it computes by value.
"""

import random
import re
from collections import Counter
from collections.abc import Callable
from typing import cast

import pytest
from changed_plans import (
    ORDER,
    SCHEDULES,
    SCRATCH,
    change_alias,
    main_of,
    move_operator,
    move_result,
    ordered,
    plan_of,
    same_results,
    swap_order,
)
from pass_functions import fuse_function, place_function, schedule_function
from random_functions import random_function
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp

from memopt.dialects.attributes.memories import one_arena
from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.fingerprint import fingerprint
from memopt.verify.plan import verify_plan

PLACES = ("auto", "greedy-by-size", "greedy-by-breadth", "best-fit", "tflm", "exact", "joint")


def planned(rng: random.Random, operators: int = 10) -> tuple[FuncOp, FuncOp] | str:
    """(as drawn, planned), or why it was refused."""
    module = random_function(rng, operators)
    before = main_of(module.clone())
    func = main_of(module)
    try:
        if rng.random() < 0.3:
            fuse_function(func)
        schedule_function(func, rng.choice(SCHEDULES), None)
        place_function(func, rng.choice(PLACES), None)
    except MemoptError as error:
        return error.text
    return before, func


def test_what_we_plan_verifies_and_computes_the_same(fuzz: float) -> None:
    refused = Counter[str]()
    count = round(3000 * fuzz)
    for seed in range(count):
        rng = random.Random(seed)
        answer = planned(rng)
        if isinstance(answer, str):
            refused[re.sub(r"\S*[\d#]\S*", "_", answer)] += 1
            continue
        before, func = answer
        verify_plan(func, placed=True)
        assert same_results(rng, before, func), f"seed {seed}"
    assert refused.total() < count / 3, refused


# -- the verifier against random changes --------------------------------------------------------


def figures(peak: int, arena: int, text: str) -> PlanAttr:
    """A plan that claims no bounds, of one arena."""
    return PlanAttr(peak, 0, "none", "order", one_arena(arena), 0, fingerprint=text)


def move_scratch(rng: random.Random, func: FuncOp) -> None:
    holders = [op for op in func.body.block.ops if SCRATCH in op.attributes]
    if not holders:
        return move_result(rng, func)
    op = rng.choice(holders)
    entries = list(cast("ArrayAttr[ScratchAttr]", op.attributes[SCRATCH]).data)
    k = rng.randrange(len(entries))
    step = rng.choice((1, 4, 16))
    offset = rng.randrange(-1, plan_of(func).arena + 16, step)
    entries[k] = ScratchAttr(entries[k].bytes.data, max(-1, offset))
    op.attributes[SCRATCH] = ArrayAttr(entries)
    return None


def drop_order(rng: random.Random, func: FuncOp) -> None:
    steps = ordered(func)
    if steps:
        del rng.choice(steps).attributes[ORDER]
        if rng.random() < 0.5:
            for index, step in enumerate(ordered(func)):
                step.attributes[ORDER] = IntegerAttr(index, i64)


def change_figures(rng: random.Random, func: FuncOp) -> None:
    plan = plan_of(func)
    step = rng.choice((-16, -4, -1, 1, 4, 16))
    peak, arena = plan.peak.data, plan.arena
    if rng.random() < 0.5:
        peak = max(0, peak + step)
    else:
        arena = max(0, arena + step)
    func.attributes["memgraph.plan"] = figures(peak, arena, plan.fingerprint.data)


CHANGES: tuple[Callable[[random.Random, FuncOp], None], ...] = (
    move_result,
    move_result,
    move_result,
    move_scratch,
    swap_order,
    move_operator,
    move_operator,
    drop_order,
    change_alias,
    change_figures,
)


def settle(func: FuncOp) -> str | None:
    """Verify with the figures and the fingerprint made right as far as they can be; the error."""
    for _ in range(3):
        plan = plan_of(func)
        try:
            func.attributes["memgraph.plan"] = figures(
                plan.peak.data, plan.arena, fingerprint(func)
            )
            verify_plan(func, placed=True)
        except MemoptError as error:
            known = re.match(r"the (peak is|arena needs) (\d+) B", error.text)
            if known is None:
                return error.text
            peak, arena = plan.peak.data, plan.arena
            if known.group(1) == "peak is":
                peak = int(known.group(2))
            else:
                arena = int(known.group(2))
            func.attributes["memgraph.plan"] = figures(peak, arena, "")
        else:
            return None
    return "does not settle"


@pytest.mark.deep
def test_a_changed_plan_is_refused_or_computes_the_same(fuzz: float) -> None:
    killed = Counter[str]()
    harmful = Counter[str]()
    accepted = 0
    for seed in range(max(50, round(1000 * fuzz))):  # so that each change does harm
        rng = random.Random(seed)
        answer = planned(rng, 8)
        if isinstance(answer, str):
            continue
        before, func = answer
        for _ in range(12):
            change = rng.choice(CHANGES)
            changed = main_of(ModuleOp([func.clone()]))
            text = str(changed)
            change(rng, changed)
            if str(changed) == text:
                continue
            fault = settle(changed) if rng.random() < 0.8 else refusal(changed)
            fine = same_results(rng, before, changed)
            if fault is None:
                accepted += 1
                assert fine, f"seed {seed}: {change.__name__} accepted\n{changed}"
            else:
                rule = re.sub(r"\S*[\d#%]\S*|\b(arg|op|s)\b", "_", fault)
                killed[rule] += 1
                harmful[change.__name__] += not fine
    assert accepted > 20 * fuzz
    assert all(harmful[c.__name__] for c in CHANGES if c is not change_figures), harmful


def refusal(func: FuncOp) -> str | None:
    """The verifier's error for the plan as it stands."""
    try:
        verify_plan(func, placed=True)
    except MemoptError as error:
        return error.text
    return None
