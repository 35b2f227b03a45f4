"""Plan of a function of memrefs, as attributes.

memref.alloc() {memgraph.offset = [64 : i64]}               where it lies in the arena
memref.alloc() {memgraph.offset = [64 : i64], memgraph.turns = 2 : i64}    two, side by side
func.call @f() {memgraph.scratch = [#memgraph.scratch<256, 64>]}     the arena of what is called
func.func @main() attributes {memgraph.plan = #memgraph.plan<peak = .., arena = .., ...>}
"""

from collections.abc import Sequence
from typing import TypeGuard

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, OptPropertyDef

from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.memgraph.plan import OFFSET, PLAN, SCRATCH, TURNS
from memopt.dialects.memgraph.write_plan import Facts, write_plan
from memopt.passes.memref.live_ranges import Storage


def write(func: FuncOp, storages: Sequence[Storage], offsets: Sequence[int], facts: Facts) -> None:
    """Write a plan into a function, in place of the one that it may have."""
    drop(func)
    _drop_defaults(func)
    for storage, offset in zip(storages, offsets, strict=True):
        if isinstance(storage.op, CallOp):
            scratch = ScratchAttr(storage.bytes, offset)
            storage.op.attributes[SCRATCH] = ArrayAttr([scratch])
        else:
            storage.op.attributes[OFFSET] = ArrayAttr([IntegerAttr(offset, 64)])
            if storage.copies > 1:
                storage.op.attributes[TURNS] = IntegerAttr(storage.copies, 64)
    write_plan(func, facts)


def drop(func: FuncOp) -> None:
    """Remove all that a plan wrote."""
    func.attributes.pop(PLAN, None)
    for op in func.body.walk():
        for name in (OFFSET, TURNS, SCRATCH):
            op.attributes.pop(name, None)


def _drop_defaults(func: FuncOp) -> None:
    """Remove the properties that are what they would be anyway: printing leaves them out, and the
    plan is of the function as it is read again."""
    for op in filter(_is_known, func.body.walk()):
        for name, definition in op.get_irdl_definition().properties.items():
            optional = isinstance(definition, OptPropertyDef)
            if optional and op.properties.get(name) == definition.default_value:
                op.properties.pop(name, None)


def _is_known(op: Operation) -> TypeGuard[IRDLOperation]:
    return isinstance(op, IRDLOperation)
