"""How often which blocks of instructions ran one after the other, as QEMU's log says.

`-d exec,nochain,in_asm` writes a line `Trace` for each block that runs and, once, the instructions
of each block that it translates. When the emulator is to do something else, it says that it stopped
before the block that it named last, and names it again later. What an interrupt's handler runs is
not counted: it depends on the clock of the machine that emulates.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain, islice, repeat
from typing import cast

MOST = 10_000_000  # blocks that are counted, in about as many microseconds
CHUNK = 4_096  # lines that are looked at together
HANDLER = 1  # among the flags that a line `Trace` begins with: an exception is being handled


@dataclass
class Ran:
    """`ends`: address of a block -> that of its last instruction. `steps`: (block, the next one) ->
    how often."""

    ends: dict[int, int] = field(default_factory=dict[int, int])
    steps: Counter[tuple[int, int]] = field(default_factory=Counter[tuple[int, int]])


def blocks_by(
    lines: Iterable[str], starts: int, stops: int, group: Callable[[int], int], most: int = MOST
) -> dict[int, Ran] | None:
    """Return what ran between those blocks, apart for each group that the number of a time has;
    nothing of group 0. None if that is more than `most` blocks."""
    log = _Log(starts, stops, group)
    stream = iter(lines)
    while chunk := list(islice(stream, CHUNK)):
        if not log.read_alike(chunk):
            for line in chunk:
                log.read(line)
        if log.counted > most:
            return None
    return log.groups()


class _Log:
    """State after some lines; `counts` is the group that is counted now, 0 for none."""

    def __init__(self, starts: int, stops: int, group: Callable[[int], int]) -> None:
        self.starts, self.stops, self.group = starts, stops, group
        self.ends: dict[int, int] = {}
        self.steps: Counter[tuple[int, int, int]] = Counter()
        self.pending: tuple[int, int, int] | None = None  # the last step, which may be taken back
        self.counted = 0
        self.span = self.span_before = -1
        self.first = self.last = self.before = self.earlier = 0
        self.counts = self.counted_before = 0
        self.handles = False
        # by its line, which is the same each time that a block runs: its address, and apart from
        # that, if it ends nothing and handles nothing
        self.traced: dict[str, tuple[int, bool]] = {}
        self.plain: dict[str, int] = {}

    def read_alike(self, lines: list[str]) -> bool:
        """Count lines of which each is that of a known block amid what is counted; False, and
        nothing, if one is not."""
        if not self.counts or self.first or len(lines) < 2:
            return False
        ran = list(map(self.plain.get, lines))
        if None in ran:
            return False
        blocks = cast("list[int]", ran)
        self._count_pending()
        self.steps.update(zip(repeat(self.counts), chain((self.before,), blocks), blocks[:-1]))
        self.earlier, self.before = blocks[-2:]
        self.pending = self.counts, self.earlier, self.before
        self.counted += len(blocks)
        self.counted_before, self.span_before, self.handles = self.counts, self.span, False
        return True

    def read(self, line: str) -> None:
        """Count one line."""
        block = self.traced.get(line)
        if block is None and line.startswith("Trace"):
            flags, _, rest = line[line.index("[") + 1 :].partition("/")
            block = int(rest.partition("/")[0], 16), bool(int(flags, 16) & HANDLER)
            self.traced[line] = block
            if not block[1] and block[0] != self.stops:
                self.plain[line] = block[0]
        if block is not None:
            self._ran(*block)
        elif line.startswith("Stopped") and not self.handles:
            if self.counted_before:
                self.pending = None
            self.before, self.counts, self.counted_before = self.earlier, self.counted_before, 0
            self.span = self.span_before
        elif line.startswith("0x"):
            self.last = int(line[:10], 16)
            self.first = self.first or self.last
        elif line.startswith("IN:"):
            self.first = 0

    def _ran(self, at: int, handles: bool) -> None:
        self.handles = handles
        if self.first:
            self.ends[self.first], self.first = self.last, 0
        if handles:
            return
        self.counted_before, self.span_before = self.counts, self.span
        if self.counts:
            self._count_pending()
            self.pending = self.counts, self.before, at
            self.counted += 1
            self.counts = 0 if at == self.stops else self.counts
        elif at == self.starts:
            self.span += 1
            self.counts = self.group(self.span)
        self.earlier, self.before = self.before, at

    def _count_pending(self) -> None:
        if self.pending is not None:
            self.steps[self.pending] += 1
            self.pending = None

    def groups(self) -> dict[int, Ran]:
        """Return what was counted, by its group."""
        self._count_pending()
        groups: dict[int, Ran] = {}
        for (number, at, following), times in self.steps.items():
            groups.setdefault(number, Ran(self.ends)).steps[at, following] = times
        return groups
