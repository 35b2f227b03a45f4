"""Reading and writing the plan's attributes, and the fingerprint that makes a plan stale.

Everything is a discardable, prefixed attribute, so that it may sit on any dialect's operations.
"""

from collections.abc import Callable, Sequence
from typing import TypeGuard, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, StringAttr, UnitAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from memopt.dialects.attributes.memories import ARENA
from memopt.dialects.attributes.model import GENERIC, AliasAttr, ModelAttr
from memopt.dialects.attributes.placement import ScratchAttr, SlotAttr, UnplacedAttr
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.attributes.quick import array, number
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import argument_attributes, set_argument_attributes
from memopt.dialects.memgraph.names import place_of
from memopt.dialects.memgraph.structure import HyperNode

ORDER, OFFSET, SCRATCH = "memgraph.order", "memgraph.offset", "memgraph.scratch"
FAST = "memgraph.fast"  # its kernel may work in scratch to be faster; alone, or with its form
WIDE, NARROW = FORMS = ("wide", "narrow")  # of fast kernels, the fastest first; of less scratch

PLAN, MODEL, ALIAS = "memgraph.plan", "memgraph.model", "memgraph.alias"

OPEN_BATCH = "memgraph.open_batch"  # inputs whose batch the file leaves open: it is 1
IN_FLOAT32 = "memgraph.in_float32"  # real types of the file that are computed in float32
PARTITION, SCHEDULES_TRIED = "memgraph.partition", "memgraph.schedules_tried"
AUTOMATIC_PARTITION = "memgraph.automatic_partition"  # of a function whose parts nobody asked for
SCRATCH_END = "memgraph.scratch_end"  # of a function: bytes of its arena, where a runtime lays
# scratch of functions that its operators run above all that it has itself

OFF_CHIP = "memgraph.off_chip"

COPY = "memgraph.copy"
CHOSEN = "memgraph.chosen_inplace"  # on an operation whose in-place alias the scheduler wrote
TURNS = "memgraph.turns"  # on an allocation: how many of it lie side by side, for its iterations

Place = IntegerAttr | SlotAttr | UnplacedAttr


def model_of(func: FuncOp) -> ModelAttr:
    """The memory model the function carries, or the default one. Raises MemoptError."""
    model = func.attributes.get(MODEL)
    if model is None:
        return GENERIC
    if not isinstance(model, ModelAttr):
        raise MemoptError("memgraph.model must be a #memgraph.model", f"@{func.sym_name.data}")
    return model


def plan_of(func: FuncOp) -> PlanAttr | None:
    """The function's plan, if it has one. Raises MemoptError."""
    plan = func.attributes.get(PLAN)
    if plan is not None and not isinstance(plan, PlanAttr):
        raise MemoptError("memgraph.plan must be a #memgraph.plan", f"@{func.sym_name.data}")
    return plan


def said_optimal(optimal: bool, claimed: bool) -> bool | None:
    """Return the value of `optimal` in JSON: None where the bound and its proof are only claimed,
    since they were read and nothing has shown them."""
    return None if optimal and claimed else optimal


def fast_form(op: Operation) -> str | None:
    """The form of its fast kernel that an operation is marked with, None if it is not marked.
    Raises MemoptError."""
    mark = op.attributes.get(FAST)
    if mark is None:
        return None
    if isinstance(mark, UnitAttr):
        return WIDE
    if isinstance(mark, StringAttr) and mark.data in FORMS[1:]:
        return mark.data
    raise MemoptError(f'{FAST} stands alone or is "{NARROW}"', place_of(op))


def mark_fast(op: Operation, form: str) -> None:
    """Mark an operation with a form of its fast kernel; its scratch is the caller's."""
    op.attributes[FAST] = UnitAttr() if form == WIDE else StringAttr(form)


def in_float32(func: FuncOp) -> list[str]:
    """Return the names of the real types of a file that are computed in float32, which they are
    not."""
    return _texts(func, IN_FLOAT32)


def open_batch(func: FuncOp) -> list[str]:
    """Return the names of the inputs whose batch the file leaves open and nobody gave: it is 1."""
    return _texts(func, OPEN_BATCH)


def _texts(func: FuncOp, key: str) -> list[str]:
    names = func.attributes.get(key)
    if not isinstance(names, ArrayAttr):
        return []
    values = cast("ArrayAttr[Attribute]", names).data
    return [v.data for v in values if isinstance(v, StringAttr)]


def order_of(op: Operation) -> int | None:
    """The operation's place in the schedule, if it has one."""
    attr = op.attributes.get(ORDER)
    return attr.value.data if is_number(attr) else None


def call_name(func: FuncOp, order: int | None) -> str:
    """The C function that computes an operation of ours where standard MLIR runs the others."""
    return f"{func.sym_name.data}_call_{order}"


def is_number(attr: Attribute | None) -> TypeGuard[IntegerAttr]:
    """Return whether an attribute is a number of the plan: an i64, as passes write it, and no
    boolean."""
    if not isinstance(attr, IntegerAttr):
        return False
    type_ = cast("IntegerAttr[IntegerType]", attr).type
    return type_ is i64 or type_ == i64  # comparing takes long, and most are this very one


def set_order(operations: Sequence[Operation]) -> None:
    """Number the executing operations densely from 0, in the order given."""
    for index, op in enumerate(operations):
        op.attributes[ORDER] = number(index)


def offsets_of(op: Operation) -> tuple[Place, ...] | None:
    """The places of an operation's results, None if it has no `memgraph.offset`."""
    attr = op.attributes.get(OFFSET)
    if attr is None:
        return None
    entries = cast("ArrayAttr[Attribute]", attr).data if isinstance(attr, ArrayAttr) else ()
    if len(entries) != len(op.results):
        raise MemoptError("memgraph.offset must list one place per result", place_of(op))
    return tuple(cast("Place", e) for e in entries)


def argument_offsets(func: FuncOp) -> list[Place | None]:
    """The places of a function's arguments."""
    return [cast("Place | None", a.get(OFFSET)) for a in argument_attributes(func)]


def places_of(func: FuncOp) -> dict[SSAValue, Place | None]:
    """Return the place of every argument and of every result that has one listed."""
    places: dict[SSAValue, Place | None] = {}
    places.update(zip(func.body.block.args, argument_offsets(func), strict=True))
    for op in func.body.block.ops:
        places.update(zip(op.results, offsets_of(op) or (), strict=False))
    return places


def set_places(func: FuncOp, where: Callable[[SSAValue], Attribute]) -> None:
    """Write the place of every argument and result of a function's only block."""
    arguments = argument_attributes(func)
    for argument, attributes in zip(func.body.block.args, arguments, strict=True):
        attributes[OFFSET] = where(argument)
    set_argument_attributes(func, arguments)
    for op in func.body.block.ops:
        if op.results:
            op.attributes[OFFSET] = array([where(r) for r in op.results])


def bytes_offset(place: Place | None) -> int | None:
    """The offset in bytes within the memory that it is in, None if the value is not placed."""
    if is_number(place):  # as most are
        return place.value.data
    return place.offset.data if isinstance(place, SlotAttr) else None


def memory_at(place: Place | int | None) -> str:
    """The name of the memory that a place is in."""
    return place.memory.data if isinstance(place, SlotAttr) else ARENA


def arena_offset(place: Place | int | None, func: FuncOp) -> int | None:
    """Return the offset of a place, as `bytes_offset`, but in one arena of all memories, each
    behind the one before.

    `place` may also be that of scratch: a number, -1 if there is none.
    """
    if isinstance(place, int):
        return place if place >= 0 else None
    offset, plan = bytes_offset(place), plan_of(func)
    if isinstance(place, SlotAttr) and offset is not None and plan is not None:
        return plan.start(place.memory.data) + offset
    return offset


def is_move(op: Operation) -> bool:
    """Return whether an operation is a `memgraph.copy` by which a plan moves a buffer in its arena:
    the operand dies, and the result lies anywhere, over it too."""
    if op.name != COPY or ALIAS not in op.attributes:
        return False
    return [[a.kind.data for a in aliases] for aliases in alias_lists(op)] == [["move"]]


def drop_arena_moves(func: FuncOp) -> bool:
    """Take out the moves within an arena. True if there was one: then places and numbers of the
    others are no longer those of a plan."""
    return drop_copies([op for block in func.body.blocks for op in block.ops if is_move(op)])


def drop_copies(copies: Sequence[Operation]) -> bool:
    """Take out copies; whoever read one reads what was copied. True if there was one."""
    for op in copies:
        op.results[0].replace_all_uses_with(op.operands[0])
        op.detach()
        op.erase()
    return bool(copies)


def drop_plan(func: FuncOp) -> bool:
    """Remove everything that passes decided: order, offsets, scratch offsets, plan, moves, and the
    in-place aliases that the scheduler chose, but for those inside a hyper-node: its hill counts on
    them. Aliases that the model or its writer gave are no decision; they stay. True if
    aliases went, so that fewer buffers share an address.
    """
    changed = drop_arena_moves(func)
    func.attributes.pop(PLAN, None)
    for name in (SCHEDULES_TRIED, OFF_CHIP, SCRATCH_END):
        func.attributes.pop(name, None)
    arguments = argument_attributes(func)
    for a in arguments:
        a.pop(OFFSET, None)
    set_argument_attributes(func, arguments)
    for op in func.body.walk():
        op.attributes.pop(ORDER, None)
        op.attributes.pop(OFFSET, None)
        scratch = scratch_list(op)
        if scratch is not None:
            op.attributes[SCRATCH] = ArrayAttr([ScratchAttr(s.bytes.data) for s in scratch])
        if CHOSEN in op.attributes and not isinstance(op.parent_op(), HyperNode):
            del op.attributes[CHOSEN]
            changed = True
            lists = [[a for a in e if a.kind.data != "inplace"] for e in alias_lists(op)]
            op.attributes[ALIAS] = ArrayAttr([ArrayAttr(e) for e in lists])
            if not any(lists):
                del op.attributes[ALIAS]
    return changed


def alias_lists(op: Operation) -> tuple[tuple[AliasAttr, ...], ...]:
    """The `memgraph.alias` attribute: for each result the aliases it has. Raises MemoptError."""
    attr = op.attributes.get(ALIAS)
    if attr is None:
        return ()
    lists: list[tuple[AliasAttr, ...]] = []
    entries = cast("ArrayAttr[Attribute]", attr).data if isinstance(attr, ArrayAttr) else (None,)
    for entry in entries:
        inner = (
            cast("ArrayAttr[Attribute]", entry).data if isinstance(entry, ArrayAttr) else (entry,)
        )
        aliases = tuple(a for a in inner if isinstance(a, AliasAttr))
        if len(aliases) != len(inner):
            raise MemoptError("memgraph.alias must list #memgraph.alias per result", place_of(op))
        if any(a.operand.data >= len(op.operands) for a in aliases):
            raise MemoptError("memgraph.alias names an operand that is not there", place_of(op))
        lists.append(aliases)
    if len(lists) != len(op.results):
        raise MemoptError("memgraph.alias must have one entry per result", place_of(op))
    return tuple(lists)


def makes_virtual(op: Operation) -> bool:
    """Return whether an operation makes a virtual tensor, of which readers read the operands."""
    if ALIAS not in op.attributes:  # as of nearly all
        return False
    return any(alias.kind.data == "virtual" for aliases in alias_lists(op) for alias in aliases)


def is_virtual(value: SSAValue) -> bool:
    """Return whether a value is a virtual tensor, so that its reader makes it."""
    return isinstance(value, OpResult) and makes_virtual(value.op)


def reads_virtual(op: Operation) -> bool:
    """Return whether an operation that runs reads a virtual tensor."""
    return any(map(is_virtual, op.operands)) and not makes_virtual(op)


def inlined_by(op: Operation) -> list[OpResult]:
    """Return the virtual tensors that `op` makes as it reads them, each behind its own parts."""
    inlined: dict[OpResult, None] = {}
    for value in op.operands:
        if isinstance(value, OpResult) and makes_virtual(value.op):
            inlined |= dict.fromkeys([*inlined_by(value.op), value])
    return list(inlined)


def scratch_list(op: Operation) -> tuple[ScratchAttr, ...] | None:
    """The `memgraph.scratch` attribute, None if there is none. Raises MemoptError."""
    attr = op.attributes.get("memgraph.scratch")
    if attr is None:
        return None
    entries = cast("ArrayAttr[Attribute]", attr).data if isinstance(attr, ArrayAttr) else (attr,)
    listed = tuple(e for e in entries if isinstance(e, ScratchAttr))
    if len(listed) != len(entries):
        raise MemoptError("memgraph.scratch must list #memgraph.scratch", place_of(op))
    return listed
