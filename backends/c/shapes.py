"""The parameters that int8 and float32 kernels share: windows, and how operands broadcast."""

import math

from xdsl.ir import SSAValue

from memopt.backends.c.call import C_TYPES, Constants, Rows, Table, element_kind, refuse, split_rows
from memopt.dialects.operators.binary import BinaryOp
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.pooling import PoolBase
from memopt.dialects.tensors import shape_of

Fields = tuple[tuple[str, int], ...]


def window_fields(op: Conv2DOp | DepthwiseConv2DOp) -> Fields:
    """The shape fields of a convolution's parameters, in the order of its struct."""
    shape, out, weights = shape_of(op.input), shape_of(op.result), shape_of(op.weights)
    if len(shape) != 4:
        raise refuse(op, f"a convolution over {len(shape) - 2} spatial dimensions")
    if 0 in shape or 0 in out:
        raise refuse(op, "a tensor without elements")
    kernel, stride, dilation, pad = op.window.sizes
    groups = op.groups.value.data
    if isinstance(op, DepthwiseConv2DOp):
        if groups != shape[3] or out[3] % shape[3] or weights[0] != 1 or weights[3] != out[3]:
            raise refuse(op, f"weights {weights} of a depthwise convolution {shape} -> {out}")
        channels: Fields = (("out_w", out[2]), ("depth_multiplier", out[3] // shape[3]))
        kernel_fields: Fields = (("k_h", kernel[0]), ("k_w", kernel[1]))
    else:
        if weights[3] * groups != shape[3] or out[3] % groups or weights[0] != out[3]:
            raise refuse(op, f"weights {weights} in {groups} groups for {shape} -> {out}")
        channels = (("out_w", out[2]), ("out_c", out[3]))
        kernel_fields = (("k_h", kernel[0]), ("k_w", kernel[1]), ("k_c", weights[3]))
    return (
        ("in_h", shape[1]),
        ("in_w", shape[2]),
        ("in_c", shape[3]),
        *channels,
        *kernel_fields,
        ("stride_h", stride[0]),
        ("stride_w", stride[1]),
        ("dilation_h", dilation[0]),
        ("dilation_w", dilation[1]),
        ("pad_top", pad[0]),
        ("pad_left", pad[1]),
    )


def pool_fields(op: PoolBase) -> str:
    """The initialiser of memopt_pool_2d_window."""
    shape, out = shape_of(op.input), shape_of(op.result)
    if len(shape) != 4:
        raise refuse(op, f"a pool over {len(shape) - 2} spatial dimensions")
    if 0 in shape or 0 in out:
        raise refuse(op, "a tensor without elements")
    if op.count_include_pad is not None:
        raise refuse(op, "a pool whose padding counts")
    kernel, stride, dilation, pad = op.window.sizes
    if dilation != (1, 1):
        raise refuse(op, "a dilated pool")
    for i in range(2):
        last = (out[1 + i] - 1) * stride[i] - pad[i]
        if pad[i] >= kernel[i] or last >= shape[1 + i]:
            raise refuse(op, "a pool window that lies in the padding altogether")
    values = {
        "in_h": shape[1],
        "in_w": shape[2],
        "channels": shape[3],
        "out_w": out[2],
        "k_h": kernel[0],
        "k_w": kernel[1],
        "stride_h": stride[0],
        "stride_w": stride[1],
        "pad_top": pad[0],
        "pad_left": pad[1],
    }
    return "{" + ", ".join(f".{name} = {value}" for name, value in values.items()) + "}"


def _steps(shape: tuple[int, ...], out: tuple[int, ...]) -> tuple[int, int, int] | None:
    """(element step, row step, elements of a row or 0 if any will do) of an operand; None if none.

    Same shape: 1, 1. One element: 0, 0. The last dimensions of the result: 1, 0, and the operand
    is the row.
    """
    size = math.prod(shape)
    if size == math.prod(out):
        return 1, 1, 0
    if size == 1:
        return 0, 0, 0
    trailing = tuple(shape)
    while trailing and trailing[0] == 1:
        trailing = trailing[1:]
    if trailing == out[len(out) - len(trailing) :]:
        return 1, 0, size
    return None


def binary_steps(
    op: BinaryOp, constants: Constants
) -> tuple[int, Rows, tuple[SSAValue | Table, ...], Fields]:
    """(elements of a row, rows, operands, step fields) of an element-wise operator of two operands.

    Refuses broadcasts other than of one element or along leading dimensions.
    """
    out = shape_of(op.result)
    a, b = _steps(shape_of(op.lhs), out), _steps(shape_of(op.rhs), out)
    if a is None or b is None or (a[2] and b[2] and a[2] != b[2]):
        raise refuse(op, f"the broadcast {shape_of(op.lhs)} with {shape_of(op.rhs)}")
    rows, row_n = split_rows(out)
    if row := a[2] or b[2]:
        rows, row_n = math.prod(out) // row, row
    operands: list[SSAValue | Table] = []
    for value in (op.lhs, op.rhs):
        array = constants(value)
        kind = C_TYPES[element_kind(value)]
        operands.append(value if array is None else Table(kind, array))
    steps = (
        ("a_step", a[0]),
        ("b_step", b[0]),
        ("a_row_step", a[1]),
        ("b_row_step", b[1]),
    )
    return row_n, Rows(rows, row_n, row_n), tuple(operands), steps


def mean_shape(op: MeanOp) -> tuple[int, int, int]:
    """(outer, count, inner): the operand as three dimensions, of which the second is averaged."""
    shape = shape_of(op.input)
    axes = sorted({int(v) for v in op.axes.get_values()})
    if not axes or axes != list(range(axes[0], axes[-1] + 1)) or 0 in shape:
        raise refuse(op, f"a mean over axes {axes}, only over neighbouring ones")
    first, last = axes[0], axes[-1]
    return (
        math.prod(shape[:first]),
        math.prod(shape[first : last + 1]),
        math.prod(shape[last + 1 :]),
    )
