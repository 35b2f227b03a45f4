"""Stretches that are picked along each dimension."""

from collections.abc import Sequence

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    Table,
    bytes_per_element,
    refuse,
)
from memopt.backends.c.emit.registry import ANY, kernel
from memopt.backends.c.emit.rowwise import as_bytes
from memopt.backends.c.rows.row_calls import Lowered, RowCall, changed_rows
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import need_same_numbers
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.picked import PickingOp

WAYS, TERMS = 6, 10  # of memopt_picked_params


def _picked_rows(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """A row of the operand, picked along its other dimensions."""
    assert isinstance(op, PickingOp)
    return changed_rows(op, constants, lowered, op.of_one_row())


@kernel(PickingOp, ANY, rows=_picked_rows)
def picked(op: PickingOp, constants: Constants) -> KernelCall:
    need_same_numbers(op, *op.operands, op.result)
    ways, extents, terms = op.ways, op.extents, op.added
    size, width = bytes_of(op.result.type) or 0, bytes_per_element(op, op.input)
    if max(len(ways), len(extents)) > WAYS or len(terms) > TERMS or not size:
        raise refuse(op, f"elements in {len(ways)} ways, only in up to {WAYS}, or none")
    numbers = [number for term in terms for number in term.numbers]
    array = op.zero() if op.fill is None else constants(op.fill)
    fill = Table("uint8_t", as_bytes(array)) if array is not None else op.fill
    assert fill is not None
    fields = (
        ("bytes", op.run * width),
        ("size", _listed(ways, WAYS, 1)),
        ("extent", _listed(extents, WAYS, 1)),
        ("terms", len(terms)),
        ("way", _listed([term.way for term in terms], TERMS, 0)),
        ("dimension", _listed([term.dimension for term in terms], TERMS, 0)),
        ("numbers", Table("int32_t", np.array(numbers or [0], np.int32))),
        ("fill_n", width),
    )
    return KernelCall("picked", fields, (op.input, fill), Rows(1, 0, size))


def _listed(values: Sequence[int], count: int, rest: int) -> str:
    """Return `count` numbers in braces: the values, then `rest`."""
    return "{" + ", ".join(map(str, [*values, *[rest] * (count - len(values))])) + "}"
