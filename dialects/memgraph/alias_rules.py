"""Rules for aliases: sizes that fit, and for typed operations the results that they really compute.

    #memgraph.alias<operand = 0, kind = slice, byte_offset = 32>

A `memgraph.conv_2d` is never a view, a `memgraph.slice` starts where its `starts` say. Of opaque
and foreign operations the sizes are all that can be checked. A row may be gathered where its
operator may be, of rows: operand 0 is the operator.
"""

from collections.abc import Sequence
from math import prod

from xdsl.ir import Operation

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.interface import Alias
from memopt.dialects.memgraph.names import full_name, place_of
from memopt.dialects.memgraph.tensors import bytes_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import Gathers, View
from memopt.dialects.rows.operations import RowOp


def check_alias(op: Operation, alias: Alias, strided: bool) -> None:
    """Raise MemoptError if `alias` cannot hold for `op`."""
    fault = _size_fault(op, alias, strided)
    if fault is None and isinstance(op, ComputeOp):
        fault = _kind_fault(op, alias)
    if fault is None and isinstance(op, RowOp) and alias.kind == "gather":
        fault = _row_fault(op, alias)
    if fault is not None:
        raise MemoptError(f"memgraph.alias: {fault}", place_of(op))


def check_gathered(op: Operation, aliases: Sequence[Alias]) -> frozenset[int]:
    """The results that are no buffers. Raise MemoptError for one that is one in part, or not made
    of just its operands."""
    gathered = frozenset(a.result for a in aliases if a.kind == "gather")
    for result in gathered:
        its = [a for a in aliases if a.result == result]
        by_reader = _by_reader(op)
        first = 1 if isinstance(op, RowOp) else 0
        known = by_reader and isinstance(op, ComputeOp)  # the weights, which a row has inside
        read = range(first, 1 if known else len(op.operands))
        if any(a.kind != "gather" for a in its) or [a.operand for a in its] != list(read):
            text = f"memgraph.alias: result {result} is gathered of all operands or of none"
            raise MemoptError(text, place_of(op))
        if by_reader:
            continue
        total = sum(bytes_of(v.type) or 0 for v in op.operands)
        size = bytes_of(op.results[result].type) or 0
        if size > total or (size < total and not _takes(op, result)):
            text = f"memgraph.alias: operands of {total} B are not the {size} B of the result"
            raise MemoptError(text, place_of(op))
    return gathered


def _size_fault(op: Operation, alias: Alias, strided: bool) -> str | None:
    a, b = bytes_of(op.results[alias.result].type), bytes_of(op.operands[alias.operand].type)
    if a is None or b is None:
        return f"result {alias.result} and operand {alias.operand} must be buffers"
    offset = alias.byte_offset
    match alias.kind:
        case "view":
            return None if a == b else f"{a} B are no view of {b} B"
        case "inplace":
            return None if a <= b else f"{a} B do not fit in place of {b} B"
        case "gather":
            taken = _takes(op, alias.result) or _by_reader(op)
            return None if b <= a or taken else f"{b} B are no part of {a} B"
        case "part":
            inside = 0 <= offset <= b - a
            return (
                None if inside else f"a part of {a} B at {offset} B leaves the {b} B of its operand"
            )
        case "join":
            inside = a - b >= -offset >= 0
            return (
                None if inside else f"a part of {b} B at {-offset} B leaves the {a} B of its result"
            )
        case "slice":
            inside = 0 <= offset <= b if strided else 0 <= offset <= b - a
            around = b - a <= offset <= 0
            fits = inside or around
            return (
                None if fits else f"a slice of {a} B at {offset} B leaves the {b} B of its operand"
            )


def _kind_fault(op: ComputeOp, alias: Alias) -> str | None:
    if alias.kind == "view":
        return None if op.has_trait(View) else f"{op.name} is no view"
    if alias.kind == "inplace":
        same = shape_of(op.results[alias.result]) == shape_of(op.operands[alias.operand])
        runs = op.may_overwrite(alias.operand) or (op.has_trait(View) and same)
        return None if runs else f"{op.name} cannot run in place"
    if alias.kind == "gather":
        taken = (
            op.has_trait(Gathers) or op.is_function or _takes(op, alias.result) or _by_reader(op)
        )
        return None if taken else f"{op.name} makes more than its operands are"
    begin = op.begins_at(alias.result, alias.operand)
    if begin is None:
        return f"{op.name} is no contiguous slice"
    expected = _bytes(op, alias, abs(begin)) * (1 if begin >= 0 else -1)
    return (
        None
        if expected == alias.byte_offset
        else f"{op.name} lies at byte_offset {expected}, not {alias.byte_offset}"
    )


def _row_fault(op: RowOp, alias: Alias) -> str | None:
    """A row of what readers may make is made by them too, of rows; a sum over rows is none."""
    whole = op.operation
    if not isinstance(whole, ComputeOp):
        return f"rows of {full_name(whole)} are no rows of its operands"
    taken = (
        whole.has_trait(Gathers) or whole.is_function or _takes(op, alias.result) or _by_reader(op)
    )
    by_rows = taken and not whole.accumulates
    return None if by_rows else f"rows of {whole.name} are no rows of its operands"


def _takes(op: Operation, result: int) -> bool:
    """Return whether a result is some elements of operand 0, of which it is known where they
    lie."""
    whole = op.operation if isinstance(op, RowOp) else op
    return isinstance(whole, ComputeOp) and whole.lies_at(result, 0) is not None


def _by_reader(op: Operation) -> bool:
    """Return whether its result is made by its reader, element by element; of a row, by the row
    there that alone reads it."""
    if not isinstance(op, RowOp):
        return isinstance(op, ComputeOp) and op.is_made_by_reader
    readers = [use.operation for use in op.results[0].uses]
    if len(readers) != 1 or not isinstance(reader := readers[0], RowOp):
        return False
    whole, its = op.operation, reader.operation
    if not isinstance(whole, ComputeOp) or not isinstance(its, ComputeOp):
        return False
    return reader.index == op.index and whole.may_be_made_by(its)


def _bytes(op: ComputeOp, alias: Alias, elements: int) -> int:
    """Bytes of so many elements of the operand; of the result, where the operand has none."""
    values = op.operands[alias.operand], op.results[alias.result]
    value = next((v for v in values if prod(shape_of(v))), values[0])
    count, size = prod(shape_of(value)), bytes_of(value.type) or 0
    return elements * size // count if count else 0
