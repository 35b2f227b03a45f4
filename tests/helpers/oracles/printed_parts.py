"""Zhong's Algorithm 2 to the letter, beside `solvers/scheduling/partitioned.py`."""

from memopt.solvers.partitioning import Partition, split
from memopt.solvers.problems.memory_graph import MemoryGraph, profile
from memopt.solvers.scheduling import schedule
from memopt.solvers.scheduling.methods import rpo
from memopt.solvers.scheduling.partitioned import Parts


def as_printed(graph: MemoryGraph, partition: Partition, method: str = "auto") -> Parts:
    """Return the parts in the reverse post-order of the graph, those that hold its peak in what
    `method` answers.

    `exact` only if every part went to `method`: a post-order that was kept may hold the peak.
    """
    partition.verify(graph)
    order = rpo.order(graph)
    steps = profile(graph, order).steps
    peaks = [v for v, step in zip(order, steps, strict=True) if step == max(steps)]
    holders = {partition.part[v] for v in peaks}
    place = {v: i for i, v in enumerate(order)}
    joined, needs, states, exact = list[int](), list[int](), 0, len(holders) == partition.k
    for p, part in enumerate(split(graph, partition)):
        own = part.operators
        inner = tuple(sorted(range(len(own)), key=lambda i, own=own: place[own[i]]))
        if p in holders:
            answer = schedule(part.graph, method)
            inner, states, exact = answer.order, states + answer.states, exact and answer.optimal
        joined += [own[i] for i in inner]
        needs.append(profile(part.graph, inner).peak)
    return Parts(tuple(joined), tuple(needs), tuple(sorted(holders)), exact, states)
