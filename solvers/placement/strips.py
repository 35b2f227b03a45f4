"""Independent strips of compressed time: the search problems left after simple reductions.

    blocks_of(items)        # [Block(base=3, items=(...)), ...]
    strip_of(block.items)   # sections, units, masks

Items that span all of a block lie at its bottom, in any order: any solution can be turned into one
where they do, by taking them out and letting the rest sink. What remains falls apart where no item
crosses (a zero cut), and its parts may have spanning items of their own. Time is compressed to the
maximal cliques: a step counts only if an item ends after another one has started. Sizes are divided
by their greatest common divisor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd, lcm

from memopt.solvers import clock
from memopt.solvers.problems.placement import Item


@dataclass(frozen=True)
class Block:
    """`items` may use all bytes from `base` up; `bottom` are (item, offset) already placed."""

    base: int
    items: tuple[Item, ...]
    bottom: tuple[tuple[int, int], ...]


def is_plain(items: Sequence[Item]) -> bool:
    """Rectangles that are free to move, at any sum of their sizes: no shapes, no fixed offsets, no
    alignment that does not divide all sizes."""
    if any(i.fixed is not None or len(i.pieces) > 1 or i.in_parts for i in items):
        return False
    aligned = lcm(*(i.alignment for i in items)) if items else 1
    return all(p.size % aligned == 0 for i in items for p in i.pieces)


def blocks_of(items: Sequence[Item], deadline: float | None = None) -> list[Block]:
    """The independent parts of plain items that have bytes, each with what spans it at its
    bottom. A block without items is nothing but its bottom. Raises TimeIsOverError at the
    deadline."""
    result: list[Block] = []
    waiting: list[tuple[int, list[Item]]] = [(0, [i for i in items if i.pieces])]
    while waiting:
        clock.raise_if_late(deadline)
        base, group = waiting.pop()
        for part in _apart(group):
            lower = min(_start(i) for i in part)
            upper = max(_end(i) for i in part)
            spanning = [i for i in part if (_start(i), _end(i)) == (lower, upper)]
            rest = [i for i in part if (_start(i), _end(i)) != (lower, upper)]
            if not spanning:
                result.append(Block(base, tuple(part), ()))
                continue
            bottom: list[tuple[int, int]] = []
            level = base
            for i in spanning:
                bottom.append((i.index, level))
                level += i.size
            result.append(Block(level, (), tuple(bottom)))
            if rest:
                waiting.append((level, rest))
    return result


def _start(item: Item) -> int:
    return item.pieces[0].lower


def _end(item: Item) -> int:
    return item.pieces[-1].upper


def _apart(items: list[Item]) -> list[list[Item]]:
    """Groups that share no step, by time."""
    groups: list[list[Item]] = []
    end = 0
    for i in sorted(items, key=lambda i: (_start(i), i.index)):
        if not groups or _start(i) >= end:
            groups.append([])
        groups[-1].append(i)
        end = max(end, _end(i))
    return groups


@dataclass(frozen=True)
class Strip:
    """Items 0..n-1 live in sections [first, last), `sizes` in units of `unit` bytes. Masks of items
    are integers, bit i for item i; lists are by section or by event (event t is before section t).
    """

    unit: int
    sections: int
    first: tuple[int, ...]
    last: tuple[int, ...]
    sizes: tuple[int, ...]

    @cached_property
    def loads(self) -> list[int]:
        """Units live in each section."""
        change = [0] * (self.sections + 1)
        for first, last, size in zip(self.first, self.last, self.sizes, strict=True):
            change[first] += size
            change[last] -= size
        level = 0
        return [level := level + c for c in change[:-1]]

    @cached_property
    def starts(self) -> list[list[int]]:
        """Items whose first section follows each event."""
        result: list[list[int]] = [[] for _ in range(self.sections + 1)]
        for i, first in enumerate(self.first):
            result[first].append(i)
        return result

    @cached_property
    def ends(self) -> list[list[int]]:
        """Items whose last section precedes each event."""
        result: list[list[int]] = [[] for _ in range(self.sections + 1)]
        for i, last in enumerate(self.last):
            result[last].append(i)
        return result

    @cached_property
    def starting(self) -> list[int]:
        """Masks of `starts`."""
        return [sum(1 << i for i in items) for items in self.starts]

    @cached_property
    def ending(self) -> list[int]:
        """Masks of `ends`."""
        return [sum(1 << i for i in items) for items in self.ends]

    @cached_property
    def from_(self) -> list[int]:
        """Masks of the items that start at each event or later."""
        masks = [0]
        for mask in reversed(self.starting):
            masks.append(masks[-1] | mask)
        return masks[:0:-1]

    @cached_property
    def until(self) -> list[int]:
        """Masks of the items that end at each event or before."""
        masks = [0]
        for mask in self.ending:
            masks.append(masks[-1] | mask)
        return masks[1:]

    @cached_property
    def crossing(self) -> list[int]:
        """Masks of the items that are live on both sides of each event."""
        every = (1 << len(self.sizes)) - 1
        return [every & ~(self.from_[t] | self.until[t]) for t in range(self.sections + 1)]

    @cached_property
    def covering(self) -> list[int]:
        """Masks of the items that are live in each section."""
        return [self.crossing[t] | self.starting[t] for t in range(self.sections)]

    @cached_property
    def spans(self) -> list[int]:
        """For each item the mask of its sections."""
        return [(1 << b) - (1 << a) for a, b in zip(self.first, self.last, strict=True)]


def strip_of(items: Sequence[Item]) -> Strip:
    """Plain items, their time compressed to maximal cliques."""
    section, first, last = sections_of([(_start(i), _end(i)) for i in items])
    unit = gcd(*(i.size for i in items)) or 1
    sizes = tuple(i.size // unit for i in items)
    return Strip(unit, section, tuple(first), tuple(last), sizes)


def sections_of(spans: Sequence[tuple[int, int]]) -> tuple[int, list[int], list[int]]:
    """Return how many sections there are, and for each of `spans` (steps) its first and end."""
    first, last = [0] * len(spans), [0] * len(spans)
    events = sorted(
        [(end, 0, i) for i, (_, end) in enumerate(spans)]
        + [(start, 1, i) for i, (start, _) in enumerate(spans)]
    )
    section, grown = 0, False
    for _, starts, i in events:
        if starts:
            first[i], grown = section, True
            continue
        if grown:
            section, grown = section + 1, False
        last[i] = section
    return section, first, last
