"""PyTorch, which only capturing and running steps needs."""

from importlib import import_module
from typing import Any

from memopt.dialects.memgraph.errors import MemoptError


def pytorch(module: str = "torch") -> Any:
    """PyTorch, or a module of it. Raises MemoptError where it is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        text = "capturing needs PyTorch: pip install torch (the rest of memopt does not)"
        raise MemoptError(text) from None
