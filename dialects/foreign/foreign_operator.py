"""Operations of other dialects, asked about their rows as ours are.

operator = operator_of(op)        # ours: itself; None of what has no rows that are known
operator.rows_needed(0, 3)        # range(2, 5)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.model import GENERIC, ModelAttr
from memopt.dialects.foreign import memory_described, rows_described
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.interface import OperatorMemory, OperatorRows
from memopt.dialects.memgraph.names import full_name, place_of
from memopt.dialects.memgraph.tensors import AnyTensor, rows_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import View
from memopt.dialects.rows.questions import RowsMode, rows_mode, rows_needed


@dataclass(frozen=True)
class ForeignOperator:
    """An operation of another dialect and its rows, with the questions that `ComputeOp` answers."""

    operation: Operation
    rows: OperatorRows

    @property
    def name(self) -> str:
        return full_name(self.operation)

    @property
    def operands(self) -> Sequence[SSAValue]:
        return self.operation.operands

    @property
    def results(self) -> Sequence[OpResult]:
        return self.operation.results

    @property
    def accumulates(self) -> bool:
        return self.rows.accumulator is not None

    @property
    def accumulator(self) -> AnyTensor:
        return cast("AnyTensor", self.rows.accumulator)

    def rows_read(self, operand: int, r: int) -> range | None:
        needed, rows = self.rows.read(operand, r), rows_of(self.operands[operand]) or 0
        if needed and not (needed[0] >= 0 and needed[-1] < rows and needed.step > 0):
            text = f"row {r} of {self.name} reads rows {needed[0]} to {needed[-1]} of operand"
            raise MemoptError(f"{text} {operand}, which has {rows}", place_of(self.operation))
        return needed

    def rows_needed(self, operand: int, r: int) -> range | None:
        return rows_needed(self, self.name, operand, r)

    @property
    def rows_mode(self) -> RowsMode | None:
        return rows_mode(self, self.name)

    def memory(self, model: ModelAttr) -> OperatorMemory:
        """Return the effect of the whole operation on memory."""
        describe = memory_described(self.operation)
        assert describe is not None  # who says which rows says that
        return describe(self.operation, model)


Operator = ComputeOp | ForeignOperator
"""What answers for an operation."""


def operator_of(op: Operation) -> Operator | None:
    """Return the object that answers for an operation; None of a foreign one that nobody says rows
    of, or that has effects, which would come row by row."""
    if isinstance(op, ComputeOp):
        return op
    describe = rows_described(op)
    if describe is None or not op.operands or not op.results:
        return None
    rows = describe(op)
    foreign = None if rows is None else ForeignOperator(op, rows)
    return None if foreign is None or foreign.memory(GENERIC).effects else foreign


def required_operator(op: Operation) -> Operator:
    """Return the object that answers for an operation that has rows. Raises VerifyException for one
    that has none."""
    operator = operator_of(op)
    if operator is None:
        raise VerifyException(f"{full_name(op)} has no rows")
    return operator


def is_view(op: Operation, model: ModelAttr) -> bool:
    """Return whether the only result of an operation is operand 0, with another shape."""
    if isinstance(op, ComputeOp):
        return op.has_trait(View) and model.has_views
    describe = memory_described(op)
    aliases = describe(op, model).aliases if describe is not None else ()
    return [(a.result, a.operand, a.kind) for a in aliases] == [(0, 0, "view")]


def ties(op: Operation, model: ModelAttr) -> bool:
    """Return whether a foreign operation puts results where operands are, unless they are in
    place."""
    describe = None if isinstance(op, ComputeOp) else memory_described(op)
    return describe is not None and any(a.kind != "inplace" for a in describe(op, model).aliases)
