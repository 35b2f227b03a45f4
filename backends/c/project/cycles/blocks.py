"""How often which blocks of instructions ran one after the other, as QEMU's log says.

`-d exec,nochain,in_asm` writes a line `Trace` for each block that runs and, once, the instructions
of each block that it translates. When the emulator is to do something else, it says that it stopped
before the block that it named last, and names it again later. What an interrupt's handler runs is
not counted: it depends on the clock of the machine that emulates.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

MOST = 10_000_000  # blocks that are counted, in about as many microseconds
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
    ends: dict[int, int] = {}
    steps: Counter[tuple[int, int, int]] = Counter()
    counted = 0
    span = span_before = -1
    first = last = before = earlier = 0
    counts = counted_before = 0  # the group that is counted
    handles = False
    pairs: list[tuple[int, int, int]] = []
    traced: dict[str, tuple[int, bool]] = {}  # a block's line is the same each time that it runs
    for line in lines:
        block = traced.get(line)
        if block is None and line.startswith("Trace"):
            flags, _, rest = line[line.index("[") + 1 :].partition("/")
            block = int(rest.partition("/")[0], 16), bool(int(flags, 16) & HANDLER)
            traced[line] = block
        if block is not None:
            at, handles = block
            if first:
                ends[first], first = last, 0
            if handles:
                continue
            counted_before, span_before = counts, span
            if counts:
                pairs.append((counts, before, at))
                counted += 1
                if counted > most:
                    return None
                counts = 0 if at == stops else counts
            elif at == starts:
                span += 1
                counts = group(span)
            earlier, before = before, at
        elif line.startswith("Stopped") and not handles:
            if counted_before:
                pairs.pop()
            before, counts, counted_before = earlier, counted_before, 0
            span = span_before
        elif line.startswith("0x"):
            last = int(line[:10], 16)
            first = first or last
        elif line.startswith("IN:"):
            first = 0
        if len(pairs) >= 1 << 20:
            steps.update(pairs[:-1])
            del pairs[:-1]
    steps.update(pairs)
    groups: dict[int, Ran] = {}
    for (number, at, following), times in steps.items():
        groups.setdefault(number, Ran(ends)).steps[at, following] = times
    return groups
