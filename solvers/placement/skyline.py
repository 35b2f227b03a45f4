"""The skyline of a partial solution: its valleys, what can come next there, what cannot be filled.

The state of the search in `skyline_corners.py`, which explains the words.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress
from operator import ne

from memopt.solvers.placement.rules import Rules
from memopt.solvers.placement.strips import Strip

OUTSIDE = 1 << 62  # the walls at both ends of time


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


class Skyline:
    """Skyline of the items placed so far. `weights` say how often the search failed at each
    event."""

    def __init__(self, strip: Strip, height: int, rules: Rules) -> None:
        self.strip, self.rules = strip, rules
        self.left: int = (1 << len(strip.sizes)) - 1  # mask of the items that are not placed
        self.skyline = [0] * strip.sections
        self.budget = [height - load for load in strip.loads]
        self.weights = [1.0] * (strip.sections + 1)
        self.rank = list(range(len(strip.sizes)))  # of items, the lower the earlier
        self.interior = False  # whether valleys may be continued away from their corners
        typical = sorted(strip.sizes)[len(strip.sizes) // 2] if strip.sizes else 1
        self.slack_costs = 1 / typical  # branches that a byte of budget is worth

    def choose(self, x: int, y: int) -> Valley:
        """The valley and section with the fewest branches; slack counts as some."""
        s, skyline, unplaced, weights = self.strip, self.skyline, self.left, self.weights
        part = skyline[x:y]
        bounds = list(compress(range(x + 1, y), map(ne, part[1:], part)))
        bounds.append(y)
        best, fewest = (0, 0, 0, 0, (0, 0), 0), OUTSIDE * 1.0
        start, wall = x, OUTSIDE
        for end in bounds:
            level = skyline[start]
            after = skyline[end] if end < y else OUTSIDE
            if wall > level < after:
                inside = unplaced & s.from_[start] & s.until[end]
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

    def ordered(self, v: Valley) -> list[int]:
        """Return the items of a valley, those first that leave no step: level with the wall beside
        them, from wall to wall."""
        if len(v.items) < 2 or not self.rules.flush:
            return sorted(v.items, key=self.rank.__getitem__)
        s, many = self.strip, len(self.rank)

        def order(i: int) -> int:
            top, at_left_wall, right = (
                v.level + s.sizes[i],
                s.first[i] == v.left,
                s.last[i] == v.right,
            )
            level = (at_left_wall and top == v.walls[0]) or (right and top == v.walls[1])
            return self.rank[i] - many * (level + (at_left_wall and right))

        return sorted(v.items, key=order)

    def looked_at(self, x: int, y: int, v: Valley) -> int:
        """The sections whose state says that `v.items` are all that can lie on the floor."""
        reason = 1 << v.at
        corner = v.at == v.left
        if v.left > x and (corner or v.event != v.left):
            reason |= 1 << (v.left - 1)
        blocked = not corner or self.left & self.strip.starting[v.left] & ~v.inside
        if v.right < y and (blocked or v.at == v.right - 1):
            reason |= 1 << v.right
        return reason

    def next_level(self, v: Valley) -> int:
        """Return the lowest level on which the next item of the section can lie, if not on the
        floor: a wall's, or that of another item in the valley."""
        others = v.inside & ~self.strip.covering[v.at]
        lowest = min(v.walls)
        while others:
            bit = others & -others
            lowest = min(lowest, v.level + self.strip.sizes[bit.bit_length() - 1])
            others ^= bit
        return lowest

    def step(self, x: int, y: int, at: int) -> int:
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


def ones(mask: int) -> Iterator[int]:
    """The bits that are set, ascending."""
    while mask:
        bit = mask & -mask
        yield bit.bit_length() - 1
        mask ^= bit
