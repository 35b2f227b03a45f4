"""Which of the cases of a test `make test` runs, which `make deep`, and which only `make fuzz`."""

import os
from collections.abc import Iterable
from typing import Any, cast

import pytest

ALIKE = ("cortex-m7", "cortex-m33", "cortex-m85")
"""Cores that have the kernels of others: of a Cortex-M4 those of the DSP extension, of an M55 those
of vectors and of doubles. Models run on all cores: test_c_bounds.py, test_c_int8_models.py."""


def deep_but(
    first: Any, cases: Iterable[Any], *, several: bool = False, every: bool = False
) -> list[Any]:
    """`cases` for `parametrize`, marked as deep but for `first`, which is one of them or a list of
    them; `several` when a case has a value for each of several parameters. Unless `every` core
    counts, those alike are left to `make fuzz` where an M4 or an M55 is among them."""
    now = cast("list[Any]", first) if isinstance(first, list) else [first]
    found = list(cases)
    assert all(case in found for case in now), "one that is no case"
    known = not every and any(core in found for core in ("cortex-m4", "cortex-m55"))
    later = [case for case in found if known and case in ALIKE]
    share = float(os.environ.get("MEMOPT_FUZZ", "0"))
    fuzz = pytest.mark.skipif(share < 1, reason="in make fuzz")
    return [
        case
        if case in now
        else pytest.param(
            *(case if several else [case]),
            marks=[pytest.mark.deep, *([fuzz] if case in later else [])],
        )
        for case in found
    ]


SEEDS = deep_but("few", ["few", "more"])
"""For `parametrize` of what `seeds` takes: the first ones are of `make test`."""


def seeds(part: str, few: int, least: int, full: float) -> range:
    """Return the first `few` of the random cases, or with `part` "more" all others: of `least`, or
    of `full` if these are more."""
    return range(few) if part == "few" else range(few, max(least, int(full)))
