"""Which of the cases of a test `make test` runs, and which only `make deep` and `make fuzz`."""

from collections.abc import Iterable
from typing import Any, cast

import pytest


def deep_but(first: Any, cases: Iterable[Any], *, several: bool = False) -> list[Any]:
    """`cases` for `parametrize`, marked as deep but for `first`, which is one of them or a list of
    them; `several` when a case has a value for each of several parameters."""
    now = cast("list[Any]", first) if isinstance(first, list) else [first]
    found = list(cases)
    assert all(case in found for case in now), "one that is no case"
    return [
        case
        if case in now
        else pytest.param(*(case if several else [case]), marks=pytest.mark.deep)
        for case in found
    ]
