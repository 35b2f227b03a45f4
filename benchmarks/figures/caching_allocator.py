"""PyTorch's caching allocator on a GPU, by its rules (c10's CUDACachingAllocator).

Sizes round up to 512 B. Up to 1 MiB comes out of segments of 2 MiB, less than 10 MiB out of
segments of 20 MiB, more out of a segment of its own in multiples of 2 MiB. The smallest free block
that is large enough is taken, the rest of it stays free; neighbours that are free become one; no
segment is given back.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from memopt.solvers.problems.placement import PlacementProblem, round_up

MIB = 1 << 20
UNIT, SMALL, LARGE = 512, MIB, 10 * MIB


@dataclass(eq=False)
class Block:
    """Bytes of a segment, of which a tensor has `held`; none, if it is free."""

    size: int
    held: int = 0


def _segment_bytes(size: int) -> int:
    """Return the bytes of a new segment for a block of `size`."""
    if size < LARGE:
        return 2 * MIB if size <= SMALL else 20 * MIB
    return round_up(size, 2 * MIB)


@dataclass
class Allocator:
    """Segments, each its blocks by address, for small tensors and for others; bytes that are
    reserved and that tensors have."""

    pools: tuple[list[list[Block]], ...] = field(default_factory=lambda: ([], []))
    reserved: int = 0
    live: int = 0

    def allocate(self, size: int) -> Block:
        """Return a block of at least `size` bytes."""
        size = round_up(size, UNIT)
        small = size <= SMALL
        pool = self.pools[0 if small else 1]
        fitting = [(b.size, s, b) for s in pool for b in s if not b.held and b.size >= size]
        if fitting:
            _, segment, block = min(fitting, key=lambda f: f[0])
        else:
            segment_bytes = _segment_bytes(size)
            pool.append(segment := [block := Block(segment_bytes)])
            self.reserved += segment_bytes
        if block.size - size >= UNIT if small else block.size - size > SMALL:
            segment.insert(segment.index(block) + 1, Block(block.size - size))
            block.size = size
        block.held = size
        self.live += size
        return block

    def release(self, block: Block) -> None:
        """Free a block, as one with its free neighbours."""
        self.live -= block.held
        block.held = 0
        segment = next(s for pool in self.pools for s in pool if block in s)
        at = segment.index(block)
        for lower in (at, at - 1):
            pair = segment[lower : lower + 2] if lower >= 0 else []
            if len(pair) == 2 and not any(b.held for b in pair):
                segment[lower].size += segment.pop(lower + 1).size


@dataclass(frozen=True)
class Reserved:
    """Bytes of segments in the end, what tensors had when the last one came, and had at most."""

    segments: int
    live_then: int
    highest: int


def reserved(problem: PlacementProblem, persistent: Iterable[int]) -> Reserved:
    """Return what a step reserves.

    What is `persistent` (bytes) comes first. A step's own buffers come before those go whose last
    step it is, as in PyTorch.
    """
    allocator = Allocator()
    for size in persistent:
        allocator.allocate(size)
    segments, live_then, highest = allocator.reserved, allocator.live, allocator.live
    buffers = [b for i, b in enumerate(problem.buffers) if b.size and b.base == i]
    blocks: dict[int, Block] = {}
    for step in range(max((b.upper for b in buffers), default=0)):
        for i, buffer in enumerate(buffers):
            if buffer.lower == step:
                blocks[i] = allocator.allocate(buffer.size)
        if allocator.reserved > segments:
            segments, live_then = allocator.reserved, allocator.live
        highest = max(highest, allocator.live)
        for i in [i for i in blocks if buffers[i].upper == step + 1]:
            allocator.release(blocks.pop(i))
    return Reserved(segments, live_then, highest)
