"""State: rows of a tensor that stay from one run to the next, where the input is a sliding window.

    %s = memgraph.state %f rows [0, 1] shift 1 : !memgraph.operator   // rows 0, 1 of what f makes
    %y0 = memgraph.recall %s[0] : !t                // row 0, which was row 1 of the run before
    %y1 = memgraph.recall %s[1] : !t
    %y2 = memgraph.row %f[2] (...) : ... -> !r      // the only row that is new
    %z0 = memgraph.row %g[0] (%y0, %y1, %y2) : ...
    memgraph.slide %s                               // nobody reads the rows now: 0 is what 1 was
    memgraph.retain %y2, %s[1] : !t                 // and 1 is 2

Row r of a run is row r + `shift` of the run before: what a state holds when a run begins are rows
of that run. Until its `memgraph.slide` they are read; then each takes the bytes of row r + `shift`,
if the state holds that, and what comes new is retained. So a state is as large as the rows that it
lists, and is no part of the arena: whoever calls the network keeps it (`net_state` in C).

A row that is recalled lies in the state, where whoever reads it finds it. A `memgraph.join`, whose
rows lie one behind the other, gets a copy.
"""

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import AnyAttr, IRDLOperation, operand_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.operators import StateType, parse_int_list
from memopt.dialects.attributes.quick import numbers
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.interface import MemoryInterface, OperatorMemory
from memopt.dialects.memgraph.structure import NamesRows
from memopt.dialects.memgraph.tensors import AnyTensor, bytes_of, rows_of
from memopt.dialects.operators.base import INTS, ComputeOp
from memopt.dialects.operators.stateful import StatefulOp
from memopt.dialects.rows.operations import JoinOp, ReceiveOp, RowKernelOp, RowOp, SplitRowsOp
from memopt.dialects.rows.questions import UNKEPT
from memopt.dialects.rows.row_syntax import parse_index, parse_tail, print_tail
from memopt.dialects.rows.steps import row_type

User = TypeVar("User", bound=Operation)


@operation_definition
class StateOp(IRDLOperation, MemoryInterface, NamesRows):
    """Rows of an argument, or of what an operator makes, that stay from one run to the next.

    `shift`: row r is row r + `shift` of the run before. `number`: which result of the operator.
    """

    name = "memgraph.state"
    of = operand_def(AnyAttr())
    rows = prop_def(INTS)
    shift = prop_def(IntAttr)
    number = prop_def(IntAttr)
    result = result_def(StateType)

    def __init__(self, of: SSAValue, rows: Sequence[int], shift: int, number: int = 0):
        super().__init__(
            operands=[of],
            result_types=[StateType()],
            properties={"rows": numbers(rows), "shift": IntAttr(shift), "number": IntAttr(number)},
        )

    @property
    def kept(self) -> tuple[int, ...]:
        """The rows, ascending."""
        return tuple(int(r) for r in self.rows.get_values())

    @property
    def later(self) -> int:
        """The rows by which a run is behind the one before it."""
        return self.shift.data

    @property
    def tensor(self) -> SSAValue:
        """The tensor, as the operator makes it. Raises VerifyException if there is none."""
        owner = self.of.owner
        if isinstance(owner, Block):
            return self.of
        operator = owner.operation if isinstance(owner, RowKernelOp) else None
        if not isinstance(operator, ComputeOp) or operator.rows_mode in UNKEPT:
            raise VerifyException(f"{self.name}: rows are those of an argument or of an operator")
        if self.number.data >= len(operator.results):
            raise VerifyException(f"{self.name}: the operator has no result {self.number.data}")
        return operator.results[self.number.data]

    @property
    def row_bytes(self) -> int:
        return bytes_of(row_type(self.tensor.type)) or 0

    @property
    def bytes(self) -> int:
        """Return the bytes that it takes up."""
        return self.row_bytes * len(self.kept)

    def of_kind(self, kind: type[User]) -> list[User]:
        """The operations of this kind that use it."""
        return [use.operation for use in self.result.uses if isinstance(use.operation, kind)]

    @property
    def readers(self) -> tuple[Operation, ...]:
        """Whoever reads bytes of it."""
        readers: dict[Operation, None] = {}
        for op in self.of_kind(RecallOp):
            uses = [use.operation for use in op.result.uses]
            readers |= dict.fromkeys([op] if op.copies else uses)
        return tuple(readers)

    def memory(self, model: ModelAttr) -> OperatorMemory:
        return OperatorMemory((None,), executes=False)

    def verify_(self) -> None:
        numbers, rows = self.kept, rows_of(self.tensor)
        if not rows:
            raise VerifyException(f"{self.name}: the tensor has no rows")
        if not numbers or list(numbers) != sorted(set(numbers)) or numbers[0] < 0:
            raise VerifyException(f"{self.name}: rows are listed ascending, each once")
        if self.later < 1 or numbers[-1] + self.later >= rows:
            text = f"row {numbers[-1]} would be row {numbers[-1] + self.later} of the run before"
            raise VerifyException(f"{self.name}: of {rows} rows {text}")

    @classmethod
    def parse(cls, parser: Parser) -> "StateOp":
        value = parser.parse_unresolved_operand()
        number = parser.parse_integer() if parser.parse_optional_keyword("result") else 0
        parser.parse_keyword("rows")
        rows = parse_int_list(parser)
        parser.parse_keyword("shift")
        shift = parser.parse_integer(allow_boolean=False)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(value, parser.parse_type()), rows, shift, number)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.of)
        if self.number.data:
            printer.print_string(f" result {self.number.data}")
        printer.print_string(f" rows {list(self.kept)} shift {self.later}")
        print_tail(printer, self, self.of.type)


class OfState(IRDLOperation):
    """Base of what reads or writes a state."""

    state = operand_def(StateType)

    @property
    def kept(self) -> StateOp:
        """The state. Raises VerifyException if its operand is none."""
        owner = self.state.owner
        if not isinstance(owner, StateOp):
            raise VerifyException(f"{self.name}: the state must be a memgraph.state")
        return owner

    def check_row(self, r: int, type_: Attribute) -> None:
        if r not in self.kept.kept:
            raise VerifyException(f"{self.name}: the state has no row {r}")
        if type_ != row_type(self.kept.tensor.type):
            raise VerifyException(f"{self.name}: the value is no row of the state's tensor")


@operation_definition
class RecallOp(OfState, MemoryInterface):
    """A row that a state holds when a run begins."""

    name = "memgraph.recall"
    state = operand_def(StateType)
    index = prop_def(IntAttr)
    result = result_def(AnyTensor)

    def __init__(self, state: SSAValue, index: int, whole: Attribute):
        super().__init__(
            operands=[state], result_types=[row_type(whole)], properties={"index": IntAttr(index)}
        )

    @property
    def copies(self) -> bool:
        """Return whether the row is copied into the arena, where the other rows of a joined tensor
        are."""
        return any(isinstance(use.operation, JoinOp) for use in self.result.uses)

    def memory(self, model: ModelAttr) -> OperatorMemory:
        return OperatorMemory((bytes_of(self.result.type),), executes=self.copies)

    def verify_(self) -> None:
        self.check_row(self.index.data, self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> "RecallOp":
        state = parser.resolve_operand(parser.parse_unresolved_operand(), StateType())
        index = parse_index(parser)
        attributes, type_ = parse_tail(parser)
        op = cls(state, index, type_)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.state)
        printer.print_string(f"[{self.index.data}]")
        print_tail(printer, self, self.kept.tensor.type)


@operation_definition
class SlideOp(OfState, MemoryInterface):
    """The run has read what a state holds: each row takes the bytes of row r + `shift`, if the
    state has that."""

    name = "memgraph.slide"
    state = operand_def(StateType)
    assembly_format = "$state attr-dict"

    def __init__(self, state: SSAValue):
        super().__init__(operands=[state])

    def memory(self, model: ModelAttr) -> OperatorMemory:
        return OperatorMemory((), effects=(self.state,), after=self.kept.readers)

    def verify_(self) -> None:
        if len(self.kept.of_kind(SlideOp)) > 1:
            raise VerifyException(f"{self.name}: the state slides twice")


@operation_definition
class RetainOp(OfState, MemoryInterface):
    """A row of this run that a state holds when the next one begins, as row `index`."""

    name = "memgraph.retain"
    value = operand_def(AnyTensor)
    state = operand_def(StateType)
    index = prop_def(IntAttr)

    def __init__(self, value: SSAValue, state: SSAValue, index: int):
        super().__init__(operands=[value, state], properties={"index": IntAttr(index)})

    def memory(self, model: ModelAttr) -> OperatorMemory:
        return OperatorMemory((), effects=(self.state,))

    def verify_(self) -> None:
        self.check_row(self.index.data, self.value.type)
        if (index := self.index.data) + self.kept.later in self.kept.kept:
            raise VerifyException(f"{self.name}: row {index} comes of the state itself")

    @classmethod
    def parse(cls, parser: Parser) -> "RetainOp":
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        state = parser.resolve_operand(parser.parse_unresolved_operand(), StateType())
        index = parse_index(parser)
        attributes, type_ = parse_tail(parser)
        op = cls(parser.resolve_operand(value, row_type(type_)), state, index)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        printer.print_ssa_value(self.state)
        printer.print_string(f"[{self.index.data}]")
        print_tail(printer, self, self.kept.tensor.type)


def row_of(value: SSAValue) -> tuple[SSAValue, int] | None:
    """Return the tensor that a value is a row of, as an argument or the whole operator has it, and
    which row; of a sum over rows which step. None of any other value."""
    op = value.owner
    if isinstance(op, RowOp):
        return op.operation.results[op.results.index(value)], op.index.data
    if isinstance(op, SplitRowsOp):
        return op.input, op.results.index(value)
    if isinstance(op, RecallOp):
        return op.kept.tensor, op.index.data
    return (op.input, op.index.data) if isinstance(op, ReceiveOp) else None


def lies_in_state(value: SSAValue) -> bool:
    """Return whether the bytes of a value are those of a state or of a variable."""
    op = value.owner
    if isinstance(op, StatefulOp):
        return op.lies_in is not None
    return isinstance(op, RecallOp) and not op.copies


KEPT: tuple[type[Operation], ...] = (RecallOp, StatefulOp)
"""Operations whose results may lie in what stays from run to run."""


MOVING: tuple[type[Operation], ...] = (RecallOp, RetainOp, SlideOp)
"""Those that run, if they do, by moving rows."""

STATE: tuple[type[Operation], ...] = (RecallOp, RetainOp, SlideOp, StateOp)
