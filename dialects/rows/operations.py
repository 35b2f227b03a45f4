"""Rows: an operator cut into the rows of its result, each a step of the schedule.

    %conv3 = memgraph.row_kernel (%x: !t) {           // the whole operator, once
      %w = memgraph.constant #memgraph.weights<"5f0c...", "7"> : !w
      %y = memgraph.conv_2d %x, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 1 : (!t, !w) -> !u
      memgraph.yield %y : !u
    }
    %x0, %x1, %x2 = memgraph.split_rows %x : !t       // a piece per row, which dies alone
    %y0 = memgraph.row %conv3[0] (%x0, %x1) : (!r, !r) -> !s
    %y1 = memgraph.row %conv3[1] (%x0, %x1, %x2) : (!r, !r, !r) -> !s
    %y2 = memgraph.row %conv3[2] (%x1, %x2) : (!r, !r) -> !s
    %y = memgraph.join %y0, %y1, %y2 : !u             // rows of one tensor, for who needs it whole

`memgraph.row %f[r]` is row r of `f` of tensors that have the given rows, and anything elsewhere.
Its operands are, operand by operand of `f`, the rows that `rows_needed(r)` says, ascending; a
tensor that is needed as a whole is one operand. Rows of one operator run in ascending order, each
once. An operator that sums over rows (a mean over height) has a row per row of its operand 0: each
takes what the one before it made, the last makes the result.

    %p2 = memgraph.row %part[2] (%a2) : (!r) -> !i    // a row of each operand of a sum in one
    %q2 = memgraph.row %other[2] (%b2) : (!r) -> !i   // buffer: whoever runs later adds to it
    %y2 = memgraph.row %sum[2] (%p2, %q2) : (!i, !i) -> !s

    %x0 = memgraph.receive %x[0] : !t                 // a row that the caller hands over meanwhile

takes the place of `memgraph.split_rows` where an argument is streamed: rows of it arrive in
ascending order, each a step, and no more of it than them is ever in memory.

The operator is a value and no symbol: whoever has a row finds it without a table.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import IntAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, Pure
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.model import GENERIC, ModelAttr
from memopt.dialects.attributes.operators import OperatorType
from memopt.dialects.attributes.plan import Family
from memopt.dialects.foreign.foreign_operator import (
    ForeignOperator,
    Operator,
    is_view,
    required_operator,
    ties,
)
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import has_kind
from memopt.dialects.memgraph.interface import (
    SUCCEED,
    Alias,
    MemoryInterface,
    OperatorMemory,
    is_constant_like,
)
from memopt.dialects.memgraph.names import full_name, place_of
from memopt.dialects.memgraph.plan import alias_lists
from memopt.dialects.memgraph.structure import NamesRows, Yielding, YieldOp
from memopt.dialects.memgraph.tensors import MOST_ROWS, AnyTensor, bytes_of, rows_of, shape_of
from memopt.dialects.operators.accumulation import AccumulateOp
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import Pointwise
from memopt.dialects.rows.row_syntax import parse_index, parse_tail, print_tail
from memopt.dialects.rows.steps import activations, row_type, row_types, rows_in_place, steps_of

_index = lru_cache(MOST_ROWS)(IntAttr)  # xDSL checks every one that is made


def family_of(operations: Iterable[Operation]) -> Family:
    """Return the family of schedules over which the bounds of a plan of these operations range."""
    return "rows" if has_kind(operations, RowOp) else "order"


@operation_definition
class RowKernelOp(IRDLOperation, MemoryInterface, Yielding):
    """An operator, whole, whose rows are computed one by one, with what of its operands is known
    before run time. Isolated from above."""

    name = "memgraph.row_kernel"
    operator = result_def(OperatorType)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), Pure())

    def __init__(self, body: Region):
        super().__init__(result_types=[OperatorType()], regions=[body])

    @property
    def operation(self) -> Operation:
        """The operation, of ours or of another dialect."""
        last = self.regions[0].block.last_op
        return cast("Operation", last.operands[0].owner if last else None)

    @property
    def computed(self) -> ComputeOp:
        """The operation, of ours. Raises MemoptError for one of another dialect, whose rows are
        planned and not computed here."""
        if isinstance(op := self.operation, ComputeOp):
            return op
        text = f"rows of {full_name(op)}, an operation of another dialect, are planned only"
        raise MemoptError(text, place_of(op))

    def memory(self, model: ModelAttr) -> OperatorMemory:
        return OperatorMemory((None,), executes=False)

    def verify_(self) -> None:
        block, last = self.body.block, self.body.block.last_op
        inner = [op for op in block.ops if not (is_constant_like(op) or isinstance(op, YieldOp))]
        operator = inner.pop() if inner else None
        known = not any(isinstance(v, BlockArgument) for op in inner for v in op.operands)
        if operator is None or not isinstance(last, YieldOp) or not known:
            raise VerifyException(f"{self.name}: one operation, its constants and memgraph.yield")
        if list(last.operands if last else ()) != list(operator.results):
            raise VerifyException(
                f"{self.name}: all results of the operation are yielded, in order"
            )
        if steps_of(operator) is None:
            raise VerifyException(f"{self.name}: {full_name(operator)} has no rows")
        if [v for _, v in activations(operator)] != list(block.args):
            raise VerifyException(f"{self.name}: the operation takes the arguments in order")

    @classmethod
    def parse(cls, parser: Parser) -> "RowKernelOp":
        arguments = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=True)
        )
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region(arguments)
        op = cls(body)
        op.attributes |= attributes.data if attributes else {}
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" (")
        printer.enter_scope()
        printer.print_list(self.body.block.args, printer.print_block_argument)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.exit_scope()


@operation_definition
class SplitRowsOp(IRDLOperation, MemoryInterface):
    """The rows of a tensor: parts of it that die alone, if nothing else reads it."""

    name = "memgraph.split_rows"
    input = operand_def(AnyTensor)
    parts = var_result_def(AnyTensor)
    traits = traits_def(Pure())

    def __init__(self, value: SSAValue):
        count = rows_of(value) or 0
        super().__init__(operands=[value], result_types=[[row_type(value.type)] * count])

    def memory(self, model: ModelAttr) -> OperatorMemory:
        sizes = tuple(bytes_of(r.type) for r in self.parts)
        kind = "part" if _is_read_in_rows_only(self.input, model) else "slice"
        parts = tuple(Alias(r, 0, kind, r * (n or 0)) for r, n in enumerate(sizes))
        return OperatorMemory(sizes, parts, executes=False)

    def verify_(self) -> None:
        if rows_of(self.input) != len(self.parts):
            raise VerifyException(f"{self.name}: one result per row of the operand")
        if any(r.type != row_type(self.input.type) for r in self.parts):
            raise VerifyException(f"{self.name}: results are rows of the operand")

    @classmethod
    def parse(cls, parser: Parser) -> "SplitRowsOp":
        value = parser.parse_unresolved_operand()
        attributes, type_ = parse_tail(parser)
        op = cls(parser.resolve_operand(value, type_))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        print_tail(printer, self, self.input.type)


@operation_definition
class JoinOp(IRDLOperation, MemoryInterface):
    """A tensor from its rows, which lie one behind the other in one buffer."""

    name = "memgraph.join"
    parts = var_operand_def(AnyTensor)
    result = result_def(AnyTensor)
    traits = traits_def(Pure())

    def __init__(self, parts: Sequence[SSAValue], type_: Attribute):
        super().__init__(operands=[list(parts)], result_types=[type_])

    def memory(self, model: ModelAttr) -> OperatorMemory:
        size = bytes_of(self.parts[0].type) or 0
        makers = [v.owner for v in self.parts]
        alone = all(isinstance(op, RowOp) and not op.shows_sums for op in makers)
        kind = "join" if alone and not _is_tied(self.result) else "slice"
        parts = tuple(Alias(0, r, kind, -r * size) for r in range(len(self.parts)))
        return OperatorMemory((bytes_of(self.result.type),), parts, executes=False)

    def verify_(self) -> None:
        if rows_of(self.result) != len(self.parts) or not self.parts:
            raise VerifyException(f"{self.name}: one operand per row of the result")
        if any(v.type != row_type(self.result.type) for v in self.parts):
            raise VerifyException(f"{self.name}: operands are rows of the result")

    @classmethod
    def parse(cls, parser: Parser) -> "JoinOp":
        parts = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        attributes, type_ = parse_tail(parser)
        row = row_type(type_)
        op = cls([parser.resolve_operand(v, row) for v in parts], type_)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.parts, printer.print_ssa_value)
        print_tail(printer, self, self.result.type)


@operation_definition
class RowOp(IRDLOperation, MemoryInterface):
    """One row of an operator, or one part of a sum over rows."""

    name = "memgraph.row"
    operator = operand_def(OperatorType)
    inputs = var_operand_def(AnyTensor)
    index = prop_def(IntAttr)
    outputs = var_result_def(AnyTensor)
    traits = traits_def(Pure())

    def __init__(
        self,
        operator: SSAValue,
        index: int,
        inputs: Sequence[SSAValue],
        result_types: Sequence[Attribute],
    ):
        properties = {"index": _index(index)}  # nothing for IRDL to sort, which takes long
        operands = [operator, *inputs]
        Operation.__init__(
            self, operands=operands, result_types=result_types, properties=properties
        )

    @property
    def operation(self) -> Operation:
        """The operator that this is a row of. Raises VerifyException if its operand is none."""
        return self._kernel().operation

    @property
    def whole(self) -> ComputeOp:
        """Return the operator of which it is a row, one of ours. Raises MemoptError for one of
        another dialect."""
        return self._kernel().computed

    def _kernel(self) -> RowKernelOp:
        owner = self.operands[0].owner
        if not isinstance(owner, RowKernelOp):
            raise VerifyException(f"{self.name}: the operator must be a memgraph.row_kernel")
        return owner

    def verify_(self) -> None:
        operator, r = self.operation, self.index.data
        name = full_name(operator)
        expected = row_types(operator, r)
        if expected is None:
            raise VerifyException(f"{self.name}: {name} has no row {r}")
        types, outputs = expected
        if [v.type for v in self.operands[1:]] != types:
            text = f"{self.name}: row {r} of {name} takes {len(types)} operands"
            raise VerifyException(f"{text}: {', '.join(map(str, types))}")
        if [v.type for v in self.results] != outputs:
            raise VerifyException(f"{self.name}: results are not those of row {r} of {name}")

    def memory(self, model: ModelAttr) -> OperatorMemory:
        if isinstance(op := self.operation, AccumulateOp):
            for v in self.inputs:
                owner = v.owner
                op.check_partial(self, v, owner.operation if isinstance(owner, RowOp) else owner)
            effect = op.added_up(self.outputs[0], range(1, len(self.operands)), model)
            return replace(effect, effects=(self.operands[0],))
        results = tuple([bytes_of(r.type) for r in self.results])
        operator = required_operator(op)
        inplace, effects = self._inplace(operator, model), (self.operands[0],)
        if isinstance(operator, ComputeOp):
            return OperatorMemory(results, (), inplace, effects=effects)
        scratch = operator.memory(model).workspace
        return OperatorMemory(results, (), inplace, workspace=scratch, effects=effects)

    @property
    def is_alike(self) -> bool:
        """Return whether the effect on memory follows from the types alone, as that of all rows of
        the operator, whichever row it is."""
        operator = self.operation
        if not isinstance(operator, ComputeOp) or isinstance(operator, AccumulateOp):
            return False
        return operator.has_trait(Pointwise) or operator.rows_mode != "inplace"

    @property
    def shows_sums(self) -> bool:
        """Return whether it is no step, but the sums that its operands have added up in one
        buffer."""
        return isinstance(op := self.operation, AccumulateOp) and op.is_finished_by_last

    def _inplace(self, whole: Operator, model: ModelAttr) -> tuple[tuple[int, int], ...]:
        """A sum takes the place of the one before it; what is element-wise, as the model says, that
        of an operand's row."""
        last = len(self.operands) - 1
        if whole.accumulates:
            later = last > len(activations(self.operation))  # than the first step
            fits = later and self.operands[last].type == self.results[0].type
            return ((0, last),) if fits else ()
        foreign = isinstance(whole, ForeignOperator)
        if not model.has_inplace or not (foreign or whole.rows_mode == "inplace"):
            return ()
        if foreign or not whole.has_trait(Pointwise):
            return rows_in_place(self.operation, self.index.data, model)
        size = bytes_of(self.outputs[0].type) or 0
        return tuple(
            (0, at + 1)
            for at, v in enumerate(self.inputs)
            if shape_of(v) == shape_of(self.outputs[0]) and size <= (bytes_of(v.type) or 0)
        )

    @classmethod
    def parse(cls, parser: Parser) -> "RowOp":
        operator = parser.resolve_operand(parser.parse_unresolved_operand(), OperatorType())
        index = parse_index(parser)
        values: list[UnresolvedOperand] = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        types = parser.parse_function_type()
        if len(types.inputs) != len(values):
            parser.raise_error(f"{len(values)} operands, {len(types.inputs)} types", start)
        inputs = [parser.resolve_operand(v, t) for v, t in zip(values, types.inputs, strict=True)]
        op = cls(operator, index, inputs, list(types.outputs))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operator)
        printer.print_string(f"[{self.index.data}] ")
        with printer.in_parens():
            printer.print_list(self.inputs, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type([v.type for v in self.inputs], [r.type for r in self.outputs])


@operation_definition
class ReceiveOp(IRDLOperation, MemoryInterface, NamesRows):
    """One row of a function's argument, copied from the caller while the function runs. Nothing
    else reads such an argument, so it is never there as a whole."""

    name = "memgraph.receive"
    input = operand_def(AnyTensor)
    index = prop_def(IntAttr)
    result = result_def(AnyTensor)

    def __init__(self, value: SSAValue, index: int):
        super().__init__(
            operands=[value],
            result_types=[row_type(value.type)],
            properties={"index": IntAttr(index)},
        )

    def memory(self, model: ModelAttr) -> OperatorMemory:
        return OperatorMemory((bytes_of(self.result.type),), effects=(self.input,))

    def verify_(self) -> None:
        value: SSAValue = self.input
        owner = value.owner
        if not isinstance(owner, Block) or not isinstance(owner.parent_op(), FuncOp):
            raise VerifyException(f"{self.name}: the operand must be an argument of the function")
        rows = rows_of(value)
        if rows is None:
            raise VerifyException(f"{self.name}: the argument has no rows")
        if self.index.data >= rows:
            raise VerifyException(
                f"{self.name}: the argument has {rows} rows, no row {self.index.data}"
            )
        if self.result.type != row_type(value.type):
            raise VerifyException(f"{self.name}: the result must be a row of the argument")
        first = next(iter(value.uses)).operation  # which looks at all others, so that each is once
        readers = (use.operation for use in value.uses) if first is self else (first,)
        if not all(isinstance(op, NamesRows) for op in readers):
            raise VerifyException(f"{self.name}: the argument is read as a whole too")

    @classmethod
    def parse(cls, parser: Parser) -> "ReceiveOp":
        value = parser.parse_unresolved_operand()
        index = parse_index(parser)
        attributes, type_ = parse_tail(parser)
        op = cls(parser.resolve_operand(value, type_), index)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        printer.print_string(f"[{self.index.data}]")
        print_tail(printer, self, self.input.type)


def is_received(value: SSAValue) -> bool:
    """Return whether it is an argument of which the caller hands over the rows one by one."""
    first = next(iter(value.uses), None)
    return first is not None and isinstance(first.operation, NamesRows)


def received_rows(value: SSAValue) -> list[SSAValue] | None:
    """The rows of a tensor that is joined from what is received, None of any other."""
    owner = value.owner
    if not isinstance(owner, JoinOp):
        return None
    parts = list(owner.parts)
    return parts if all(isinstance(v.owner, ReceiveOp) for v in parts) else None


def _is_read_in_rows_only(value: SSAValue, model: ModelAttr) -> bool:
    """Return whether the only reader of a tensor, and of what it is a view of, takes its rows.

    Those of a joined tensor are there before it is, and what is added up in one buffer is there in
    one.
    """
    while value.has_one_use():
        op = value.owner
        if isinstance(op, JoinOp) or (isinstance(op, AccumulateOp) and op.is_finished_by_last):
            return False
        if isinstance(op, Block):
            return True
        if not is_view(op, model):
            return not (_has_aliases(op) or ties(op, model))
        value = op.operands[0]
    return False


def _has_aliases(op: Operation) -> bool:
    """Return whether results are where operands are, unless they are in place."""
    return any(a.kind.data not in SUCCEED for of in alias_lists(op) for a in of)


def _is_tied(value: SSAValue) -> bool:
    """Return whether bytes of a tensor may be those of a part of it, or of what it is a part of."""
    for op in (use.operation for use in value.uses):
        if isinstance(op, SplitRowsOp | JoinOp):
            return True
        shows = is_view(op, GENERIC)
        if _has_aliases(op) or (ties(op, GENERIC) and not shows):
            return True
        if shows and _is_tied(op.results[0]):
            return True
    return False


ROWS: tuple[type[Operation], ...] = (JoinOp, ReceiveOp, RowOp, RowKernelOp, SplitRowsOp)
