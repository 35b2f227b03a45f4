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

from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from random import Random
from typing import Any

from memopt.solvers import clock
from memopt.solvers.placement.recursion import deep_recursion
from memopt.solvers.placement.rules import Rules, luby
from memopt.solvers.placement.skyline import Skyline, Valley
from memopt.solvers.placement.strips import Strip

SOLVED = -1
# Of the variations of the order of branches: of six, five place the 1,042 buffers of a ResNet-50's
# training at their load within 190,000 nodes, and 0 takes 830,000.
SEED = 2
REMEMBERED = 400_000  # failed states, some 600 B each
RESTART = 1_000  # nodes of the shortest run
NATIVE = "memopt.solvers.placement.native_corners"  # loaded when something is searched
SECTIONS = 16_000  # of all nodes between two looks at the clock: 10,000 take milliseconds


class StoppedError(Exception):
    """The run's share of nodes is used up, or all the time."""


class CornerSearch(Skyline):
    """One decision problem; `nodes` counts the states looked at in all runs."""

    def __init__(
        self,
        strip: Strip,
        height: int,
        rules: Rules | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__(strip, height, rules or Rules())
        self.height, self.progress = height, progress
        self.nodes = self.limit = self.last = 0
        self.deadline: float | None = None
        self.interval = min(16, SECTIONS // max(1, strip.sections) + 1)
        self.turn, self.random = 0, Random(SEED)
        self.offsets = [0] * len(strip.sizes)
        self.wasted: int = 0  # bytes per section, `digit` bits each
        self.digit = height.bit_length()
        self.failed: dict[tuple[int, int, int, int], int] = {}
        self.native: Any = None  # its runs in the library; False: in Python

    def run(self, nodes: int, deadline: float | None = None) -> tuple[int, ...] | None:
        """Search on, for at most `nodes` states and until `deadline` (by `clock`)."""
        if min(self.budget, default=0) < 0:
            return ()
        self.last, self.deadline = self.nodes + nodes, deadline
        if self.native is None:
            module: Any = import_module(NATIVE)
            self.native = module.runs_of(self, REMEMBERED) or False
        with deep_recursion():
            while self.nodes < self.last and not clock.late(deadline):
                self._prepare(self.turn, self.random)
                self.turn += 1
                share = RESTART * luby(self.turn) if self.rules.restarts else nodes
                self.limit = min(self.last, self.nodes + share)
                is_solved = self.native.run(self) if self.native else self._attempt()
                if is_solved is not None:
                    return tuple(self.offsets) if is_solved else ()
        return None

    def _attempt(self) -> bool | None:
        """Return whether a run in Python finds offsets; None if it ends before that is settled."""
        start = (self.skyline[:], self.budget[:], self.wasted, self.left)
        try:
            return self._solve(0, self.strip.sections) == SOLVED
        except StoppedError:
            self.skyline, self.budget, self.wasted, self.left = start
            return None

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
        unplaced = self.left & s.from_[x] & s.until[y]
        if not unplaced:
            return SOLVED
        width = self.digit * (y - x)
        key = (x, y, unplaced, self.wasted >> self.digit * x & (1 << width) - 1)
        known = self.failed.get(key)
        if known is not None:
            return known
        self._count()
        reason = self._branch(x, y, self.choose(x, y))
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
        if not self.nodes % 256 and self.progress:
            self.progress(self.nodes)
        if not self.nodes % self.interval and clock.late(self.deadline):
            raise StoppedError

    def _branch(self, x: int, y: int, v: Valley) -> int:
        s, skyline = self.strip, self.skyline
        at, level = v.at, v.level
        reason = self.looked_at(x, y, v)
        if not v.items and self.rules.weights:
            self.weights[v.event] += 1
        for i in self.ordered(v):
            first, last = s.first[i], s.last[i]
            skyline[first:last] = [level + s.sizes[i]] * (last - first)
            self.left ^= 1 << i
            self.offsets[i] = level
            outcome = 0
            if self.rules.walls:
                outcome = self._steps(x, y, {first, last, v.left, v.right})
            outcome = outcome or self._parts(x, y, first, last)
            if outcome == SOLVED:
                return SOLVED
            skyline[first:last] = [level] * (last - first)
            self.left ^= 1 << i
            if not outcome & s.spans[i]:
                return outcome
            reason |= outcome
        if not self.budget[at]:
            return reason
        reason |= (1 << min(y, v.right + 1)) - (1 << max(x, v.left - 1))
        loss = self.next_level(v) - level
        if loss > self.budget[at]:
            return reason
        skyline[at] += loss
        self.budget[at] -= loss
        self.wasted += loss << self.digit * at
        outcome = self._steps(x, y, {at, at + 1, v.left, v.right}) if self.rules.walls else 0
        outcome = outcome or self._solve(x, y)
        if outcome == SOLVED:
            return SOLVED
        skyline[at] -= loss
        self.budget[at] += loss
        self.wasted -= loss << self.digit * at
        return reason | outcome if outcome >> at & 1 else outcome

    def _parts(self, x: int, y: int, first: int, last: int) -> int:
        """Go on in [x, y), of which [first, last) was just covered: each part by itself that no
        item left connects with another. If one cannot be solved the others do not matter."""
        unplaced, crossing = self.left, self.strip.crossing
        cuts = [t for t in range(first + 1, last) if not unplaced & crossing[t]]
        if not cuts:
            return self._solve(x, y)
        before = (self.skyline[x:y], self.budget[x:y], self.wasted, unplaced)
        bounds = [x, *cuts, y]
        for part in sorted(pairwise(bounds), key=lambda p: p[1] - p[0]):
            outcome = self._solve(*part)
            if outcome != SOLVED:
                self.skyline[x:y], self.budget[x:y], self.wasted, self.left = before
                return outcome
        return SOLVED

    def _steps(self, x: int, y: int, events: set[int]) -> int:
        """0, or the sections that show one of these steps of the skyline that nothing can fill."""
        for at in events:
            if x < at < y and self.left & self.strip.crossing[at]:
                reason = self.step(x, y, at)
                if reason:
                    if self.rules.weights:
                        self.weights[at] += 1
                    return reason
        return 0
