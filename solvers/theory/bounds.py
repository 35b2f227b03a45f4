"""Lower bounds on the peak of every order: the trivial ones and the min-cut bound T6.

T6 (theory.md section 3): whatever the order, operator v runs at some ideal D at which it is ready,
so no peak is below `min over such D of t(D) + c(D, v)`, and that minimum is one s-t min-cut.

In place: once for every candidate operand x, with all other touchers of x executed and the result
not paid, and once without; the least counts. `network.certificate` gives the flows that prove the
bound to anyone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, Proof, Schedule, bits, profile
from memopt.solvers.theory.cuts import Cuts, TooLargeError


def trivial(graph: MemoryGraph) -> int:
    """Bytes that every order needs, without a flow, in time linear in the graph.

    The level at the start, the cheapest first step, and what each operator touches at once.
    """
    return _trivial(graph)[0]


def _trivial(graph: MemoryGraph) -> tuple[int, int | None]:
    """`trivial`, and the operator that touches as much; None if only the start of every order does.

    What an operator touches is within its least step, so its flows prove it; the start has none.
    The answer stays with the graph, as heuristics and bounds ask one after the other.
    """
    if "trivial" in graph.of_orders:
        return cast("tuple[int, int | None]", graph.of_orders["trivial"])
    best = graph.first_level
    sources = [v for v, before in enumerate(graph.predecessors) if not before]
    if sources:
        best = max(best, min(best + graph.cost(0, v) for v in sources))
    least = list(graph.extra)
    for size, operators in zip(graph.sizes, graph.touchers, strict=True):
        for v in operators:
            least[v] += size
    saved: dict[int, int] = {}
    for c in graph.inplace:
        saved[c.operator] = max(saved.get(c.operator, 0), graph.sizes[c.result])
    for v, size in saved.items():
        least[v] -= size
    peak = max(least, default=best - 1)
    answer = (peak, least.index(peak)) if peak >= best else (best, None)
    graph.of_orders["trivial"] = answer
    return answer


@dataclass(frozen=True)
class Bound:
    """`value` bytes bound every peak from below.

    `operator` is the one whose cuts prove it (`network.certificate`), None where no flow does but
    the start of every order: the first level and step. `flows` counts the max-flows computed.
    """

    value: int
    operator: int | None
    flows: int

    @property
    def proof(self) -> Proof:
        """Return the kind of proof of the bound. Every way on from {} is a search, though of one
        state."""
        return "search" if self.operator is None else "flow"


# Above this many changed operators, and one more for so many operators of the graph, levels of all
# groups are computed as arrays.
NEAR, ONE_IN = 32, 128
# Ideals that earlier cuts found: to ask one takes a tenth of the time of a flow or less.
REMEMBERED = 64
# Operators up to which all that run before and after each are found to rank them: 25 MB.
RANKED = 10_000
# Arcs of a network whose max-flow surely takes less than a second; it cannot be interrupted.
ARCS_PER_SECOND = 2_000


@dataclass
class FlowBound:
    """T6 with early stop: operators by the least step at which a known order runs them."""

    graph: MemoryGraph
    time_limit: float | None = None
    max_flows: int | None = None
    max_arcs: int | None = None
    enough: int | None = None

    @cached_property
    def cuts(self) -> Cuts:
        return Cuts(self.graph, self.max_arcs)

    def solve(self, orders: Sequence[Sequence[int]]) -> Bound:
        """The bound, given some orders (at least one).

        A known order runs v at a step that is an upper bound of v's minimum; so does each ideal
        that an earlier cut found, after v's ancestors are added and v's descendants taken out.
        An operator whose upper bound does not exceed the bound so far needs no flow. Stopping at
        `time_limit` seconds, after `max_flows`, before a flow of more than `max_arcs` arcs, or at a
        bound that is `enough` bytes, only leaves the bound lower.
        """
        deadline = clock.deadline(self.time_limit)
        ceiling = [0] * len(self.graph)
        for k, order in enumerate(orders):
            if k and clock.late(deadline):
                break
            for v, step in zip(order, profile(self.graph, order).steps, strict=True):
                ceiling[v] = min(ceiling[v], step) if k else step
        return self.below(ceiling, deadline)

    def below(self, ceiling: Sequence[int], deadline: float | None = None) -> Bound:
        """Return the bound, given the upper bound of each operator's least step in bytes."""
        graph = self.graph
        (value, operator), flows = _trivial(graph), 0
        best = max(ceiling, default=0)
        if best <= value or self._ends(value, 0, deadline):
            return Bound(value, operator, 0)
        ideals: list[tuple[int, int]] = []  # ideals with their levels
        for v in self._likely_first(ceiling, value):
            if ceiling[v] <= value or self._ends(value, flows, deadline):
                break
            if self._low_elsewhere(v, ideals, value):
                continue
            if self.max_arcs is None and deadline is not None:
                self.cuts.max_arcs = int(ARCS_PER_SECOND * (clock.left(deadline) or 0.0))
            try:
                tried = [self.cuts.least_step(v, c) for c in (None, *graph.candidates[v])]
            except TooLargeError:
                break
            flows += len(tried)
            least, ideal = min(x for x in tried if x is not None)
            if least > value:
                value, operator = least, v
            ideals = [(ideal, self.cuts.level(ideal)), *ideals[: REMEMBERED - 1]]
        return Bound(value, operator, flows)

    def _ends(self, value: int, flows: int, deadline: float | None) -> bool:
        """Return whether a bound of `value` bytes after so many flows stays as it is."""
        is_enough = self.enough is not None and value >= self.enough
        is_last = self.max_flows is not None and flows >= self.max_flows
        return is_enough or is_last or clock.late(deadline)

    def _likely_first(self, ceiling: Sequence[int], value: int) -> list[int]:
        """Return the operators that may need more than `value` bytes, those of the greatest upper
        bound first, of these, up to RANKED operators, those that the fewest others may run before
        or after: their ideals are the fewest, so that least is elsewhere, and their networks the
        smallest."""
        likely = [v for v in range(len(ceiling)) if ceiling[v] > value]
        if len(ceiling) > RANKED:
            return sorted(likely, key=lambda v: (-ceiling[v], v))
        up, down = self.cuts.up, self.cuts.down
        return sorted(
            likely, key=lambda v: (-ceiling[v], -up[v].bit_count() - down[v].bit_count(), v)
        )

    def _low_elsewhere(self, v: int, ideals: list[tuple[int, int]], value: int) -> bool:
        """Return whether an ideal, after v is made ready there, shows that v needs no more than
        `value` bytes; that one is asked first next time. `ideals` come with their levels."""
        mine = self.cuts.up[v]
        out = ~(self.cuts.down[v] | 1 << v)
        for k, (ideal, level) in enumerate(ideals):
            done = (ideal | mine) & out
            if self._level_near(done, ideal, level) + self.graph.cost(done, v) <= value:
                ideals.insert(0, ideals.pop(k))
                return True
        return False

    def _level_near(self, done: int, ideal: int, level: int) -> int:
        """The level of the ideal `done`, given that of another one, from which most differ in a few
        operators."""
        graph, changed = self.graph, done ^ ideal
        if not done:
            return graph.first_level
        if not ideal or changed.bit_count() > NEAR + len(graph) // ONE_IN:
            return self.cuts.level(done)
        for g in {g for w in bits(changed) for g in graph.touches[w]}:
            level += graph.sizes[g] * (graph.resident(g, done) - graph.resident(g, ideal))
        return level


def flow_bound(
    graph: MemoryGraph,
    orders: Sequence[Sequence[int]],
    time_limit: float | None = None,
    max_flows: int | None = None,
    max_arcs: int | None = None,
    enough: int | None = None,
) -> Bound:
    """T6 for `graph`; `orders` (at least one legal order) only decide how soon it may stop."""
    return FlowBound(graph, time_limit, max_flows, max_arcs, enough).solve(orders)


# A heuristic's answer carries a bound, but a bad order must not make it wait for every operator's
# flow: past this many the bound stays what it is, still valid.
HEURISTIC_FLOWS = 50
HEURISTIC_ARCS = 10_000


def bounded(graph: MemoryGraph, order: tuple[int, ...], states: int = 0) -> Schedule:
    """`order` as a schedule with the bound T6. ProblemError if it is not a legal order."""
    facts, ceiling = profile(graph, order), [0] * len(graph)
    for v, step in zip(order, facts.steps, strict=True):
        ceiling[v] = step
    limits = FlowBound(graph, max_flows=HEURISTIC_FLOWS, max_arcs=HEURISTIC_ARCS)
    bound = limits.below(ceiling)
    return Schedule(order, facts.peak, bound.value, bound.proof, states)
