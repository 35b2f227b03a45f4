"""A search in the native library that pauses, and has an offset for each item."""

from array import array
from collections.abc import Callable
from ctypes import CDLL
from typing import Any, ClassVar, Self

from memopt.solvers.native.library import clamped, library, numbers_of


class PausedSearch:
    """A search at `handle` for `count` items, by the library's functions `memopt_NAME_...`. `work`
    counts as its reference in Python does."""

    name: ClassVar[str]

    def __init__(self, native: CDLL, handle: int, count: int) -> None:
        self.library, self.handle = native, handle
        self.work = 0
        self._offsets = array("q", bytes(8 * count))

    @classmethod
    def create(cls, problem: Callable[[], "array[int]"], count: int, *more: float) -> Self | None:
        """Return the search of a problem as its source reads it, with `more` that its function is
        given; None where there is no library, or it refuses what would overflow."""
        native = library()
        if native is None:
            return None
        try:
            values = problem()
        except OverflowError:
            return None
        create = getattr(native, f"memopt_{cls.name}_create")
        handle = create(numbers_of(values), len(values), *more)
        return None if handle is None else cls(native, handle, count)

    def __del__(self) -> None:
        self._function("destroy")(self.handle)

    def _function(self, verb: str) -> Any:
        return getattr(self.library, f"memopt_{self.name}_{verb}")

    @property
    def offsets(self) -> list[int]:
        """Offsets by item, in bytes or units as the search was given them."""
        self._function("offsets")(self.handle, numbers_of(self._offsets))
        return list(self._offsets)

    def advance(self, pause: int) -> int:
        """Go on until `work` is `pause`, or a little more; return what the search says."""
        outcome = array("q", (0, 0))
        if self._function("advance")(self.handle, clamped(pause), numbers_of(outcome)):
            raise MemoryError
        self.work = outcome[0]
        return outcome[1]
