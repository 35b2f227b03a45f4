"""Rows of an operator from the whole operator: of tensors that have the given rows, and poison
elsewhere. So a row that needs more than it is given is not what the whole operator computes."""

from collections.abc import Sequence
from typing import cast

from xdsl.ir import SSAValue

from memopt.analysis.constants import constants_of
from memopt.analysis.weights import Weights
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, dtype_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.tensors import elements_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.rows.operations import RowOp
from memopt.dialects.rows.steps import activations, steps_of

POISON = 0x42  # in every byte of a row that is not given: 66, as float32 48.6, so a cast holds it


def evaluate_row(row: RowOp, weights: Weights, given: Sequence[Array]) -> list[Array]:
    """The results of one row, from the arrays of its operands.

    Integers are those of the whole operator, bit for bit; sums of reals are kept in float64 until
    the last, as the whole operator does. Raises MemoptError as `ComputeOp.evaluate`.
    """
    operator, r = row.whole, row.index.data
    waiting = list(given)
    operands: list[Array] = []
    outside, constants = dict(activations(operator)), constants_of(weights, GENERIC)
    for k, value in enumerate(operator.operands):
        if k not in outside:
            operands.append(cast("Array", constants(value)))
            continue
        needed = operator.rows_needed(k, r)
        if needed is None or operator.rows_mode in ("part", "carried"):
            operands.append(waiting.pop(0))
        else:
            rows = [waiting.pop(0) for _ in needed]
            operands.append(_poisoned(value, needed, rows))
    if operator.rows_mode == "part":
        return _summed(operator, r, operands, waiting)
    if operator.rows_mode == "carried":
        return [operator.carried(operands, waiting[0] if waiting else None)]
    return [result[:, r : r + 1] for result in operator.evaluate(operands)]


def _poisoned(value: SSAValue, needed: range, rows: Sequence[Array]) -> Array:
    """A tensor of the operator with the rows that are needed, and no other."""
    kind = np.dtype(dtype_of(value))
    count = elements_of(value) * kind.itemsize
    tensor = np.full(count, POISON, np.uint8).view(kind).reshape(shape_of(value))
    if kind == np.int32:  # sums are added up: they stay within
        tensor >>= 16
    for n, row in zip(needed, rows, strict=True):
        tensor[:, n : n + 1] = row
    return tensor


def _summed(
    whole: ComputeOp, r: int, operands: Sequence[Array], before: Sequence[Array]
) -> list[Array]:
    """The sum with row `r`, or the result if it is the last."""
    total = whole.part(operands, r, before[0] if before else None)
    steps = steps_of(whole)
    return whole.finished(operands, total) if steps and r == steps[-1] else [total]
