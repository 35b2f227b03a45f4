"""Effect of an operation on memory: its own answer, or careful defaults, and what attributes add.

What is not registered gets careful defaults: ranked static tensors are buffers, `Pure` operations
may move, all others keep their mutual order, operations with regions are barriers, and
destination-passing results (an operand named `outputs` or `dest`) lie where their init lies.

    #memgraph.alias<operand = 0, kind = slice, byte_offset = 32>

What an attribute says of aliases fits in size, and for typed operations is what the results really
compute: a `memgraph.conv_2d` is never a view, a `memgraph.slice` starts where its `starts` say. Of
opaque and foreign operations the sizes are all that can be checked. A row may be virtual where its
operator may be, made of rows: operand 0 is the operator.
"""

from collections.abc import Container, Sequence
from dataclasses import replace
from math import prod
from typing import cast

from xdsl.dialects.builtin import MemRefType, SymbolRefAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator, Pure

from memopt.dialects.attributes.model import AliasKind, ModelAttr
from memopt.dialects.attributes.runtimes import scratch_requests
from memopt.dialects.foreign import memory_described
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.interface import (
    BARRIER,
    SUCCEED,
    WORLD,
    Alias,
    MemoryInterface,
    OperatorMemory,
    is_constant_like,
    is_constant_value,
)
from memopt.dialects.memgraph.names import UNREGISTERED, full_name, name_of, place_of
from memopt.dialects.memgraph.plan import ALIAS, SCRATCH, alias_lists, is_move, scratch_list
from memopt.dialects.memgraph.tensors import bytes_of, is_buffer, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import Concatenates, View
from memopt.dialects.rows.operations import RowOp

VIEWS = ("tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape")


def behaviour_of(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Return the effect of `op` on memory: by its interface or registration, then by its
    attributes."""
    try:
        is_ours = isinstance(op, MemoryInterface)
        if is_ours:
            answer = op.memory(model)
        else:
            known = None if isinstance(op, ReturnOp) else memory_described(op)
            answer = (known or careful)(op, model)
    except MemoptError as error:
        raise MemoptError(error.text, error.place or place_of(op)) from None
    if ALIAS in op.attributes and (lists := alias_lists(op)):  # few have any
        aliases = tuple(
            Alias(r, a.operand.data, cast("AliasKind", a.kind.data), a.byte_offset.data)
            for r, entries in enumerate(lists)
            for a in entries
        )
        strided = {(r, a.operand.data) for r, e in enumerate(lists) for a in e if len(a.strides)}
        for alias in aliases:
            check_alias(op, alias, (alias.result, alias.operand) in strided)
        runs = answer.executes or bool(answer.aliases)  # by itself, or if it were no view
        answer = replace(answer, aliases=aliases, executes=runs and not covers(op, aliases))
        if virtual := check_virtual(op, aliases):
            answer = _with_virtual(op, model, answer, virtual)
    if SCRATCH in op.attributes:
        return replace(answer, workspace=tuple(s.bytes.data for s in scratch_list(op) or ()))
    if answer.executes and (requests := scratch_requests(model)):
        workspace = requests(op, model) or ()
        return answer if workspace == answer.workspace else replace(answer, workspace=workspace)
    return answer


def _with_virtual(
    op: Operation, model: ModelAttr, behaviour: OperatorMemory, virtual: Container[int]
) -> OperatorMemory:
    """Return the behaviour of an operation some of whose results are no buffers."""
    requests = scratch_requests(model)
    if (requests and requests(op, model)) or scratch_list(op) or behaviour.workspace:
        raise MemoptError("it works in scratch, so no reader can make it", place_of(op))
    sizes = enumerate(behaviour.results)
    return replace(behaviour, results=tuple(None if r in virtual else n for r, n in sizes))


def covers(op: Operation, aliases: tuple[Alias, ...]) -> bool:
    """Return whether the aliases leave nothing to do: every result and every buffer operand is in
    one."""
    free = [a for a in aliases if a.kind not in SUCCEED]
    operands = {
        i for i, v in enumerate(op.operands) if is_buffer(v.type) and not is_constant_value(v)
    }
    return (
        bool(free)
        and {a.result for a in free} == set(range(len(op.results)))
        and operands <= {a.operand for a in free}
    )


def careful(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Return the careful defaults for an operation that nobody described. Raises MemoptError for
    what cannot be planned."""
    check_planned(op)
    results = tuple(bytes_of(r.type) for r in op.results)
    if op.name == "tensor.empty" or is_constant_like(op):
        return OperatorMemory((None,) * len(results), executes=False)
    if _ends_block(op):
        return OperatorMemory(results, executes=False)
    if op.name in VIEWS:
        view = Alias(0, 0, "view")
        return OperatorMemory(
            results, (view,) if model.has_views else (), executes=not model.has_views
        )
    if op.regions:
        return OperatorMemory(results, effects=(BARRIER,))
    pure = op.has_trait(Pure, value_if_unregistered=False)
    in_place = in_destinations(op, destinations(op))
    return OperatorMemory(results, in_place, effects=() if pure else (WORLD,))


def check_memrefs(op: Operation) -> None:
    """Raise MemoptError for memrefs."""
    if any(isinstance(v.type, MemRefType) for v in (*op.operands, *op.results)):
        raise MemoptError(f"{full_name(op)} uses a memref; only tensors are planned", place_of(op))


def check_planned(op: Operation) -> None:
    """Raise MemoptError for memrefs and for buffers inside regions, whose bytes no plan would
    count, and for calls of functions that have some."""
    check_memrefs(op)
    inside = _inner_buffer(op)
    if inside is not None:
        raise MemoptError(
            f"{full_name(op)} has the buffer {name_of(inside)} in a region, which is not planned",
            place_of(op),
        )
    called = _called_with_buffers(op)
    if called is not None:
        text = f"{full_name(op)} of @{called}, whose own arena lies in nobody's; inline it first"
        raise MemoptError(text, place_of(op))


def in_destinations(op: Operation, destinations: Sequence[SSAValue]) -> tuple[Alias, ...]:
    """Return how the results lie in the inits of a destination-passing operation, of which
    `tensor.empty` is no buffer."""
    wanted = set(destinations)
    inits = [i for i, v in enumerate(op.operands) if v in wanted]
    if len(inits) != len(op.results):  # more: an init is read too, so it is not written
        return ()
    return tuple(
        Alias(r, i, "inplace") for r, i in enumerate(inits) if not _is_empty(op.operands[i])
    )


def _called_with_buffers(op: Operation) -> str | None:
    """Return the name of a function that the operation names and that has tensors in its body.

    One that is only declared is somebody else's, and what it works in is its own.
    """
    named = {
        a.string_value()
        for a in (*op.properties.values(), *op.attributes.values())
        if isinstance(a, SymbolRefAttr)
    }
    if not named:
        return None
    module = op
    while module.parent_op() is not None:
        module = cast("Operation", module.parent_op())
    for func in module.walk():
        if isinstance(func, FuncOp) and func.sym_name.data in named:
            values = (v for inner in func.body.walk() for v in (*inner.operands, *inner.results))
            if any(is_buffer(v.type) for v in values):
                return func.sym_name.data
    return None


def _inner_buffer(op: Operation) -> SSAValue | None:
    """A buffer that is made inside the operation's regions."""
    for region in op.regions:
        for block in region.blocks:
            inner = (a for a in block.args if is_buffer(a.type))
            results = (
                r
                for o in block.walk()
                if o.name != "tensor.empty" and not is_constant_like(o)
                for r in o.results
                if is_buffer(r.type)
            )
            buffer = next(inner, None) or next(results, None)
            if buffer is not None:
                return buffer
    return None


def _ends_block(op: Operation) -> bool:
    """Return whether it is a terminator. One of an unknown dialect ends its block, without
    results."""
    if op.name != UNREGISTERED:
        return op.has_trait(IsTerminator)
    return not op.results and op.parent is not None and op.parent.last_op is op


def destinations(op: Operation) -> tuple[SSAValue, ...]:
    """The init operands of a destination-passing operation."""
    for field in ("outputs", "dest", "inits"):
        value: object = getattr(op, field, None)
        if isinstance(value, SSAValue) and is_buffer(cast("SSAValue", value).type):
            return (cast("SSAValue", value),)
        if isinstance(value, tuple):
            values = cast("tuple[SSAValue, ...]", value)
            if values and all(is_buffer(v.type) for v in values):
                return values
    return ()


def _is_empty(value: SSAValue) -> bool:
    return isinstance(value, OpResult) and value.op.name == "tensor.empty"


def check_alias(op: Operation, alias: Alias, strided: bool) -> None:
    """Raise MemoptError if `alias` cannot hold for `op`."""
    fault = _size_fault(op, alias, strided)
    if fault is None and alias.kind == "virtual":
        fault = _virtual_fault(op, alias.result)
    elif fault is None and isinstance(op, ComputeOp):
        fault = _kind_fault(op, alias)
    if fault is not None:
        raise MemoptError(f"memgraph.alias: {fault}", place_of(op))


def check_virtual(op: Operation, aliases: Sequence[Alias]) -> frozenset[int]:
    """Return the results that are virtual. Raises MemoptError for one that is virtual in part, or
    not made of just its operands."""
    virtual = frozenset(a.result for a in aliases if a.kind == "virtual")
    for result in virtual:
        of_result = [a for a in aliases if a.result == result]
        by_reader = _by_reader(op)
        first = 1 if isinstance(op, RowOp) else 0
        known = by_reader and isinstance(op, ComputeOp)  # the weights, which a row has inside
        read = range(first, 1 if known else len(op.operands))
        kinds = {a.kind for a in of_result}
        if kinds != {"virtual"} or [a.operand for a in of_result] != list(read):
            text = f"memgraph.alias: result {result} is virtual in all operands or in none"
            raise MemoptError(text, place_of(op))
        if by_reader:
            continue
        total = sum(bytes_of(v.type) or 0 for v in op.operands)
        size = bytes_of(op.results[result].type) or 0
        if size > total or (size < total and not _takes(op, result)):
            text = f"memgraph.alias: operands of {total} B are not the {size} B of the result"
            raise MemoptError(text, place_of(op))
    return virtual


def _size_fault(op: Operation, alias: Alias, strided: bool) -> str | None:
    a, b = bytes_of(op.results[alias.result].type), bytes_of(op.operands[alias.operand].type)
    if a is None or b is None:
        return f"result {alias.result} and operand {alias.operand} must be buffers"
    offset = alias.byte_offset
    match alias.kind:
        case "view":
            fits, fault = a == b, f"{a} B are no view of {b} B"
        case "move":
            fits, fault = a == b and is_move(op), f"{full_name(op)} does not move its operand"
        case "inplace":
            fits, fault = a <= b, f"{a} B do not fit in place of {b} B"
        case "virtual":
            fits = b <= a or _takes(op, alias.result) or _by_reader(op)
            fault = f"{b} B are no part of {a} B"
        case "part":
            fits = 0 <= offset <= b - a
            fault = f"a part of {a} B at {offset} B leaves the {b} B of its operand"
        case "join":
            fits = a - b >= -offset >= 0
            fault = f"a part of {b} B at {-offset} B leaves the {a} B of its result"
        case "slice":
            fits = 0 <= offset <= (b if strided else b - a) or b - a <= offset <= 0
            fault = f"a slice of {a} B at {offset} B leaves the {b} B of its operand"
    return None if fits else fault


def _kind_fault(op: ComputeOp, alias: Alias) -> str | None:
    if alias.kind == "view":
        return None if op.has_trait(View) else f"{op.name} is no view"
    if alias.kind == "inplace":
        same = shape_of(op.results[alias.result]) == shape_of(op.operands[alias.operand])
        runs = op.may_overwrite(alias.operand) or (op.has_trait(View) and same)
        return None if runs else f"{op.name} cannot run in place"
    if alias.kind == "move":
        return None
    begin = op.begins_at(alias.result, alias.operand)
    if begin is None:
        return f"{op.name} is no contiguous slice"
    expected = _bytes(op, alias, abs(begin)) * (1 if begin >= 0 else -1)
    fault = f"{op.name} lies at byte_offset {expected}, not {alias.byte_offset}"
    return None if expected == alias.byte_offset else fault


def _virtual_fault(op: Operation, result: int) -> str | None:
    """Return why readers of a result cannot read what `op`, an operation or a row, reads: of a row
    also that its operator adds up over rows."""
    operator = op.operation if isinstance(op, RowOp) else op
    if isinstance(operator, ComputeOp) and not (operator is not op and operator.accumulates):
        moves = operator.has_trait(Concatenates) or operator.is_function
        if moves or _takes(op, result) or _by_reader(op):
            return None
    if isinstance(op, RowOp):
        return f"rows of {full_name(operator)} are no rows of its operands"
    return f"{op.name} makes more than its operands are" if isinstance(op, ComputeOp) else None


def _takes(op: Operation, result: int) -> bool:
    """Return whether a result is elements of operand 0 that lie at known places."""
    operator = op.operation if isinstance(op, RowOp) else op
    return isinstance(operator, ComputeOp) and operator.lies_at(result, 0) is not None


def _by_reader(op: Operation) -> bool:
    """Return whether its result is made by its reader, element by element; of a row, by the row
    there that alone reads it."""
    if not isinstance(op, RowOp):
        return isinstance(op, ComputeOp) and op.is_made_by_reader
    readers = [use.operation for use in op.results[0].uses]
    if len(readers) != 1 or not isinstance(reader := readers[0], RowOp):
        return False
    operator, reading = op.operation, reader.operation
    if not isinstance(operator, ComputeOp) or not isinstance(reading, ComputeOp):
        return False
    return reader.index == op.index and operator.may_be_made_by(reading)


def _bytes(op: ComputeOp, alias: Alias, elements: int) -> int:
    """Return the bytes of `elements` of the operand; of the result, where the operand has none."""
    values = op.operands[alias.operand], op.results[alias.result]
    value = next((v for v in values if prod(shape_of(v))), values[0])
    count, size = prod(shape_of(value)), bytes_of(value.type) or 0
    return elements * size // count if count else 0
