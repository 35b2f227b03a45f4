"""Room for a search that recurses once per decision."""

import sys
from collections.abc import Generator
from contextlib import contextmanager

FRAMES = 1_000_000  # that may be open at once, half a kilobyte each


@contextmanager
def deep_recursion() -> Generator[None, None, None]:
    """Python 3.11 keeps its frames on the heap, so depth costs memory, not the C stack."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
