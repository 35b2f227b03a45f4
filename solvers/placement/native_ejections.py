"""The search of `ejections.py` in the native library: the same moves in the same order."""

from array import array
from collections.abc import Sequence

from memopt.solvers.native.library import Stream, clamped, numbers_of
from memopt.solvers.native.paused_search import PausedSearch
from memopt.solvers.placement.ejections import Ejections, rectangles_of, weights_of
from memopt.solvers.problems.placement import Item


class NativeEjections(PausedSearch):
    """A search in the library, with the interface of `Ejections`."""

    name = "ejections"
    interval = 200_000  # some 20 ms

    def begin(self, offsets: Sequence[int], height: int) -> None:
        """Begin below `height` bytes from `offsets`, in which nothing overlaps."""
        values = array("q", offsets)
        if self.library.memopt_ejections_begin(self.handle, numbers_of(values), clamped(height)):
            raise MemoryError

    def lift(self, height: int | None = None) -> None:
        """Take a higher height; any where none is given: what waits is placed above what stands,
        and nothing is moved."""
        self.library.memopt_ejections_lift(self.handle, -1 if height is None else height)


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
    native = NativeEjections.create(lambda: problem_of(items), len(items))
    return Ejections(items) if native is None else native
