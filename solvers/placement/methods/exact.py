"""Exact placement: our own branch and bound, with a proof.

    prove(problem).lower_bound
    prove(problem, capacity=1 << 20)        # fits, or a bound above the capacity: nothing does

The question is always whether all items fit below a given height; the first height is the bound
(the load), which is the answer more often than not. If the search proves that they do not, the
bound rises to the next sum of sizes, since every arena in which nothing can sink is one. If it is
not settled, the last quarter of the work goes into heights between the bound and the best answer.

`strips.py` takes the problem apart, `skyline_corners.py` answers for rectangles, and where it does
not, beams (`skyline_beam.py`) find lower arenas, wider from round to round. Shapes (items whose
height changes), fixed offsets and alignments that do not divide all sizes go to
`left_justified.py`, which finds and proves the same by a slower rule. What is in parts that die
alone is put to either end of the arena, and rectangles beside it (`staircase.py`): that finds, and
proves nothing. Work is counted in nodes, so without a time limit the same problem has the same
answer on every machine.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.placement import skyline_beam
from memopt.solvers.placement.capacities import lowered
from memopt.solvers.placement.first_answer import first_answer
from memopt.solvers.placement.left_justified import OrderSearch
from memopt.solvers.placement.methods import planar
from memopt.solvers.placement.neighbours import crowded
from memopt.solvers.placement.rectangles import arena_unit, floor_of, placement_of
from memopt.solvers.placement.rules import Rules
from memopt.solvers.placement.skyline_corners import CornerSearch
from memopt.solvers.placement.staircase import Beside, StairSearch
from memopt.solvers.placement.strips import Block, Strip, blocks_of, is_plain, strip_of
from memopt.solvers.problems.placement import Item, Placement, PlacementProblem, Proven

NODES = 600_000  # of `exact` without a time limit, and of each capacity: half a minute
ATTEMPT = 10_000  # half a second
BESIDE = 60_000  # the same beside parts that die alone, for which the greedy strategies are poor
FEW = 30  # items, some in parts, that are searched in orders first, which may prove something
QUESTION = 100  # nodes that a question beside parts costs at least: its profiles take as long
UNLIMITED = 1 << 60
MOST = 20_000  # items: their masks take items^2 bits
NODE = 400  # steps that a node over corners is worth, see `OrderSearch.steps`
AT_GOAL = 0.75  # share of the work, if there is little, for the question whether the bound is met
ROUND = 4_000  # nodes of each height in the first round
HEIGHTS = 6  # above the goal, in each round
PATIENCE = 60_000  # nodes at the goal, before anything above it is tried
LONGEST = 200_000  # so many where they are no more than a quarter of the work
WIDTH = 32  # states of a beam in the first round
STATES = 8  # of a beam that take as long as a node
WIDER = 2  # times as many in each further round
GAPS = (2, 2, 4)  # the bytes between the bound and the best answer, by which a beam asks for less
SUMS = 1 << 22  # units up to which sums of sizes are listed; above, any number may be one

# called with the best arena and the bound in bytes, and the nodes looked at
Progress = Callable[[int, int, int], None]
Tell = Callable[[int], None]


def prove(
    problem: PlacementProblem,
    time_limit: float | None = None,
    capacity: int | None = None,
    nodes: int | None = None,
    rules: Rules | None = None,
    progress: Progress | None = None,
) -> Proven:
    """The best placement within the limits and the bound that is proven. Limits are seconds, nodes,
    or without either `NODES`, and as many for each capacity that is then tried. With `capacity`
    (bytes) it ends at an arena that fits, or with a bound above it; what is in between is then
    open."""
    deadline = clock.deadline(time_limit)
    items = problem.items
    if len(items) > MOST:
        raise ProblemError(f"exact searches up to {MOST:,} buffers, these are {len(items):,}")
    best = first_answer(problem, deadline)
    if clock.late(deadline):
        return Proven(best, floor_of(problem, items))
    if best.arena > floor_of(problem, items):
        packed = planar.attempt(problem, items, deadline)  # in no time, where nothing may be free
        if isinstance(packed, Placement) and packed.arena < best.arena:
            best = packed
    if nodes is not None or time_limit is not None:
        nodes = UNLIMITED if nodes is None else nodes
        return improve(problem, items, best, clock.left(deadline), nodes, capacity, rules, progress)
    proven = improve(problem, items, best, None, NODES, capacity, rules, progress)
    if capacity is not None:
        return proven

    def ask(known: Placement, below: int, share: int) -> Proven:
        return improve(problem, items, known, None, share, below, rules, progress)

    return lowered(items, proven, NODES, ask)


def improve(
    problem: PlacementProblem,
    items: tuple[Item, ...],
    best: Placement,
    seconds: float | None,
    nodes: int | None = None,
    capacity: int | None = None,
    rules: Rules | None = None,
    progress: Progress | None = None,
) -> Proven:
    """Prove or improve `best`, never returning a worse placement.

    A short attempt if nothing limits it, and none at all beyond `MOST` items. The other parameters
    are those of `prove`.
    """
    if nodes is None:
        nodes = ATTEMPT if seconds is None else UNLIMITED
    if nodes == ATTEMPT and any(i.in_parts for i in items):
        nodes = BESIDE
    floor = floor_of(problem, items)
    goal = floor if capacity is None else capacity
    if best.arena <= goal or goal < floor or len(items) > MOST:
        return Proven(best, floor)
    deadline = clock.deadline(seconds)
    try:
        task = _Task(problem, items, best, floor, goal, rules or Rules(), progress, deadline)
    except clock.TimeIsOverError:
        return Proven(best, floor)
    if any(i.in_parts for i in items):
        task.by_parts(nodes, deadline)
    elif not is_plain(items):
        task.by_orders(nodes, deadline)
    else:
        task.by_heights(nodes, deadline)
    return Proven(task.best, task.bound)


@dataclass
class _Leaf:
    """A strip of a block. In units: `offsets` need `height`; no offsets need less than `least`."""

    block: Block
    strip: Strip
    offsets: tuple[int, ...]
    height: int
    least: int
    kept: CornerSearch | None = None  # at the goal, which is asked for again and again

    def search(self, height: int, keep: bool, rules: Rules, tell: Tell) -> CornerSearch:
        """Return the search for a placement below `height` units; a kept one goes on where it
        stopped."""
        if self.kept is not None and self.kept.height == height:
            return self.kept
        search = CornerSearch(self.strip, height, rules, tell)
        if keep:
            self.kept = search
        return search


class _Task:
    """`best` and `bound` (bytes) get better as the searches go on; `nodes` counts all. To make one
    raises TimeIsOverError at the deadline."""

    def __init__(
        self,
        problem: PlacementProblem,
        items: tuple[Item, ...],
        best: Placement,
        bound: int,
        goal: int,
        rules: Rules,
        progress: Progress | None,
        deadline: float | None,
    ) -> None:
        self.problem, self.items = problem, items
        self.best: Placement = best
        self.bound: int = bound
        self.goal, self.rules, self.progress = goal, rules, progress
        self.floor = bound
        self.nodes = self.before = 0
        self.turn = 0.0
        self.beams = 0  # asked so far, each in another variation
        self.leaves: list[_Leaf] = []
        self.offsets = [0] * len(items)
        for block in blocks_of(items, deadline) if is_plain(items) else ():
            for index, offset in block.bottom:
                self.offsets[index] = offset
            if block.items:
                strip = strip_of(block.items)
                self.leaves.append(_Leaf(block, strip, (), UNLIMITED, max(strip.loads)))
        self.unit = gcd(*(e.strip.unit for e in self.leaves)) or 1
        self.beside: Beside | None = None
        self.kept: dict[tuple[bool, ...], StairSearch] = {}  # at the goal

    def _tell(self, nodes: int) -> None:
        clock.tell(self.best.arena, self.bound)
        if self.progress:
            self.progress(self.best.arena, self.bound, self.before + nodes)

    def by_orders(self, nodes: int, deadline: float | None) -> None:
        """Any problem: a search for a placement below the best, down to the goal."""
        if crowded(self.items):
            return
        if self.bound < self.goal < self.best.arena - 1:  # a capacity, at first by itself
            share = clock.deadline(clock.left(deadline, 0.75))
            self._below(self.goal + 1, nodes * 3 // 4, share)
            nodes //= 4
        if self.bound <= self.goal < self.best.arena:
            self._below(self.best.arena, nodes, deadline)

    def _below(self, top: int, nodes: int, deadline: float | None) -> None:
        """Look for placements below `top`, down to the goal."""
        try:
            search = OrderSearch(self.items, top, self.goal, self.rules, self._tell, deadline)
        except clock.TimeIsOverError:
            return
        search.run(max(1, nodes * NODE // (NODE + search.steps)), deadline)
        if search.found is not None:
            self.best = placement_of(self.problem, self.items, search.found)
        if search.settled and self.best.arena > self.goal:
            self.bound = min(top, self.best.arena)

    def by_parts(self, nodes: int, deadline: float | None) -> None:
        """Something is in parts: a search beside it at the ends of the arena, and one in orders."""
        if len(self.items) <= FEW:
            self.by_orders(nodes // 4, clock.deadline(clock.left(deadline, 0.25)))
            nodes -= nodes // 4
        if self.best.arena <= max(self.goal, self.bound) or self.bound > self.goal:
            return
        if not any(i.fixed is not None for i in self.items):
            self.beside = Beside(self.items)
            self.unit = arena_unit(self.items)
            self.by_heights(nodes * 3 // 4, clock.deadline(clock.left(deadline, 0.75)))
        self.by_orders(nodes // 4, deadline)

    def _fits_beside(
        self, beside: Beside, height: int, nodes: int, deadline: float | None, width: int
    ) -> bool | None:
        """Answer `fits` for rectangles beside staircases: True, or None, never a proof that nothing
        fits."""
        choices, before = beside.choices(height), self.nodes
        for turn, ends in enumerate(choices):
            previous = self.kept.get(ends) if height == self.goal else None
            search = previous or beside.search(height, ends, self.rules)
            if height == self.goal:
                self.kept[ends] = search
            already = self.nodes
            share = nodes // (len(choices) - turn)
            offsets_found = self._run(search, share, deadline, width)
            nodes -= self.nodes - already
            self._tell(0)
            if offsets_found or not beside.rest:
                search.found = offsets_found or ()  # nothing is beside them
                offsets = beside.offsets_of(search, height)
                self.best = placement_of(self.problem, self.items, offsets)
                return True
        self.nodes = max(self.nodes, before + QUESTION)
        return None

    def _run(
        self, search: CornerSearch, nodes: int, deadline: float | None, width: int
    ) -> tuple[int, ...] | None:
        """Run a search, or a beam in its place; None if that settles nothing."""
        if width:
            states = nodes * STATES
            offsets, work = skyline_beam.run(search, width, self.beams, states, deadline)
            self.beams += 1
            self.nodes += 1 + work // STATES
            return offsets or None
        already = search.nodes
        answer = search.run(nodes, deadline)
        self.nodes += search.nodes - already
        return answer

    def _by_beams(self, width: int, nodes: int, deadline: float | None) -> None:
        """Ask beams for heights closer to the bound, by smaller steps after each failure."""
        turn = 0
        while turn < len(GAPS) and self._open(nodes, deadline):
            gap = self.best.arena - max(self.goal, self.bound)
            height = self.best.arena - max(min(self.unit, gap), gap // GAPS[turn])
            is_answer = self.fits(height, nodes - self.nodes, deadline, width)
            turn = 0 if is_answer else turn + 1

    def by_heights(self, nodes: int, deadline: float | None) -> None:
        """Rectangles: first the goal; then rounds of more and more work, at heights all over the
        gap between the goal and the best answer, and at the goal again."""
        first = clock.deadline(clock.left(deadline, 0.5))
        patience = min(PATIENCE, int(nodes * AT_GOAL))
        self._at_goal(max(patience, min(LONGEST, nodes // 4)), first)
        share, width = ROUND, WIDTH
        more = 3 * HEIGHTS if self.goal > self.floor else HEIGHTS // 3  # a capacity is asked for
        while self._open(nodes, deadline):
            self._descend(share, nodes, deadline)
            at_most = self.nodes + (nodes - self.nodes) // 2
            if at_most - self.nodes > width * len(self.items):
                self._by_beams(width, at_most, deadline)
            self._at_goal(min(more * share, nodes - self.nodes), deadline)
            share, width = 2 * share, WIDER * width

    def _open(self, nodes: int, deadline: float | None) -> bool:
        goal = max(self.goal, self.bound)
        impossible = self.bound > self.goal > self.floor  # nothing fits a given capacity
        return (
            self.best.arena > goal
            and not impossible
            and self.nodes < nodes
            and not clock.late(deadline)
        )

    def _at_goal(self, nodes: int, deadline: float | None) -> None:
        """Decide whether the bound is met, which rises with each no; or, whether the capacity
        is."""
        last = self.nodes + nodes
        while self._open(last, deadline):
            if self.fits(max(self.goal, self.bound), last - self.nodes, deadline) is None:
                return

    def _descend(self, share: int, nodes: int, deadline: float | None) -> None:
        """Capacities below the best answer, asked for as a given one is, each with `share` nodes:
        by larger steps after each answer, by smaller ones after each failure. Then one anywhere:
        how long a height takes has little to do with the next one."""
        step = max(1, (self.best.arena - max(self.goal, self.bound)) // 4)
        while self._open(nodes, deadline):
            goal = max(self.goal, self.bound)
            last = step <= self.unit
            height = self.best.arena - min(step, self.best.arena - goal)
            if last:
                self.turn = (self.turn + (5**0.5 - 1) / 2) % 1
            if self.fits(height, min(share, nodes - self.nodes), deadline):
                step *= 2
            elif last:
                return
            else:
                step = max(self.unit, step // 2)

    def fits(self, height: int, nodes: int, deadline: float | None, width: int = 0) -> bool | None:
        """Decide whether everything fits below `height`: take the answer, or raise the bound above
        it. None if that is not settled within `nodes`; with a `width`, by beams."""
        goal = max(self.goal, self.bound)
        if self.beside is not None:
            return self._fits_beside(self.beside, height, nodes, deadline, width)
        self.leaves.sort(key=lambda e: height - e.block.base - max(e.strip.loads) * e.strip.unit)
        for leaf in self.leaves:
            strip = leaf.strip
            top = (height - leaf.block.base) // strip.unit
            if leaf.height <= top:
                continue
            if top >= leaf.least:
                search = leaf.search(top, height == goal, self.rules, self._tell)
                already = self.nodes
                self.before = already - search.nodes
                offsets = self._run(search, nodes, deadline, width)
                nodes -= self.nodes - already
                if offsets is None:
                    return None
                if offsets:
                    leaf.offsets = offsets
                    leaf.height = max(o + s for o, s in zip(offsets, strip.sizes, strict=True))
                    continue
                leaf.least = next_sum(strip.sizes, top)
            self.bound = min(
                self.best.arena, max(self.bound, leaf.block.base + leaf.least * strip.unit)
            )
            return False
        for leaf in self.leaves:
            for item, offset in zip(leaf.block.items, leaf.offsets, strict=True):
                self.offsets[item.index] = leaf.block.base + offset * leaf.strip.unit
        self.best = placement_of(self.problem, self.items, self.offsets)
        return True


def next_sum(sizes: tuple[int, ...], above: int) -> int:
    """The least sum of some of `sizes` that is greater than `above`; `above` + 1 if the numbers
    are too large to tell. At most the sum of all."""
    if sum(sizes) > SUMS:
        return above + 1
    reachable = 1
    for size in sizes:
        reachable |= reachable << size
    higher = reachable >> (above + 1)
    return above + 1 if not higher else above + (higher & -higher).bit_length()
