"""Exact search for every problem: shapes, fixed offsets, alignment. Depth first, over orders.

In some best placement nothing can sink, and then first fit in the order of offsets reaches it: the
items are placed in non-decreasing order of offsets, each at the lowest place that is free (Moffitt,
MiniMalloc, ASPLOS'23, section 4; Martello's and Vigo's left-justified packings). That holds for
shapes and with fixed items too: what keeps an item from sinking starts no higher than the item.
An item in parts may be kept up by what starts above its own offset, below another of its parts; so
it is put at every place that is free.

What `Rules` call `gaps` and `floors` are MiniMalloc's dominance and its section inference.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import lcm

from memopt.solvers import clock
from memopt.solvers.placement.neighbours import fits_lowest, neighbours_of
from memopt.solvers.placement.rectangles import arena_unit, cliques_of
from memopt.solvers.placement.recursion import deep_recursion
from memopt.solvers.placement.rules import Rules, luby
from memopt.solvers.problems.placement import Item

RESTART = 500  # nodes of the shortest run


class StoppedError(Exception):
    """The run's share of nodes is used up, or all the time."""


@dataclass
class OrderSearch:
    """Looks for placements below `height`, which falls with each one found, down to `goal` bytes.

    `found` are the offsets of the best; `settled` says that there is none below `height`. Raises
    TimeIsOverError if not even its tables are made by `deadline`.
    """

    items: tuple[Item, ...]
    height: int
    goal: int
    rules: Rules = field(default_factory=Rules)
    progress: Callable[[int], None] | None = None
    deadline: float | None = None
    found: list[int] | None = None
    settled: bool = False
    nodes: int = 0
    limit: int = 0
    offsets: list[int] = field(default_factory=list[int])
    rank: list[int] = field(default_factory=list[int])

    def __post_init__(self) -> None:
        self.near = neighbours_of(self.items, self.deadline)
        self.active = [i.index for i in self.items if i.pieces and i.fixed is None]
        self.cliques = [[(i, p.size) for i, p in c] for c in cliques_of(self.items)]
        self.steps = sum(map(len, self.cliques)) + len(self.items)  # that a node may take
        self.unit = arena_unit(self.items)
        alike: dict[object, int] = {}
        self.twin: dict[int, int] = {}  # the one before among those that are alike
        for i in self.active:
            outline = self.items[i].outline
            if outline in alike:
                self.twin[i] = alike[outline]
            alike[outline] = i

    def run(self, nodes: int, deadline: float | None = None) -> None:
        """Search on, for at most `nodes` states and until `deadline` (by `clock`)."""
        self.deadline, last, turn = deadline, self.nodes + nodes, 0
        with deep_recursion():
            while self.nodes < last and not self._late():
                order = sorted(self.active, key=self._order(turn))
                self.rank = [0] * len(self.items)
                for position, i in enumerate(order):
                    self.rank[i] = position
                turn += 1
                share = RESTART * luby(turn) if self.rules.restarts else nodes
                self.limit = min(last, self.nodes + share)
                self.offsets = [-1] * len(self.items)
                for item in self.items:
                    if item.fixed is not None or not item.pieces:
                        self.offsets[item.index] = item.fixed or 0
                try:
                    lowest = {i: self._fits(i) for i in self.active}
                    self._place(0, lowest)
                except StoppedError:
                    continue
                self.settled = True
                return

    def _order(self, turn: int) -> Callable[[int], tuple[int, ...]]:
        """Area, live range, size, tightest section: what comes first, lies low."""
        items, totals = self.items, self._totals
        orders: tuple[Callable[[int], tuple[int, ...]], ...] = (
            lambda i: (-items[i].area, i),
            lambda i: (items[i].lower - items[i].upper, -items[i].size, i),
            lambda i: (-items[i].size, items[i].lower - items[i].upper, i),
            lambda i: (-totals(i), items[i].lower - items[i].upper, -items[i].area, i),
        )
        return orders[turn % len(orders)]

    def _totals(self, i: int) -> int:
        return max(sum(s for _, s in c) for c in self.cliques if any(j == i for j, _ in c))

    def _fits(self, i: int) -> int:
        return fits_lowest(i, self.items, self.near, self.offsets)

    def _late(self) -> bool:
        return clock.late(self.deadline)

    def _place(self, level: int, lowest: dict[int, int]) -> bool:
        """Place all of `lowest` (item: lowest free offset) from `level` up. True at the goal."""
        self.nodes += 1
        if self.nodes > self.limit:
            raise StoppedError
        if not self.nodes % 64:
            if self.progress:
                self.progress(self.nodes)
            if self._late():
                raise StoppedError
        if not lowest:
            self.found = self.offsets[:]
            self.height = max(o + i.size for o, i in zip(self.found, self.items, strict=True))
            return self.height <= self.goal
        if self._too_high(level, lowest):
            return False
        end = min(o + self.items[i].size for i, o in lowest.items())
        for i in sorted(lowest, key=self.rank.__getitem__):
            offset = lowest[i]
            if offset < level and self.items[i].in_parts:
                offset = fits_lowest(
                    i, self.items, self.near, self.offsets, self._aligned(i, level)
                )
            if offset < level or (self.rules.gaps and offset >= end):
                continue
            if self.rules.twins and self.twin.get(i) in lowest:
                continue
            for place in self._places(i, offset, end):
                self.offsets[i] = place
                rest = {j: o for j, o in lowest.items() if j != i}
                for n in self.near[i]:
                    if n.item in rest:
                        rest[n.item] = self._fits(n.item)
                done = self._place(place, rest)
                self.offsets[i] = -1
                if done:
                    return True
        return False

    def _places(self, i: int, offset: int, end: int) -> Iterator[int]:
        """Where item `i` may be, of which `offset` is the lowest."""
        yield offset
        item = self.items[i]
        while item.in_parts:
            least = self._aligned(i, offset + 1)
            offset = fits_lowest(i, self.items, self.near, self.offsets, least)
            beyond = self.rules.gaps and offset >= end
            if beyond or offset + item.size >= self.height:
                return
            yield offset

    def _aligned(self, i: int, offset: int) -> int:
        step = lcm(self.items[i].alignment, self.unit)
        return -(-offset // step) * step

    def _too_high(self, level: int, lowest: dict[int, int]) -> bool:
        """No completion is below `height`."""
        if any(max(o, level) + self.items[i].size >= self.height for i, o in lowest.items()):
            return True
        if not self.rules.floors:
            return False
        for clique in self.cliques:
            floor, total = self.height, 0
            for i, size in clique:
                if i in lowest:
                    floor, total = min(floor, lowest[i]), total + size
            if total and max(floor, level) + total >= self.height:
                return True
        return False
