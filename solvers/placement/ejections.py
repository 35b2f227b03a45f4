"""Placement below a height by ejections: what is in the way of an item waits for another place.

    search = Ejections(items)
    search.begin(offsets, height)           # what ends above the height waits
    search.advance(200_000)                 # SOLVED: `offsets`; else it goes on where it stopped
    search.lift(height + 100)               # goes on, below a higher one
    search.lift()                           # time is over: what waits lies above what stands

Of the items that wait the heaviest goes next, to the lowest of the offsets at which what is in the
way weighs least. If that is not free it grows heavier, and what lies there waits in turn: so what
is hard to place gets its place sooner or later, and what is easy is moved (the ejection pool of
Nagata and Braysy 2009 for routes). When nothing waits all items sink, from the lowest to the
highest. Weights are integers, so the native library (`native_ejections.py`) moves the same items.

Offsets may be any that the problem allows: pieces of different heights, parts that die alone,
alignments; what is fixed is never moved.
"""

from collections.abc import Sequence

from memopt.solvers.placement.strips import sections_of
from memopt.solvers.problems.placement import Item

PAUSED, SOLVED, FAILED = range(3)
SCALE, POWER = 10_000, 0.5  # of weights at the start: the share of all byte-steps to this power
MOST_WEIGHT = 1 << 28
FIXED = 1 << 45  # more than all other items together that the native library takes
ANY_HEIGHT = 1 << 61

Rectangle = tuple[int, int, int, int]  # first section, end, bytes above the offset, size


def rectangles_of(items: Sequence[Item]) -> tuple[int, list[list[Rectangle]]]:
    """Return how many sections there are, and the pieces of each item in sections."""
    pieces = [(i, p) for i, item in enumerate(items) for p in item.pieces]
    sections, first, last = sections_of([(p.lower, p.upper) for _, p in pieces])
    result: list[list[Rectangle]] = [[] for _ in items]
    for (i, p), start, end in zip(pieces, first, last, strict=True):
        result[i].append((start, end, p.at, p.size))
    return sections, result


def weights_of(sections: int, rectangles: Sequence[Sequence[Rectangle]]) -> list[int]:
    """Return what an ejection of each item costs at first: large and long ones are hard to place
    again."""
    areas = [sum((end - start) * size for start, end, _, size in r) for r in rectangles]
    top = sections * max((r[3] for several in rectangles for r in several), default=1)
    return [max(1, round(SCALE * (area / max(1, top)) ** POWER)) for area in areas]


class Ejections:
    """The search in Python. `work` counts the pieces that were looked at; the clock is read every
    `interval` of them."""

    interval = 1_000

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        sections, self.rectangles = rectangles_of(items)
        self.first_weights = weights_of(sections, self.rectangles)
        self.pieces = [(j, *r) for j, several in enumerate(self.rectangles) for r in several]
        self.work = self.height = 0
        self.offsets: list[int] = []
        self.weights: list[int] = []
        self.waiting: list[int] = []
        self.placed: list[bool] = []
        self.sinking: list[int] | None = None  # the items to sink, the next one last
        self.is_lifted = False

    def begin(self, offsets: Sequence[int], height: int) -> None:
        """Begin below `height` bytes from `offsets`, in which nothing overlaps."""
        self.height, self.sinking, self.is_lifted = height, None, False
        self.offsets = [
            o if i.fixed is None else i.fixed for o, i in zip(offsets, self.items, strict=True)
        ]
        self.weights = [
            w if i.fixed is None else FIXED
            for w, i in zip(self.first_weights, self.items, strict=True)
        ]
        self.placed = [
            i.fixed is not None or o + i.size <= height
            for o, i in zip(self.offsets, self.items, strict=True)
        ]
        self.waiting = [i for i, is_placed in enumerate(self.placed) if not is_placed]

    def lift(self, height: int | None = None) -> None:
        """Take a higher height; any where none is given: what waits is placed above what stands,
        and nothing is moved."""
        self.is_lifted = height is None
        self.height = ANY_HEIGHT if height is None else height

    def advance(self, pause: int) -> int:
        """Go on until `work` is `pause`: PAUSED, SOLVED, or FAILED where an item has no place
        beside what is fixed."""
        while self.work < pause:
            if self.waiting:
                if not self._insert():
                    return FAILED
            elif self.is_lifted or not self._sink():
                return SOLVED
        return PAUSED

    def _cheapest(self, i: int, highest: int) -> tuple[int, int]:
        """Return the least weight in the way of an item and the lowest offset, in units of its
        alignment and at most `highest`, that has it."""
        unit, events = self.items[i].alignment, list[tuple[int, int]]()
        self.work += 1
        for first, last, at, size in self.rectangles[i]:
            for j, start, end, other_at, other_size in self.pieces:
                if start >= last or end <= first:
                    continue
                self.work += 1
                if j == i or not self.placed[j]:
                    continue
                bottom = self.offsets[j] + other_at - at
                low = max(0, (bottom - size) // unit + 1)
                high = -(-(bottom + other_size) // unit)
                if low < high and low <= highest:
                    events += [(low, self.weights[j]), (high, -self.weights[j])]
        events.sort(key=lambda event: event[0])
        position, cost, k = 0, 0, 0
        least, best = FIXED << 40, 0
        while position <= highest:
            while k < len(events) and events[k][0] == position:
                cost += events[k][1]
                k += 1
            if cost < least:
                least, best = cost, position
            if not cost or k == len(events):
                break
            position = events[k][0]
        return least, best

    def _insert(self) -> bool:
        """Place the heaviest item that waits; what lies there waits instead."""
        i = max(self.waiting, key=self.weights.__getitem__)
        item = self.items[i]
        if self.height < item.size:
            return False
        cost, position = self._cheapest(i, (self.height - item.size) // item.alignment)
        offset = position * item.alignment
        ejected = self._in_the_way(i, offset) if cost else []
        if any(self.items[j].fixed is not None for j in ejected):
            return False
        if cost:
            self.weights[i] = min(MOST_WEIGHT, self.weights[i] + self.first_weights[i])
        self.waiting.remove(i)
        self.waiting += ejected
        for j in ejected:
            self.placed[j] = False
        self.offsets[i], self.placed[i] = offset, True
        return True

    def _in_the_way(self, i: int, offset: int) -> list[int]:
        """Return the placed items that overlap item i at `offset`, by index."""
        result = set[int]()
        for first, last, at, size in self.rectangles[i]:
            for j, start, end, other_at, other_size in self.pieces:
                if j == i or not self.placed[j] or start >= last or end <= first:
                    continue
                bottom, other = offset + at, self.offsets[j] + other_at
                if bottom < other + other_size and other < bottom + size:
                    result.add(j)
        return sorted(result)

    def _sink(self) -> bool:
        """Let the next item sink, from the lowest to the highest; False after the last."""
        if self.sinking is None:
            movable = [i for i, item in enumerate(self.items) if item.fixed is None]
            self.sinking = sorted(movable, key=self.offsets.__getitem__)[::-1]
        if not self.sinking:
            return False
        i = self.sinking.pop()
        unit = self.items[i].alignment
        cost, position = self._cheapest(i, self.offsets[i] // unit)
        if not cost:
            self.offsets[i] = position * unit
        return True
