"""Rules for aliases: sizes that fit, and for typed operations the results that they really compute.

    #memgraph.alias<operand = 0, kind = slice, byte_offset = 32>

A `memgraph.conv_2d` is never a view, a `memgraph.slice` starts where its `starts` say. Of opaque
and foreign operations the sizes are all that can be checked. A row may be virtual where its
operator may be, made of rows: operand 0 is the operator.
"""

from collections.abc import Sequence
from math import prod

from xdsl.ir import Operation

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.interface import Alias
from memopt.dialects.memgraph.names import full_name, place_of
from memopt.dialects.memgraph.tensors import bytes_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import Concatenates, View
from memopt.dialects.rows.operations import RowOp


def check_alias(op: Operation, alias: Alias, strided: bool) -> None:
    """Raise MemoptError if `alias` cannot hold for `op`."""
    fault = _size_fault(op, alias, strided)
    if fault is None and isinstance(op, ComputeOp):
        fault = _kind_fault(op, alias)
    if fault is None and isinstance(op, RowOp) and alias.kind == "virtual":
        fault = _row_fault(op, alias)
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
    if alias.kind == "virtual":
        possible = _may_be_virtual(op, op, alias.result)
        return None if possible else f"{op.name} makes more than its operands are"
    begin = op.begins_at(alias.result, alias.operand)
    if begin is None:
        return f"{op.name} is no contiguous slice"
    expected = _bytes(op, alias, abs(begin)) * (1 if begin >= 0 else -1)
    fault = f"{op.name} lies at byte_offset {expected}, not {alias.byte_offset}"
    return None if expected == alias.byte_offset else fault


def _row_fault(op: RowOp, alias: Alias) -> str | None:
    """Return why a row is not virtual: its operator is not, or adds up over rows."""
    operator = op.operation
    if not isinstance(operator, ComputeOp):
        return f"rows of {full_name(operator)} are no rows of its operands"
    by_rows = _may_be_virtual(op, operator, alias.result) and not operator.accumulates
    return None if by_rows else f"rows of {operator.name} are no rows of its operands"


def _may_be_virtual(op: Operation, computed: ComputeOp, result: int) -> bool:
    """Return whether readers can read what `op`, an operation or a row of `computed`, reads."""
    if computed.has_trait(Concatenates) or computed.is_function:
        return True
    return _takes(op, result) or _by_reader(op)


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
