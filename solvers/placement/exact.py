"""Exact placement: our own branch and bound, with a proof.

    prove(problem).lower_bound
    prove(problem, capacity=1 << 20)        # fits, or a bound above the capacity: nothing does

The question is always whether all items fit below a given height; the first height is the bound
(the load), which is the answer more often than not. If the search proves that they do not, the
bound rises to the next sum of sizes, since every arena in which nothing can sink is one. If it is
not settled, the last quarter of the work goes into heights between the bound and the best answer.

`strips.py` takes the problem apart, `corners.py` answers for rectangles. Shapes (items whose height
changes), fixed offsets and alignments that do not divide all sizes go to `left_justified.py`,
which finds and proves the same by a slower rule. Work is counted in nodes, so without a time limit
the same problem has the same answer on every machine.
"""

from collections.abc import Callable
from dataclasses import dataclass

from memopt.solvers import clock
from memopt.solvers.arena import Placement, PlacementProblem, Proven
from memopt.solvers.errors import ProblemError
from memopt.solvers.placement import best_fit, greedy_by_size, planar
from memopt.solvers.placement.corners import CornerSearch
from memopt.solvers.placement.items import Item, floor_of, items_of, placement_of
from memopt.solvers.placement.left_justified import OrderSearch
from memopt.solvers.placement.rules import Rules
from memopt.solvers.placement.strips import Block, Strip, blocks_of, is_plain, strip_of

NODES = 600_000  # of `exact` without a time limit: half a minute
ATTEMPT = 10_000  # half a second
UNLIMITED = 1 << 60
MOST = 20_000  # items: their masks take items^2 bits
NODE = 400  # steps that a node over corners is worth, see `OrderSearch.steps`
AT_BOUND = 0.75  # share of the work for the question whether the bound is met
SUMS = 1 << 22  # units up to which sums of sizes are listed; above, any number may be one

# called with the best arena and the bound in bytes, and the nodes looked at
Progress = Callable[[int, int, int], None]


def prove(
    problem: PlacementProblem,
    time_limit: float | None = None,
    capacity: int | None = None,
    nodes: int | None = None,
    rules: Rules | None = None,
    progress: Progress | None = None,
) -> Proven:
    """The best placement within the limits (seconds; nodes, `NODES` without a time limit) and the
    bound that is proven. With `capacity` (bytes) it ends at an arena that fits, or with a bound
    above it; what is in between is then open."""
    items = items_of(problem)
    if len(items) > MOST:
        raise ProblemError(f"exact searches up to {MOST:,} buffers, these are {len(items):,}")
    answers = [greedy_by_size.solve(problem), best_fit.solve(problem)]
    if min(a.arena for a in answers) > floor_of(problem, items):
        packed = planar.attempt(problem, items)  # in no time, where nothing may be free
        answers += [packed] if isinstance(packed, Placement) else []
    best = min(answers, key=lambda a: a.arena)
    if nodes is None:
        nodes = NODES if time_limit is None else UNLIMITED
    return improve(problem, items, best, time_limit, nodes, capacity, rules, progress)


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
    """As `prove`, from `best`, and never worse than that; a short attempt if nothing limits it, and
    none at all beyond `MOST` items."""
    if nodes is None:
        nodes = ATTEMPT if seconds is None else UNLIMITED
    floor = floor_of(problem, items)
    goal = floor if capacity is None else capacity
    if best.arena <= goal or goal < floor or len(items) > MOST:
        return Proven(best, floor)
    deadline = None if seconds is None else clock.now() + seconds
    task = _Task(problem, items, best, floor, goal, rules or Rules(), progress)
    if not is_plain(items):
        task.by_orders(nodes, deadline)
    elif capacity is not None:
        task.fits(capacity, nodes, deadline)
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
    search: CornerSearch | None = None
    searched: int = -1  # the height that `search` asks for


class _Task:
    """`best` and `bound` (bytes) get better as the searches go on; `nodes` counts all."""

    def __init__(
        self,
        problem: PlacementProblem,
        items: tuple[Item, ...],
        best: Placement,
        bound: int,
        goal: int,
        rules: Rules,
        progress: Progress | None,
    ) -> None:
        self.problem, self.items = problem, items
        self.best: Placement = best
        self.bound: int = bound
        self.goal, self.rules, self.progress = goal, rules, progress
        self.nodes = self.before = 0
        self.leaves: list[_Leaf] = []
        self.offsets = [0] * len(items)
        for block in blocks_of(items) if is_plain(items) else ():
            for index, offset in block.bottom:
                self.offsets[index] = offset
            if block.items:
                strip = strip_of(block.items)
                self.leaves.append(_Leaf(block, strip, (), UNLIMITED, max(strip.loads)))

    def _tell(self, nodes: int) -> None:
        if self.progress:
            self.progress(self.best.arena, self.bound, self.before + nodes)

    def by_orders(self, nodes: int, deadline: float | None) -> None:
        """Any problem: one search for a placement below the best, down to the goal."""
        top = min(self.best.arena, max(self.goal, self.bound) + 1)
        if self.goal == self.bound:
            top = self.best.arena
        search = OrderSearch(self.items, top, self.goal, self.rules, self._tell)
        search.run(max(1, nodes * NODE // (NODE + search.steps)), deadline)
        if search.found is not None:
            self.best = placement_of(self.problem, self.items, search.found)
        if search.settled and self.best.arena > self.goal:
            self.bound = min(top, self.best.arena)

    def by_heights(self, nodes: int, deadline: float | None) -> None:
        """Rectangles: most of the work at the bound, which rises; then between it and the best."""
        now = clock.now()
        most = None if deadline is None else now + (deadline - now) * AT_BOUND
        while self.bound < self.best.arena:
            if self.fits(self.bound, int(nodes * AT_BOUND) - self.nodes, most) is None:
                break
        low = self.bound
        while low < self.best.arena:
            middle = (low + self.best.arena) // 2
            part = None if deadline is None else (clock.now() + deadline) / 2
            if part is not None and part - clock.now() < 0.01:
                break
            if self.fits(middle, (nodes - self.nodes) // 2, part) is None:
                low = middle + 1
            low = max(low, self.bound)

    def fits(self, height: int, nodes: int, deadline: float | None) -> bool | None:
        """Whether everything fits below `height`: takes the answer, or raises the bound above it.
        None if that is not settled within `nodes`."""
        self.leaves.sort(key=lambda e: height - e.block.base - max(e.strip.loads) * e.strip.unit)
        for leaf in self.leaves:
            strip = leaf.strip
            top = (height - leaf.block.base) // strip.unit
            if leaf.height <= top:
                continue
            if top >= leaf.least:
                if leaf.search is None or leaf.searched != top:
                    leaf.search = CornerSearch(strip, top, self.rules, self._tell)
                    leaf.searched = top
                already = leaf.search.nodes
                self.before = self.nodes - already
                found = leaf.search.run(nodes, deadline)
                self.nodes += leaf.search.nodes - already
                nodes -= leaf.search.nodes - already
                if found is None:
                    return None
                if found:
                    leaf.offsets = found
                    leaf.height = max(o + s for o, s in zip(found, strip.sizes, strict=True))
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
