"""Local search over orders of first fit, from the best greedy answer.

What lies at the top of the arena is moved forward in the order, together with a random one of the
items below it; a change is kept unless the arena grows. (Ethos-U's Vela allocates this way.)
Seeded, and bounded in work when no time is given.
"""

from random import Random

from memopt.solvers import clock
from memopt.solvers.placement.first_answer import first_answer
from memopt.solvers.placement.neighbours import Neighbour, crowded, fits_lowest, neighbours_of
from memopt.solvers.placement.rectangles import floor_of, offsets_of, placement_of
from memopt.solvers.problems.placement import Item, Placement, PlacementProblem

WORK = 2_000_000  # neighbours looked at without a time limit: about a second
ROUNDS = 500


def solve(problem: PlacementProblem, time_limit: float | None = None) -> Placement:
    """`time_limit` in seconds; without one the work is bounded."""
    deadline = clock.deadline(time_limit)
    best = first_answer(problem, deadline)
    return improve(problem, problem.items, best, clock.left(deadline))


def improve(
    problem: PlacementProblem, items: tuple[Item, ...], best: Placement, seconds: float | None
) -> Placement:
    """The best placement found from `best`; stops at the floor."""
    target = floor_of(problem, items)
    if best.arena == target:
        return best
    deadline = clock.deadline(seconds)
    if crowded(items):
        return best
    try:
        near = neighbours_of(items, deadline)
    except clock.TimeIsOverError:
        return best
    cost = sum(map(len, near)) + len(items)
    rounds = min(ROUNDS, WORK // cost) if deadline is None else 1 << 62
    random = Random(0)
    offsets = offsets_of(problem, items, best)
    order = sorted((i.index for i in items if i.fixed is None), key=lambda i: (offsets[i], i))
    fixed = [i.index for i in items if i.fixed is not None]
    current = _height(items, offsets)
    result, result_height = offsets, current
    fits = FirstFits(items, near, fixed)
    for _ in range(rounds):
        candidate, chosen = _moved(order, items, near, offsets, current, random)
        try:
            moved = fits.offsets(candidate, chosen, current, deadline)
            if moved is None:
                if random.random() >= 0.01:
                    continue
                moved = fits.offsets(candidate, chosen, None, deadline)
        except clock.TimeIsOverError:
            break
        assert moved is not None
        fits.known = moved
        order, offsets, current = candidate, moved, _height(items, moved)
        if current < result_height:
            result, result_height = moved, current
            if current == target:
                break
    return placement_of(problem, items, result)


def _moved(
    order: list[int],
    items: tuple[Item, ...],
    near: list[list[Neighbour]],
    offsets: list[int],
    height: int,
    random: Random,
) -> tuple[list[int], int | None]:
    """`order` with one of the highest items, or one that it rests on, before another one; and that
    item, None where all have moved."""
    highest = [i for i in order if offsets[i] + items[i].size == height]
    if not highest:
        return random.sample(order, len(order)), None
    chosen = random.choice(highest)
    around = [n.item for n in near[chosen] if items[n.item].fixed is None]
    if around and random.random() < 0.5:
        chosen = random.choice(around)
        around = [n.item for n in near[chosen] if items[n.item].fixed is None]
    position = {i: at for at, i in enumerate(order)}
    earlier = [i for i in around if position[i] < position[chosen]]
    goal = position[random.choice(earlier)] if earlier else random.randrange(len(order))
    rest = [i for i in order if i != chosen]
    rest.insert(goal, chosen)
    return rest, chosen


class FirstFits:
    """First fit in orders that differ in one item. `known` are the offsets of the last order that
    was taken: an item has the same as long as the neighbours before it are the same, and where they
    were."""

    def __init__(
        self, items: tuple[Item, ...], near: list[list[Neighbour]], fixed: list[int]
    ) -> None:
        self._items, self._near, self._fixed = items, near, fixed
        self._around = [[n.item for n in conflicts] for conflicts in near]
        self.known: list[int] | None = None

    def offsets(
        self, order: list[int], moved: int | None, limit: int | None, deadline: float | None
    ) -> list[int] | None:
        """Return the offsets of all items in `order`, in which `moved` is not where it was; None if
        they need more than `limit` bytes. Raises TimeIsOverError at the deadline."""
        known = [-1] * len(self._items) if self.known is None or moved is None else self.known
        stale = bytearray(offset < 0 for offset in known)
        for i in [] if moved is None else [moved, *self._around[moved]]:
            stale[i] = True
        offsets = [-1] * len(self._items)
        for k, i in enumerate(self._fixed + order):
            if not k % 64:
                clock.raise_if_late(deadline)
            item, offset = self._items[i], known[i]
            if item.fixed is not None:
                offset = item.fixed
            elif stale[i]:
                offset = fits_lowest(i, self._items, self._near, offsets)
            offsets[i] = offset
            if limit is not None and offset + item.size > limit:
                return None
            if offset != known[i]:
                for j in self._around[i]:
                    stale[j] = True
        return offsets


def _height(items: tuple[Item, ...], offsets: list[int]) -> int:
    return max(o + i.size for i, o in zip(items, offsets, strict=True))
