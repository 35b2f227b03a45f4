"""One arena in place of a function's allocations, as its plan says.

Before:
    %a = memref.alloc() {memgraph.offset = [64]} : memref<4xf32>
    memref.dealloc %a
After:
    %arena = memref.alloc() {alignment = 64} : memref<128xi8>      or the function's first argument
    %a = memref.view %arena[%c64][] : memref<128xi8> to memref<4xf32>

A call hands the callee its part of the arena. An allocation that takes turns with the one of the
iteration before is two views, which the loop carries and exchanges.
"""

from collections.abc import Mapping, Sequence

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FunctionType, IndexType, IntegerAttr, MemRefType, i8
from xdsl.dialects.func import CallOp
from xdsl.dialects.memref import AllocOp, DeallocOp, ViewOp
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Attribute, Operation, Region, SSAValue

from memopt.dialects.buffers.accesses import AllocationOp
from memopt.dialects.memgraph.functions import argument_attributes, body_of, set_argument_attributes
from memopt.passes.memref.attributes import drop
from memopt.passes.memref.live_ranges import Frame, Reading
from memopt.passes.memref.order import is_free


def replace_allocations(
    reading: Reading, offsets: Mapping[Operation, int], frame: Frame, is_argument: bool
) -> None:
    """Replace the allocations of a function by views of one arena: its first argument, or what it
    allocates at its start. `offsets` in bytes, of allocations and calls."""
    func, block = reading.func, body_of(reading.func)
    if not reading.storages:
        drop(func)
        return
    for op in list(reading.numbers):
        if isinstance(op, DeallocOp) and is_free(op, reading):
            op.detach()
            op.erase()
    type_ = MemRefType(i8, [frame.bytes])
    first = block.first_op
    if is_argument:
        attributes = argument_attributes(func)
        arena: SSAValue = block.insert_arg(type_, 0)
        inputs = [a.type for a in block.args]
        func.function_type = FunctionType.from_lists(inputs, func.function_type.outputs.data)
        set_argument_attributes(func, [{}, *attributes] if any(attributes) else [])
    else:
        alloc = AllocOp([], [], type_, IntegerAttr(frame.alignment, 64))
        last = block.last_op
        assert first is not None and last is not None
        block.insert_op_before(alloc, first)
        block.insert_op_before(DeallocOp.get(alloc.memref), last)
        arena = alloc.memref
    for storage in reading.storages:
        op, offset = storage.op, offsets[storage.op]
        if isinstance(op, CallOp):
            part = _view(op, arena, offset, MemRefType(i8, [_frame_of(op, reading).bytes]))
            op.operands = [part, *op.operands]
        elif storage.copies > 1:
            assert isinstance(op, AllocationOp)
            (loop,) = reading.aliases.carried_by[op]
            assert isinstance(loop, ForOp)
            _take_turns(op, loop, arena, (offset, offset + storage.size), reading)
        else:
            view = _view(op, arena, offset, op.results[0].type)
            view.name_hint = op.results[0].name_hint
            op.results[0].replace_all_uses_with(view)
            op.detach()
            op.erase()
    drop(func)


def _frame_of(op: CallOp, reading: Reading) -> Frame:
    return reading.called.frames[op.callee.string_value()]


def _view(before: Operation, arena: SSAValue, offset: int, type_: Attribute) -> SSAValue:
    """Return the bytes of the arena from `offset`, of a view that stands before an operation."""
    assert isinstance(type_, MemRefType) and before.parent is not None
    at = ConstantOp(IntegerAttr(offset, IndexType()))
    view = ViewOp(arena, at, [], type_)  # pyright: ignore[reportUnknownArgumentType]
    before.parent.insert_ops_before([at, view], before)
    return view.result


def _take_turns(
    op: AllocationOp, loop: ForOp, arena: SSAValue, offsets: Sequence[int], reading: Reading
) -> None:
    """Let a loop carry two views: the allocation is the first, and they change places."""
    views = [_view(loop, arena, offset, op.memref.type) for offset in offsets]
    body = loop.body
    block = body.block
    loop.body.detach_block(block)
    turn = [block.insert_arg(op.memref.type, len(block.args)) for _ in views]
    last = block.last_op
    assert isinstance(last, YieldOp)
    last.operands = [*last.operands, turn[1], turn[0]]
    op.memref.replace_all_uses_with(turn[0])
    op.detach()
    op.erase()
    arguments = [*loop.iter_args, *views]
    fresh = ForOp(loop.lb, loop.ub, loop.step, arguments, Region(block))
    fresh.attributes.update(loop.attributes)
    assert loop.parent is not None
    loop.parent.insert_op_before(fresh, loop)
    for old, new in zip(loop.results, fresh.results, strict=False):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    for loops in reading.aliases.carried_by.values():  # others may take turns here too
        if loop in loops:
            loops.remove(loop)
            loops.add(fresh)
    loop.detach()
    loop.erase()
