"""Plans with shared objects of random functions: they verify and compute the same, on a memory per
object; and a random change to one is refused, or the function still computes the same.
"""

import random
import re
from collections import Counter
from collections.abc import Callable
from typing import cast

import pytest
from changed_plans import (
    SCHEDULES,
    SCRATCH,
    change_alias,
    main_of,
    move_operator,
    move_result,
    plan_of,
    same_results,
    swap_order,
)
from pass_functions import place_function, schedule_function
from random_functions import random_function
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from memopt.dialects.attributes.memories import MemoryAttr
from memopt.dialects.attributes.placement import ScratchAttr, SlotAttr
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.fingerprint import fingerprint
from memopt.solvers.shared_objects import METHODS
from memopt.verify.plan import verify_plan


def planned(rng: random.Random, operators: int = 10) -> tuple[FuncOp, FuncOp] | str:
    """(as drawn, planned), or why it was refused."""
    module = random_function(rng, operators)
    before, func = main_of(module.clone()), main_of(module)
    try:
        schedule_function(func, rng.choice(SCHEDULES), None)
        place_function(func, rng.choice(METHODS), None)
    except MemoptError as error:
        return error.text
    return before, func


def test_what_we_plan_verifies_and_computes_the_same(fuzz: float) -> None:
    refused = Counter[str]()
    most = 0
    count = round(1000 * fuzz)
    for seed in range(count):
        rng = random.Random(seed)
        answer = planned(rng)
        if isinstance(answer, str):
            refused[re.sub(r"\S*[\d#]\S*", "_", answer)] += 1
            continue
        before, func = answer
        assert verify_plan(func, placed=True).arena == sum(sizes_of(func))
        assert same_results(rng, before, func), f"seed {seed}"
        most = max(most, len(sizes_of(func)))
    assert refused.total() < count / 2, refused
    assert most > 4


def sizes_of(func: FuncOp) -> list[int]:
    """Bytes of the shared objects; none where all buffers are empty and there is one arena."""
    plan = plan_of(func)
    return [m.bytes.data for m in plan.memories] if plan.kind == "object" else []


def new_place(rng: random.Random, func: FuncOp) -> SlotAttr | int:
    if rng.random() < 0.1:
        return rng.choice((0, 16, SlotAttr("sram", 0)))
    count = len(sizes_of(func))
    k = rng.randrange(count + (rng.random() < 0.1))
    return SlotAttr(f"object{k}", rng.choice((0, 0, 0, 4, 16)))


def as_attribute(rng: random.Random, func: FuncOp) -> Attribute:
    place = new_place(rng, func)
    return IntegerAttr(place, i64) if isinstance(place, int) else place


def move_to_object(rng: random.Random, func: FuncOp) -> None:
    """Another object for one result or argument."""
    move_result(rng, func, as_attribute)


def move_scratch(rng: random.Random, func: FuncOp) -> None:
    holders = [op for op in func.body.block.ops if SCRATCH in op.attributes]
    if not holders:
        return move_to_object(rng, func)
    op = rng.choice(holders)
    entries = list(cast("ArrayAttr[ScratchAttr]", op.attributes[SCRATCH]).data)
    k = rng.randrange(len(entries))
    entries[k] = ScratchAttr(entries[k].bytes.data, new_place(rng, func))
    op.attributes[SCRATCH] = ArrayAttr(entries)
    return None


def change_sizes(rng: random.Random, func: FuncOp) -> None:
    sizes = sizes_of(func)
    k = rng.randrange(len(sizes))
    sizes[k] = max(0, sizes[k] + rng.choice((-16, -4, -1, 1, 4, 16)))
    write_sizes(func, sizes)


def write_sizes(func: FuncOp, sizes: list[int], peak: int | None = None) -> None:
    """A plan of these sizes, its figures and fingerprint right as far as they can be."""
    peak = plan_of(func).peak.data if peak is None else peak
    memories = [MemoryAttr(f"object{k}", "object", size) for k, size in enumerate(sizes)]
    func.attributes["memgraph.plan"] = PlanAttr(
        peak, 0, "none", "order", memories, 0, 0, fingerprint=fingerprint(func)
    )


def settle(func: FuncOp) -> str | None:
    """Verify with sizes and peak made right as far as they can be; the error."""
    error_text = ""
    for _ in range(len(sizes_of(func)) + 3):
        try:
            write_sizes(func, sizes_of(func))
            verify_plan(func, placed=True)
        except MemoptError as error:
            error_text = error.text
        else:
            return None
        size = re.match(r"object(\d+) needs (\d+) B", error_text)
        peak = re.match(r"the peak is (\d+) B", error_text)
        if size is None and peak is None:
            return error_text
        sizes = sizes_of(func)
        if size is not None:
            sizes[int(size.group(1))] = int(size.group(2))
        write_sizes(func, sizes, int(peak.group(1)) if peak else None)
    return error_text


CHANGES: tuple[Callable[[random.Random, FuncOp], None], ...] = (
    move_to_object,
    move_to_object,
    move_scratch,
    change_sizes,
    swap_order,
    move_operator,
    change_alias,
)


@pytest.mark.deep
def test_a_changed_plan_is_refused_or_computes_the_same(fuzz: float) -> None:
    rules = Counter[str]()
    harmful = Counter[str]()
    accepted = 0
    for seed in range(max(60, round(400 * fuzz))):
        rng = random.Random(seed)
        answer = planned(rng, 8)
        if isinstance(answer, str) or not sizes_of(answer[1]):
            continue
        before, func = answer
        for _ in range(12):
            change = rng.choice(CHANGES)
            changed = main_of(ModuleOp([func.clone()]))
            text = str(changed)
            change(rng, changed)
            if str(changed) == text:
                continue
            fault = settle(changed)
            fine = same_results(rng, before, changed)
            if fault is None:
                accepted += 1
                assert fine, f"seed {seed}: {change.__name__} accepted\n{changed}"
            else:
                rules[re.sub(r"\S*[\d#%]\S*|\b(arg|op|s)\b", "_", fault)] += 1
                harmful[change.__name__] += not fine
    assert accepted > 20 * fuzz
    assert all(harmful[c.__name__] for c in CHANGES if c is not change_sizes), harmful
    for rule in (
        "are live together",
        "has an offset in an arena",
        "which is none of the plan",
        "B into its buffer",
        "the plan has",
    ):
        assert any(rule in text for text in rules), (rule, rules)
