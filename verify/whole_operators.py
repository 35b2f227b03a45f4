"""The operators of a block whole, where the block has some of them cut into rows.

    %f = memgraph.row_kernel (%a: !t) { %r = memgraph.relu %a ... }
    %y0 = memgraph.row %f[0] (%x0)                   // x0, x1: the rows of %x
    %y1 = memgraph.row %f[1] (%x1)

has one operator, the `memgraph.relu` in %f, and its operand %a is the tensor %x. What the rows of
an operand are rows of comes from `check_rows`, which has held every row to it.
"""

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import place_of
from memopt.dialects.rows.operations import JoinOp, ReceiveOp, RowKernelOp, RowOp, SplitRowsOp
from memopt.dialects.rows.state import RecallOp, RetainOp, SlideOp, StateOp
from memopt.verify.rows import Walk, check_rows

CUTS = (SplitRowsOp, ReceiveOp, JoinOp, RowOp, StateOp, RecallOp, RetainOp, SlideOp)
"""Operations that only take rows of tensors, or make tensors of rows."""


@dataclass(frozen=True)
class WholeOperator:
    """An operation, and the tensor that each of its operands is: an argument of the function, or a
    result of another whole operator."""

    operation: Operation
    tensors: tuple[tuple[SSAValue, SSAValue], ...]


def whole_operators(block: Block) -> list[WholeOperator]:
    """Return every operator of a block once, after those that make what it reads: operators in
    rows whole, in place of their rows. Raises MemoptError for rows that are not what they read."""
    walk = check_rows(block)
    operators: dict[Operation, WholeOperator] = {}
    for op in block.ops:
        if isinstance(op, RowKernelOp):
            operator = op.operation
            pairs = [
                (value, _tensor(read, walk))
                for k, value in enumerate(operator.operands)
                if isinstance(value, BlockArgument)
                and (read := walk.reads.get((op.operator, k))) is not None
            ]
            operators[operator] = WholeOperator(operator, tuple(pairs))
        elif not isinstance(op, CUTS):
            pairs = [(value, _tensor(value, walk)) for value in op.operands]
            operators[op] = WholeOperator(op, tuple(pairs))
    if not walk.done:
        return list(operators.values())
    makers = {
        op: [
            t.owner for _, t in operator.tensors if isinstance(t, OpResult) and t.owner in operators
        ]
        for op, operator in operators.items()
    }
    try:
        return [operators[op] for op in TopologicalSorter(makers).static_order()]
    except CycleError as error:
        text = "reads rows of what reads rows of it"
        raise MemoptError(text, place_of(error.args[1][0])) from None


def _tensor(value: SSAValue, walk: Walk) -> SSAValue:
    """Return the tensor that a value holds, or holds a row of."""
    while True:
        if isinstance(value.owner, JoinOp):
            value = value.owner.parts[0]
        elif value in walk.source:
            value = walk.source[value][0]
        elif isinstance(value, OpResult) and isinstance(value.op, RowOp):  # a finished sum
            return value.op.operation.results[value.index]
        else:
            return value
