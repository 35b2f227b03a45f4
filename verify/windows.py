"""The plan verifier's own table of windows: which rows of an operand a row of a result reads.

It does not ask `rows_needed`. What an attribute means is written here a second time on purpose.
"""

from dataclasses import dataclass
from math import floor
from typing import Any

from xdsl.ir import Operation, SSAValue

from memopt.dialects.arithmetic.scalars import float32
from memopt.dialects.arithmetic.stored import is_stored, is_unsigned
from memopt.dialects.memgraph.tensors import rows_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.verify.foreign import foreign_rows_read, foreign_sums_rows

Source = tuple[SSAValue, int]
"""The tensor that a row is of, as the argument or as the whole operator makes it, and which row."""


def _property(op: Operation, name: str) -> Any:
    return op.properties.get(name)


def sums_rows(whole: Operation) -> bool:
    """Return whether the operator sums over the rows of operand 0."""
    if not isinstance(whole, ComputeOp):
        return foreign_sums_rows(whole)
    rows, out = rows_of(whole.operands[0]), rows_of(whole.results[0])
    if (axes := _property(whole, "axes")) is not None:
        return 1 in axes.get_values()
    if _property(whole, "window") is not None:
        adds = len(whole.operands) == 1 and "l2_pool" not in whole.name  # a root is of a whole sum
        return adds and out == 1 != rows
    return out is None or len(whole.results[0].type.get_shape()) < 3  # type: ignore[attr-defined]


def carries_rows(whole: Operation) -> bool:
    """Return whether each row of the operator but the first is made of the one before it: it steps
    through a sequence."""
    return isinstance(whole, ComputeOp) and whole.name.endswith("_layer")


@dataclass(frozen=True)
class Reader:
    """An operator, the rows of each of its operands, None of one without, whether it sums over
    those of operand 0, and whether rows are made of each other: looked up once for all of its
    rows."""

    whole: Operation
    rows: tuple[int | None, ...]
    sums: bool
    carries: bool


def reader_of(whole: Operation) -> Reader:
    """Return the facts about an operator that all of its rows share."""
    rows = tuple(rows_of(v) for v in whole.operands)
    return Reader(whole, rows, sums_rows(whole), carries_rows(whole))


def windows_of(whole: Operation, k: int, r: int) -> range | None:
    """The rows of operand `k` that row `r` needs, None if all of it, by the attributes alone."""
    return rows_read(reader_of(whole), k, r)


def rows_read(reader: Reader, k: int, r: int) -> range | None:
    """Return the rows of operand `k` that row `r` of the reader's result needs, None if all of
    it."""
    operation, rows = reader.whole, reader.rows[k]
    if rows is None:
        return None
    if not isinstance(operation, ComputeOp):
        return foreign_rows_read(operation, k, r)
    if reader.carries:
        return _of_step(operation, k, r)
    window = _property(operation, "window")
    if window is not None:
        return _slid(reader, window, r, rows) if k == 0 else None
    if (block := _property(operation, "block")) is not None:
        return _in_blocks(operation, block.value.data, r)
    if (before := _property(operation, "before")) is not None:
        r -= int(before.get_values()[1])
        return range(r, r + 1) if 0 <= r < rows else range(0)
    if (starts := _property(operation, "starts")) is not None:
        r = int(starts.get_values()[1]) + r * int(_property(operation, "strides").get_values()[1])
        return range(r, r + 1)
    if _property(operation, "heads") is not None:
        return _own(k, r, rows)
    if _property(operation, "terms") is not None:
        return _picked(operation, k, r)
    if "resize" in operation.name:
        return _resized(operation, r, rows)
    axis = _property(operation, "axis")
    if axis is not None and axis.value.data == 1 and len(operation.results) == 1:
        above = [rows_of(v) or 0 for v in operation.operands[:k]]
        r -= sum(above)
        return range(r, r + 1) if 0 <= r < rows else range(0)
    if len(operation.operands) > 1 and _rank(operation.operands[k]) < _rank(operation.results[0]):
        return None  # broadcast from the last dimension on: its second is no height
    return range(1) if rows == 1 and not reader.sums else range(r, r + 1)


def _in_blocks(operation: Operation, size: int, r: int) -> range:
    """Return as many rows where they become channels, a part of one where channels become rows."""
    into = operation.name.endswith("depth")
    return range(r * size, (r + 1) * size) if into else range(r // size, r // size + 1)


def _picked(operation: Operation, k: int, r: int) -> range | None:
    """Return the row that the numbers along the second way say, of the operand that is picked
    from, if a way is a dimension each and the others stay as they are."""
    ways = [int(v) for v in _property(operation, "sizes").get_values()]
    terms = [int(v) for v in _property(operation, "terms").get_values()]
    shapes = [tuple(shape_of(v)) for v in (operation.operands[0], operation.results[0])]
    if terms != [d for d in range(len(ways)) for _ in "wd"] or shapes[1][: len(ways)] != (*ways,):
        return None
    if shapes[0][len(ways) :] != shapes[1][len(ways) :]:
        return None
    numbers = [int(v) for v in _property(operation, "numbers").get_values()]
    row = numbers[ways[0] + r] if len(ways) > 1 else r
    return None if k else range(row, row + 1)


def _own(k: int, r: int, rows: int) -> range | None:
    """Return a row of the queries, and of a mask that has one for each; all of keys and values."""
    return range(r, r + 1) if k == 0 or (k == 3 and rows > 1) else None


def _of_step(whole: Operation, k: int, r: int) -> range | None:
    """Return the rows of step `r` of a sequence, of which only the first operand has any."""
    turned = any(_property(whole, name) for name in ("reverse", "time_major"))
    return None if k or turned else range(r, r + 1)


def _rank(value: SSAValue) -> int:
    return len(shape_of(value))


def _slid(reader: Reader, window: Any, r: int, rows: int) -> range:
    if "transpose_conv" in reader.whole.name:
        return _reaching(window, r, rows)
    kernel, stride, dilation, pad = (sizes[0] for sizes in window.sizes)
    if reader.sums:
        taps = [tap * dilation - pad for tap in range(kernel)]
        return range(r, r + 1) if r in taps else range(0)
    taps = [r * stride - pad + tap * dilation for tap in range(kernel)]
    inside = [t for t in taps if 0 <= t < rows]
    return range(inside[0], inside[-1] + 1, dilation) if inside else range(0)


def _reaching(window: Any, r: int, rows: int) -> range:
    """The rows whose windows, spread over the result, have a tap on row r."""
    kernel, stride, dilation, pad = (sizes[0] for sizes in window.sizes)
    reaching = [
        n
        for n in range(rows)
        if any(n * stride + tap * dilation - pad == r for tap in range(kernel))
    ]
    if not reaching:
        return range(0)
    return range(
        reaching[0], reaching[-1] + 1, reaching[1] - reaching[0] if len(reaching) > 1 else 1
    )


def _resized(whole: ComputeOp, r: int, rows: int) -> range:
    """Return the rows that row `r` of a resize reads, by the runtimes' arithmetic: float32, or
    1024ths of int8."""
    out = rows_of(whole.results[0]) or 0
    half = 0.5 if _property(whole, "half_pixel_centers") is not None else 0.0
    corners = _property(whole, "align_corners") is not None
    a, b = (rows - 1, out - 1) if corners and out > 1 else (rows, out)
    if whole.name.endswith("nearest"):
        at = float32(float32(r + half) * float32(a / b)) + (0.5 if corners else 0.0)
        row = min(max(floor(float32(at)), 0), rows - 1)
        return range(row, row + 1)
    if is_stored(whole.operands[0]) and not is_unsigned(whole.operands[0]):  # uint8 as float32
        scale = (2048 * a + b) // (2 * b)
        at = r * scale + ((scale // 2 - 512) if half else 0)
        low = min(max(_toward_zero(at), 0), rows - 1)
        high = min(max(_toward_zero(at + 1023), 0), rows - 1)
        return range(low, (high if at != 1024 * low else low) + 1)
    at = float32(float32(float32(r + half) * float32(a / b)) - half)
    low = max(floor(at), 0)
    high = max(min(-floor(-at), rows - 1), 0)
    part = at != float(low)
    low = min(low, rows - 1)
    return range(low, (high if part else low) + 1)


def _toward_zero(at: int) -> int:
    return at // 1024 if at >= 0 else -(-at // 1024)
