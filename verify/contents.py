"""Contents of memory while a function is simulated, and the contents that a write would destroy.

No two contents lie over each other but for a result in place of an operand that dies, so the
contents in the way of a write are found by its neighbours, without a look at all that live.
"""

from bisect import bisect_left, insort
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from xdsl.ir import SSAValue


class Content(NamedTuple):
    """Bytes [start, end) of one memory, not empty, that hold `value` (None: scratch) through step
    `last`."""

    value: SSAValue | None
    memory: str
    start: int
    end: int
    last: int


@dataclass
class Contents:
    """All that is live. `apart` lists per memory (start, number) of contents that do not lie over
    each other, ascending; `over` numbers those that lie over one of them, as an in-place result
    does in its first step."""

    all: dict[int, Content] = field(default_factory=dict[int, Content])
    apart: dict[str, list[tuple[int, int]]] = field(
        default_factory=dict[str, list[tuple[int, int]]]
    )
    over: set[int] = field(default_factory=set[int])
    ends: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])  # a heap, by `last`
    count: int = 0

    def expire(self, step: int) -> None:
        """Forget what nobody reads in `step` or later."""
        while self.ends and self.ends[0][0] < step:
            number = heappop(self.ends)[1]
            content = self.all.pop(number)
            if number in self.over:
                self.over.discard(number)
            else:
                row = self.apart[content.memory]
                del row[bisect_left(row, (content.start, number))]
        for number in sorted(self.over) if self.over else ():
            if not self._beside(self.all[number]):
                self.over.discard(number)
                self._put_apart(number)

    def in_the_way(self, new: Content) -> list[Content]:
        """The contents that share a byte with `new`, the oldest first."""
        numbers = self._beside(new)
        if not numbers and not self.over:
            return []
        numbers += [n for n in self.over if _overlap(self.all[n], new)]
        return [self.all[n] for n in sorted(numbers)]

    def add(self, new: Content) -> None:
        """Write `new`, whatever it destroys."""
        number, self.count = self.count, self.count + 1
        self.all[number] = new
        heappush(self.ends, (new.last, number))
        if self._beside(new):
            self.over.add(number)
        else:
            self._put_apart(number)

    def _put_apart(self, number: int) -> None:
        content = self.all[number]
        insort(self.apart.setdefault(content.memory, []), (content.start, number))

    def _beside(self, new: Content) -> list[int]:
        """Return the numbers of the contents in `apart` that share a byte with `new`."""
        row = self.apart.get(new.memory, [])
        at = bisect_left(row, (new.start, -1))
        numbers: list[int] = []
        if at and self.all[row[at - 1][1]].end > new.start:
            numbers.append(row[at - 1][1])
        while at < len(row) and row[at][0] < new.end:
            numbers.append(row[at][1])
            at += 1
        return numbers


def _overlap(a: Content, b: Content) -> bool:
    return a.memory == b.memory and a.start < b.end and b.start < a.end
