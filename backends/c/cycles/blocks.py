"""How often which blocks of instructions ran one after the other, as QEMU's log says.

`-d exec,nochain,in_asm` writes a line `Trace` for each block that runs and, once, the instructions
of each block that it translates.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

MOST = 10_000_000  # blocks that are counted, in about as many microseconds


@dataclass
class Ran:
    """`ends`: address of a block -> that of its last instruction. `steps`: (block, the next one) ->
    how often."""

    ends: dict[int, int] = field(default_factory=dict[int, int])
    steps: Counter[tuple[int, int]] = field(default_factory=Counter[tuple[int, int]])


def blocks_of(lines: Iterable[str], starts: int, stops: int, most: int = MOST) -> Ran | None:
    """What ran each time from the block at `starts` on until that at `stops`; None if that is
    more than `most` blocks."""
    found, counted = Ran(), 0
    first = last = before = 0
    counts = False
    pairs: list[tuple[int, int]] = []
    for line in lines:
        if line.startswith("Trace"):
            at = int(line[line.index("/") + 1 :].partition("/")[0], 16)
            if first:
                found.ends[first], first = last, 0
            if counts:
                pairs.append((before, at))
                counted += 1
                if counted > most:
                    return None
                if len(pairs) >= 1 << 20:
                    found.steps.update(pairs)
                    pairs.clear()
                counts = at != stops
            elif at == starts:
                counts = True
            before = at
        elif line.startswith("0x"):
            last = int(line[:10], 16)
            first = first or last
        elif line.startswith("IN:"):
            first = 0
    found.steps.update(pairs)
    return found
