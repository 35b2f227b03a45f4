"""Loads lab.py and what belongs to it for the tests here: test directories are no packages."""

import os
from types import ModuleType

import pytest
from firmware_helpers import load

_lab = load("lab")
_lab.forge = load("forge")  # type: ignore[attr-defined]
_lab.scatter = load("scatter")  # type: ignore[attr-defined]
_lab.rounding = load("rounding")  # type: ignore[attr-defined]


@pytest.fixture(scope="session", autouse=True)  # also of files that load lab.py themselves
def lab(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The helpers of lab.py, with those of forge.py as `lab.forge` and so on."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # of all processes of this run
    _lab.OBJECTS = folder / "objects"  # type: ignore[attr-defined]
    (folder / "objects").mkdir(exist_ok=True)
    return _lab
