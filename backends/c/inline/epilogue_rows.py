"""A row of an operation of two tensors that makes one of them itself: sums of products, which are
no buffer. It makes some columns of the row in scratch, computes the operation of these, and so on.

    %b0 = memgraph.row %conv[0] (%a0, %a1) {virtual}     a quarter of %b0 at a time
    %y0 = memgraph.row %add[0] (%b0, %x0)                 may take the place of %x0

From types alone, so that the scratch is known before the order. A whole row in scratch would be as
much as the row that is no buffer: nothing would be won.
"""

from collections.abc import Sequence

from xdsl.ir import OpResult, SSAValue

from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.plan import inlined_by, makes_virtual
from memopt.dialects.memgraph.tensors import bytes_of, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.convolution import ConvBase
from memopt.dialects.operators.weighing import WeighingOp
from memopt.dialects.rows.operations import RowOp

PARTS = 4  # of a row, each an even number of columns, since kernels compute two pixels at once


def made_sums(values: Sequence[SSAValue]) -> list[int]:
    """Which of the values are sums of products that are no buffers."""
    return [k for k, v in enumerate(values) if isinstance(v, OpResult) and _is_sum(v)]


def _is_sum(value: OpResult) -> bool:
    operator = value.op.whole if isinstance(value.op, RowOp) else value.op
    return makes_virtual(value.op) and isinstance(operator, WeighingOp)


def can_be_epilogue(op: ComputeOp) -> bool:
    """Return whether rows of a whole operation can make the sums that it reads: of a convolution of
    buffers, beside one other buffer, all of one shape."""
    sums = inlined_by(op)
    if len(op.operands) != 2 or len(sums) != 1 or not isinstance(sums[0].op, ConvBase):
        return False
    shape = shape_of(op.results[0])
    alike = all(shape_of(v) == shape for v in op.operands) and len(shape) == 4
    return alike and not any(is_constant_expression(v, GENERIC) for v in op.operands)


def columns_of(value: SSAValue) -> list[range]:
    """The columns of a row that are made at a time, in their order."""
    width = shape_of(value)[2]
    step = max(2, -(-width // (2 * PARTS)) * 2)
    return [range(at, min(at + step, width)) for at in range(0, width, step)]


def columns_bytes(value: SSAValue) -> int:
    """Bytes of the most columns of a row that are made at a time."""
    width = shape_of(value)[2]
    return -(-(bytes_of(value.type) or 0) * len(columns_of(value)[0]) // width)
