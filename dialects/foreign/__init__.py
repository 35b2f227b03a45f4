"""Dialects of others whose memory behaviour is known here, a file each, found by its name.

`foreign/tosa.py` has `MEMORY`, operation's name -> what it does to memory. What somebody registers
(dialects/interface.py) comes before it.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from memopt.dialects.interface import Describe


def described(name: str) -> Describe | None:
    """What is known here of an operation, by its full name."""
    return _memory(name.partition(".")[0]).get(name)


@cache
def _memory(dialect: str) -> Mapping[str, Describe]:
    module = f"{__name__}.{dialect}"
    if not dialect.isidentifier() or find_spec(module) is None:
        return {}
    return import_module(module).MEMORY
