"""Placement: buffers with live ranges, the offsets they are given, and what a good answer obeys.

    problem = PlacementProblem((Buffer("a", 4, 0, 2, 0), Buffer("b", 6, 1, 3, 1)))
    problem.load                                      # 10: no arena is smaller
    Placement((0, 4), 10).verify(problem)

Buffers with one base (`Buffer.base`) share one offset and may lie over each other: an in-place
result where its operand was. Together they are a shape whose height changes with time; `pieces`
cuts it where it changes. With `Buffer.at` a buffer lies above its base: the parts of one tensor lie
one behind the other, and each dies alone. Bytes and steps throughout.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import pairwise
from math import lcm

from memopt.solvers.errors import ProblemError

# Bytes that all buffers of a problem may have together: flows, levels and offsets in 64 bits.
LARGEST_SUM = 1 << 62


def round_up(size: int, alignment: int) -> int:
    """`size` (bytes) rounded up to a multiple of `alignment`; negative workspaces round up too."""
    return -(-size // alignment) * alignment


def rounded(sizes: Sequence[int], alignment: int) -> tuple[int, ...]:
    """Return each of `sizes` rounded up."""
    if alignment == 1:
        return tuple(sizes)
    return tuple([round_up(size, alignment) for size in sizes])


def check_sum(sizes: Iterable[tuple[str, int]]) -> None:
    """Raise ProblemError at the first of (name, bytes) with which they exceed LARGEST_SUM."""
    total = 0
    for name, size in sizes:
        total += size
        if total > LARGEST_SUM:
            raise ProblemError(f"with {name!r} the sum is {total} B, which overflows 64-bit sizes")


@dataclass(frozen=True)
class Buffer:
    """Bytes that are live in steps [lower, upper). `base` is the index of the buffer whose offset
    it shares (its own, if none): a buffer written in place sits where its operand sits. `at` is the
    bytes from there, of a part of what the base is; the base itself is at 0."""

    name: str
    size: int
    lower: int
    upper: int
    base: int
    fixed: int | None = None
    alignment: int = 1
    at: int = 0


@dataclass(frozen=True)
class Piece:
    """Steps [lower, upper) in which a base holds `size` bytes, those of its buffer `index`, `at`
    bytes from its offset."""

    lower: int
    upper: int
    size: int
    index: int
    at: int = 0


@dataclass(frozen=True)
class Item:
    """The buffers `members` of one base: live in [lower, upper), at most `size` bytes high.

    `pieces` say which bytes in which steps, and no two of them share a byte in one step; by time,
    if all are at 0. `alignment` suits every member. Without a piece (0 bytes) it conflicts with
    nothing.
    """

    index: int
    members: tuple[int, ...]
    pieces: tuple[Piece, ...]
    lower: int
    upper: int
    size: int
    alignment: int
    fixed: int | None

    @property
    def area(self) -> int:
        """Byte-steps."""
        return sum(p.size * (p.upper - p.lower) for p in self.pieces)

    @property
    def outline(self) -> tuple[tuple[tuple[int, int, int, int], ...], int]:
        """Return a key that is equal for two items that may change places."""
        return tuple((p.lower, p.upper, p.size, p.at) for p in self.pieces), self.alignment

    @cached_property
    def in_parts(self) -> bool:
        """Return whether a piece begins above the offset."""
        return any(p.at for p in self.pieces)

    @property
    def tops(self) -> tuple[tuple[int, int, int], ...]:
        """(lower, upper, bytes from the offset to the end of the highest piece), by time."""
        if len(self.pieces) == 1:  # as most are
            (p,) = self.pieces
            return ((p.lower, p.upper, p.at + p.size),)
        if not self.in_parts:
            return tuple((p.lower, p.upper, p.size) for p in self.pieces)
        steps = sorted({s for p in self.pieces for s in (p.lower, p.upper)})
        outline: list[tuple[int, int, int]] = []
        for lower, upper in pairwise(steps):
            live = [p.at + p.size for p in self.pieces if p.lower <= lower < p.upper]
            if live:
                outline.append((lower, upper, max(live)))
        return tuple(outline)


@dataclass(frozen=True)
class PlacementProblem:
    """Buffers to be given offsets. Sizes are already rounded up to their alignment."""

    buffers: tuple[Buffer, ...]

    def check(self) -> None:
        """Raise ProblemError for empty live ranges, negative sizes or offsets, broken bases."""
        fixed: dict[int, int] = {}
        for b in self.buffers:
            if b.size < 0 or b.lower >= b.upper or b.alignment < 1:
                raise ProblemError(f"buffer {b.name!r}: bad size, live range or alignment")
            if b.fixed is not None and (b.fixed < 0 or b.fixed % b.alignment):
                raise ProblemError(f"buffer {b.name!r}: bad fixed offset {b.fixed}")
            if not 0 <= b.base < len(self.buffers) or (self.buffers[b.base].base != b.base):
                raise ProblemError(f"buffer {b.name!r}: its base is not a base")
            if b.at < 0 or b.at % b.alignment or self.buffers[b.base].at:
                raise ProblemError(f"buffer {b.name!r}: bad bytes from its base, {b.at}")
            if b.fixed is None:
                continue
            if b.fixed < b.at or fixed.setdefault(b.base, b.fixed - b.at) != b.fixed - b.at:
                raise ProblemError(f"buffer {b.name!r}: its base is fixed elsewhere")
        highest = max((b.fixed or 0 for b in self.buffers), default=0)
        highest += max((b.at for b in self.buffers), default=0)
        placed = ((b.name, b.size + b.alignment - 1) for b in self.buffers)
        check_sum((("what is fixed", highest), *placed))

    @cached_property
    def members(self) -> dict[int, list[int]]:
        """For every base its buffers, ascending."""
        members: dict[int, list[int]] = {}
        for i, b in enumerate(self.buffers):
            members.setdefault(b.base, []).append(i)
        return members

    @cached_property
    def pieces(self) -> dict[int, tuple[Piece, ...]]:
        """For every base its height over time, ascending; steps of height 0 are left out. What
        lies above it is cut into columns, each of them by time."""
        return {base: _pieces_of(self.buffers, group) for base, group in self.members.items()}

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The bases of the problem, ascending, each with all that shares its offset.

        Raises ProblemError where a fixed offset does not suit the alignment of its whole base.
        """
        return tuple(
            _item(self, index, tuple(self.members[base]), self.pieces[base])
            for index, base in enumerate(sorted(self.members))
        )

    @cached_property
    def load(self) -> int:
        """The largest sum of live bytes over the steps: no placement is below it.

        Buffers of one base that are live together count once, as the largest.
        """
        change: dict[int, int] = {}
        for pieces in self.pieces.values():
            for p in pieces:
                change[p.lower] = change.get(p.lower, 0) + p.size
                change[p.upper] = change.get(p.upper, 0) - p.size
        best = level = 0
        for step in sorted(change):
            level += change[step]
            best = max(best, level)
        return best


def _item(
    problem: PlacementProblem, index: int, members: tuple[int, ...], pieces: tuple[Piece, ...]
) -> Item:
    if len(members) == 1 and problem.buffers[members[0]].fixed is None:  # as most are
        b = problem.buffers[members[0]]
        return Item(index, members, pieces, b.lower, b.upper, b.at + b.size, b.alignment, None)
    group = [problem.buffers[i] for i in members]
    alignment = lcm(*[b.alignment for b in group])
    fixed = next((b.fixed - b.at for b in group if b.fixed is not None), None)
    if fixed is not None and fixed % alignment:
        raise ProblemError(f"buffer {group[0].name!r}: bad fixed offset {fixed}")
    lower, upper = min([b.lower for b in group]), max([b.upper for b in group])
    size = max([b.at + b.size for b in group])
    return Item(index, members, pieces, lower, upper, size, alignment, fixed)


def _pieces_of(buffers: Sequence[Buffer], members: list[int]) -> tuple[Piece, ...]:
    if len(members) == 1 and not buffers[members[0]].at:  # as most are
        b = buffers[members[0]]
        return (Piece(b.lower, b.upper, b.size, members[0]),) if b.size else ()
    return tuple(_pieces(buffers, members))


def _pieces(buffers: Sequence[Buffer], members: list[int]) -> Iterator[Piece]:
    """The pieces of one base, which share no byte in a step."""
    if not any(buffers[i].at for i in members):
        yield from _outline(buffers, members)
        return
    column: list[int] = []  # members that hang together by address
    end = 0
    for i in sorted((i for i in members if buffers[i].size), key=lambda i: (buffers[i].at, i)):
        if column and buffers[i].at >= end:
            yield from _column(buffers, column)
            column = []
        column.append(i)
        end = max(end, buffers[i].at + buffers[i].size)
    if column:
        yield from _column(buffers, column)


def _column(buffers: Sequence[Buffer], members: list[int]) -> Iterator[Piece]:
    """Yield the pieces of members; where these start at several addresses, cut at each start and
    end."""
    starts = {buffers[i].at for i in members}
    if len(starts) == 1:
        (at,) = starts
        yield from (replace(p, at=at) for p in _outline(buffers, members))
        return
    cuts = sorted(starts | {buffers[i].at + buffers[i].size for i in members})
    for low, high in pairwise(cuts):
        over = [i for i in members if buffers[i].at <= low < buffers[i].at + buffers[i].size]
        slices = {i: replace(buffers[i], size=high - low) for i in over}
        yield from (replace(p, at=low) for p in _outline(slices, over))


def _outline(
    buffers: Sequence[Buffer] | Mapping[int, Buffer], members: list[int]
) -> Iterator[Piece]:
    """Members at one address: between two changes the largest live one decides."""
    steps = sorted({s for i in members for s in (buffers[i].lower, buffers[i].upper)})
    waiting = sorted(members, key=lambda i: buffers[i].lower, reverse=True)
    live: list[tuple[int, int]] = []  # (-size, member), those that ended are dropped at the top
    open_piece: Piece | None = None
    for lower, upper in pairwise(steps):
        while waiting and buffers[waiting[-1]].lower <= lower:
            i = waiting.pop()
            heappush(live, (-buffers[i].size, i))
        while live and buffers[live[0][1]].upper <= lower:
            heappop(live)
        size, index = (-live[0][0], live[0][1]) if live else (0, -1)
        if open_piece and (open_piece.size, open_piece.upper) == (size, lower):
            open_piece = Piece(open_piece.lower, upper, size, open_piece.index)
            continue
        if open_piece:
            yield open_piece
        open_piece = Piece(lower, upper, size, index) if size else None
    if open_piece:
        yield open_piece


@dataclass(frozen=True)
class Placement:
    """Offsets in bytes, one per buffer, and the arena they need."""

    offsets: tuple[int, ...]
    arena: int

    def verify(self, problem: PlacementProblem) -> None:
        """Raise ProblemError unless live buffers are disjoint, aligned, fixed where asked."""
        if len(self.offsets) != len(problem.buffers):
            raise ProblemError("one offset per buffer is needed")
        top = 0
        for b, offset in zip(problem.buffers, self.offsets, strict=True):
            if offset < 0 or offset % b.alignment:
                raise ProblemError(f"buffer {b.name!r}: offset {offset} is not aligned")
            if b.fixed is not None and offset != b.fixed:
                raise ProblemError(f"buffer {b.name!r}: offset {offset}, fixed at {b.fixed}")
            if offset != self.offsets[b.base] + b.at:
                raise ProblemError(f"buffer {b.name!r} is not where its base is")
            top = max(top, offset + b.size)
        if top != self.arena:
            raise ProblemError(f"the arena is {top} B, the placement says {self.arena} B")
        pair = _overlap(problem, self.offsets)
        if pair:
            a, b = (problem.buffers[i].name for i in pair)
            raise ProblemError(f"buffers {a!r} and {b!r} overlap")


@dataclass(frozen=True)
class Proven:
    """A placement, and bytes that no arena is below: proven, whatever strategy placed."""

    placement: Placement
    lower_bound: int

    @property
    def optimal(self) -> bool:
        return self.placement.arena == self.lower_bound


def _overlap(problem: PlacementProblem, offsets: tuple[int, ...]) -> tuple[int, int] | None:
    """Two buffers that share a byte in a step, if any: a sweep over time, n log n.

    What is live and disjoint so far is kept sorted by address, so only neighbours need a look.
    """
    placed = [(offsets[b] + p.at, p) for b, group in problem.pieces.items() for p in group]
    pieces = [p for _, p in placed]
    events = sorted(
        [(p.upper, 0, i) for i, p in enumerate(pieces)]
        + [(p.lower, 1, i) for i, p in enumerate(pieces)]
    )
    live: list[tuple[int, int]] = []  # (offset, piece)
    for _, starts, i in events:
        entry = (placed[i][0], i)
        if not starts:
            del live[bisect_left(live, entry)]
            continue
        at = bisect_left(live, entry)
        if at < len(live) and live[at][0] < entry[0] + pieces[i].size:
            return pieces[live[at][1]].index, pieces[i].index
        if at and live[at - 1][0] + pieces[live[at - 1][1]].size > entry[0]:
            return pieces[live[at - 1][1]].index, pieces[i].index
        insort(live, entry)
    return None


def conflicts(problem: PlacementProblem) -> Iterator[tuple[int, int]]:
    """Pairs of buffers of positive size and different bases that are live in a common step."""
    order = sorted(range(len(problem.buffers)), key=lambda i: problem.buffers[i].lower)
    live: list[int] = []
    for i in order:
        b = problem.buffers[i]
        if b.size == 0:
            continue
        live = [j for j in live if problem.buffers[j].upper > b.lower]
        yield from ((j, i) for j in live if problem.buffers[j].base != b.base)
        live.append(i)
