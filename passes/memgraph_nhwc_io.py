"""`memgraph-nhwc-io`: images at the border of a function lie channels last, as they do inside.

Before:
    func.func @main(%x: !first) -> !first {
      %0 = memgraph.transpose %x permutation [0, 2, 3, 1] : (!first) -> !last
      %1 = memgraph.relu %0 : (!last) -> !last
      %2 = memgraph.transpose %1 permutation [0, 3, 1, 2] : (!last) -> !first
      func.return %2 : !first
    }
After:
    func.func @main(%x: !last) -> !last {
      %1 = memgraph.relu %x : (!last) -> !last
      func.return %1 : !last
    }

What the rule `channels-last` leaves at the border goes: the caller hands over images as cameras
give them, and sequences that are read as images one pixel wide place by place. An operation on each
element between the border and the transposition is turned with it. An image that is needed channels
first is refused. The function loses its plan and, as its operators
are no longer those of the file, its `memgraph.source`.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, functions
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.tensors import AnyTensor, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.movement import ReshapeOp, TransposeOp
from memopt.dialects.operators.reordering import (
    FIRST,
    LAST,
    is_channels_first,
    is_width_lost,
    keeps_bytes,
    reordered_type,
)
from memopt.dialects.operators.traits import Pointwise, View
from memopt.passes.memgraph_int8_io import border_changed

PLACES = (0, 2, 1)  # of sequences channels first: one place after the other


@dataclass(frozen=True)
class MemgraphNhwcIoPass(ModulePass):
    """Take and return images channels last."""

    name = "memgraph-nhwc-io"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            turn_border(func)


def turn_border(func: FuncOp) -> bool:
    """Let a function take and return images channels last; whether any was not. Raises MemoptError
    for one that is needed channels first."""
    block, place = body_of(func), f"@{func.sym_name.data}"
    images = [v for v in block.args if is_channels_first(v) or _is_sequence(v)]
    for value in images:
        _turn(value, place)
    last = block.last_op
    assert last is not None
    returned = [k for k, v in enumerate(last.operands) if is_channels_first(v) or _is_flat(v)]
    for k in returned:
        last.operands[k] = _unturned(last.operands[k], place)
    if images or returned:
        border_changed(func)
    return bool(images or returned)


def _turn(value: SSAValue, place: str) -> None:
    """Let an image be channels last, whose readers all want that."""
    readers = list(dict.fromkeys(use.operation for use in value.uses))
    moves = [op for op in readers if is_move(op)]
    for op in readers:
        if op not in moves and not is_each(op) and not _is_widened(op):
            text = f"{name_of(value)} is needed channels first; --rewrite=channels-last goes before"
            raise MemoptError(f"memgraph-nhwc-io: {text}", place)
    new = Rewriter.replace_value_with_new_type(value, _turned_type(value))
    for op in readers:
        if op in moves:
            op.results[0].replace_all_uses_with(new)
            Rewriter.erase_op(op)
        else:
            _turn(op.results[0], place)


def _unturned(value: SSAValue, place: str) -> SSAValue:
    """Return the value that lies channels last and is turned, or computed of that, for the
    border."""
    op = value.op if isinstance(value, OpResult) and value.has_one_use() else None
    if op is not None and is_move(op) and not is_channels_first(op.operands[0]):
        source = op.operands[0]
        value.replace_all_uses_with(source)
        Rewriter.erase_op(op)
        return source
    if op is not None and (is_each(op) or _is_flat(value)):
        op.operands[0] = _unturned(op.operands[0], place)
        return Rewriter.replace_value_with_new_type(value, _turned_type(value))
    text = f"{name_of(value)} is made channels first; --rewrite=channels-last goes before"
    raise MemoptError(f"memgraph-nhwc-io: {text}", place)


def _turned_type(value: SSAValue) -> AnyTensor:
    """Return the type of an image or a sequence channels last."""
    if len(shape_of(value)) == len(LAST):
        return reordered_type(value, LAST, "nhwc")
    return reordered_type(value, PLACES, "")


def _is_sequence(value: SSAValue) -> bool:
    """Return whether a tensor is read as an image one pixel wide, which is turned."""
    return bool(value.uses) and all(_is_widened(use.operation) for use in value.uses)


def _is_widened(op: Operation) -> bool:
    """Return whether it makes an image one pixel wide of a sequence, for who turns it."""
    if not isinstance(op, ReshapeOp) or not is_width_lost(op.result, op.input):
        return False
    return all(is_move(use.operation) for use in op.result.uses)


def _is_flat(value: SSAValue) -> bool:
    """Return whether a sequence is made of an image one pixel wide, which was turned."""
    op = value.op if isinstance(value, OpResult) and value.has_one_use() else None
    if not isinstance(op, ReshapeOp) or not is_width_lost(op.input, op.result):
        return False
    before = op.input.op if isinstance(op.input, OpResult) and op.input.has_one_use() else None
    return before is not None and is_move(before)


def is_each(op: Operation) -> bool:
    """Return whether it makes an image of one image, element by element."""
    one = isinstance(op, ComputeOp) and op.has_trait(Pointwise) and len(op.operands) == 1
    return one and is_channels_first(op.results[0])


def is_move(op: Operation) -> bool:
    """Return whether it turns an image, channels first to last or last to first."""
    if not isinstance(op, ComputeOp) or len(op.operands) != 1:
        return False
    before, after = op.operands[0], op.results[0]
    if is_channels_first(before):
        return puts_in(op, LAST) and after.type == reordered_type(before, LAST, "nhwc")
    first = is_channels_first(after) and before.type == reordered_type(after, LAST, "nhwc")
    return first and puts_in(op, FIRST)


def puts_in(op: ComputeOp, order: tuple[int, ...]) -> bool:
    """Return whether dimension i of the result is dimension `order[i]` of the operand, element by
    element."""
    if isinstance(op, TransposeOp):
        return op.permutation.get_values() == order
    return op.has_trait(View) and keeps_bytes(op.operands[0], order)
