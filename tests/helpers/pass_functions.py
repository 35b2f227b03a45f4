"""Passes as functions: what a pass does to one function, and what it found."""

from dataclasses import replace

from xdsl.dialects.func import FuncOp

from memopt.passes.memgraph_fuse import contract
from memopt.passes.memgraph_memory import assign_known
from memopt.passes.memgraph_place import place_known
from memopt.passes.memgraph_schedule import order_function
from memopt.passes.plan.planned import undecided
from memopt.solvers.memories import Assignment, Bank, MemoryProblem, assign, cost_of
from memopt.solvers.problems.memory_graph import Schedule


def fuse_function(func: FuncOp, rule: str = "auto", time_limit: float | None = None) -> int:
    """Contract what is safe in one function, as far as it is found within `time_limit` seconds;
    returns the number of hyper-nodes made."""
    return contract(undecided(func, None), rule, time_limit)


def schedule_function(
    func: FuncOp,
    method: str,
    time_limit: float | None,
    assume_pure: bool = False,
    **options: object,
) -> Schedule:
    """Schedule one function in place, its plan included. Raises PassFailedException if a solver
    refuses."""
    planned, answer = order_function(func, None, method, time_limit, assume_pure, None, **options)
    planned.write()
    return answer


def place_function(func: FuncOp, method: str, time_limit: float | None, **options: object) -> int:
    """Place one function's buffers, write its plan and return the arena in bytes.

    `options` are those of the placement strategy. Raises PassFailedException if a solver refuses.
    """
    planned = place_known(func, None, method, time_limit, **options).write()
    assert planned.facts is not None
    return planned.facts.arena


def assign_function(
    func: FuncOp,
    banks: tuple[Bank, ...],
    spill: bool = True,
    time_limit: float | None = None,
    reorder: bool = False,
) -> Assignment:
    """Assign one function's buffers; `time_limit` in seconds. With `reorder` its operators may take
    another order.

    Raises MemoptError where they do not fit, with what is missing and where, and
    PassFailedException if nothing was found in time.
    """
    planned, answer = assign_known(func, None, banks, spill, time_limit, reorder)
    planned.write()
    return answer


def free_moves(problem: MemoryProblem, time_limit: float | None) -> Assignment:
    """Assign as usual, but for moves that cost next to nothing meanwhile, so that there are
    some."""
    tenants = tuple(replace(t, copied=1 if t.movable else 0) for t in problem.tenants)
    answer = assign(replace(problem, tenants=tenants), time_limit)
    return Assignment(answer.visits, cost_of(problem, answer.visits), 0)
