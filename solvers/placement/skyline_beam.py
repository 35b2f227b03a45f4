"""A beam of skylines: partial solutions of as many items, of which the least wasteful go on.

    beam = beam_of(strip, skyline, budget)
    beam.begin(width=100, weights=weights_of(budget, 2.0))
    beam.advance(10_000)                 # SOLVED: `offsets`; FAILED; else it goes on from there
    run(search, 100, turn=0, nodes=10_000, deadline=None)     # of a `CornerSearch`: offsets or ()

Branches are those of `skyline_corners.py`: an item on the floor of a corner, or the corner raised.
Here a state has all items of its first `CHOICES` corners, one after the other raised, and the best
`width` of all states go on to the next item. A byte is rated the higher the less its section can
waste at all: it counts when it is lost, or will be lost, since nothing that is left fills a step of
the skyline exactly. Two states of one 64-bit hash are taken as one. That finds where the other
search has long lost its way, and proves nothing.
"""

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memopt.solvers import clock
from memopt.solvers.native.library import Stream, numbers_of
from memopt.solvers.native.paused_search import PausedSearch
from memopt.solvers.placement.skyline import OUTSIDE, ones
from memopt.solvers.placement.strips import Strip

if TYPE_CHECKING:
    from memopt.solvers.placement.skyline_corners import CornerSearch

PAUSED, SOLVED, FAILED = range(3)
CHOICES = 8  # corners of a state at which there is something to choose
FEW = 6  # items whose sums are all looked at
POWERS = (2.0, 1.5)  # of what a section can waste, by which bytes are rated
MEMORY = 240_000_000  # bytes of all states, as of those that a `CornerSearch` remembers
OBJECTS, ITEM, TRIED = 200, 60, 300  # bytes of a stage beside its numbers, a record, an item tried

State = tuple[list[int], list[int], int, int]  # skyline, budget, mask of items left, record


def weights_of(budget: Sequence[int], power: float) -> list[float]:
    """Return what a byte is rated in each section."""
    return [1 / float(b + 1) ** power for b in budget]


def widest(strip: Strip) -> int:
    """Return how many states a beam may have, in Python or not, so that all that it keeps is within
    `MEMORY`: the states before and after an item with a stage at each corner that they chose at, a
    record of each item, and what was tried at those corners."""
    stage = 2 * 8 * strip.sections + len(strip.sizes) // 8 + OBJECTS
    tried = max(map(len, (*strip.starts, *strip.ends)), default=0)
    state = (2 + CHOICES) * stage + len(strip.sizes) * ITEM + CHOICES * tried * TRIED
    return max(1, MEMORY // state)


class SkylineBeam:
    """The search in Python. `work` counts corners and states that were looked at, `slice` is how
    many of them times sections lie between two looks at the clock: some 10 ms."""

    slice = 8_000

    def __init__(self, strip: Strip, skyline: Sequence[int], budget: Sequence[int]) -> None:
        self.strip, self.budget, self.skyline = strip, list(budget), list(skyline)
        self.work = 0
        self.offsets = [0] * len(strip.sizes)
        self.crossing = strip.crossing[:-1]

    def begin(self, width: int, weights: Sequence[float]) -> None:
        """Begin with nothing placed."""
        self.width, self.weights = width, weights
        self.records: list[tuple[int, int, int]] = []  # record before, item, offset
        every = (1 << len(self.strip.sizes)) - 1
        self.beam: list[State] = [(self.skyline, self.budget, every, -1)]
        self._next_level()

    def _next_level(self) -> None:
        self.position = 0
        # rating, number, skyline and budget before, items left, record before, item, offset
        self.candidates: list[tuple[float, int, list[int], list[int], int, int, int, int]] = []
        self.seen = set[int]()

    def advance(self, pause: int) -> int:
        """Go on until `work` is `pause`, or a little more."""
        if not self.beam[0][2]:
            return SOLVED
        while self.work < pause:
            if self.position < len(self.beam):
                self._expand(*self.beam[self.position])
                self.position += 1
            elif not self.candidates:
                return FAILED
            elif self._select():
                return SOLVED
        return PAUSED

    def _select(self) -> bool:
        """Let the best states go on; return whether all is placed."""
        self.beam = []
        for _, _, sky, budget, unplaced, before, i, level in sorted(self.candidates)[: self.width]:
            skyline = sky[:]
            first, last = self.strip.first[i], self.strip.last[i]
            skyline[first:last] = [level + self.strip.sizes[i]] * (last - first)
            self.records.append((before, i, level))
            self.beam.append((skyline, budget, unplaced, len(self.records) - 1))
        self._next_level()
        _, _, unplaced, at = self.beam[0]
        while not unplaced and at >= 0:
            at, i, level = self.records[at]
            self.offsets[i] = level
        return not unplaced

    def _expand(self, skyline: list[int], budget: list[int], left: int, record: int) -> None:
        s, choices = self.strip, 0
        skyline, budget = skyline[:], budget[:]
        while choices < CHOICES:
            self.work += 1
            at, items, next_level = self._corner(skyline, budget, left)
            if at < 0:
                return
            level, stage = skyline[at], (skyline[:], budget[:])
            for i in ones(items):
                first, last, rest = s.first[i], s.last[i], left ^ 1 << i
                skyline[first:last] = [level + s.sizes[i]] * (last - first)
                self.work += 1
                key = hash((rest.to_bytes(len(s.sizes) // 8 + 1), tuple(skyline)))
                if key not in self.seen:
                    self.seen.add(key)
                    rating = self._rating(skyline, budget, rest)
                    if rating is not None:
                        number = len(self.candidates)
                        self.candidates.append((rating, number, *stage, rest, record, i, level))
                skyline[first:last] = [level] * (last - first)
            choices += bool(items)
            is_needed = left & s.covering[at]
            if next_level == OUTSIDE or (is_needed and next_level - level > budget[at]):
                return
            skyline[at] = next_level
            if is_needed:
                budget[at] -= next_level - level

    def _corner(self, skyline: list[int], budget: list[int], left: int) -> tuple[int, int, int]:
        """Return the corner with the fewest branches, the lowest of several, the mask of the items
        that fit there, and the next level; its section is -1 if there is none."""
        s, y = self.strip, len(skyline)
        chosen, fewest = (-1, 0, 0), (2, 0, 0)
        start = 0
        while start < y:
            level, end = skyline[start], start + 1
            while end < y and skyline[end] == level:
                end += 1
            walls = (skyline[start - 1] if start else OUTSIDE, skyline[end] if end < y else OUTSIDE)
            if min(walls) > level:
                inside = left & s.from_[start] & s.until[end]
                corners = ((start, s.starting[start]), (end - 1, s.ending[end]))
                for at, items in corners if end - start > 1 else corners[:1]:
                    if not inside and not left & s.covering[at]:
                        continue
                    count = (items & inside).bit_count()
                    forced = not count or (count == 1 and not budget[at])
                    value = (0, 0, level) if forced else (1, count, level)
                    if value < fewest:
                        fewest = value
                        others = inside & ~items
                        rests = (level + s.sizes[i] for i in ones(others))
                        chosen = at, items & inside, min((*walls, *rests))
            start = end
        return chosen

    def _rating(self, skyline: list[int], budget: list[int], left: int) -> float | None:
        """Return the bytes that are lost, or will be, by what they count; None if they are more
        than there are. Of all items placed, the height."""
        s, y = self.strip, len(skyline)
        if not left:
            return float(max(skyline))
        lost = [0] * y
        for t in range(1, y):
            rise = skyline[t] - skyline[t - 1]
            if not rise or not left & self.crossing[t]:
                continue
            if rise < 0:
                at, wall = t, t
                while wall < y and skyline[wall] < skyline[t - 1]:
                    wall += 1
                sizes = [s.sizes[i] for i in s.starts[t] if left >> i & 1 and s.last[i] <= wall]
            else:
                at, wall = t - 1, t - 1
                while wall >= 0 and skyline[wall] < skyline[t]:
                    wall -= 1
                sizes = [s.sizes[i] for i in s.ends[t] if left >> i & 1 and s.first[i] > wall]
            lost[at] = max(lost[at], abs(rise) - filled(sizes, abs(rise)))
        total = 0.0
        for t in range(y):
            if lost[t] > budget[t]:
                return None
            total += self.weights[t] * float(self.budget[t] - budget[t] + lost[t])
        return total


def filled(sizes: Sequence[int], room: int) -> int:
    """Return the most of `room` that some of `sizes` fill; all of it where they are too many to
    tell."""
    sizes = [size for size in sizes if size <= room]
    if sum(sizes) <= room:
        return sum(sizes)
    if len(sizes) > FEW:
        return room
    sums = {0}
    for size in sizes:
        sums |= {known + size for known in sums if known + size <= room}
    return max(sums)


class NativeBeam(PausedSearch):
    """A beam in the library, with the interface of `SkylineBeam`: the same states in the same
    order."""

    name = "beam"
    slice = 2_000_000

    def begin(self, width: int, weights: Sequence[float]) -> None:
        """Begin with nothing placed."""
        bits = array("q", array("d", weights).tobytes())
        if self.library.memopt_beam_begin(self.handle, width, numbers_of(bits)):
            raise MemoryError


def problem_of(strip: Strip, skyline: Sequence[int], budget: Sequence[int]) -> "array[int]":
    """Return the strip as `skyline_beam.cpp` reads it. Raises OverflowError."""
    stream = Stream()
    stream.add(len(strip.sizes), strip.sections)
    for first, last, size in zip(strip.first, strip.last, strip.sizes, strict=True):
        stream.add(first, last, size)
    for level, spare in zip(skyline, budget, strict=True):
        stream.add(level, spare)
    return stream.values


def beam_of(
    strip: Strip, skyline: Sequence[int], budget: Sequence[int]
) -> SkylineBeam | NativeBeam:
    """Return the search; in Python where there is no library, or it refuses what would overflow."""
    native = NativeBeam.create(lambda: problem_of(strip, skyline, budget), len(strip.sizes))
    return SkylineBeam(strip, skyline, budget) if native is None else native


def run(
    search: "CornerSearch", width: int, turn: int, nodes: int, deadline: float | None
) -> tuple[tuple[int, ...], int]:
    """Return offsets below the height of a search, () if none were found, and the work; backwards
    in time at every other turn."""
    strip, skyline, budget = search.strip, search.skyline, search.budget
    if min(budget, default=0) < 0:
        return (), 0
    if turn % 2:
        first = tuple(strip.sections - t for t in strip.last)
        last = tuple(strip.sections - t for t in strip.first)
        strip = Strip(strip.unit, strip.sections, first, last, strip.sizes)
        skyline, budget = skyline[::-1], budget[::-1]
    beam = beam_of(strip, skyline, budget)
    beam.begin(min(width, widest(strip)), weights_of(budget, POWERS[turn // 2 % len(POWERS)]))
    interval, status = max(1, beam.slice // (strip.sections + 16)), PAUSED
    while status == PAUSED and beam.work < nodes and not clock.late(deadline):
        status = beam.advance(min(nodes, beam.work + interval))
    return (tuple(beam.offsets) if status == SOLVED else ()), beam.work
