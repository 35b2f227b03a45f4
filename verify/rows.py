"""The plan verifier on rows: what each row of an operator reads, by windows of its own.

It trusts neither `rows_needed` nor the pass that cut the operator. From the attributes alone it
derives which rows of which tensor row r needs, and looks where the operands of `memgraph.row` come
from. What an attribute means is written here a second time on purpose.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import floor
from typing import Any

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from memopt.dialects.arithmetic import float32
from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import has_kind
from memopt.dialects.names import name_of, place_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.rows import JoinOp, ReceiveOp, RowOp, RowOpOp, RowsOp
from memopt.dialects.stored import is_stored
from memopt.dialects.tensors import rows_of, shape_of

Source = tuple[object, int]
"""Where a row comes from: (the tensor, or the operator that makes it and which result) and row."""


@dataclass
class Walk:
    """What has been seen of a block: the tensor and the row that a value is, the rows of each
    operator that have run, and which operand of it reads which tensor."""

    source: dict[SSAValue, Source] = field(default_factory=dict[SSAValue, Source])
    done: dict[SSAValue, list[int]] = field(default_factory=dict[SSAValue, list[int]])
    reads: dict[tuple[SSAValue, int], object] = field(
        default_factory=dict[tuple[SSAValue, int], object]
    )
    sums: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    received: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])


def check_rows(block: Block) -> None:
    """Raise MemoptError unless every row reads exactly the rows it needs, each of one tensor, and
    the rows of every operator run once, ascending, and all; likewise those that are received."""
    if not has_kind(block.ops, (RowsOp, ReceiveOp, JoinOp, RowOp, RowOpOp)):
        return
    walk = Walk()
    for op in block.ops:
        if isinstance(op, RowsOp):
            walk.source.update((v, (op.input, r)) for r, v in enumerate(op.parts))
        elif isinstance(op, ReceiveOp):
            _check_received(op, walk)
        elif isinstance(op, JoinOp):
            _check_join(op, walk)
        elif isinstance(op, RowOp):
            _check_row(op, walk)
    for op in block.ops:
        if isinstance(op, RowOpOp):
            _check_all(op, walk)
    for argument, count in walk.received.items():
        if count != rows_of(argument):
            text = f"{count} rows of {name_of(argument)} are received, not all {rows_of(argument)}"
            raise MemoptError(text, place_of(next(iter(argument.uses)).operation))


def _check_received(op: ReceiveOp, walk: Walk) -> None:
    """The caller hands over rows of an argument from the first on, each once."""
    value, r = op.input, op.index.data
    if not isinstance(value, BlockArgument):
        raise MemoptError(
            f"{name_of(value)} is no argument, so none of it is received", place_of(op)
        )
    expected = walk.received.get(value, 0)
    if r != expected:
        text = f"row {r} of {name_of(value)} is received where row {expected} arrives"
        raise MemoptError(text, place_of(op))
    if any(not isinstance(use.operation, ReceiveOp) for use in value.uses) and r == 0:
        raise MemoptError(f"{name_of(value)} is received, and read as a whole too", place_of(op))
    walk.received[value] = r + 1
    walk.source[op.result] = value, r


def _check_all(op: RowOpOp, walk: Walk) -> None:
    done, expected = walk.done.get(op.operator, []), list(_steps(op.computed))
    if done and done != expected:
        text = f"rows {done[0]} to {done[-1]} of {op.computed.name}, not all {len(expected)}"
        raise MemoptError(text, place_of(op))


def _check_join(op: JoinOp, walk: Walk) -> None:
    sources = [walk.source.get(v) for v in op.parts]
    first = sources[0]
    if first is None or sources != [(first[0], r) for r in range(len(sources))]:
        raise MemoptError("memgraph.join: not the rows of one tensor, in order", place_of(op))
    for r, _ in enumerate(op.parts):  # who cuts the joined tensor again finds the same rows
        walk.source.setdefault(op.parts[r], (op.result, r))


def _check_row(op: RowOp, walk: Walk) -> None:
    whole, r = op.whole, op.index.data
    done = walk.done.setdefault(op.operator, [])
    if done and r <= done[-1]:
        raise MemoptError(f"row {r} of {whole.name} runs after row {done[-1]}", place_of(op))
    done.append(r)
    waiting = iter(op.inputs)
    for k, operand in enumerate(whole.operands):
        if isinstance(operand, OpResult):  # made inside, from constants
            continue
        rows = windows_of(whole, k, r)
        if rows is None:
            _take(op, k, next(waiting, None), walk)
            continue
        for n in rows:
            _take_row(op, (k, n, rows_of(operand) or 0), next(waiting, None), walk)
    if sums_rows(whole):
        _check_sum(op, list(waiting), walk)
        return
    if next(waiting, None) is not None:
        raise MemoptError(f"row {r} of {whole.name} reads more than it needs", place_of(op))
    for index, result in enumerate(op.outputs):
        walk.source[result] = ((op.operator, index), r)


def _take_row(op: RowOp, which: tuple[int, int, int], value: SSAValue | None, walk: Walk) -> None:
    """Row `n` of `rows` of operand `k` is this value."""
    k, n, rows = which
    if value is None:
        raise MemoptError(f"row {op.index.data} of {op.whole.name} lacks row {n}", place_of(op))
    tensor, row = walk.source.get(value, (value, 0) if rows == 1 else (None, -1))
    if tensor is None or row != n:
        text = f"{name_of(value)} is not row {n} of operand {k} of {op.whole.name}"
        raise MemoptError(text, place_of(op))
    if walk.reads.setdefault((op.operator, k), tensor) != tensor:
        text = f"{name_of(value)} is a row of another tensor than operand {k} had before"
        raise MemoptError(text, place_of(op))


def _take(op: RowOp, k: int, value: SSAValue | None, walk: Walk) -> None:
    if value is None or walk.reads.setdefault((op.operator, k), value) != value:
        text = f"operand {k} of {op.whole.name} is not the tensor that it was before"
        raise MemoptError(text, place_of(op))


def _check_sum(op: RowOp, before: list[SSAValue], walk: Walk) -> None:
    """A sum takes what the row before made, and nobody else does."""
    last = walk.sums.get(op.operator)
    if before != ([last] if last is not None else []):
        text = f"row {op.index.data} of {op.whole.name} does not take the sum of the rows before"
        raise MemoptError(text, place_of(op))
    if last is not None and not last.has_one_use():
        raise MemoptError(f"the sum {name_of(last)} is read by others", place_of(op))
    walk.sums[op.operator] = op.outputs[0]


def _steps(whole: ComputeOp) -> Iterator[int]:
    if not sums_rows(whole):
        yield from range(rows_of(whole.results[0]) or 0)
        return
    for r in range(rows_of(whole.operands[0]) or 0):
        if windows_of(whole, 0, r):
            yield r


def _property(op: Operation, name: str) -> Any:
    return op.properties.get(name)


def sums_rows(whole: ComputeOp) -> bool:
    """Whether the operator sums over the rows of operand 0."""
    rows, out = rows_of(whole.operands[0]), rows_of(whole.results[0])
    if (axes := _property(whole, "axes")) is not None:
        return 1 in axes.get_values()
    if _property(whole, "window") is not None:
        return len(whole.operands) == 1 and out == 1 != rows
    return out is None or len(whole.results[0].type.get_shape()) < 3  # type: ignore[attr-defined]


def windows_of(whole: ComputeOp, k: int, r: int) -> range | None:
    """The rows of operand `k` that row `r` needs, None if all of it, by the attributes alone."""
    rows = rows_of(whole.operands[k])
    if rows is None:
        return None
    window = _property(whole, "window")
    if window is not None and "transpose_conv" in whole.name:
        return _reaching(window, r, rows) if k == 0 else None
    if window is not None:
        return _window(whole, window, r, rows) if k == 0 else None
    if "depth_to_space" in whole.name:
        r //= _property(whole, "block").value.data
        return range(r, r + 1)
    if (before := _property(whole, "before")) is not None:
        r -= int(before.get_values()[1])
        return range(r, r + 1) if 0 <= r < rows else range(0)
    if (starts := _property(whole, "starts")) is not None:
        r = int(starts.get_values()[1]) + r * int(_property(whole, "strides").get_values()[1])
        return range(r, r + 1)
    if "resize" in whole.name:
        return _resized(whole, r, rows)
    axis = _property(whole, "axis")
    if axis is not None and axis.value.data == 1 and len(whole.results) == 1:
        above = [rows_of(v) or 0 for v in whole.operands[:k]]
        r -= sum(above)
        return range(r, r + 1) if 0 <= r < rows else range(0)
    if len(whole.operands) > 1 and _rank(whole.operands[k]) < _rank(whole.results[0]):
        return None  # broadcast from the last dimension on: its second is no height
    return range(1) if rows == 1 and not sums_rows(whole) else range(r, r + 1)


def _rank(value: SSAValue) -> int:
    return len(shape_of(value))


def _window(whole: ComputeOp, window: Any, r: int, rows: int) -> range:
    kernel, stride, dilation, pad = (sizes[0] for sizes in window.sizes)
    if sums_rows(whole):
        taps = [tap * dilation - pad for tap in range(kernel)]
        return range(r, r + 1) if r in taps else range(0)
    taps = [r * stride - pad + tap * dilation for tap in range(kernel)]
    inside = [t for t in taps if 0 <= t < rows]
    return range(inside[0], inside[-1] + 1, dilation) if inside else range(0)


def _reaching(window: Any, r: int, rows: int) -> range:
    """The rows whose windows, spread over the result, have a tap on row r."""
    kernel, stride, dilation, pad = (sizes[0] for sizes in window.sizes)
    found = [
        n
        for n in range(rows)
        if any(n * stride + tap * dilation - pad == r for tap in range(kernel))
    ]
    if not found:
        return range(0)
    return range(found[0], found[-1] + 1, found[1] - found[0] if len(found) > 1 else 1)


def _resized(whole: ComputeOp, r: int, rows: int) -> range:
    """Of the runtimes' float32, or of 1024ths."""
    out = rows_of(whole.results[0]) or 0
    half = 0.5 if _property(whole, "half_pixel_centers") is not None else 0.0
    corners = _property(whole, "align_corners") is not None
    a, b = (rows - 1, out - 1) if corners and out > 1 else (rows, out)
    if whole.name.endswith("nearest"):
        at = float32(float32(r + half) * float32(a / b)) + (0.5 if corners else 0.0)
        row = min(max(floor(float32(at)), 0), rows - 1)
        return range(row, row + 1)
    if is_stored(whole.operands[0]):
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
