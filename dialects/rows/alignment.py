"""The alignment of tensors of which some are rows that lie alone."""

from collections.abc import Iterable
from math import gcd
from typing import cast

from xdsl.ir import Attribute, Block, BlockArgument, OpResult, SSAValue

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.structure import HyperNode, YieldOp
from memopt.dialects.memgraph.tensors import AnyTensor, bytes_of, element_bits
from memopt.dialects.rows.operations import JoinOp, ReceiveOp, RowOp

ROWS = RowOp, ReceiveOp


def alignment_of(value: SSAValue, model: ModelAttr) -> int:
    """Return the bytes of which the offset of a tensor is a multiple, and to which its buffer is
    rounded up: the model's, but for a row that lies alone that of its elements."""
    aligned = model.alignment.data
    if not _is_lone_row(value):
        return aligned
    element = cast("AnyTensor", value.type).element_type
    return gcd(aligned, max(1, element_bits(element) // 8))


def rest_of_line(end: int, members: Iterable[tuple[SSAValue, int]], lines: int) -> int:
    """Return the bytes to the end of its line of a cache behind a part that ends at `end`, if it is
    the last one of the tensor that has these members with their places; else 0."""
    last = max(inside + (bytes_of(v.type) or 0) for v, inside in members)
    return -end % lines if end == last else 0


def _is_lone_row(value: SSAValue) -> bool:
    owner = value.owner
    if isinstance(owner, ROWS) and isinstance(value, OpResult):
        if value.type == _whole_type(owner, value.index):
            return False
        return not any(type(use.operation) is JoinOp for use in value.uses)
    node = owner.parent_op() if isinstance(owner, Block) else owner
    if not isinstance(node, HyperNode):
        return False
    last = node.body.block.last_op
    if isinstance(value, OpResult):
        return isinstance(last, YieldOp) and _is_lone_row(last.values[value.index])
    return isinstance(value, BlockArgument) and _is_lone_row(node.inputs[value.index])


def _whole_type(row: RowOp | ReceiveOp, result: int) -> Attribute:
    """Return the type of the tensor of which a result is a row; its own for a finished sum."""
    return row.input.type if isinstance(row, ReceiveOp) else row.operation.results[result].type
