"""Scripts of tests/ as modules."""

import importlib.util
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]


def loaded(name: str) -> Any:
    """Return the module that `tests/<name>.py` is."""
    spec = importlib.util.spec_from_file_location(name, TESTS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
