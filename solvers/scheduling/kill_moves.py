"""Kill-moves: the only branches that a search over ideals needs.

Running an operator that frees nothing and has no workspace can wait: it only raises the level. So
from an ideal S it is enough to branch over the inclusion-minimal sets K that end in an *event*: a
storage group is freed, or an operator with workspace runs. Up to its last operator such a K only
allocates, so every order of it has the same peak.

Proof. Take any schedule from S, let v be its first event and A what runs before v. Some minimal
K has K within A + v, and v is in it, because nothing before v is an event. Run K first, then the
rest of A in its old order. Before v, K allocates a subset of what A did. After v the level is at
most t(S) + new(A) + new(v) - freed(K), below the old step of v as long as freed(K) is at least
what the step of v was below t(S) + new(A) + new(v): that is 0 without in-place and with workspace
>= 0. A negative workspace (a contracted module) is covered if the operator itself frees at least
as much, beside what it takes over in place (`covers`). Costs never grow with the ideal, so what is
postponed costs no more.

In place the step of v is lower by its result if an operand x dies there, and a smaller K may not
kill x. So for each candidate the set that kills x and ends in v is a branch of its own, minimal or
not, unless another event is over before v; with it the argument holds: K frees x, which is no
smaller than the result.
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.theory.ideals import ancestors, descendants

# Events not yet over that contain no other such event, by index, and behind all events the in-place
# candidates that nothing keeps waiting. Found again from one ideal to the next instead of from all
# of them, of which most are far away.
Frontier = tuple[int, ...]

# How many smaller events are compared with each to find what blocks it, and how often in all
# (quadratic otherwise).
BLOCKERS = 1_000
COMPARISONS = 1_500_000


@dataclass(frozen=True)
class KillMoves:
    """The kill-moves of a graph whose operators are numbered topologically."""

    graph: MemoryGraph

    @cached_property
    def _ancestors(self) -> list[int]:
        return ancestors(self.graph)

    @cached_property
    def _ends(self) -> dict[int, Sequence[int]]:
        """Masks of all that must have run for one event to be over, smallest first, and operators
        that have run last by then, among others."""
        graph, up = self.graph, self._ancestors
        ends: dict[int, Sequence[int]] = {}
        needs: list[int] = []
        for g, group in enumerate(graph.groups):
            touchers = graph.touchers[g]
            if graph.sizes[g] and touchers and not group.is_output:
                needs.append(need := _closure(up, touchers))
                ends[need] = touchers
        needs += (alone := [up[v] | 1 << v for v in range(len(graph)) if graph.extra[v]])
        ends |= {need: (need.bit_length() - 1,) for need in alone}
        return {need: ends[need] for need in sorted(in_slots(needs), key=int.bit_count)}

    @cached_property
    def _ending(self) -> list[int]:
        """Per operator the events, as a mask, whose last operator has run once it has."""
        ending = [0] * len(self.graph)
        for e, need in enumerate(self._events):
            ending[need.bit_length() - 1] |= 1 << e
        for v, before in enumerate(self.graph.predecessors):
            for p in before:
                ending[v] |= ending[p]
        return ending

    @cached_property
    def _events(self) -> tuple[int, ...]:
        """Masks of all that must have run for one event to be over, smallest first."""
        return tuple(self._ends)

    @cached_property
    def _kills(self) -> dict[tuple[int, int], tuple[int, ...]]:
        """Operators that touch the operand, by (what must have run, operator that must be last) of
        in-place candidates."""
        graph, up, down = self.graph, self._ancestors, descendants(self.graph)
        kills: dict[tuple[int, int], tuple[int, ...]] = {}
        for c in graph.inplace:
            if graph.sizes[c.result] and not graph.toucher_masks[c.operand] & down[c.operator]:
                touchers = graph.touchers[c.operand]
                kills[_closure(up, touchers), c.operator] = touchers
        return kills

    @cached_property
    def _inplace(self) -> tuple[tuple[int, int], ...]:
        """(what must have run, operator that must be last) per in-place candidate."""
        return tuple(self._kills)

    @cached_property
    def _waits(self) -> list[list[int]]:
        """Per in-place candidate the largest few events that must be over before it is a branch."""
        events, ending, result = self._events, self._ending, list[list[int]]()
        sizes = [need.bit_count() for need in events]
        for need, last in self._inplace:
            before = need & ~(1 << last)
            rest = 0  # events whose last operator is in `before`
            for v in (*self._kills[need, last], *self.graph.predecessors[last]):
                rest |= ending[v] if v != last else 0
            # no larger one is within it
            rest &= (1 << bisect_right(sizes, before.bit_count())) - 1
            within: list[int] = []
            while rest and len(within) < 3:
                e = rest.bit_length() - 1
                within += [e] if events[e] & before == events[e] else []
                rest ^= 1 << e
            result.append(within)
        return result

    @cached_property
    def covers(self) -> bool:
        """Return whether the proof holds: no operator's workspace is below minus what it always
        frees.

        What it frees cannot pay twice: what it takes over in place comes off first.
        """
        graph, up = self.graph, self._ancestors
        for v, extra in enumerate(graph.extra):
            if extra < 0:
                mine = up[v] | 1 << v
                freed = sum(
                    graph.sizes[g]
                    for g in graph.touches[v]
                    if not graph.groups[g].is_output and not graph.toucher_masks[g] & ~mine
                )
                saved = max((graph.sizes[c.result] for c in graph.candidates[v]), default=0)
                if freed - saved + extra < 0:
                    return False
        return True

    @cached_property
    def _blockers(self) -> list[list[int]]:
        """Per event the largest events within it: while one of them is not over, it is no branch.

        Only so many smaller ones are looked at, and of them those whose last operator is in it;
        those left out cost time, not correctness.
        """
        events, ends, ending = self._events, self._ends, self._ending
        reach = min(BLOCKERS, COMPARISONS // max(1, len(events)))
        within: list[int] = []
        result: list[list[int]] = []
        for e, need in enumerate(events):
            first = max(0, e - reach)
            rest = 0
            for v in ends[need]:
                rest |= ending[v]
            rest &= (1 << e) - (1 << first)
            mine = 0
            direct: list[int] = []
            while rest:
                b = rest.bit_length() - 1
                if events[b] & need == events[b]:
                    direct.append(b)
                    mine |= within[b] | 1 << b
                    rest &= ~within[b]
                rest &= (1 << b) - 1
            within.append(mine)
            result.append(direct)
        return result

    @cached_property
    def _until(self) -> tuple[int, ...]:
        """Return masks of the operators that must have run before each event, or in-place
        candidate, is over."""
        return self._events + tuple(1 << last for _, last in self._inplace)

    @cached_property
    def _blocked_by(self) -> list[list[int]]:
        """Events that keep an event, or an in-place candidate, from being a branch."""
        return self._blockers + self._waits

    @cached_property
    def _unblocks(self) -> list[list[int]]:
        result: list[list[int]] = [[] for _ in self._until]
        for e, blockers in enumerate(self._blocked_by):
            for b in blockers:
                result[b].append(e)
        return result

    @property
    def tables(self) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...], list[list[int]]]:
        """Events, in-place candidates behind them, and per one of both the events that block it."""
        return self._events, self._inplace, self._blocked_by

    def start(self) -> Frontier:
        """Return the events that nothing blocks before any operator has run."""
        return tuple(e for e, blockers in enumerate(self._blocked_by) if not blockers)

    def advance(self, frontier: Frontier, done: int) -> Frontier:
        """Return the events that nothing blocks at `done`, from the frontier of an ideal within
        it."""
        until, todo = self._until, ~done
        pending = [e for e in frontier if until[e] & todo]
        if len(pending) == len(frontier):
            return frontier
        over = [e for e in frontier if not until[e] & todo]
        seen: set[int] = set()
        while over:
            for e in self._unblocks[over.pop()]:
                if e not in seen and not any(until[b] & todo for b in self._blocked_by[e]):
                    seen.add(e)
                    (pending if until[e] & todo else over).append(e)
        return tuple(pending)

    def moves(
        self, done: int, frontier: Frontier, deadline: float | None = None
    ) -> list[tuple[int, int, bool]]:
        """(operators to run, operator to run last or -1, minimal) per branch at the ideal `done`.

        Up to its last operator a minimal branch only allocates. Without any event left all that
        remains is one branch. Raises TimeIsOverError at the deadline.
        """
        todo, events, count = ~done, self._events, len(self._events)
        minimal = minimal_sets([events[e] & todo for e in frontier if e < count], deadline)
        result = [(need, -1, True) for need in minimal]
        for e in sorted([e for e in frontier if e >= count]):
            need, last = self._inplace[e - count]
            need &= todo
            before = need & ~(1 << last)
            for other in minimal:
                if other & before == other:  # `last` is no first event
                    break
            else:
                result.append((need, last, need in minimal))
        if not result:
            rest = (1 << len(self.graph)) - 1 & todo
            return [(rest, -1, True)] if rest else []
        return result


def _closure(up: list[int], operators: Collection[int]) -> int:
    mask = 0
    for v in operators:
        mask |= up[v] | 1 << v
    return mask


# With more sets than this, each is compared with those alone whose last operator it has.
FEW = 100
MODULUS = (1 << 61) - 1  # of hashes: sums of words are, too


def minimal_sets(sets: Sequence[int], deadline: float | None = None) -> list[int]:
    """Return those masks of `sets` that contain no other one, smallest first; of one size in the
    order of `in_slots`, of more than FEW sets in that of their numbers. Raises TimeIsOverError: of
    thousands that end apart each is compared with all."""
    minimal, different = list[int](), set(sets)
    if len(different) <= FEW:
        for need in sorted(in_slots(sets), key=int.bit_count):
            for other in minimal:  # a generator would take longer to make than most lists are long
                if other & need == other:
                    break
            else:
                minimal.append(need)
        return minimal
    ends, by_end = 0, dict[int, list[int]]()
    for need in sorted(different, key=lambda need: (need.bit_count(), need)):
        clock.raise_if_late(deadline)
        if _holds(need, need & ends, by_end):
            continue
        minimal.append(need)
        last = need.bit_length() - 1
        by_end.setdefault(last, []).append(need)
        ends |= 1 << last
    return minimal


def in_slots(masks: Sequence[int]) -> list[int]:
    """Return the different `masks`, none of them 0, in the order of the slots of a hash table.

    The table takes them one after the other: modulo 2^61 - 1 and the number of slots, or else in
    one of the next nine, or else from another slot on (`_take`). It has 8 slots, and as soon as
    three of five between them are taken the power of two above four times as many as are taken,
    into which they move slot by slot.

    Any order is right. This one mixes moves near each other and far apart, and so finds orders of
    one peak that smaller arenas hold than those by number, either way, do: in rows of
    person_detect 12,288 B and not 12,672.
    """
    slots, count = [0] * 8, 0
    for mask in masks:
        if _take(slots, mask):
            count += 1
            if count * 5 >= (len(slots) - 1) * 3:
                larger = [0] * (1 << (count * 4).bit_length())
                for moved in filter(None, slots):
                    _take(larger, moved)
                slots = larger
    return [mask for mask in slots if mask]


def _take(slots: list[int], mask: int) -> bool:
    """Put `mask` into its slot; return False if it is there."""
    last = len(slots) - 1
    rest = mask % MODULUS
    first = rest & last
    while True:
        for at in range(first, first + 10 if first + 9 <= last else first + 1):
            if not slots[at]:
                slots[at] = mask
                return True
            if slots[at] == mask:
                return False
        rest >>= 5
        first = (first * 5 + 1 + rest) & last


def _holds(need: int, ends: int, by_end: dict[int, list[int]]) -> bool:
    """Return whether one of the sets with one of these last operators lies in `need`.

    Mostly there are few of thousands of operators, so they are not listed as `bits` does.
    """
    while ends:
        low = ends & -ends
        if any(m & need == m for m in by_end[low.bit_length() - 1]):
            return True
        ends ^= low
    return False
