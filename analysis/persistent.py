"""State that stays from run to run, outside the arena: variables, and rows that a function keeps.

A run that keeps rows computes what is right if all that it recalls is. What is recalled was made in
an earlier run, or is of one that was before the first. `runs` counts how many a result goes back:
once as many have been, it follows from rows of the input alone, which the caller has handed over.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import IntegerType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from memopt.analysis.weights import Weights
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, dtype_of, element_of, is_stored
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, has_kind
from memopt.dialects.memgraph.tensors import (
    AnyTensor,
    bytes_of,
    element_bits,
    encoding_of,
    rows_of,
    shape_of,
)
from memopt.dialects.memgraph.variables import VariableOp
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.rows.operations import ReceiveOp, RowKernelOp, RowOp
from memopt.dialects.rows.state import RecallOp, RetainOp, StateOp
from memopt.dialects.rows.steps import steps_of


def variables_of(ops: Iterable[Operation]) -> list[VariableOp]:
    """Return the variables whose size is known, in the order of `ops`."""
    return [op for op in ops if isinstance(op, VariableOp) and bytes_of(op.result.type) is not None]


def variable_bytes(ops: Iterable[Operation]) -> int:
    """Bytes of all of them."""
    return sum(bytes_of(op.result.type) or 0 for op in variables_of(ops))


def initial_of(op: VariableOp, weights: Weights) -> Array:
    """Return the contents of a variable before the first run: its initial value, else zeros, of
    int8 the zero point (ResetVariableTensors of its runtime)."""
    if op.initial is not None:
        return weights.array(op)
    int8 = is_stored(op.result) and element_of(op.result) == IntegerType(8)
    fill = encoding_of(op.result).zero_points[0] if int8 else 0
    return np.full(shape_of(op.result), fill, dtype_of(op.result))


@dataclass(frozen=True)
class Sliding:
    """`height` rows of the input in a window, of which `rows` are new in each run, and the first
    run whose results are those of a whole window. `bytes` of the states, one behind the other at
    `places`, and their `alignment`. Multiplications of a window that is computed anew, and those
    of rows that are kept."""

    height: int
    rows: int
    runs: int
    bytes: int
    alignment: int
    places: dict[SSAValue, int]
    macs: int
    kept_macs: int


def sliding_of(func: FuncOp) -> Sliding | None:
    """None if the function keeps nothing from run to run."""
    block = body_of(func)
    if not has_kind(block.ops, StateOp):
        return None
    received = [op for op in block.ops if isinstance(op, ReceiveOp)]
    if not received:
        raise MemoptError("rows are kept, and none is received", f"@{func.sym_name.data}")
    height, rows = rows_of(received[0].input) or 0, len(received)
    runs = max(-(-height // rows), 1 + _runs_before(block))
    macs, saved_macs = _work(block)
    places, size = _places(block)
    widths = (element_width(op.tensor) for op in block.ops if isinstance(op, StateOp))
    return Sliding(height, rows, runs, size, max(widths), places, macs, saved_macs)


def kept_bytes(func: FuncOp) -> int:
    """Bytes that stay from run to run, in the state that the caller gives."""
    sliding = sliding_of(func)
    return 0 if sliding is None else sliding.bytes


def _runs_before(block: Block) -> int:
    """How many runs what is returned goes back."""
    depth: dict[SSAValue, int] = {}
    for _ in block.ops:  # each time at least one state is right, or nothing changes
        before = dict(depth)
        for op in block.ops:
            if isinstance(op, RecallOp):
                depth[op.result] = _recalled_from(op, depth)
            elif op.results:
                back = max((depth.get(v, 0) for v in op.operands), default=0)
                depth.update(dict.fromkeys(op.results, back))
        if depth == before:
            break
    last = block.last_op
    return max((depth.get(v, 0) for v in (last.operands if last else ())), default=0)


def _recalled_from(op: RecallOp, depth: dict[SSAValue, int]) -> int:
    """Rows move on within a state until they are one that was retained."""
    state, r = op.kept, op.index.data
    runs = 1
    while r + state.later in state.kept:
        r += state.later
        runs += 1
    values = [o.value for o in state.of_kind(RetainOp) if o.index.data == r]
    return runs + max((depth.get(v, 0) for v in values), default=0)


def _work(block: Block) -> tuple[int, int]:
    all_, saved_macs = 0, 0
    for op in block.ops:
        if isinstance(op, ComputeOp):
            all_ += op.macs()
        if not isinstance(op, RowKernelOp):
            continue
        operator = op.computed
        macs, steps = operator.macs(), len(steps_of(operator) or ())
        done = sum(isinstance(use.operation, RowOp) for use in op.operator.uses)
        all_ += macs
        saved_macs += macs * (steps - done) // max(steps, 1)
    return all_, saved_macs


def _places(block: Block) -> tuple[dict[SSAValue, int], int]:
    """Bytes from the start of what is kept to each state, and of all of it."""
    places: dict[SSAValue, int] = {}
    end = 0
    states = [op for op in block.ops if isinstance(op, StateOp)]
    for op in sorted(states, key=lambda op: -element_width(op.tensor)):  # so all are aligned
        places[op.result] = end
        end += op.bytes
    return places, end


def element_width(tensor: SSAValue) -> int:
    """Bytes of an element, to which rows of it are aligned."""
    return max(1, element_bits(cast("AnyTensor", tensor.type).element_type) // 8)
