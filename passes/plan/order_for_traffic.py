"""An order with little traffic to memory off the chip, for `memgraph-schedule{objective=traffic}`.

for_traffic = order_for_traffic(extracted, schedule, on_chip)     # an order is chosen
planned, answer = write_order(extracted, for_traffic.schedule, chosen={})
write_off_chip(planned, for_traffic, on_chip)                     # what it moves is written down
"""

from dataclasses import dataclass, replace

from xdsl.utils.exceptions import PassFailedException

from memopt.dialects.attributes.off_chip import TRAFFIC, OffChipAttr
from memopt.dialects.memgraph.functions import has_kind
from memopt.dialects.memgraph.plan import OFF_CHIP
from memopt.dialects.memgraph.structure import HyperNode
from memopt.passes.memgraph_traffic import outside_of, traffic_problem
from memopt.passes.plan.extract import Extracted
from memopt.passes.plan.inplace import only_chosen
from memopt.passes.plan.planned import Planned
from memopt.solvers.memories.traffic import Traffic, TrafficProblem, least_moved, least_traffic
from memopt.solvers.memories.traffic_order import TrafficOrder, least_traffic_order
from memopt.solvers.problems.memory_graph import ProblemError, Schedule, profile

WHO = "memgraph-schedule"


@dataclass(frozen=True)
class ForTraffic:
    """An order with what it moves of `problem`, whose steps are in the order before it, and the
    schedule that it is: of least peak no longer, and without results in place."""

    problem: TrafficProblem
    answer: TrafficOrder
    schedule: Schedule


def order_for_traffic(
    extracted: Extracted, known: Schedule, on_chip: int, time_limit: float | None = None
) -> ForTraffic:
    """Return the order found in `time_limit` seconds for a function that stands undecided; `known`
    is one of its orders, and bounds the peak.

    Raises PassFailedException for scratch that does not fit on the chip, and for a partition or
    hyper-nodes, whose operators stay together for the peak's sake. Raises MemoptError for what the
    model of traffic does not know, such as virtual tensors.
    """
    func, place = extracted.func, f"{WHO}: @{extracted.func.sym_name.data}: objective={TRAFFIC}"
    if has_kind(func.body.block.ops, HyperNode):
        raise PassFailedException(f"{place}: fused operators may have to part; leave out --fuse")
    if extracted.is_partitioned:
        raise PassFailedException(f"{place}: the function is partitioned; leave out --partition")
    problem = traffic_problem(func, on_chip, extracted.memory, WHO)
    graph = extracted.graph
    starts = [known.order, tuple(range(len(graph)))]
    try:
        answer = least_traffic_order(problem, graph.predecessors, starts, time_limit)
    except ProblemError as error:
        raise PassFailedException(f"{place}: {error}") from error
    peak = profile(only_chosen(extracted, {}).graph, answer.order).peak
    proof = known.proof if peak == known.lower_bound else "none"
    schedule = Schedule(answer.order, peak, known.lower_bound, proof, known.states)
    return ForTraffic(problem, answer, schedule)


def write_off_chip(planned: Planned, chosen: ForTraffic, on_chip: int) -> OffChipAttr:
    """Write down what a run moves off the chip, of a function that stands in the chosen order.

    Where Belady's rule moves as little, it is the one that is named, and nothing is listed.
    """
    func, answer = planned.func, chosen.answer
    problem = traffic_problem(func, on_chip, planned.extracted.memory, WHO)
    step = {v: place for place, v in enumerate(answer.order)}
    by_maker = sorted(
        zip(chosen.problem.tensors, answer.traffic.kept, strict=True),
        key=lambda entry: step.get(entry[0].born, -1),
    )
    stays = tuple(own for _, own in by_maker)
    lower_bound = max(least_moved(problem), answer.lower_bound)
    traffic: Traffic = replace(answer.traffic, kept=stays, lower_bound=lower_bound)
    traffic.verify(problem)
    moved, proof = traffic.moved, answer.proof
    if least_traffic(problem).moved == moved:
        rule, outside = "belady", ()
    else:
        rule, outside = "packing", outside_of(stays)
    facts = moved, lower_bound, proof, TRAFFIC, answer.lower_bound, outside
    attribute = OffChipAttr(on_chip, rule, *facts)
    func.attributes[OFF_CHIP] = attribute
    return attribute
