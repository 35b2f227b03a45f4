"""Steps of an operator in rows: their types, and where they may lie."""

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.foreign.foreign_operator import operator_of, required_operator
from memopt.dialects.memgraph.tensors import AnyTensor, has_few_rows, rows_of


@lru_cache(1 << 10)
def row_type(whole: Attribute) -> AnyTensor:
    """The type of one row of an image's type."""
    tensor = cast("AnyTensor", whole)
    first, _, *rest = tensor.get_shape()
    return TensorType(tensor.element_type, [first, 1, *rest], tensor.encoding)


def steps_of(op: Operation) -> Sequence[int] | None:
    """The rows that are steps of an operator: rows of its results, or of operand 0 where it sums
    over them, those that it reads. None if it is computed as a whole only."""
    operator = operator_of(op)
    if operator is None or (mode := operator.rows_mode) is None:
        return None
    if not (has_few_rows(operator.operands[0]) and has_few_rows(operator.results[0])):
        return None
    if mode != "part":
        return range(rows_of(operator.results[0]) or 0)
    rows = range(rows_of(operator.operands[0]) or 0)
    return [r for r in rows if operator.rows_needed(0, r)] or None


def row_types(op: Operation, r: int) -> tuple[list[Attribute], list[Attribute]] | None:
    """The types of what row `r` of an operator takes, and of what it makes; None if it has no such
    row."""
    operator = operator_of(op)
    if operator is None or operator.rows_mode is None or not has_few_rows(operator.operands[0]):
        return None
    row_count = rows_of((operator.operands if operator.accumulates else operator.results)[0]) or 0

    def is_read(steps: range) -> bool:  # most often by the first: all of them are not looked at
        return any(operator.rows_needed(0, step) for step in steps)

    if not 0 <= r < row_count or not has_few_rows(operator.results[0]):
        return None
    if operator.accumulates and not is_read(range(r, r + 1)):
        return None
    taken: list[Attribute] = []
    for k, v in activations(op):
        rows = operator.rows_needed(k, r)
        taken += [v.type] if rows is None else [row_type(v.type)] * len(rows)
    if not operator.accumulates:
        if r and operator.rows_mode == "carried":
            taken.append(row_type(operator.results[0].type))
        return taken, [row_type(v.type) for v in operator.results]
    if is_read(range(r)):
        taken.append(operator.accumulator)
    is_last = not is_read(range(r + 1, row_count))
    return taken, [v.type for v in operator.results] if is_last else [operator.accumulator]


def activations(whole: Operation) -> list[tuple[int, SSAValue]]:
    """The operands of an operator inside a `memgraph.row_kernel` that come from outside, with their
    indices; the others are known before."""
    return [(k, v) for k, v in enumerate(whole.operands) if isinstance(v, BlockArgument)]


def rows_in_place(op: Operation, r: int, model: ModelAttr) -> tuple[tuple[int, int], ...]:
    """Row `r` of the results in the place of row `r` of the operands in whose place the whole
    results may lie, if it reads no other row of them: (result, operand of the `memgraph.row`)."""
    operator = required_operator(op)
    pairs = operator.memory(model).inplace
    pairs_of_row: list[tuple[int, int]] = []
    at = 1
    for k, _ in activations(op):
        rows = operator.rows_needed(k, r)
        if rows == range(r, r + 1):
            pairs_of_row += [(result, at) for result, operand in pairs if operand == k]
        at += 1 if rows is None else len(rows)
    return tuple(pairs_of_row)
