"""Where the next item fits: as bits, as stretches, by trying every offset, and by the rules of the
greedy strategies, looking at all that is placed."""

from collections.abc import Callable, Sequence
from importlib import import_module
from random import Random
from typing import Any

import pytest
from placed_parts import random_parts
from random_placements import random_problem

from memopt.solvers.placement import live_stretches, place
from memopt.solvers.placement.address_space import AddressBits, AddressRows
from memopt.solvers.placement.live_stretches import LiveStretches
from memopt.solvers.problems.placement import Buffer, Item, PlacementProblem

CASES = 3_000
ADDRESS_SPACE: Any = import_module(AddressRows.__module__)


@pytest.fixture(params=[False, True], ids=["apart", "joined"])
def joined(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Join stretches as soon as there are two of them, or only where there are many."""
    if request.param:
        monkeypatch.setattr(live_stretches, "MANY", 1)
        monkeypatch.setattr(live_stretches, "FEW", 1)


def _free(item: Item, offset: int, placed: list[tuple[Item, int]]) -> bool:
    """Whether the item may lie at `offset`, by looking at every pair of pieces."""
    for other, at in placed:
        for p in item.pieces:
            for q in other.pieces:
                together = p.lower < q.upper and p.upper > q.lower
                if together and offset < at + q.size and offset + p.size > at:
                    return False
            # what has no bytes ends a gap all the same
            through = offset < at < offset + p.size
            if not other.pieces and p.lower < other.upper and p.upper > other.lower and through:
                return False
    return True


@pytest.mark.usefixtures("joined")
@pytest.mark.parametrize("seed", range(4))
def test_bits_and_stretches_find_the_same(seed: int) -> None:
    random = Random(seed)
    for _ in range(CASES // 4):
        items = random_problem(random, 9).items
        bits, rows = AddressBits(items), AddressRows(items)
        placed: list[tuple[Item, int]] = []
        order = [i for i in items if i.fixed is not None]
        order += random.sample([i for i in items if i.fixed is None], len(items) - len(order))
        for item in order:
            at_least = random.choice((0, 0, random.randint(0, 20)))
            if item.pieces and item.fixed is None:
                first = bits.first_fit(item, at_least)
                assert first == rows.first_fit(item, at_least)
                step = item.alignment
                tried = range(-(-at_least // step) * step, first, step)
                assert _free(item, first, placed) and not any(
                    _free(item, offset, placed) for offset in tried
                )
                small = bits.smallest_gap(item)
                if all(i.pieces or i.fixed is None for i, _ in placed):
                    assert small == rows.smallest_gap(item)
                offset = random.choice((first, small, bits.first_fit(item)))
                offset += step * random.choice((0, 0, 1, 7))
                if not _free(item, offset, placed):
                    offset = first
            else:
                offset = item.fixed or 0
            for space in (bits, rows):
                put = space.put if item.pieces else space.end_gap
                put(item, offset)
            placed.append((item, offset))
        assert bits.offsets == rows.offsets


@pytest.mark.usefixtures("joined")
@pytest.mark.parametrize("seed", range(4))
def test_all_that_is_taken_is_found_and_nothing_else(seed: int) -> None:
    """Check short and long spans; what meets is joined, so bytes are compared, and borders."""
    random, steps = Random(seed), 900
    starts = [random.randrange(steps) for _ in range(300)]
    lengths = [1 if random.random() < 0.5 else random.randint(1, steps) for _ in starts]
    spans = [(a, a + length) for a, length in zip(starts, lengths, strict=True)]
    taken, added = LiveStretches(spans), list[tuple[int, int, int, int]]()
    for lower, upper in random.sample(spans, len(spans)):
        asked = random.choice(spans)
        rows = [row for row in added if row[0] < asked[1] and row[1] > asked[0]]
        stretches = [(start, end) for _, _, start, end in rows]
        found = [(int(start), int(end)) for start, end in taken.within(*asked)]
        assert _bytes(found) == _bytes(stretches)
        assert {start for start, _ in found} <= {start for start, _ in stretches}
        start = random.randrange(1000)
        end = start + random.choice((0, 1, 8))
        taken.add(lower, upper, start, end)
        added.append((lower, upper, start, end))


def _bytes(stretches: Sequence[tuple[int, int]]) -> set[int]:
    return {byte for start, end in stretches for byte in range(start, end)}


def _naive(items: Sequence[Item], order: Sequence[Item], smallest: bool) -> list[int]:
    """Offsets of items placed in this order around what is fixed, each in the smallest or in the
    lowest gap, by a look at all pairs of pieces."""
    offsets = [0] * len(items)
    placed = [i for i in items if i.fixed is not None]
    for item in placed:
        offsets[item.index] = item.fixed or 0
    for item in (i for i in order if i.fixed is None and i.pieces):
        forbidden = sorted(
            (at + q.at - p.size - p.at, at + q.at + q.size - p.at)
            for other in placed
            for at in (offsets[other.index],)
            for q in other.pieces
            for p in item.pieces
            if p.lower < q.upper and p.upper > q.lower
        )
        offset, gaps = 0, list[tuple[int, int]]()
        for start, end in forbidden:
            if start >= offset:
                gaps.append((start - offset, offset))
            offset = max(offset, -(-end // item.alignment) * item.alignment)
        gaps = gaps if smallest else gaps[:1]
        offsets[item.index] = min(gaps)[1] if gaps else offset
        placed.append(item)
    return offsets


def _by_size(items: Sequence[Item]) -> list[Item]:
    return sorted(items, key=lambda i: (i.size, i.upper - i.lower, -i.index), reverse=True)


def _by_breadth(items: Sequence[Item]) -> list[Item]:
    steps = {p.lower for i in items for p in i.pieces}
    live = {t: [p for i in items for p in i.pieces if p.lower <= t < p.upper] for t in steps}
    order: dict[int, Item] = {}
    for t in sorted(steps, key=lambda t: (-sum(p.size for p in live[t]), t)):
        order |= {i.index: i for i in _by_size(items) if i.lower <= t < i.upper}
    return [*order.values(), *(i for i in _by_size(items) if i.index not in order)]


RULES: dict[str, tuple[Callable[[Sequence[Item]], list[Item]], bool]] = {
    "greedy-by-size": (_by_size, True),
    "greedy-by-breadth": (_by_breadth, True),
    "tflite": (lambda items: sorted(items, key=lambda i: (i.lower, i.index)), True),
    "tflm": (lambda items: sorted(items, key=lambda i: (-i.size, -i.index)), False),
}


def _many(random: Random) -> PlacementProblem:
    """Thirty buffers, of which many are live together; of some, alignments divide all sizes."""
    scale, alignments = random.choice([(1, (1,)), (24, (1, 8)), (24, (1, 3, 24))])
    spans = [sorted(random.sample(range(40), 2)) for _ in range(30)]
    sizes = [scale * random.choice((1, 3, random.randint(1, 60))) for _ in spans]
    return PlacementProblem(
        tuple(
            Buffer(f"b{i}", size, lower, upper, i, alignment=random.choice(alignments))
            for i, (size, (lower, upper)) in enumerate(zip(sizes, spans, strict=True))
        )
    )


@pytest.mark.deep
@pytest.mark.usefixtures("joined")
@pytest.mark.parametrize("units", [0, ADDRESS_SPACE.UNITS], ids=["stretches", "bits"])
def test_greedy_strategies_answer_as_their_rules_say(
    units: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ADDRESS_SPACE, "UNITS", units)
    random = Random(7)
    for case in range(CASES // 4):
        kinds = (lambda: random_problem(random, 9), lambda: random_parts(random, 6, shuffled=False))
        problem = (*kinds, lambda: _many(random))[case % 3]()
        items = problem.items
        for method, (order, smallest) in RULES.items():
            bare = method == "tflm" and not all(i.pieces for i in items)
            if bare:  # what has no bytes ends a gap there
                continue
            expected = _naive(items, order(items), smallest)
            found = place(problem, method).offsets
            assert [found[i.members[0]] for i in items] == [
                expected[i.index] + problem.buffers[i.members[0]].at for i in items
            ], (case, method)


def test_who_lives_with_thousands_is_not_held_against_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Work is counted: stretches that are handed out in a nest of buffers that all live together,
    each with a short-lived one on either side."""
    depth, seen, within = 2_000, 0, LiveStretches.within

    def counted(self: LiveStretches, lower: int, upper: int) -> Any:
        nonlocal seen
        rows = within(self, lower, upper)
        seen += len(rows)
        return rows

    monkeypatch.setattr(LiveStretches, "within", counted)
    nest = [(64 * (depth - i), 2 * i, 4 * depth - 2 * i) for i in range(depth)]
    short = [(64 * (depth - i), 4 * depth - 2 * i - 1, 4 * depth - 2 * i + 2) for i in range(depth)]
    problem = PlacementProblem(
        tuple(Buffer(f"b{i}", *row, i) for i, row in enumerate([*nest, *short]))
    )
    assert place(problem, "greedy-by-size").arena >= problem.load
    assert seen <= 2 * live_stretches.MANY * 2 * depth  # of 2,000 that live with each
