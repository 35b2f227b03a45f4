"""Exact search over ideals, best first on the peak, from both ends of the graph (`both_ends.py`).

A search that does not end soon gets better incumbents to beat in between: a descent of its own
(`_descend`), and whatever its caller has (`Polish`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, ProblemError, Schedule, profile
from memopt.solvers.scheduling.best_first import ALL_ON, Switches
from memopt.solvers.scheduling.both_ends import BothEnds
from memopt.solvers.scheduling.methods.greedy import order as greedy
from memopt.solvers.scheduling.methods.rpo import order as rpo
from memopt.solvers.theory.bounds import flow_bound
from memopt.solvers.theory.ideals import renumber

OPTIONS = {
    "bound": "a known lower bound in bytes, flow, or none",
    "max_states": "states after which the search gives up",
    "max_bytes": "memory of the search",
    "kill_moves": "branch on the sets of operators that free a tensor only",
    "commits": "go straight to ideals that T1 allows",
    "dominance": "drop states that others cover",
    "backward": "search from the end where it can be mirrored",
}

# What the states of one search may take, with all of Python's overhead: below 2 GB for sure.
MAX_BYTES = 1_500_000_000


def solve(
    graph: MemoryGraph,
    time_limit: float | None = None,
    bound: int | str | None = None,
    incumbent: tuple[int, ...] | None = None,
    max_states: int | None = None,
    max_bytes: int | None = None,
    kill_moves: bool = True,
    commits: bool = True,
    dominance: bool = True,
    backward: bool = True,
) -> Schedule:
    """A proven optimal order, or the best known with a valid bound when time or memory runs out.

    `bound` is a proven lower bound in bytes, "none", or "flow" for T6, which is what it takes if
    nothing is given; `incumbent` is an order to beat, by default the better of greedy and reverse
    post-order. Raises ProblemError for another word as bound, and for one above the peak. It ends
    early after `time_limit` seconds, after `max_states` states (looking for incumbents not
    counted), or when `max_bytes` hold no more of them; if these are not given, MAX_BYTES, or
    CROWD_BYTES where very many groups live at once and no `time_limit` is given.
    `backward` off searches from the start alone; a graph that cannot be searched from its end
    (`reversal.py`) is searched so in any case. Deterministic without a time limit.
    """
    deadline = clock.deadline(time_limit)
    orders = [incumbent] if incumbent is not None else [greedy(graph), rpo(graph)]
    best = min(orders, key=lambda o: profile(graph, o).peak)
    peak = profile(graph, best).peak
    if isinstance(bound, int):
        lower, proof = bound, "search"
    elif bound == "none":
        lower, proof = 0, "search"
    elif bound in (None, "flow"):
        first = flow_bound(graph, orders, time_limit=time_limit)
        lower, proof = first.value, first.proof
    else:
        raise ProblemError(f"bound={bound}: bytes, flow, or none")
    if lower >= peak:
        return Schedule(best, peak, lower, proof)
    switches = Switches(kill_moves, commits, dominance, backward)
    return explore(
        graph, lower, best, Limits(clock.left(deadline), max_states, max_bytes), switches
    )


# States that the search proper gets before better incumbents are looked for, and each such look.
FIRST = 25_000
LOOK = 2_000

# Where hundreds of operators are alike, as rows and the steps of an unrolled loop are, so many
# orders are equal that no search ends, and a state of thousands takes a millisecond and more.
# Without another limit, graphs of more operators than this get states for so much work, states
# times operators, some seconds. Looks for incumbents get parts of that, unless time is limited. The
# searches of real networks that end take less than half of it.
LARGE = 200
WORK = 25_000_000

# A search of so much work whose incumbent is so near to the bound, a part of it, mostly ends when
# it goes on: it gets so many times the states. Of others it is the incumbent that is bad: another
# look for a better one gets so many times the states of the first. Both look below the incumbent
# alone, so the order stays what it is unless the peak falls.
NEAR, FURTHER, LONGER = 0.01, 30, 10

# Where more groups than this are alive, those of all steps together, a state has hundreds of
# branches of thousands of operators, and takes a tenth of a second and a megabyte: a graph gets
# fewer states, by the square of the excess, and less memory, if nobody says how much.
CROWD, CROWD_BYTES = 300_000, 200_000_000

# A crowd that gets fewer states than this is not searched where its incumbent is so near to the
# bound, a part of it: what the search knows of each operator takes the square of them first, of
# 45,000 two minutes and 6 GB.
FEWEST, CLOSE = 100, 0.001


@dataclass(frozen=True)
class Limits:
    """Where a search ends early: seconds, states taken, bytes that its states take; and whether it
    tells (`clock.tell`) what it knows, as one that is no part of another does."""

    time_limit: float | None = None
    max_states: int | None = None
    max_bytes: int | None = None
    tells: bool = False


def states_for(graph: MemoryGraph, order: Sequence[int]) -> int:
    """Return how many states a search takes where nothing but memory ends it; `order` is one of
    the graph."""
    return max(1, int(WORK // len(graph) / max(1.0, alive(graph, order) / CROWD) ** 2))


def bytes_for(graph: MemoryGraph, states: int) -> int:
    """Return how many bytes so many states (`states_for`) take if nobody says it: fewer in a
    crowd."""
    return CROWD_BYTES if states < WORK // len(graph) else MAX_BYTES


def further_states(graph: MemoryGraph, states: int) -> int:
    """Return how many more a search near its bound takes: none in a crowd, where none ends."""
    return (FURTHER - 1) * states if states == WORK // len(graph) else 0


def alive(graph: MemoryGraph, order: Sequence[int]) -> int:
    """Return in how many steps of an order each group is alive, all groups together."""
    place = {v: i for i, v in enumerate(order)}
    spans = ([place[v] for v in touchers] for touchers in graph.touchers if len(touchers) > 1)
    return sum(max(span) - min(span) for span in spans)


class Polish(Protocol):
    """Looks for a better order than a known one, with so many `times` the states of a first look;
    the peak that counts begins at `floor` bytes."""

    def __call__(
        self,
        graph: MemoryGraph,
        order: tuple[int, ...],
        floor: int,
        time_limit: float | None,
        *,
        times: int,
    ) -> tuple[tuple[int, ...], int]:
        """The better order, or the same, and the states that were taken."""
        ...


def explore(
    graph: MemoryGraph,
    bound: int,
    incumbent: tuple[int, ...],
    limits: Limits,
    switches: Switches = ALL_ON,
    ceiling: int | None = None,
    polish: Polish | None = None,
) -> Schedule:
    """The search proper: an order below `incumbent`'s peak, or that there is none.

    `bound` is proven, in bytes. Only orders of a peak below `ceiling` (bytes) are looked for: with
    one below the optimum, `peak` stays the incumbent's, and `lower_bound` says that nothing is
    below the ceiling. A search that gets nowhere near its end looks for better incumbents in
    between, and again when memory is spent: what it knows is forgotten then, but not the bound.
    """
    peak = profile(graph, incumbent).peak
    first, each, further, usual_bytes = FIRST, LOOK, None, MAX_BYTES
    if limits.time_limit is None and len(graph) > LARGE:
        states = states_for(graph, incumbent)
        usual_bytes = bytes_for(graph, states)
        each = min(LOOK, max(1, states // 50))
        if limits.max_states is None:
            limits, first = replace(limits, max_states=states), min(FIRST, states // 5)
            further = further_states(graph, states)
    max_bytes = usual_bytes if limits.max_bytes is None else limits.max_bytes
    top = peak if ceiling is None else min(ceiling, peak)
    if bound >= top:
        return Schedule(incumbent, peak, bound, "search")
    if _ends_at_once(limits, further, peak, bound):
        return Schedule(incumbent, peak, bound, "none")
    numbered, old = renumber(graph)
    new = {v: i for i, v in enumerate(old)}
    end = clock.deadline(limits.time_limit)
    search = replace(BothEnds.of(numbered, bound, top, switches), tells=limits.tells)
    order = tuple(new[v] for v in incumbent)
    states = 0

    def look(count: int, times: int = 1) -> None:
        """Spend up to two thirds of the time that is left on better incumbents."""
        nonlocal order, states
        better, taken = _descend(search, count, _share(end, 3), max_bytes)
        order, states = better or order, states + taken
        if polish is not None and not search.exhausted:
            seconds_left = clock.left(end, 1 / 2)
            better, taken = polish(numbered, order, search.lower_bound, seconds_left, times=times)
            search.lower_ceiling(min(search.ceiling, profile(numbered, better).peak))
            order, states = better, states + taken

    def is_near() -> bool:
        return search.ceiling <= search.lower_bound * (1 + NEAR)

    max_states = limits.max_states
    search.run(first if max_states is None else min(first, max_states), _share(end, 4), max_bytes)
    if not search.exhausted and (max_states is None or max_states > first):
        look(each)
        search.run(None if max_states is None else max_states - search.states, end, max_bytes)
    if further is not None and not search.exhausted:
        if not is_near():
            known, ceiling = order, search.ceiling
            look(LONGER * each, LONGER)
            order = order if search.ceiling < ceiling else known
        search.run(further if is_near() else 0, end, max_bytes)
    found_order, lower, exhausted = search.order, search.lower_bound, search.exhausted
    if not exhausted and max_states is None:
        search.forget()
        look(10 * each)
    order = found_order or order
    best = tuple(old[v] for v in order)
    peak = profile(graph, best).peak
    proof = "search" if exhausted else "none"
    return Schedule(best, peak, min(lower, peak), proof, search.states + states)


def _ends_at_once(limits: Limits, further: int | None, peak: int, bound: int) -> bool:
    """Return whether there is no time, or only a crowd's few states (those with `further` ones are
    counted by nobody else) beside a peak near its bound."""
    is_few = further is not None and (limits.max_states or 0) < FEWEST
    return limits.time_limit == 0 or (is_few and peak <= bound * (1 + CLOSE))


def _share(deadline: float | None, parts: int) -> float | None:
    """The end of the first of so many equal parts of the time that is left."""
    return clock.deadline(clock.left(deadline, 1 / parts))


def _descend(
    search: BothEnds, states: int, deadline: float | None, max_bytes: int
) -> tuple[tuple[int, ...] | None, int]:
    """An order below the ceiling, by searches that take all peaks up to a budget as equal.

    With the budget H as floor, T1 commits to all that stays below H, and the first order found
    ends the look of so many `states`. H halves the gap to the bound after a success, and the gap
    to the incumbent after a failure (SERENITY calls this adaptive soft budgeting). Returns the
    states taken, too. The search goes on below what was found.
    """
    low, high = search.lower_bound, search.ceiling
    graph = search.ends[0].graph
    best: tuple[int, ...] | None = None
    taken = 0
    for _ in range(12):
        budget = (low + high) // 2
        if budget <= low or clock.late(deadline):
            break
        look = search.again(budget, high)
        look.run(states, deadline, max_bytes - search.memory)
        taken += look.states
        if look.order is not None:
            best, high = look.order, profile(graph, look.order).peak
            search.lower_ceiling(high)
        else:
            low = budget
    return best, taken
