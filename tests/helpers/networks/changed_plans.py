"""Plans of random graphs, and changes that make them wrong."""

import random
from collections.abc import Callable
from typing import cast

from arena_machine import ArenaError, Machine, run_by_value
from random_functions import size_of
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from memopt.dialects.attributes.model import AliasAttr, ModelAttr
from memopt.dialects.attributes.placement import UnplacedAttr
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.functions import (
    argument_attributes,
    functions,
    set_argument_attributes,
)

SCHEDULES = ("auto", "search", "greedy", "rpo", "fwd-rpo", "source")


OFFSET, ORDER, SCRATCH = "memgraph.offset", "memgraph.order", "memgraph.scratch"


def main_of(module: ModuleOp) -> FuncOp:
    return next(functions(module))


def same_results(rng: random.Random, before: FuncOp, func: FuncOp) -> bool:
    """Return whether the planned function computes on its arena what `before` does by value."""
    inputs = [rng.randbytes(size_of(a)) for a in before.body.block.args]
    model = func.attributes["memgraph.model"]
    assert isinstance(model, ModelAttr)
    try:
        return Machine(func).run(inputs, model.io.data == "kept") == run_by_value(before, inputs)
    except ArenaError:
        return False


def plan_of(func: FuncOp) -> PlanAttr:
    plan = func.attributes["memgraph.plan"]
    assert isinstance(plan, PlanAttr)
    return plan


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
