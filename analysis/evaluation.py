"""Evaluation of a function in numpy: every operation in the order in which it stands.

values = evaluate(func, weights, [image])      # the array of every tensor
values[func.get_return_op().operands[0]]

What a function keeps from run to run is given and taken: evaluate(func, weights, [image], state).
"""

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from memopt.analysis.persistent import initial_of
from memopt.analysis.row_evaluation import evaluate_row
from memopt.analysis.weights import Weights
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, dtype_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.interface import is_constant_like
from memopt.dialects.memgraph.names import operator_name, place_of
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.memgraph.variables import AssignVariableOp, VariableOp
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.stateful import StatefulOp
from memopt.dialects.rows.operations import JoinOp, ReceiveOp, RowKernelOp, RowOp, SplitRowsOp
from memopt.dialects.rows.state import RecallOp, RetainOp, SlideOp, StateOp
from memopt.dialects.rows.steps import row_type

State = dict[SSAValue, dict[int, Array]]
"""What the states of a function hold between runs, each its rows by number; a variable is row 0."""


def evaluate(
    func: FuncOp, weights: Weights, inputs: Sequence[Array], state: State | None = None
) -> dict[SSAValue, Array]:
    """The array of every tensor of `func` for these inputs, in stored types.

    `state` is what the run before left, and is changed to what this one leaves; before the first
    run it is empty, which stands for zeros, or what variables begin with. Raises MemoptError for an
    operation that cannot be evaluated (`ComputeOp.evaluate`).
    """
    block = body_of(func)
    values: dict[SSAValue, Array] = dict(zip(block.args, inputs, strict=True))
    state = {} if state is None else state
    for op in block.ops:
        if is_constant_like(op):
            values[op.results[0]] = weights.array(op)
        elif isinstance(op, RowOp):
            results = evaluate_row(op, weights, [values[v] for v in op.inputs])
            values.update(zip(op.outputs, results, strict=True))
        elif isinstance(op, VariableOp):
            values[op.result] = state.setdefault(op.result, {0: initial_of(op, weights)})[0]
        elif isinstance(op, AssignVariableOp):
            state[op.state] = {0: values[op.input]}
            values[op.state] = values[op.input]
        elif isinstance(op, StatefulOp):
            results, updates = op.run([values[v] for v in op.operands])
            values.update(zip(op.results, results, strict=True))
            for variable, array in updates:
                state[variable] = {0: array}
                values[variable] = array
        elif isinstance(op, ComputeOp):
            results = op.evaluate([values[v] for v in op.operands])
            values.update(zip(op.results, results, strict=True))
        elif not _moves_rows(op, values, state) and not op.has_trait(IsTerminator):
            why = f": {op.reason}" if isinstance(op, OpaqueOp) and op.reason else ""
            raise MemoptError(f"{operator_name(op)} cannot be evaluated{why}", place_of(op))
    return values


def _moves_rows(op: Operation, values: dict[SSAValue, Array], state: State) -> bool:
    """Take rows from a tensor, put them together, or move them to and from a state; return whether
    the operation is of rows."""
    match op:
        case SplitRowsOp():
            values |= {v: values[op.input][:, r : r + 1] for r, v in enumerate(op.parts)}
        case ReceiveOp():
            r = op.index.data
            values[op.result] = values[op.input][:, r : r + 1]
        case StateOp():
            state.setdefault(op.result, dict.fromkeys(op.kept, _nothing(op)))
        case RecallOp():
            values[op.result] = state[op.state][op.index.data]
        case SlideOp():
            held = state[op.state]
            state[op.state] = {r: held.get(r + op.kept.later, held[r]) for r in held}
        case RetainOp():
            state[op.state][op.index.data] = values[op.value]
        case JoinOp():
            values[op.result] = np.concatenate([values[v] for v in op.parts], axis=1)
        case _:
            return isinstance(op, RowKernelOp)
    return True


def _nothing(op: StateOp) -> Array:
    """A row of zeros."""
    (row,) = Block(arg_types=[row_type(op.tensor.type)]).args
    return np.zeros(shape_of(row), dtype_of(row))
