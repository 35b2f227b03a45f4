"""Local search: put the operators around the peak into a better order, exactly but for the rest.

A window of the order around its first highest step is a problem of its own (`splits.part_between`:
what was made before is there, what is read after is kept). The exact search takes it, for so many
states; where it finds an order below the peak, the window gets it, and the next highest step has
its turn. Where it does not, the window grows. So each move is a best one, not a random one, and the
answer is the same on every run without a time limit.
"""

from dataclasses import dataclass

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, mask_of, profile
from memopt.solvers.scheduling.methods import search
from memopt.solvers.theory.splits import part_between

# Operators of the first window and the largest, states that each gets, and all together.
WINDOW = 24
LARGEST = 384
STATES = 300
ALL_STATES = 20_000


def improve(
    graph: MemoryGraph,
    order: tuple[int, ...],
    floor: int,
    time_limit: float | None = None,
    all_states: int = ALL_STATES,
    times: int = 1,
) -> tuple[tuple[int, ...], int]:
    """`order` with its highest steps lowered as far as windows allow, and the states it took.

    The peak never rises. `floor` in bytes is where it may stop: what is below does not matter.
    Ends early after `time_limit` seconds or `all_states` states. These and the states of a window
    are so many `times` as many.
    """
    deadline = clock.deadline(time_limit)
    states, window = 0, WINDOW
    facts = profile(graph, order)
    along = _ProfiledOrder(order, facts.levels, facts.steps)
    while True:
        peak = max(along.steps, default=0)
        hot = along.steps.index(peak) if along.steps else 0
        if (
            peak <= max(floor, graph.level(0))
            or states >= times * all_states
            or clock.late(deadline)
        ):
            break
        low = max(0, hot - window // 2)
        high = min(len(order), low + window)
        seconds_left = clock.left(deadline)
        better, taken = _window(graph, along, low, high, floor, seconds_left, times * STATES)
        states += taken
        if better is not None:
            along, window = better, WINDOW
        elif high - low == len(order) or window >= LARGEST:
            break
        else:
            window *= 2
    return along.order, states


@dataclass(frozen=True)
class _ProfiledOrder:
    """An order with its levels and steps."""

    order: tuple[int, ...]
    levels: tuple[int, ...]
    steps: tuple[int, ...]


def _window(
    graph: MemoryGraph,
    along: _ProfiledOrder,
    low: int,
    high: int,
    floor: int,
    time_limit: float | None,
    max_states: int,
) -> tuple[_ProfiledOrder | None, int]:
    """The order with places `low` to `high` in a better order, if there is one; and the states.

    Outside of the window nothing changes, so only what is in it is profiled again.
    """
    order = along.order
    before, inner = mask_of(order[:low]), mask_of(order[low:high])
    part = part_between(graph, before, before | inner, along.levels[low] if low else None)
    place = {v: i for i, v in enumerate(part.operators)}
    known = tuple(place[v] for v in order[low:high])
    answer = search.solve(
        part.graph, time_limit, max(0, floor - part.through), known, max_states=max_states
    )
    facts = profile(part.graph, answer.order)
    levels, steps = ([b + part.through for b in row] for row in (facts.levels, facts.steps))
    new = _ProfiledOrder(
        (*order[:low], *(part.operators[i] for i in answer.order), *order[high:]),
        (*along.levels[:low], *levels, *along.levels[high + 1 :]),
        (*along.steps[:low], *steps, *along.steps[high:]),
    )
    old, now, peak = along.steps, new.steps, max(along.steps)
    fewer = max(now) < peak or (max(now) == peak and now.count(peak) < old.count(peak))
    return (new if fewer else None), answer.states + 1
