"""Where the next item fits: as bits, as rows, and by trying every offset."""

from importlib import import_module
from random import Random

import pytest
from random_placements import random_problem

from memopt.solvers.placement import time_index
from memopt.solvers.placement.address_space import AddressBits, AddressRows
from memopt.solvers.placement.time_index import TimeIndex
from memopt.solvers.problems.placement import Item

CASES = 3_000


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


@pytest.mark.parametrize("seed", range(4))
def test_bits_and_rows_find_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check rows that are looked at one by one, and by numpy."""
    module = import_module(AddressRows.__module__)
    monkeypatch.setattr(module, "FEW", -1 if seed % 2 else 1000)
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


@pytest.mark.parametrize("seed", range(4))
def test_a_time_index_finds_all_that_is_live(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check short and long rows, and stretches that are sorted meanwhile."""
    monkeypatch.setattr(time_index, "MANY", 8)
    random, steps = Random(seed), 5_000
    starts = [random.randrange(steps) for _ in range(1_500)]
    lengths = [1 if random.random() < 0.5 else random.randint(1, steps) for _ in starts]
    spans = [(a, a + length) for a, length in zip(starts, lengths, strict=True)]
    index, added = TimeIndex(spans), list[tuple[int, int, int, int]]()
    for lower, upper in random.sample(spans, len(spans)):
        start = random.choice(starts)
        end = start + random.choice((1, 20, steps))
        near: list[list[int]] = index.near(start, end).T.tolist()
        seen = {(first, last, low, high) for first, last, low, high in near}
        assert seen <= set(added)
        assert seen >= {row for row in added if row[0] < end and row[1] > start}
        offset = random.randrange(1000)
        index.add(lower, upper, offset, offset + 8)
        added.append((lower, upper, offset, offset + 8))
