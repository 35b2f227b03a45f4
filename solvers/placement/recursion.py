"""Room for a search that recurses once per item."""

import sys
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def deep_recursion(frames: int) -> Generator[None, None, None]:
    """`frames` more calls than usual may be open at once. (Python 3.11 keeps its frames on the
    heap.)"""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
