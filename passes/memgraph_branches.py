"""Pass `memgraph-branches`: the functions that IF, WHILE and CALL_ONCE run, as scratch.

    func.func @main(...) {
      %y = memgraph.opaque "IF"(%c, %x) options {thenSubgraphIndex = 1 : i64, elseSubgraphIndex = 2}
    func.func @subgraph_1(...) attributes {memgraph.plan = ... arena 512}
    func.func @subgraph_2(...) attributes {memgraph.plan = ... arena 320}

    %y = memgraph.opaque "IF"(%c, %x) ... {memgraph.scratch = [#memgraph.scratch<512>]}

One of them runs at a time, and each begins anew with copies of the operands, so the largest arena
is enough for all (tensorflow/tflite-micro, kernels/if.cc and while.cc, where the results of a turn
are copied before the condition runs again). A function that several operators run has its tensors
once, so those are a scratch of its own, at one place in all operators that lead to it.

The plan of a function whose scratch changes is dropped: it is scheduled and placed once more, and
twice where what it runs runs others.
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.memgraph.functions import callee_scratch, reached_by, runs_of
from memopt.dialects.memgraph.plan import MODEL, SCRATCH, drop_plan, model_of, plan_of, scratch_list
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.passes.plan.planned import Planned, PlanningPass


@dataclass(frozen=True)
class MemgraphBranchesPass(PlanningPass):
    """Pass that counts the arenas of functions that operators run as scratch of these operators."""

    name = "memgraph-branches"
    reads_others: ClassVar[bool] = True

    def plan(self, func: FuncOp, known: Planned | None) -> Planned | None:
        run = runs_of(func)
        reached = sorted(reached_by(func), key=lambda callee: callee.sym_name.data)
        placed = [_is_placed(callee) for callee in reached]
        if not all(placed) or not all(map(_is_counted, reached)):
            return known  # once these are planned again
        sizes = {op: _sizes(op) for op in run}
        changed = {op: needed for op, needed in sizes.items() if needed != _counted(op)}
        if not changed:
            return known
        model = model_of(func)
        drop_plan(func)
        func.attributes[MODEL] = model
        for op, needed in changed.items():
            op.attributes.pop(SCRATCH, None)
            if needed:
                op.attributes[SCRATCH] = ArrayAttr([ScratchAttr(size) for size in needed])
        return None


def _is_placed(func: FuncOp) -> bool:
    """Return whether a function that an operator runs is placed. Raises PassFailedException for one
    that runs none itself and is not."""
    plan = plan_of(func)
    is_placed = plan is not None and plan.placed
    if not is_placed and not runs_of(func):
        text = f"@{func.sym_name.data}, which an operator runs, has no places"
        raise PassFailedException(f"memgraph-branches: {text}; run --place first")
    return is_placed


def _is_counted(func: FuncOp) -> bool:
    """Return whether the scratch of a function's operators is what the functions that they run,
    which are placed, need."""
    return all(_counted(op) == _sizes(op) for op in runs_of(func))


def _sizes(op: Operation) -> list[int]:
    """Return the bytes of each block that an operator works in."""
    return [
        max(map(_arena, block.functions), default=0)
        if block.value is None
        else bytes_of(block.value.type) or 0
        for block in callee_scratch(op)
    ]


def _counted(op: Operation) -> list[int]:
    """Return the bytes of each scratch that an operator has."""
    return [s.bytes.data for s in scratch_list(op) or ()]


def _arena(func: FuncOp) -> int:
    """Return the bytes of the arena of a placed function."""
    plan = plan_of(func)
    assert plan is not None and plan.placed
    return plan.arena
