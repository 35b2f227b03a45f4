"""The plan verifier's own table of rows of other dialects' operations, a file each, by its name.

It does not read `dialects/foreign/`: what an attribute of an operation means is written here a
second time on purpose. What somebody registered is what the operation is, so that is asked, as it
is about memory.
"""

from functools import cache
from typing import Protocol, cast

from xdsl.ir import Operation

from memopt.dialects.foreign.foreign_operator import required_operator
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.interface import registered
from memopt.dialects.memgraph.names import full_name, place_of
from memopt.modules import load, modules_in


class Table(Protocol):
    """One dialect's operations, by their names without its own."""

    def sums_rows(self, name: str, op: Operation) -> bool:
        """Return whether the operator sums over the rows of operand 0."""
        ...

    def rows_read(self, name: str, op: Operation, k: int, r: int) -> range | None:
        """The rows of operand `k`, which has some, that row `r` needs; None if all of it."""
        ...


def foreign_sums_rows(op: Operation) -> bool:
    """Return whether an operation of another dialect sums over the rows of operand 0."""
    if registered(op) is not None:
        return required_operator(op).accumulates
    table, name = _table(op)
    return table.sums_rows(name, op)


def foreign_rows_read(op: Operation, k: int, r: int) -> range | None:
    """The rows of its operand `k` that row `r` needs, None if all of it."""
    if registered(op) is not None:
        return required_operator(op).rows_read(k, r)
    table, name = _table(op)
    return table.rows_read(name, op, k, r)


def _table(op: Operation) -> tuple[Table, str]:
    dialect, _, name = full_name(op).partition(".")
    table = _module(dialect)
    if table is None:
        raise MemoptError(f"nobody knows the rows of {full_name(op)}", place_of(op))
    return table, name


@cache
def _module(dialect: str) -> Table | None:
    module = modules_in(__name__).get(dialect.replace("_", "-"))
    return cast("Table", load(module)) if module else None
