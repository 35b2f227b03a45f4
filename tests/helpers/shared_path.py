"""Paths of the shared data, of which only a part may be there."""

import os
from pathlib import Path

import pytest


class SharedPath(type(Path())):
    """Path in the folder of models and graphs. Who has the public models alone, which
    `benchmarks/fetch_models.py` fetches, skips tests of the other folders by name."""

    def __truediv__(self, key: str | os.PathLike[str]) -> Path:
        path = super().__truediv__(key)
        for folder in ("graphs", "alloc", "families"):
            if folder in path.parts:
                whole = Path(*path.parts[: path.parts.index(folder) + 1])
                if not whole.exists():
                    pytest.skip(f"needs {folder} of the shared data: set MEMOPT_SHARED")
        return path
