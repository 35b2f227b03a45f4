"""Does a strip of fixed height hold all items? Depth-first search over the corners of the skyline.

    search = CornerSearch(strip, height=9)
    search.run(nodes=10_000)          # offsets per item, () if there are none, None if not settled

Items have their place in time (sections [first, last)), so a partial solution is a skyline: the
height that each section has reached. `budget[t] = height - skyline[t] - what is still to come in t`
is what section t can still waste; where the load equals the height it is 0, and nothing may be
lost. That makes narrow corners the place to branch:

A valley is a stretch of the skyline with higher walls on both sides. What comes next in its first
section either starts there and fits between the walls, on the floor; or the next item lies higher,
and the bytes between are lost. Few items start in one section, mostly one or two. So the branches
are: one of these items on the floor, or the section raised to the lowest level that anything else
in it could rest on, if its budget allows. Nothing else is possible when every item has sunk as low
as it can, and from any solution the items can be let sink (Moffitt, MiniMalloc, ASPLOS'23, calls
these solutions canonical). Valleys do not concern each other: any order of them is complete, and
the one with the fewest branches comes first. What can wait, because it has slack, waits.

`Rules` are the techniques beyond that.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import compress, pairwise
from operator import ne
from random import Random
from time import monotonic

from memopt.solvers.placement.recursion import deep_recursion
from memopt.solvers.placement.rules import Rules, luby
from memopt.solvers.placement.strips import Strip

SOLVED = -1
OUTSIDE = 1 << 62  # the walls at both ends of time
REMEMBERED = 400_000  # failed states, some 600 B each
RESTART = 1_000  # nodes of the shortest run


class StoppedError(Exception):
    """The run's share of nodes is used up, or all the time."""


@dataclass
class Valley:
    """Sections [left, right) at one level between walls; the branches for section `at`."""

    at: int
    items: list[int]
    level: int
    left: int
    right: int
    walls: tuple[int, int]
    inside: int  # mask of the items left that fit between the walls
    event: int  # whose weight counts


class CornerSearch:
    """One decision problem; `nodes` counts the states looked at in all runs."""

    def __init__(
        self,
        strip: Strip,
        height: int,
        rules: Rules | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.strip, self.rules, self.progress = strip, rules or Rules(), progress
        self.nodes = 0
        self.offsets = [0] * len(strip.sizes)
        self.left: int = (1 << len(strip.sizes)) - 1  # mask of the items that are not placed
        self.skyline = [0] * strip.sections
        self.budget = [height - load for load in strip.loads]
        self.wasted: int = 0  # bytes per section, `digit` bits each
        self.digit = height.bit_length()
        self.weights = [1.0] * (strip.sections + 1)
        self.failed: dict[tuple[int, int, int, int], int] = {}
        self.rank = list(range(len(strip.sizes)))
        self.interior = False
        self.limit = self.last = 0
        self.deadline: float | None = None
        typical = sorted(strip.sizes)[len(strip.sizes) // 2] if strip.sizes else 1
        self.slack_costs = 1 / typical  # branches that a byte of budget is worth

    def run(
        self, nodes: int, deadline: float | None = None, seed: int = 0
    ) -> tuple[int, ...] | None:
        """Search on, for at most `nodes` states and until `deadline` (monotonic seconds)."""
        if min(self.budget, default=0) < 0:
            return ()
        self.last, self.deadline = self.nodes + nodes, deadline
        random = Random(seed)
        start = (self.skyline[:], self.budget[:], self.wasted, self.left)
        turn = 0
        with deep_recursion():
            while self.nodes < self.last and not self._late():
                self._prepare(turn, random)
                turn += 1
                share = RESTART * luby(turn) if self.rules.restarts else nodes
                self.limit = min(self.last, self.nodes + share)
                try:
                    found = self._solve(0, self.strip.sections)
                    return tuple(self.offsets) if found == SOLVED else ()
                except StoppedError:
                    self.skyline, self.budget = start[0][:], start[1][:]
                    self.wasted, self.left = start[2], start[3]
        return None

    def _late(self) -> bool:
        return self.deadline is not None and monotonic() >= self.deadline

    def _prepare(self, turn: int, random: Random) -> None:
        """The order of branches in this run: what lives long lies low, in variations."""
        s = self.strip
        self.interior = self.rules.interior and turn % 2 == 0
        noise = 0.3 if turn >= 4 else 0.0  # each combination once without
        by_area = turn // 2 % 2

        def worth(i: int) -> float:
            value = (s.last[i] - s.first[i]) * (s.sizes[i] if by_area else 1)
            return -value * (1 + noise * random.uniform(-1, 1))

        keys = [worth(i) for i in range(len(s.sizes))]
        for position, i in enumerate(sorted(range(len(keys)), key=keys.__getitem__)):
            self.rank[i] = position

    def _solve(self, x: int, y: int) -> int:
        """Place all items left in sections [x, y), which none of them leaves.

        SOLVED, or the mask of the sections whose state alone makes it impossible.
        """
        s = self.strip
        left = self.left & s.from_[x] & s.until[y]
        if not left:
            return SOLVED
        width = self.digit * (y - x)
        key = (x, y, left, self.wasted >> self.digit * x & (1 << width) - 1)
        known = self.failed.get(key)
        if known is not None:
            return known
        self._count()
        reason = self._branch(x, y, self._choose(x, y))
        if reason == SOLVED:
            return SOLVED
        if not self.rules.backjumping:
            reason = (1 << y) - (1 << x)
        if self.rules.failures:
            if len(self.failed) >= REMEMBERED:
                self.failed.clear()
            self.failed[key] = reason
        return reason

    def _count(self) -> None:
        self.nodes += 1
        if self.nodes > self.limit:
            raise StoppedError
        if not self.nodes % 256:
            if self.progress:
                self.progress(self.nodes)
            if self._late():
                raise StoppedError

    def _branch(self, x: int, y: int, v: Valley) -> int:
        s, skyline = self.strip, self.skyline
        at, level = v.at, v.level
        reason = self._looked_at(x, y, v)
        if not v.items and self.rules.weights:
            self.weights[v.event] += 1
        for i in self._ordered(v):
            first, last = s.first[i], s.last[i]
            skyline[first:last] = [level + s.sizes[i]] * (last - first)
            self.left ^= 1 << i
            self.offsets[i] = level
            found = 0
            if self.rules.walls:
                found = self._steps(x, y, {first, last, v.left, v.right})
            found = found or self._parts(x, y, first, last)
            if found == SOLVED:
                return SOLVED
            skyline[first:last] = [level] * (last - first)
            self.left ^= 1 << i
            if not found & s.spans[i]:
                return found
            reason |= found
        if not self.budget[at]:
            return reason
        reason |= (1 << min(y, v.right + 1)) - (1 << max(x, v.left - 1))
        loss = self._next_level(v) - level
        if loss > self.budget[at]:
            return reason
        skyline[at] += loss
        self.budget[at] -= loss
        self.wasted += loss << self.digit * at
        found = self._steps(x, y, {at, at + 1, v.left, v.right}) if self.rules.walls else 0
        found = found or self._solve(x, y)
        if found == SOLVED:
            return SOLVED
        skyline[at] -= loss
        self.budget[at] += loss
        self.wasted -= loss << self.digit * at
        return reason | found if found >> at & 1 else found

    def _ordered(self, v: Valley) -> list[int]:
        """What leaves no step behind first: level with the wall beside it, from wall to wall."""
        if len(v.items) < 2 or not self.rules.flush:
            return sorted(v.items, key=self.rank.__getitem__)
        s, many = self.strip, len(self.rank)

        def order(i: int) -> int:
            top, left, right = v.level + s.sizes[i], s.first[i] == v.left, s.last[i] == v.right
            level = (left and top == v.walls[0]) or (right and top == v.walls[1])
            return self.rank[i] - many * (level + (left and right))

        return sorted(v.items, key=order)

    def _looked_at(self, x: int, y: int, v: Valley) -> int:
        """The sections whose state says that `v.items` are all that can lie on the floor."""
        reason = 1 << v.at
        corner = v.at == v.left
        if v.left > x and (corner or v.event != v.left):
            reason |= 1 << (v.left - 1)
        blocked = not corner or self.left & self.strip.starting[v.left] & ~v.inside
        if v.right < y and (blocked or v.at == v.right - 1):
            reason |= 1 << v.right
        return reason

    def _next_level(self, v: Valley) -> int:
        """What is next in the section lies on a wall's level, or on another item in the valley."""
        others = v.inside & ~self.strip.covering[v.at]
        lowest = min(v.walls)
        while others:
            bit = others & -others
            lowest = min(lowest, v.level + self.strip.sizes[bit.bit_length() - 1])
            others ^= bit
        return lowest

    def _parts(self, x: int, y: int, first: int, last: int) -> int:
        """Go on in [x, y), of which [first, last) was just covered: each part by itself that no
        item left connects with another. If one cannot be solved the others do not matter."""
        left, crossing = self.left, self.strip.crossing
        cuts = [t for t in range(first + 1, last) if not left & crossing[t]]
        if not cuts:
            return self._solve(x, y)
        before = (self.skyline[x:y], self.budget[x:y], self.wasted, left)
        bounds = [x, *cuts, y]
        for part in sorted(pairwise(bounds), key=lambda p: p[1] - p[0]):
            found = self._solve(*part)
            if found != SOLVED:
                self.skyline[x:y], self.budget[x:y], self.wasted, self.left = before
                return found
        return SOLVED

    def _steps(self, x: int, y: int, events: set[int]) -> int:
        """0, or the sections that show one of these steps of the skyline that nothing can fill."""
        for at in events:
            if x < at < y and self.left & self.strip.crossing[at]:
                reason = self._step(x, y, at)
                if reason:
                    if self.rules.weights:
                        self.weights[at] += 1
                    return reason
        return 0

    def _step(self, x: int, y: int, at: int) -> int:
        """An item that crosses event `at` will lie on the higher side. Until then the lower side
        is filled by what starts there (left of a step down: ends there) and fits below its top."""
        s, skyline = self.strip, self.skyline
        rise = skyline[at] - skyline[at - 1]
        if rise < 0:
            needs = -rise - self.budget[at]
            if needs <= 0:
                return 0
            items, top, wall = s.starting[at] & self.left, skyline[at - 1], at
            while wall < y and skyline[wall] < top:
                wall += 1
            fits = items & s.until[wall]
        else:
            needs = rise - self.budget[at - 1]
            if needs <= 0:
                return 0
            items, top, wall = s.ending[at] & self.left, skyline[at], at - 1
            while wall >= x and skyline[wall] < top:
                wall -= 1
            fits = items & s.from_[wall + 1]
        blocked = fits != items and x <= wall < y
        while fits:
            bit = fits & -fits
            needs -= s.sizes[bit.bit_length() - 1]
            if needs <= 0:
                return 0
            fits ^= bit
        return 3 << (at - 1) | (1 << wall if blocked else 0)

    def _choose(self, x: int, y: int) -> Valley:
        """The valley and section with the fewest branches; slack counts as some."""
        s, skyline, left, weights = self.strip, self.skyline, self.left, self.weights
        part = skyline[x:y]
        bounds = list(compress(range(x + 1, y), map(ne, part[1:], part)))
        bounds.append(y)
        best, fewest = (0, 0, 0, 0, (0, 0), 0), OUTSIDE * 1.0
        start, wall = x, OUTSIDE
        for end in bounds:
            level = skyline[start]
            after = skyline[end] if end < y else OUTSIDE
            if wall > level < after:
                inside = left & s.from_[start] & s.until[end]
                corners = ((start, start, s.starting), (end - 1, end, s.ending))
                for section, event, items in corners if end - start > 1 else corners[:1]:
                    count = (items[event] & inside).bit_count()
                    slack = self.budget[section]
                    if not count or (count == 1 and not slack):
                        value = level - 1e18
                    else:
                        value = (count + slack * self.slack_costs) / weights[event]
                    if value < fewest:
                        best, fewest = (section, event, start, end, (wall, after), inside), value
                if self.interior and end - start > 2 and fewest > 2:
                    section, value = self._inside(inside, start, end, fewest)
                    if value < fewest:
                        fewest = value
                        best = (section, section + 1, start, end, (wall, after), inside)
            wall, start = level, end
        section, event, start, end, walls, inside = best
        items = list(ones(s.covering[section] & inside))
        return Valley(section, items, skyline[section], start, end, walls, inside, event)

    def _inside(self, inside: int, start: int, end: int, fewest: float) -> tuple[int, float]:
        """The section of a valley with the fewest branches, if that is below `fewest`."""
        covering, budget, weights = self.strip.covering, self.budget, self.weights
        chosen = -1
        for t in range(start, end):
            count = (covering[t] & inside).bit_count() + budget[t] * self.slack_costs
            value = count / max(weights[t], weights[t + 1])
            if value < fewest:
                chosen, fewest = t, value
        return chosen, fewest


def ones(mask: int) -> Iterator[int]:
    """The bits that are set, ascending."""
    while mask:
        bit = mask & -mask
        yield bit.bit_length() - 1
        mask ^= bit
