"""Exact search part by part, between safe splits (theory.md T5).

The incumbent passes through every split, so it says at once which parts matter: those where it is
above the proven bound. Each is searched with what the others have proven as its floor.
"""

from collections.abc import Sequence

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, Proof, Schedule, profile
from memopt.solvers.scheduling.methods import search
from memopt.solvers.theory.bounds import flow_bound
from memopt.solvers.theory.splits import parts, splits


def solve(
    graph: MemoryGraph,
    time_limit: float | None = None,
    bound: int | None = None,
    max_states: int | None = None,
) -> Schedule:
    """Return an order of the least peak, with the optimum of `search.solve` and usually fewer
    states.

    `bound` is a proven lower bound in bytes (T6 if none is given).
    """
    deadline = clock.deadline(time_limit)
    best = min(
        (search.greedy(graph), search.rpo(graph)), key=lambda order: profile(graph, order).peak
    )
    proof: Proof = "search"
    if bound is None:
        first = flow_bound(graph, [best], time_limit=time_limit)
        bound, proof = first.value, first.proof
    peak = profile(graph, best).peak
    if bound >= peak:
        return Schedule(best, peak, bound, proof)
    return explore(graph, bound, best, search.Limits(clock.left(deadline), max_states))


def explore(
    graph: MemoryGraph,
    bound: int,
    incumbent: tuple[int, ...],
    limits: search.Limits,
    switches: search.Switches = search.ALL_ON,
    ceiling: int | None = None,
    polish: search.Polish | None = None,
) -> Schedule:
    """Search part by part, with the parameters of `search.explore`; `max_bytes` are for one part at
    a time."""
    deadline = clock.deadline(limits.time_limit)
    max_states = limits.max_states
    bound = max(bound, graph.level(0))
    peak = profile(graph, incumbent).peak
    top = peak if ceiling is None else min(ceiling, peak)
    if bound >= top:
        return Schedule(incumbent, peak, bound, "search")
    share = None if limits.time_limit is None else limits.time_limit / 4
    pieces = parts(graph, splits(graph, incumbent, bound, time_limit=share))
    facts = profile(graph, incumbent).steps
    orders_of: list[Sequence[int]] = []
    peaks: list[int] = []
    at = 0
    for piece in pieces:
        end = at + len(piece.operators)
        orders_of.append(incumbent[at:end])
        peaks.append(max(facts[at:end]))
        at = end
    floor, states = bound, 0
    proof: Proof = "search"
    for i in sorted(range(len(pieces)), key=lambda i: -peaks[i]):
        piece = pieces[i]
        if peaks[i] <= floor:
            continue
        place = {v: k for k, v in enumerate(piece.operators)}
        answer = search.explore(
            piece.graph,
            floor - piece.through,
            tuple(place[v] for v in orders_of[i]),
            search.Limits(
                clock.left(deadline),
                None if max_states is None else max(0, max_states - states),
                limits.max_bytes,
            ),
            switches,
            ceiling=top - piece.through,
            polish=polish,
        )
        states += answer.states
        orders_of[i] = [piece.operators[k] for k in answer.order]
        peaks[i] = answer.peak + piece.through
        floor = max(floor, answer.lower_bound + piece.through)
        if floor >= top:  # no order is below the ceiling
            break
        if answer.proof == "none":
            proof = "none"
    order = tuple(v for part in orders_of for v in part)
    peak = profile(graph, order).peak
    return Schedule(order, peak, min(floor, peak), proof, states)
