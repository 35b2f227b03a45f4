"""`method=joint` of memgraph-place: where the order's best arena is above the bound, another order.

The order changes only if that makes the arena smaller. `memgraph.schedules_tried` on the function
says how many orders were placed where it stays open whether the arena is the smallest.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import PassFailedException

from memopt.dialects.memgraph.plan import SCHEDULES_TRIED
from memopt.dialects.memgraph.write_plan import Facts
from memopt.passes.memgraph_schedule import write_order
from memopt.passes.plan.extract import Extracted
from memopt.passes.plan.inplace import Chosen, chosen_by, only_chosen
from memopt.passes.plan.planned import Planned, undecided
from memopt.solvers import clock, joint
from memopt.solvers.joint.in_place_choices import first_choice
from memopt.solvers.problems.memory_graph import ProblemError, Schedule, profile
from memopt.solvers.problems.placement import Placement


def find_order(
    planned: Planned, facts: Facts, time_limit: float | None, known: Placement | None = None
) -> tuple[Extracted, joint.Joint]:
    """The order and offsets of the smallest arena found, those by which rows were chosen if there
    are any; the function loses its plan. `known` places it as it is, for which rows wait for calm
    orders.

    Raises PassFailedException where a solver refuses.
    """
    func, started, deadline = planned.func, clock.now(), clock.deadline(time_limit)
    order = range(len(planned.extracted.graph))
    chosen = first_choice(planned.extracted.graph, order)
    extracted = undecided(func, planned)
    # the answer has to be written too, which takes as long as it took to read the function
    seconds = clock.left(clock.sooner(deadline, clock.now() - started))
    if (arranged := planned.arranged(extracted.graph)) is not None:
        return extracted, arranged.joint
    usual = first_choice(extracted.graph, order)
    alike = [(c.operator, c.operand) for c in chosen] == [(c.operator, c.operand) for c in usual]
    try:
        with clock.watched("arena"):
            answer = joint.solve(
                extracted.graph,
                order,
                facts.lower_bound,
                seconds,
                known=known,
                calm_first=known is None and facts.family == "rows",
                chosen=None if alike else chosen,
            )
    except ProblemError as error:
        raise PassFailedException(f"memgraph-place: @{func.sym_name.data}: {error}") from error
    return extracted, answer


def write_other_order(
    extracted: Extracted, order: Sequence[int], facts: Facts, chosen: Chosen | None
) -> Planned:
    """Put an undecided function into `order`, with the bound and proof of `facts`, and with what is
    `chosen` in place, as `write_order`."""
    graph = extracted.graph if chosen is None else only_chosen(extracted, chosen).graph
    answer = Schedule(tuple(order), profile(graph, order).peak, facts.lower_bound, facts.proof)
    return write_order(extracted, answer, chosen=chosen)[0]


def restore_order(planned: Planned, facts: Facts) -> Planned:
    """Put a function back into the order in which it stood as `planned`, with the same in place."""
    graph = planned.extracted.graph
    chosen = chosen_by(planned.extracted, first_choice(graph, range(len(graph))))
    extracted = undecided(planned.func, planned)
    index = {op: i for i, op in enumerate(extracted.memory.operations)}
    order = [index[op] for op in planned.extracted.memory.operations]
    return write_other_order(extracted, order, facts, chosen)


def write_tried(func: FuncOp, found: joint.Joint, smallest: bool) -> None:
    """Say how many orders were placed, unless the arena is known to be the smallest."""
    if not smallest:
        func.attributes[SCHEDULES_TRIED] = IntegerAttr(found.schedules, i64)
