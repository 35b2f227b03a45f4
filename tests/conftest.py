"""Fixtures that all tests share: where the shared models are, and how many random cases to run."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with models and graphs (`MEMOPT_SHARED`, default `../shared`), or skip."""
    path = Path(os.environ.get("MEMOPT_SHARED", ROOT.parent / "shared"))
    if not (path / "models").is_dir():
        pytest.skip("needs the shared models: set MEMOPT_SHARED")
    return path


@pytest.fixture(scope="session")
def fuzz() -> float:
    """Share of the full random counts to run: `MEMOPT_FUZZ`, 1.0 in `make fuzz`."""
    return float(os.environ.get("MEMOPT_FUZZ", "0.1"))
