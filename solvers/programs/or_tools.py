"""OR-Tools' `cp_model`, imported without pandas, which took a tenth of a small command's seconds.

It needs pandas for series of variables, which no program here has, and names two of its classes in
annotations. Whoever makes a series in the same process gets pandas then.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


class _Pandas(ModuleType):
    """pandas for one module: empty classes while that is imported, and its own afterwards."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            return type(name, (), {})
        return getattr(import_module(self.__name__), name)


def _import_cp_model() -> ModuleType:
    """Return OR-Tools' module, which was imported with pandas only if that was there already."""
    stand_in = _Pandas("pandas")
    sys.modules.setdefault("pandas", stand_in)
    try:
        return import_module("ortools.sat.python.cp_model")
    finally:
        if sys.modules["pandas"] is stand_in:
            del sys.modules["pandas"]


if not TYPE_CHECKING:
    cp_model = _import_cp_model()

__all__ = ["cp_model"]
