"""Benchmarks measure graphs and buffers beside models: all of the shared data, or skip."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared(shared: Path) -> Path:
    """The folder with models, graphs and buffers."""
    assert (shared / "graphs") != (shared / "alloc")  # asks whether both are there
    return shared
