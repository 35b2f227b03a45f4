"""Rows of `tosa`: which rows of an operand a row of a result reads, by the names of what is said.

kernel, stride, pad, dilation    a window; of a convolution the kernel is that of the weights
axis                             a concatenation, or what is done along it
start                            a slice
"""

from typing import Any

from xdsl.ir import Operation

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import place_of
from memopt.dialects.memgraph.tensors import shape_of

POOLS = ("avg_pool2d", "max_pool2d")
WHOLE = (
    *("conv3d", "fft2d", "fully_connected", "gather", "matmul", "resize", "reverse", "rfft2d"),
    *("scatter", "tile", "transpose", "transpose_conv2d"),
)


def sums_rows(name: str, op: Operation) -> bool:
    """A pool whose result has one row of several."""
    return name in POOLS and shape_of(op.results[0])[1] == 1 and shape_of(op.operands[0])[1] != 1


def rows_read(name: str, op: Operation, k: int, r: int) -> range | None:
    """Raises MemoptError for an operation without rows."""
    if name in WHOLE:
        raise MemoptError(f"tosa.{name} has no rows", place_of(op))
    stride = _said(op, "stride")
    if stride is not None:
        return _window(name, op, r) if k == 0 else None
    if name == "pad":
        return _inside(r - _paddings(op)[2], op, k) if k == 0 else None
    if (start := _said(op, "start")) is not None:
        return _inside(start.get_values()[1] + r, op, k) if k == 0 else None
    axis = _said(op, "axis")
    if axis is not None and axis.value.data == 0:
        raise MemoptError(f"tosa.{name} along 0 has no rows", place_of(op))
    if name == "concat" and axis is not None and axis.value.data == 1:
        above = sum(shape_of(v)[1] for v in op.operands[:k])
        return _inside(r - above, op, k)
    if axis is not None and name != "concat" and axis.value.data == 1:
        raise MemoptError(f"tosa.{name} over rows has none", place_of(op))
    mine, out = shape_of(op.operands[k]), shape_of(op.results[0])
    if axis is None and name not in ("reshape", "identity") and len(mine) != len(out):
        return None
    return range(1) if mine[1] == 1 else range(r, r + 1)


def _said(op: Operation, name: str) -> Any:
    return op.properties.get(name, op.attributes.get(name))


def _inside(row: int, op: Operation, k: int) -> range:
    return range(row, row + 1) if 0 <= row < shape_of(op.operands[k])[1] else range(0)


def _window(name: str, op: Operation, r: int) -> range:
    """The taps, one after the other, that fall on rows of operand 0."""
    dilation = _said(op, "dilation")
    if name in POOLS:
        kernel = _said(op, "kernel").get_values()[0]
    else:
        height, width, *_ = shape_of(op.operands[1])  # of depthwise; else channels come before
        kernel = height if name == "depthwise_conv2d" else width
    step = 1 if dilation is None else dilation.get_values()[0]
    above = _said(op, "pad").get_values()[0]
    if sums_rows(name, op):
        return range(r, r + 1) if -above <= r < kernel - above else range(0)
    at = r * _said(op, "stride").get_values()[0] - above
    inside = [
        at + n * step for n in range(kernel) if 0 <= at + n * step < shape_of(op.operands[0])[1]
    ]
    return range(inside[0], inside[-1] + 1, step) if inside else range(0)


def _paddings(op: Operation) -> list[int]:
    """Pairs of before and after, in one list, as the constant has them."""
    constant: Any = op.operands[1].owner
    dense = _said(constant, "values") or _said(constant, "value")
    return [int(v) for v in dense.get_values()]
