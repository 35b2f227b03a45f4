"""Loads lab.py and what belongs to it for the tests here: test directories are no packages."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def _load(name: str) -> ModuleType:
    path = Path(__file__).parent / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"memopt_firmware_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


_lab = _load("lab")
_lab.forge = _load("forge")  # type: ignore[attr-defined]
_lab.scatter = _load("scatter")  # type: ignore[attr-defined]
_lab.rounding = _load("rounding")  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def lab() -> ModuleType:
    """The helpers of lab.py, with those of forge.py as `lab.forge` and so on."""
    return _lab
