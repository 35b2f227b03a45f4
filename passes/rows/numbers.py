"""A function with operators in rows as numbers: which operator each step is of, and which tensor
each group is a row of. Operators are those of `computing`, by position."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast
from weakref import ReferenceType, ref

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from memopt.dialects.attributes.rewrites import REWRITES
from memopt.dialects.foreign.foreign_operator import required_operator
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.plan import makes_virtual
from memopt.dialects.rows.operations import RowKernelOp, RowOp, SplitRowsOp
from memopt.dialects.rows.steps import steps_of
from memopt.passes.plan.extract import Extracted, Grouped, extract, grouped
from memopt.passes.rows.expand import computing, cut
from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule
from memopt.solvers.scheduling.partial_rows import Rows, SomeWhole

Question = tuple[frozenset[int], int, tuple[int, ...]]
"""Operators, bytes of a peak, and an order."""


@dataclass(frozen=True)
class InRows:
    """A copy of a function with the operators `cut` in rows. `operator` says of each step which
    one it is of; what is none of `computing` has a negative number of its own. `uncut` are those of
    some operators that may be whole for a peak, as far as that was asked."""

    extracted: Extracted
    cut: frozenset[int]
    operator: tuple[int, ...]
    uncut: dict[Question, frozenset[int]] = field(
        default_factory=dict[Question, frozenset[int]], compare=False
    )

    @cached_property
    def steps_of(self) -> dict[int, list[int]]:
        """The steps of each operator, ascending."""
        steps: dict[int, list[int]] = {}
        for v, operator in enumerate(self.operator):
            steps.setdefault(operator, []).append(v)
        return steps

    @property
    def graph(self) -> MemoryGraph:
        return self.extracted.graph

    @cached_property
    def numbers(self) -> Rows:
        """All of it as numbers."""
        memory, group_of = self.extracted.memory, self.extracted.group_of
        sizes = [0] * len(self.graph.groups)
        for g, group in zip(group_of, memory.groups, strict=True):
            if g is not None:
                sizes[g] = group.taken
        tensor = [-1] * len(sizes)
        for number, tensor_rows in enumerate(_tensors(self.extracted.func)):
            for value in tensor_rows:
                g = group_of[memory.of_value[value][0]] if value in memory.of_value else None
                if g is not None:
                    tensor[g] = number
        alignment = self.extracted.model.alignment.data
        return Rows(self.graph, self.operator, tuple(tensor), tuple(sizes), self.cut, alignment)


def carried(rows: InRows, order: Sequence[int], some: SomeWhole, small: InRows) -> tuple[int, ...]:
    """Return the order of `small` that is this `order` of `some`, made of `rows`; in both the same
    operators are whole."""
    result: list[int] = []
    for at in order:
        v = some.members[at][0]
        steps = small.steps_of.get(operator := rows.operator[v], [])  # none of a view
        is_row = operator in small.cut
        result += [steps[rows.steps_of[operator].index(v)]] if is_row else steps
    return tuple(result)


@dataclass(frozen=True)
class Cuts:
    """Copies of a function with operators cut, of which each is made once."""

    func: FuncOp
    made: dict[frozenset[int], InRows] = field(default_factory=dict[frozenset[int], InRows])

    @cached_property
    def whole(self) -> Extracted:
        """Return the function itself, nothing of it cut."""
        return extract(self.func)

    def of(self, positions: Collection[int]) -> InRows:
        """Return the copy with these operators cut, of those that have rows."""
        copy = self.of_until(positions, None)
        assert copy is not None
        return copy

    def of_until(self, positions: Collection[int], deadline: float | None) -> InRows | None:
        """Return the copy as `of`, None if it is not there by `deadline`."""
        wanted = frozenset(positions)
        if wanted not in self.made:
            try:
                self.made[wanted] = in_rows(self.func, wanted, deadline)
            except clock.TimeIsOverError:
                return None
        return self.made[wanted]


@dataclass(frozen=True)
class CutCopy:
    """A copy of a function with the operators `cut` in rows; `number` says of operations and
    kernels of rows which of `computing` they are of."""

    grouped: Grouped
    cut: frozenset[int]
    number: Mapping[Operation, int]

    def in_rows(self) -> InRows:
        """Return the copy, which nothing has changed since, with the operator of each step."""
        extracted, operator, others = self.grouped.extracted(), list[int](), 0
        for op in extracted.memory.operations:
            is_row = isinstance(op, RowOp)
            known = self.number.get(cast("RowKernelOp", op.operator.owner) if is_row else op)
            others += known is None
            operator.append(-others if known is None else known)
        return InRows(extracted, self.cut, tuple(operator))


def in_rows(func: FuncOp, positions: Collection[int], deadline: float | None = None) -> InRows:
    """Return a copy of `func` with these of its operators cut, of those that have rows. Raises
    TimeIsOverError at `deadline`."""
    return cut_copy(func.clone(), positions, deadline).in_rows()


def cut_copy(copy: FuncOp, positions: Collection[int], deadline: float | None) -> CutCopy:
    """Return a copy of a function with these of its operators cut; see `in_rows`."""
    running = computing(copy)
    old = {op for op in body_of(copy).ops if isinstance(op, RowKernelOp)}
    several = [1 if steps_of(op) is not None else len(op.results) for op in running]
    done = cut(copy, positions, deadline)
    cuts = [op for op in body_of(copy).ops if isinstance(op, RowKernelOp) and op not in old]
    cuts = [op for op in cuts if not any(makes_virtual(use.operation) for use in op.operator.uses)]
    number: dict[Operation, int] = {op: k for k, op in enumerate(running)}
    number |= zip(cuts, (k for k in done for _ in range(several[k])), strict=True)
    return CutCopy(grouped(copy, False, deadline), frozenset(done), number)


@dataclass(frozen=True)
class _Handed:
    """A copy of a function with all operators in rows, its order, and the function's text."""

    func: "ReferenceType[FuncOp]"
    text: str
    copy: CutCopy
    schedule: Schedule


_handed: list[_Handed] = []  # the last one, until it is taken


def hand_over(func: FuncOp, copy: CutCopy, schedule: Schedule) -> None:
    """Keep a copy of the function with all operators in rows, and its order, for who cuts the
    function as it stands next."""
    _handed[:] = [_Handed(ref(func), text_of(func), copy, schedule)]


def handed_over(func: FuncOp) -> tuple[InRows, Schedule] | None:
    """Return what was handed over of a function, once; None where nothing was, or the function has
    changed since in more than what says how it was rewritten."""
    try:
        known = _handed.pop()
    except IndexError:  # a look before would not help: another thread may be in between
        return None
    if known.func() is not func or known.text != text_of(func):
        return None
    if REWRITES in func.attributes:
        known.copy.grouped.func.attributes[REWRITES] = func.attributes[REWRITES]
    return known.copy.in_rows(), known.schedule


def drop_handed() -> None:
    """Forget what was handed over and nobody took."""
    _handed.clear()


def text_of(func: FuncOp) -> str:
    """Return the text of a function without what says how it was rewritten."""
    held = func.attributes
    func.attributes = {name: value for name, value in held.items() if name != REWRITES}
    try:
        return str(func)
    finally:
        func.attributes = held


def _tensors(func: FuncOp) -> list[Sequence[SSAValue]]:
    """The rows of each tensor; of a sum over rows the finished one alone."""
    taken: list[Sequence[SSAValue]] = []
    rows_by_result: dict[tuple[SSAValue, int], list[SSAValue]] = {}
    for op in body_of(func).ops:
        if isinstance(op, SplitRowsOp):
            taken.append(op.parts)
        elif isinstance(op, RowOp):
            for k, value in enumerate(op.outputs):
                rows = rows_by_result.setdefault((op.operator, k), [])
                if required_operator(op.operation).accumulates:
                    rows.clear()
                rows.append(value)
    return [*taken, *rows_by_result.values()]
