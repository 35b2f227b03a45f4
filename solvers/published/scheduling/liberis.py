"""Liberis and Lane, Algorithm 1: the least memory in which a set of tensors can be made and kept.

    MEM(X) = min over x in X, whose operator nothing else in X still needs, of
             max(MEM(X without x, with what the operator reads), bytes during the operator)

called on the graph's outputs, memoised. X stands for the operators that must have run for it, an
ideal, and "x is a predecessor of no other" says that the operator is the last of some order of
that ideal; so the memo is keyed by the ideal, which also covers what single tensors do not:
several results, dead results, storage groups of several writers, in-place execution (what dies in
a step depends on the ideal alone).

Corrections (theory.md section 2): as printed, a graph input that is read twice is added each time
it becomes due (x(10) read by A and B, A->5->B->1: 25 printed, 16 true); here it is resident from
the start to its last reader. Constants are no storage groups, outputs are kept to the end.
"""

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule, bits, profile
from memopt.solvers.scheduling.methods import greedy, rpo
from memopt.solvers.theory.bounds import trivial
from memopt.solvers.theory.ideals import Walker, mask_bytes, renumber

# Bytes for all ideals in the memo, unless their number is given; each takes this and a mask.
MAX_BYTES = 1_000_000_000
IDEAL = 350


def solve(
    graph: MemoryGraph, time_limit: float | None = None, max_states: int | None = None
) -> Schedule:
    """The optimum with proof `search`; `states` counts the memoised sets.

    After `time_limit` seconds or `max_states` sets, by default as many as a gigabyte holds, the
    answer is the better of greedy and reverse post-order with the trivial bound, and proof `none`
    unless they meet: the recursion has no partial answer.
    Deterministic without a time limit.
    """
    if max_states is None:
        max_states = MAX_BYTES // (IDEAL + mask_bytes(graph))
    deadline = clock.deadline(time_limit)
    numbered, old = renumber(graph)
    full = (1 << len(graph)) - 1
    memo = _memo(numbered, max_states, deadline)
    if full not in memo:
        best = min((greedy.order(graph), rpo.order(graph)), key=lambda o: profile(graph, o).peak)
        peak = profile(graph, best).peak
        bound = min(trivial(graph), peak)  # which T6 contains
        return Schedule(best, peak, bound, "flow" if bound == peak else "none", len(memo))
    order: list[int] = []
    done = full
    while done:
        last = memo[done][1]
        order.append(old[last])
        done ^= 1 << last
    peak = memo[full][0]
    return Schedule(tuple(reversed(order)), peak, peak, "search", len(memo))


def _memo(
    graph: MemoryGraph, max_states: int, deadline: float | None
) -> dict[int, tuple[int, int]]:
    """Ideal -> (MEM, operator that ran last); without the whole if time or memory ran out.

    The recursion with a stack of its own: networks are deeper than Python's. `level` of an ideal is
    derived from the ideal above it, by what undoing the last operator takes back.
    """
    walker = Walker(graph)
    followers = [sum(1 << s for s in successors) for successors in graph.successors]
    full = (1 << len(graph)) - 1
    memo: dict[int, tuple[int, int]] = {0: (graph.level(0), -1)}
    levels: dict[int, int] = {full: graph.level(full) if full else 0, 0: walker.start}
    stack = [full]
    while stack:
        done = stack[-1]
        if done in memo:
            stack.pop()
            continue
        if clock.late(deadline):
            break
        lasts = last_of_some_order(done, followers)
        waiting = False
        for v in lasts:
            before = done ^ 1 << v
            if before not in memo:
                if before not in levels:
                    _, gain = walker.run(before, 0, v)
                    levels[before] = levels[done] - gain
                stack.append(before)
                waiting = True
        if waiting:
            if len(levels) > max_states:
                break
            continue
        best: tuple[int, int] | None = None
        for v in lasts:
            before = done ^ 1 << v
            here = max(memo[before][0], walker.run(before, levels[before], v)[0])
            if best is None or here < best[0]:
                best = (here, v)
        if best is not None:
            memo[done] = best
        stack.pop()
    return memo


def last_of_some_order(done: int, followers: list[int]) -> list[int]:
    """Operators of the ideal `done` that nothing else in it needs; `followers` are successors."""
    return [v for v in bits(done) if not followers[v] & done]
