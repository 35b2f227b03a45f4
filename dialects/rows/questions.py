"""Consequences of an operation's own answers about its rows, ours or another dialect's.

Ours follow from an operation's class, properties and types, so they are asked once of all that are
alike: thousands of rows have a few operators.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from xdsl.ir import Attribute, Operation, SSAValue

from memopt.dialects.memgraph.tensors import rows_of

RowsMode = Literal["fresh", "inplace", "part", "carried"]
UNKEPT: tuple[RowsMode | None, ...] = (None, "part", "carried")
"""Modes of operators of which no row stays from run to run."""


class Rowed(Protocol):
    """Interface of an operator that knows its rows; each answer is documented at `ComputeOp`."""

    @property
    def operands(self) -> Sequence[SSAValue]: ...
    @property
    def results(self) -> Sequence[SSAValue]: ...
    @property
    def accumulates(self) -> bool: ...
    def rows_read(self, operand: int, r: int) -> range | None: ...


@dataclass
class Answers:
    """Answers of the operations of one class that have the same attributes: the rows of an operand
    that a step reads, and the mode, once it was asked. `attributes` stay, so that no other one gets
    their identity."""

    attributes: tuple[Attribute, ...]
    needed: dict[tuple[int, int], range | None] = field(
        default_factory=dict[tuple[int, int], range | None]
    )
    mode: tuple[()] | tuple[RowsMode | None] = ()


_known: dict[tuple[object, ...], Answers] = {}
KINDS = 4_096  # of which answers are kept


def answers_of(whole: Operation) -> Answers:
    """Return what was answered of operations with the same class, properties and types."""
    properties, operands = whole.properties, whole.operands
    attributes = (*properties.values(), *[v.type for v in operands], *whole.result_types)
    kind = type(whole), len(operands), *properties, *map(id, attributes)
    answers = _known.get(kind)
    if answers is None:
        if len(_known) >= KINDS:
            _known.clear()
        answers = _known[kind] = Answers(attributes)
    return answers


def rows_needed(whole: Rowed, name: str, operand: int, r: int) -> range | None:
    """The rows of an operand that step `r` reads, None if it needs all of the operand. Raises
    IndexError if there is no such step."""
    stepped = whole.operands[0] if whole.accumulates else whole.results[0]
    steps, rows = rows_of(stepped), rows_of(whole.operands[operand])
    if steps is None or rows is None:
        return None
    if not 0 <= r < steps:
        raise IndexError(f"{name} has {steps} rows, no row {r}")
    return whole.rows_read(operand, r)


def rows_mode(whole: Rowed, name: str) -> RowsMode | None:
    """Return how a row is stored, fresh or as a part of the only result; None without rows, which
    the first operand that has some must be read in."""
    if whole.accumulates and rows_of(whole.operands[0]) is not None:
        return "part"
    first = next((k for k, v in enumerate(whole.operands) if rows_of(v) is not None), None)
    if first is None or not rows_of(whole.results[0]):
        return None
    return "fresh" if rows_needed(whole, name, first, 0) is not None else None


def taps(kernel: int, stride: int, dilation: int, pad: int, rows: int, r: int) -> range:
    """Return the rows, of so many, under the window of row `r` of the result; not those in the
    padding."""
    first = r * stride - pad
    skipped = max(0, -(first // dilation))  # taps above the image
    return range(
        first + skipped * dilation, min(first + (kernel - 1) * dilation + 1, rows), dilation
    )
