"""Dialects of others whose behaviour is known here, a file each, found by its name.

`foreign/tosa.py` has `MEMORY`, operation's name -> what it does to memory, and may have `ROWS`,
name -> what rows of it read, and `REGIONS`, name -> whether its regions with tensors are those of a
loop or of a branch (regions.py). With `GENERIC_BY`, the command that prints the dialect in generic
form, all operations of `MEMORY` are read, whether xDSL has them or not (forms.py). What somebody
registers (dialects/memgraph/interface.py) comes before the file.
"""

from collections.abc import Mapping
from functools import cache
from types import ModuleType

from xdsl.ir import Operation

from memopt.dialects.memgraph.interface import Describe, DescribeRows, registered
from memopt.dialects.memgraph.names import full_name
from memopt.modules import load, modules_in

LOOP, BRANCH = "loop", "branch"


def memory_described(op: Operation) -> Describe | None:
    """Return the description of an operation's memory: the one registered for its class or its
    name, or the one of this folder; None if there is none."""
    known = registered(op)
    return known.memory if known else _memory(full_name(op))


def rows_described(op: Operation) -> DescribeRows | None:
    """Return the description of an operation's rows, as `memory_described` does of its memory."""
    known = registered(op)
    return known.rows if known else _rows(full_name(op))


def region_kind(op: Operation) -> str | None:
    """Return `LOOP` for an operation whose regions run again and again, the values that it carries
    in place of its results; `BRANCH` for one of which one region runs once; None for any other."""
    name = full_name(op)
    kinds: Mapping[str, str] = getattr(file_of(name.partition(".")[0]), "REGIONS", {})
    return kinds.get(name)


def _memory(name: str) -> Describe | None:
    known: Mapping[str, Describe] = getattr(file_of(name.partition(".")[0]), "MEMORY", {})
    return known.get(name)


def _rows(name: str) -> DescribeRows | None:
    rows: Mapping[str, DescribeRows] = getattr(file_of(name.partition(".")[0]), "ROWS", {})
    return rows.get(name)


@cache
def file_of(dialect: str) -> ModuleType | None:
    """Return the file of a dialect, None if there is none."""
    module = modules_in(__name__).get(dialect.replace("_", "-"))
    return load(module) if module else None
