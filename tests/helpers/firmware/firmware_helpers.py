"""Modules of this folder, each loaded once under a name of its own."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

FIRMWARE = Path(__file__).resolve().parent


def load(name: str) -> ModuleType:
    """Return the module NAME.py of this folder, loaded once."""
    found = sys.modules.get(f"memopt_firmware_{name}")
    if found is not None:
        return found
    path = FIRMWARE / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"memopt_firmware_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
