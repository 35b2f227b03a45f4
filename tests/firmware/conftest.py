"""Loads lab.py and what belongs to it for the tests here: test directories are no packages."""

from types import ModuleType

import pytest
from firmware_helpers import load

_lab = load("lab")
_lab.forge = load("forge")  # type: ignore[attr-defined]
_lab.scatter = load("scatter")  # type: ignore[attr-defined]
_lab.rounding = load("rounding")  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def lab() -> ModuleType:
    """The helpers of lab.py, with those of forge.py as `lab.forge` and so on."""
    return _lab
