"""Plans of random functions: what we plan verifies, and what verifies computes the same.

The second half is the test of the verifier: a random change to a plan is either refused, or the
function still computes, on an arena of bytes, what it computes by value.
"""

import random
import re
from collections import Counter
from collections.abc import Callable
from typing import cast

from arena_machine import ArenaError, Machine, run_by_value
from random_functions import random_function, size_of
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from memopt.dialects.attributes.memories import one_arena
from memopt.dialects.attributes.model import AliasAttr, ModelAttr
from memopt.dialects.attributes.places import ScratchAttr, UnplacedAttr
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.fingerprint import fingerprint
from memopt.dialects.memgraph.functions import (
    argument_attributes,
    functions,
    set_argument_attributes,
)
from memopt.passes.memgraph_fuse import fuse_function
from memopt.passes.memgraph_place import place_function
from memopt.passes.memgraph_schedule import schedule_function
from memopt.verify.plan import verify_plan

SCHEDULES = ("auto", "search", "greedy", "rpo", "fwd-rpo", "source")
PLACES = ("auto", "greedy-by-size", "greedy-by-breadth", "best-fit", "tflm", "exact", "joint")
OFFSET, ORDER, SCRATCH = "memgraph.offset", "memgraph.order", "memgraph.scratch"


def main_of(module: ModuleOp) -> FuncOp:
    return next(functions(module))


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


def same_results(rng: random.Random, before: FuncOp, func: FuncOp) -> bool:
    """Whether the planned function computes on its arena what the drawn one does by value."""
    inputs = [rng.randbytes(size_of(a)) for a in before.body.block.args]
    model = func.attributes["memgraph.model"]
    assert isinstance(model, ModelAttr)
    try:
        return Machine(func).run(inputs, model.io.data == "kept") == run_by_value(before, inputs)
    except ArenaError:
        return False


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


def plan_of(func: FuncOp) -> PlanAttr:
    plan = func.attributes["memgraph.plan"]
    assert isinstance(plan, PlanAttr)
    return plan


def figures(peak: int, arena: int, text: str) -> PlanAttr:
    """A plan that claims no bounds, of one arena."""
    return PlanAttr(peak, 0, "none", "order", one_arena(arena), 0, fingerprint=text)


def new_offset(rng: random.Random, func: FuncOp) -> Attribute:
    plan = plan_of(func)
    kind = rng.random()
    if kind < 0.08:
        return UnplacedAttr(rng.choice(("constant", "caller", "runtime")))
    top = plan.arena + 16
    step = 1 if kind < 0.2 else rng.choice((4, 16))
    return IntegerAttr(rng.randrange(-step, top + step, step), i64)


def move_result(
    rng: random.Random,
    func: FuncOp,
    new_place: Callable[[random.Random, FuncOp], Attribute] = new_offset,
) -> None:
    """Another place for one result or argument."""
    holders = [op for op in func.body.block.ops if OFFSET in op.attributes]
    arguments = argument_attributes(func)
    index = rng.randrange(len(holders) + len(arguments))
    if index < len(arguments):
        arguments[index][OFFSET] = new_place(rng, func)
        set_argument_attributes(func, arguments)
        return
    op = holders[index - len(arguments)]
    places = list(cast("ArrayAttr[Attribute]", op.attributes[OFFSET]).data)
    places[rng.randrange(len(places))] = new_place(rng, func)
    op.attributes[OFFSET] = ArrayAttr(places)


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


def ordered(func: FuncOp) -> list[Operation]:
    return [op for op in func.body.block.ops if ORDER in op.attributes]


def swap_order(rng: random.Random, func: FuncOp) -> None:
    """Two operators exchange their numbers."""
    steps = ordered(func)
    if len(steps) > 1:
        a, b = rng.sample(steps, 2)
        a.attributes[ORDER], b.attributes[ORDER] = b.attributes[ORDER], a.attributes[ORDER]


def move_operator(rng: random.Random, func: FuncOp) -> None:
    """One operator stands elsewhere in the block, numbers made dense again."""
    ops = list(func.body.block.ops)[:-1]
    op = rng.choice(ops) if ops else None
    if op is None:
        return
    ops.remove(op)
    at = rng.randint(0, len(ops))
    block = func.body.block
    op.detach()
    if at < len(ops):
        block.insert_op_before(op, ops[at])
    else:
        last = block.last_op
        assert last is not None
        block.insert_op_before(op, last)
    for index, step in enumerate(ordered(func)):
        step.attributes[ORDER] = IntegerAttr(index, i64)


def drop_order(rng: random.Random, func: FuncOp) -> None:
    steps = ordered(func)
    if steps:
        del rng.choice(steps).attributes[ORDER]
        if rng.random() < 0.5:
            for index, step in enumerate(ordered(func)):
                step.attributes[ORDER] = IntegerAttr(index, i64)


def change_alias(rng: random.Random, func: FuncOp) -> None:
    """Drop the aliases of an operator, make one in place, or shift a slice."""
    block = func.body.block
    ops = [op for op in block.ops if op.results and op.operands]
    if not ops:
        return
    aliased = [op for op in ops if "memgraph.alias" in op.attributes]
    if aliased and rng.random() < 0.5:
        del rng.choice(aliased).attributes["memgraph.alias"]
        return
    op = rng.choice(ops)
    kind = rng.choice(("inplace", "slice"))
    operand = rng.randrange(len(op.operands))
    made = AliasAttr(operand, "inplace")
    if kind == "slice":
        made = AliasAttr(operand, "slice", rng.randint(-8, 8))
    lists = [[made], *([] for _ in op.results[1:])]
    op.attributes["memgraph.alias"] = ArrayAttr([ArrayAttr(e) for e in lists])


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
