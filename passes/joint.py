"""`method=joint` of memgraph-place: where the order's best arena is above the bound, another order.

The order changes only if that makes the arena smaller. `memgraph.schedules_tried` on the function
says how many orders were placed where it stays open whether the arena is the smallest.
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from memopt.dialects.plan import SCHEDULES_TRIED, drop_plan
from memopt.dialects.plan_attributes import PlanAttr
from memopt.passes.extract import Extracted, extract
from memopt.passes.memgraph_partition import partition_of
from memopt.passes.memgraph_schedule import adopt
from memopt.solvers import joint
from memopt.solvers.problems.memory_graph import ProblemError, Proof, Schedule, profile


def refuse_partition(extracted: Extracted) -> None:
    """Raise PassFailedException for a partitioned function."""
    if partition_of(extracted) is not None:
        raise PassFailedException(
            f"memgraph-place: @{extracted.func.sym_name.data}: method=joint may change the order, "
            "which the partition fixes"
        )


def find_order(
    func: FuncOp, plan: PlanAttr, time_limit: float | None
) -> tuple[Extracted, joint.Joint]:
    """The order and offsets of the smallest arena found; the function loses its plan.

    Raises PassFailedException where a solver refuses.
    """
    name = func.sym_name.data
    drop_plan(func)
    extracted = extract(func)
    order = range(len(extracted.graph))
    try:
        found = joint.solve(extracted.graph, order, plan.lower_bound.data, time_limit)
    except ProblemError as error:
        raise PassFailedException(f"memgraph-place: @{name}: {error}") from error
    return extracted, found


def take(extracted: Extracted, order: Sequence[int], plan: PlanAttr) -> None:
    """Write `order`, with the bound and proof of `plan`."""
    peak = profile(extracted.graph, order).peak
    proof = cast("Proof", plan.proof.data)
    adopt(extracted, Schedule(tuple(order), peak, plan.lower_bound.data, proof))


def take_back(func: FuncOp, operations: Sequence[Operation], plan: PlanAttr) -> None:
    """Write the order in which `operations` stood before."""
    drop_plan(func)
    extracted = extract(func)
    index = {op: i for i, op in enumerate(extracted.memory.operations)}
    take(extracted, [index[op] for op in operations], plan)


def note(func: FuncOp, found: joint.Joint, settled: bool) -> None:
    """Say how many orders were placed, unless the question is settled."""
    if not settled:
        func.attributes[SCHEDULES_TRIED] = IntegerAttr(found.schedules, i64)
