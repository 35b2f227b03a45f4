"""The search of `ejections.py` in the native library: the same moves in the same order."""

from array import array
from collections.abc import Sequence
from ctypes import CDLL

from memopt.solvers.native.library import Stream, clamped, library, numbers_of
from memopt.solvers.placement.ejections import Ejections, rectangles_of, weights_of
from memopt.solvers.problems.placement import Item


class NativeEjections:
    """A search in the library, with the interface of `Ejections`."""

    interval = 200_000  # some 20 ms

    def __init__(self, native: CDLL, handle: int, count: int) -> None:
        self.library, self.handle = native, handle
        self.work = 0
        self._offsets = array("q", bytes(8 * count))

    def __del__(self) -> None:
        self.library.memopt_ejections_destroy(self.handle)

    @property
    def offsets(self) -> list[int]:
        """Offsets in bytes, by item."""
        self.library.memopt_ejections_offsets(self.handle, numbers_of(self._offsets))
        return list(self._offsets)

    def begin(self, offsets: Sequence[int], height: int) -> None:
        """Begin below `height` bytes from `offsets`, in which nothing overlaps."""
        values = array("q", offsets)
        if self.library.memopt_ejections_begin(self.handle, numbers_of(values), clamped(height)):
            raise MemoryError

    def lift(self) -> None:
        """Take any height: what waits is placed above what stands, and nothing is moved."""
        self.library.memopt_ejections_lift(self.handle)

    def advance(self, pause: int) -> int:
        """Go on until `work` is `pause`."""
        outcome = array("q", (0, 0))
        if self.library.memopt_ejections_advance(self.handle, clamped(pause), numbers_of(outcome)):
            raise MemoryError
        self.work = outcome[0]
        return outcome[1]


def problem_of(items: Sequence[Item]) -> "array[int]":
    """Return the items as `ejections.cpp` reads them. Raises OverflowError."""
    sections, rectangles = rectangles_of(items)
    stream = Stream()
    stream.add(len(items), sections)
    for item, weight, several in zip(
        items, weights_of(sections, rectangles), rectangles, strict=True
    ):
        fixed = -1 if item.fixed is None else item.fixed
        stream.add(weight, item.alignment, fixed, item.size, len(several))
        for rectangle in several:
            stream.add(*rectangle)
    return stream.values


def ejections_of(items: Sequence[Item]) -> Ejections | NativeEjections:
    """Return the search; in Python where there is no library, or it refuses what would overflow."""
    native = library()
    if native is None:
        return Ejections(items)
    try:
        values = problem_of(items)
    except OverflowError:
        return Ejections(items)
    handle = native.memopt_ejections_create(numbers_of(values), len(values))
    return Ejections(items) if handle is None else NativeEjections(native, handle, len(items))
