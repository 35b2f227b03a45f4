"""`memopt.place(buffers)`: offsets for buffers with live ranges, of whatever they are."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import TypeAlias, cast

from memopt.api.place_csv import STRATEGIES, placed
from memopt.api.sources import chosen, seconds, told, whole_number
from memopt.formats.minimalloc import LARGEST, Row, read_rows, write_rows
from memopt.formats.sizes import parse_size

Buffers: TypeAlias = "str | os.PathLike[str] | bytes | Iterable[tuple[int, int, int] | Row]"


@dataclass(frozen=True)
class Placed:
    """Offsets in bytes, in the order of the buffers given, in an arena of `arena` bytes.

    No arena is smaller than `lower_bound`. With a `capacity`, `fits` says whether the arena found
    does, and `infeasible` whether it is proven that none can. `rows` are the buffers with names,
    live ranges and offsets.
    """

    offsets: tuple[int, ...]
    arena: int
    lower_bound: int
    rows: tuple[Row, ...]
    capacity: int | None = None
    infeasible: bool = False

    @property
    def optimal(self) -> bool:
        """Return whether no arena is smaller, proven."""
        return self.arena == self.lower_bound

    @property
    def fits(self) -> bool:
        return self.capacity is None or self.arena <= self.capacity

    def csv(self) -> str:
        """The buffers with their offsets, as minimalloc's CSV."""
        return write_rows(self.rows)


def place(
    buffers: Buffers,
    *,
    capacity: int | str | None = None,
    strategy: str = "auto",
    time_limit: float | None = None,
) -> Placed:
    """Give every buffer an offset, so that no two that live together overlap, in a small arena.

    `buffers` is an iterable of (lower, upper, size): live in steps [lower, upper), size in bytes;
    or a path to minimalloc's CSV, or its bytes. `capacity` in bytes, or as "256K": the search may
    stop when the buffers fit. `strategy` is one of `memopt place --strategy`, `time_limit` seconds.

    Raises MemoptError for a CSV that is none, OSError, and ValueError or TypeError for a buffer,
    capacity, strategy or time limit that is none.

        >>> placed = memopt.place([(0, 2, 100), (1, 3, 50), (2, 4, 100)])
        >>> placed.offsets, placed.arena, placed.optimal
        ((0, 100, 0), 150, True)
    """
    chosen("strategy", strategy, STRATEGIES)
    seconds(time_limit)
    is_text = isinstance(capacity, str)
    limit = parse_size(capacity) if is_text else whole_number("capacity", capacity)
    if isinstance(buffers, str | os.PathLike):
        name = os.fspath(buffers)
        rows = read_rows(Path(name).read_bytes(), name)
    elif isinstance(buffers, bytes):
        name, rows = "bytes", read_rows(buffers, "bytes")
    elif not isinstance(cast("object", buffers), Iterable):
        raise TypeError(f"buffers: a path, bytes, or (lower, upper, size)s, not {buffers!r}")
    else:
        name, rows = "buffers", tuple(_row(i, b) for i, b in enumerate(buffers))
    with told(name):
        answer, placed_rows = placed(rows, strategy, time_limit, limit, name)
    infeasible = limit is not None and answer.floor > limit
    return Placed(answer.offsets, answer.arena, answer.lower_bound, placed_rows, limit, infeasible)


def _row(number: int, buffer: tuple[int, int, int] | Row) -> Row:
    """A buffer of the caller's. Raises ValueError and TypeError that say which."""
    if isinstance(buffer, Row):
        return buffer
    try:
        lower, upper, size = (index(n) for n in buffer)
    except (TypeError, ValueError):
        text = f"buffers[{number}]={buffer!r}: three whole numbers, lower, upper and size"
        raise TypeError(text) from None
    if not -LARGEST <= lower < upper <= LARGEST:
        raise ValueError(
            f"buffers[{number}]: the live range [{lower}, {upper}) is empty or too far"
        )
    if not 0 <= size <= LARGEST:
        raise ValueError(f"buffers[{number}]: size {size} is negative or too large")
    return Row(str(number), lower, upper, size)
