"""Placement beside parts that die alone: a base in parts is a staircase at one end of the arena.

    beside = Beside(items)
    search = beside.search(height=10_304, ends=(TOP,), rules=Rules())
    search.run(nodes=10_000)             # as `CornerSearch`
    beside.offsets_of(search)            # of all items, by index

The rows of a model's input die one by one, and the free bytes are in one stretch in every step if
the input lies where its last row ends the arena: then the rest has a ceiling that rises with time
(a floor that rises, for what is filled row by row and stays). That is a strip whose skyline is not
flat at the start. The search over corners asks nothing else of it: whatever the skyline, in some
solution nothing can sink. What ends too high in a section would waste more than its budget.

A base in parts may lie elsewhere too, so that nothing fits beside it at the ends proves nothing.
Items whose height changes are taken as high as they ever are.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import gcd, lcm

from memopt.solvers.placement.rules import Rules
from memopt.solvers.placement.skyline_corners import CornerSearch
from memopt.solvers.placement.strips import Strip, sections_of
from memopt.solvers.problems.placement import Item

BOTTOM, TOP = False, True
MOST = 4  # bases in parts whose ends are varied: 2^4 choices
Profile = list[int]  # bytes, by section


class StairSearch(CornerSearch):
    """Corner search in a strip that reaches in each section from `floor` up to `ceiling` (units).

    `mirrored`: address 0 is the end of the arena; `pinned` are the offsets (bytes) of the bases in
    parts.
    """

    def __init__(
        self,
        strip: Strip,
        floor: Profile,
        ceiling: Profile,
        rules: Rules,
        mirrored: bool,
        pinned: dict[int, int],
    ) -> None:
        super().__init__(strip, max(ceiling), rules)
        self.skyline = list(floor)
        self.budget = [c - f - n for c, f, n in zip(ceiling, floor, strip.loads, strict=True)]
        self.mirrored, self.pinned = mirrored, pinned
        self.found: tuple[int, ...] | None = None


class Beside:
    """Items, of which some are in parts and none is fixed."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.count = len(items)
        self.parts = [i for i in items if i.in_parts]
        self.rest = [i for i in items if i.pieces and not i.in_parts]
        spans = [(i.pieces[0].lower, i.pieces[-1].upper) for i in self.rest]
        spans += [(p.lower, p.upper) for i in self.parts for p in i.pieces]
        self.sections, self.first, self.last = sections_of(spans)
        aligned = lcm(*(i.alignment for i in self.rest))
        sizes = [-(-i.size // aligned) * aligned for i in self.rest]
        unit = gcd(*sizes) or 1
        many = len(self.rest)
        self.strip = Strip(
            unit,
            self.sections,
            tuple(self.first[:many]),
            tuple(self.last[:many]),
            tuple(size // unit for size in sizes),
        )

    def choices(self, height: int) -> list[tuple[bool, ...]]:
        """Ends at which what is in parts may lie below `height` bytes, what wastes least first."""
        if len(self.parts) > MOST:
            return []
        ranked: list[tuple[int, tuple[bool, ...]]] = []
        for ends in product((TOP, BOTTOM), repeat=len(self.parts)):
            profiles = self._profiles(height, ends)
            if profiles is None:
                continue
            floor, ceiling, _ = profiles
            spare = [c - f for c, f in zip(*self._units(floor, ceiling)[::-1], strict=True)]
            if all(a >= b for a, b in zip(spare, self.strip.loads, strict=True)):
                ranked.append((-sum(spare), ends))
        return [ends for _, ends in sorted(ranked, key=lambda f: f[0])]

    def search(self, height: int, ends: tuple[bool, ...], rules: Rules) -> StairSearch:
        """Return the search for the rest below `height` bytes; `ends` is one of
        `choices(height)`."""
        profiles = self._profiles(height, ends)
        assert profiles is not None
        floor, ceiling, pinned = profiles
        floor, ceiling = self._units(floor, ceiling)
        top = height // self.strip.unit
        # what is not flat is best known from the start, so it is the floor
        mirrored = sum(top - c for c in ceiling) > sum(floor)
        if mirrored:
            floor, ceiling = [top - c for c in ceiling], [top - f for f in floor]
        return StairSearch(self.strip, floor, ceiling, rules, mirrored, pinned)

    def offsets_of(self, search: StairSearch, height: int) -> list[int]:
        """Return the offsets of all items by index, from a search below `height` that found an
        answer."""
        assert search.found is not None
        offsets = [0] * self.count
        for index, offset in search.pinned.items():
            offsets[index] = offset
        unit, top = self.strip.unit, height // self.strip.unit
        for item, at, size in zip(self.rest, search.found, self.strip.sizes, strict=True):
            offsets[item.index] = unit * (top - at - size if search.mirrored else at)
        return offsets

    def _units(self, floor: Profile, ceiling: Profile) -> tuple[Profile, Profile]:
        unit = self.strip.unit
        return [-(-f // unit) for f in floor], [c // unit for c in ceiling]

    def _profiles(
        self, height: int, ends: tuple[bool, ...]
    ) -> tuple[Profile, Profile, dict[int, int]] | None:
        """Floor and ceiling in bytes, and the offsets of what is in parts; one lies upon another.
        None if they do not fit."""
        floor, ceiling = [0] * self.sections, [height] * self.sections
        pinned: dict[int, int] = {}
        columns = self._columns()
        for item, end in zip(self.parts, ends, strict=True):
            mine = next(columns)
            a = item.alignment
            if end == TOP:
                limit = min(ceiling[t] - top for t, _, top in mine)
                offset = limit // a * a
            else:
                offset = max(0, *(floor[t] - at for t, at, _ in mine))
                offset = -(-offset // a) * a
            if offset < 0 or offset + item.size > height:
                return None
            pinned[item.index] = offset
            for t, at, top in mine:
                if end == TOP:
                    ceiling[t] = min(ceiling[t], offset + at)
                else:
                    floor[t] = max(floor[t], offset + top)
        return floor, ceiling, pinned

    def _columns(self) -> Iterator[list[tuple[int, int, int]]]:
        """For each base in parts (section, bytes to its lowest part, to the end of its highest)."""
        n = len(self.rest)
        for item in self.parts:
            low: dict[int, int] = {}
            high: dict[int, int] = {}
            for p in item.pieces:
                for t in range(self.first[n], self.last[n]):
                    low[t] = min(low.get(t, p.at), p.at)
                    high[t] = max(high.get(t, 0), p.at + p.size)
                n += 1
            yield [(t, low[t], high[t]) for t in sorted(low)]
