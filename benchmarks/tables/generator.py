"""Placement problems with a known optimum: a rectangle of time and addresses cut into buffers.

    planted(400, live=50, seed=7).problem.load     # 1048576, which an arena of 1048576 B reaches

    python -m benchmarks.tables.generator --buffers 400 --live 50 --seed 7 > hard.csv

Time runs from left to right over an address space that is full at every step: where buffers end,
their room is cut among new ones. Sizes and lifetimes are drawn log-uniformly; what is drawn larger
than its hole ends a neighbour early or takes what there is. So the packing is perfect, has no
guillotine structure, no step at which nothing is live, and no buffer that is live throughout.
"""

import argparse
import csv
import sys
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from math import exp, log
from random import Random

from memopt.solvers.problems.placement import Buffer, Placement, PlacementProblem

RATIO = 256.0  # largest over smallest size, and lifetime, that is drawn
SHORTEST = 1 << 20  # steps: what ends together was cut together
ROUNDS = 40  # of adjusting sizes until the mean live count is as asked, or a little more
TOLERANCE = 0.03  # of it


@dataclass
class Block:
    """A buffer being cut: bytes [low, low + size), steps [lower, upper)."""

    low: int
    size: int
    lower: int
    upper: int


@dataclass(frozen=True)
class Instance:
    """A problem and the perfect packing that it was cut from: its arena is the load."""

    name: str
    problem: PlacementProblem
    planted: Placement

    @property
    def mean_live(self) -> float:
        """Buffers live in a step, on average over the steps."""
        buffers = self.problem.buffers
        steps = max(b.upper for b in buffers)
        return sum(b.upper - b.lower for b in buffers) / steps


def planted(buffers: int, live: float = 50, capacity: int = 1 << 20, seed: int = 0) -> Instance:
    """`buffers` buffers that fill `capacity` bytes at every step, about `live` at a time.

    Raises ValueError if there are too few buffers to be live and die, or too few bytes for them.
    """
    if live < 2 or buffers < 3 * live or capacity < 16 * live:
        raise ValueError(
            f"{buffers} buffers, {live:g} live at a time in {capacity} B: at least 3 buffers and "
            "16 B for each that is live, and at least 2 live"
        )
    largest = 2.0 * capacity / live
    spread = exp(min(log(RATIO), 0.5 * buffers / live))
    best: tuple[float, list[Block]] | None = None
    for attempt in range(ROUNDS):
        random = Random(f"{seed} {buffers} {live} {capacity} {attempt}")
        blocks, end = _Cut(buffers, capacity, largest, spread, random).run()
        mean_live = sum(b.upper - b.lower for b in blocks) / end
        above = mean_live / live - 1
        largest = min(max(largest * (above + 1), 4.0), capacity / 2)
        if any(b.lower == 0 and b.upper == end for b in blocks):
            spread = max(1.0, spread * 0.8)
        elif above >= 0 and (best is None or above < best[0]):
            best = above, blocks
            if above < TOLERANCE:
                break
    if best is None:
        raise ValueError(f"{buffers} buffers, {live:g} live at a time in {capacity} B: none found")
    blocks = best[1]
    Random(seed).shuffle(blocks)
    problem = PlacementProblem(
        tuple(Buffer(f"b{i}", b.size, b.lower, b.upper, i) for i, b in enumerate(blocks))
    )
    name = f"planted-{buffers}-{live:g}-{seed}"
    return Instance(name, problem, Placement(tuple(b.low for b in blocks), capacity))


class _Cut:
    """One pass over time. What is live is kept sorted by address."""

    def __init__(
        self, buffers: int, capacity: int, largest: float, spread: float, random: Random
    ) -> None:
        self._buffers, self._capacity, self._random = buffers, capacity, random
        self._sizes = (log(max(1.0, largest / RATIO)), log(largest))
        self._times = (log(SHORTEST), log(SHORTEST * spread))
        self._blocks: list[Block] = []
        self._lows: list[int] = []
        self._live: list[Block] = []
        self._ends: list[tuple[int, int]] = []  # (upper, low), also of what has ended early

    def run(self) -> tuple[list[Block], int]:
        """All blocks, and the step after the last."""
        now = 0
        self._fill(0, self._capacity, now)
        while len(self._blocks) < self._buffers:
            count = len(self._blocks)
            now = self._ends[0][0]
            for low, high in list(self._holes(now)):
                self._fill(low, high, now)
            if len(self._blocks) > self._buffers:
                del self._blocks[count:]
                break
        else:
            now = self._ends[0][0]
        for b in self._blocks:
            b.upper = min(b.upper, now)
        self._halve(now)
        return self._blocks, now

    def _holes(self, now: int) -> Iterator[tuple[int, int]]:
        """Take away all that ends now; what was free side by side is one hole."""
        lows: list[int] = []
        while self._ends and self._ends[0][0] == now:
            low = heappop(self._ends)[1]
            at = bisect_left(self._lows, low)
            if at < len(self._lows) and self._lows[at] == low and self._live[at].upper == now:
                lows.append(low)
        at = 0
        lows = sorted(set(lows))
        while at < len(lows):
            first = last = bisect_left(self._lows, lows[at])
            while last < len(self._lows) and at < len(lows) and self._lows[last] == lows[at]:
                last, at = last + 1, at + 1
            low = self._lows[first]
            high = self._live[last - 1].low + self._live[last - 1].size
            del self._lows[first:last], self._live[first:last]
            yield low, high

    def _fill(self, low: int, high: int, now: int) -> None:
        """Cut [low, high) among new blocks; the hole may grow over its neighbour above."""
        random = self._random
        smallest = max(1, int(exp(self._sizes[0])))
        while low < high:
            at = bisect_left(self._lows, low)
            size = max(1, round(exp(random.uniform(*self._sizes))))
            while size > high - low and at < len(self._live) and random.random() < 0.7:
                above = self._live[at]
                if above.low != high or above.lower >= now:
                    break
                high += above.size
                above.upper = now
                del self._lows[at], self._live[at]
            if high - low - size < smallest:
                size = high - low
            upper = now + max(1, round(exp(random.uniform(*self._times))))
            block = Block(low, size, now, upper)
            self._lows.insert(at, low)
            self._live.insert(at, block)
            self._blocks.append(block)
            heappush(self._ends, (upper, low))
            low += size

    def _halve(self, end: int) -> None:
        """Cut random blocks in two, in time, until there are as many as asked for."""
        while len(self._blocks) < self._buffers:
            block = self._blocks[self._random.randrange(len(self._blocks))]
            if block.upper - block.lower < 2:
                continue
            middle = self._random.randint(block.lower + 1, block.upper - 1)
            self._blocks.append(Block(block.low, block.size, middle, block.upper))
            block.upper = middle


def twenty() -> Iterator[Instance]:
    """The instances of the tables: 200 to 640 buffers, 50 to 80 live at a time, seeds 0 to 19."""
    for seed in range(20):
        live = 50 + 10 * (seed % 4)
        yield planted(live * (4 + seed // 4), live, seed=seed)


def main() -> None:
    """Write one instance as minimalloc's CSV to standard output."""
    parser = argparse.ArgumentParser(prog="benchmarks.tables.generator", description=__doc__)
    parser.add_argument("--buffers", type=int, required=True)
    parser.add_argument("--live", type=float, default=50, help="mean; default: 50")
    parser.add_argument("--capacity", type=int, default=1 << 20, help="bytes; default: 1 MiB")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    try:
        instance = planted(args.buffers, args.live, args.capacity, args.seed)
    except ValueError as error:
        parser.error(str(error))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("id", "lower", "upper", "size"))
    out.writerows((b.name, b.lower, b.upper, b.size) for b in instance.problem.buffers)


if __name__ == "__main__":
    main()
