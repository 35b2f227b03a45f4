"""The native library in tests: held to the reference where it was built."""

import random
from pathlib import Path

import pytest

from memopt.solvers.native.library import library
from memopt.solvers.placement.strips import Strip, sections_of

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "solvers/native"

needs_native = pytest.mark.skipif(
    library() is None, reason="needs the native library: python setup.py build_ext --inplace"
)


def random_strip(rng: random.Random, items: int, steps: int) -> Strip:
    """So many items, each live in some of so many steps."""
    starts = [rng.randrange(steps) for _ in range(items)]
    longest = max(1, steps // rng.choice((1, 3)))
    sections, first, last = sections_of([(a, a + rng.randint(1, longest)) for a in starts])
    sizes = tuple(rng.choice((1, 2, 3, 5, 8, rng.randint(1, 30))) for _ in starts)
    return Strip(1, sections, tuple(first), tuple(last), sizes)
