"""Convolutions and FULLY_CONNECTED with packed weights, which work in scratch to be faster."""

from dataclasses import replace
from functools import partial
from math import prod

from xdsl.ir import Operation

from memopt.backends.c.emit.call import Array, Constants, KernelCall, Rows, per_tensor, size_of
from memopt.backends.c.emit.int8 import folded_bias, int8_weights
from memopt.backends.c.emit.registry import ROUNDINGS, kernel
from memopt.backends.c.emit.rowwise import image_call
from memopt.backends.c.kernels.convolution import filter_matrix, window_fields, with_columns
from memopt.backends.c.rows.row_calls import own_rows, rows_in_turn
from memopt.backends.c.weights.packing import (
    BLOCK,
    column_bytes,
    pack,
    pack_columns,
    padded,
    sum_taps,
)
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.memgraph.plan import WIDE
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.products import matrix_reals

_windows = partial(
    kernel, types="s8", layout="nhwc", rounding=ROUNDINGS, isa="dsp", rows=rows_in_turn, fast=WIDE
)
LONG = 128  # taps
FIELDS = (
    *("in_h", "in_w", "in_c", "out_w", "out_c", "k_h", "k_w", "stride_h", "stride_w"),
    *("dilation_h", "dilation_w", "pad_top", "pad_left"),
)


def _column(op: Conv2DOp | DepthwiseConv2DOp) -> int:
    """Two pixels widened, and where the channels are no words two windows as bytes; 0 for what has
    no such windows."""
    taps = taps_of(op)
    bytes_ = 2 * padded(taps) if shape_of(op.input)[-1] % 4 else 0
    return column_bytes(taps, 2) + bytes_ if windows_pay(op) else 0


def taps_of(op: Conv2DOp | DepthwiseConv2DOp) -> int:
    """Return the number of taps of a window of all channels."""
    return prod(op.window.sizes[0]) * shape_of(op.input)[-1]


def windows_pay(op: Conv2DOp | DepthwiseConv2DOp) -> bool:
    """Return whether windows are of all channels, and blocks of them faster. A depthwise
    convolution of one channel is any convolution of it."""
    in_place = isinstance(op, DepthwiseConv2DOp) and op.in_place is not None
    # windows are put together by bytes
    apart = shape_of(op.input)[-1] % 4 != 0 and op.window.sizes[2][-1] > 1
    return op.groups.value.data == 1 and not in_place and pays(op, taps_of(op), apart)


def pays(op: Operation, taps: int, apart: bool = False) -> bool:
    """Return whether blocks of channels are faster (benchmarks/tables/shapes.py): not less than
    one of them, nor few where taps are dear, or so many that their sums may leave no room for
    another."""
    return shape_of(op.results[0])[-1] >= (4 * BLOCK if apart or taps > 1000 else BLOCK)


@_windows(Conv2DOp, workspace=_column)
def conv_2d_packed_s8(op: Conv2DOp, constants: Constants) -> KernelCall:
    """Weights packed for two pixels times four channels."""
    call = packed_windows(op, constants, "conv_2d_packed_s8", _order(op))
    if not _of_points(op):
        return call
    known = {"in_c", "out_c", *(f for f, _ in call.fields if f.startswith("packed."))}
    fields = tuple((field, value) for field, value in call.fields if field in known)
    return replace(call, kernel="conv_2d_points_packed_s8", fields=fields)


def _of_points(op: Conv2DOp) -> bool:
    """Return whether windows are one pixel of whole words, the only one of a row."""
    kernel, stride, _, pad = op.window.sizes
    alone = shape_of(op.input)[2] == 1 and (*kernel, *stride) == (1, 1, 1, 1) and not any(pad)
    return alone and shape_of(op.input)[3] % 4 == 0


def packed_windows(
    op: Conv2DOp | DepthwiseConv2DOp, constants: Constants, name: str, order: Array | None = None
) -> KernelCall:
    """The call of a kernel that reads such weights, of taps in this order, also of a depthwise one
    of one channel."""
    fields, (matrix, bias, reals) = dict(window_fields(op)), filter_matrix(op, constants)
    packed = pack(op, matrix if order is None else matrix[:, order], bias, reals)
    numbers = ((field, fields.get(field, len(bias))) for field in FIELDS)
    zero = ("input_zero_point", per_tensor(op, op.input)[1])
    return image_call(op, name, (*numbers, zero, *with_columns(op, packed)))


def _order(op: Conv2DOp | DepthwiseConv2DOp) -> Array:
    """Taps as they stand in a column: of each row of a window whole words, then what is left of
    each; one after the other where they are apart."""
    (rows, columns), _, dilation, _ = op.window.sizes
    run = columns * shape_of(op.input)[-1]
    words = run // 4 * 4 if dilation[1] == 1 else run
    taps = np.arange(rows * run).reshape(rows, run)
    return np.concatenate([taps[:, :words].reshape(-1), taps[:, words:].reshape(-1)])


def twos_of(op: DepthwiseConv2DOp) -> int:
    """Return the number of columns with which the windows of a row begin."""
    pixels, stride = shape_of(op.result)[2], op.window.sizes[1][-1]
    return pixels if stride == 2 else (pixels + 1) // 2


def columns_under(op: DepthwiseConv2DOp, twos: int) -> int:
    """Bytes of the columns of four channels under so many twos; 0 for what no such kernel
    computes."""
    shape, out = shape_of(op.input), shape_of(op.result)
    kernel, stride, dilation, pad = op.window.sizes
    fits = (
        (tuple(kernel), tuple(dilation)) == ((3, 3), (1, 1))
        and stride[1] <= 2
        and out[2] >= 2
        and pad[1] <= 1  # on the left
        and len(shape) == 4
        and op.in_place is None
        and shape[3] >= BLOCK
        and out[3] == shape[3] == op.groups.value.data
    )
    return 12 * BLOCK * (twos + 1) if fits else 0


def _row_columns(op: DepthwiseConv2DOp) -> int:
    """Return the bytes of the columns of a row, or those of `_column` for one channel."""
    return _column(op) if shape_of(op.input)[-1] == 1 else columns_under(op, twos_of(op))


@_windows(DepthwiseConv2DOp, workspace=_row_columns)
def depthwise_3x3_packed_s8(op: DepthwiseConv2DOp, constants: Constants) -> KernelCall:
    """Nine products in five instructions; of one channel as any convolution."""
    if shape_of(op.input)[-1] == 1:
        return packed_windows(op, constants, "conv_2d_packed_s8", _order(op))
    return packed_columns(op, constants, twos_of(op))


def packed_columns(op: DepthwiseConv2DOp, constants: Constants, twos: int) -> KernelCall:
    """The call of the kernel, with so many twos of a row at a time."""
    fields, (matrix, bias, reals) = dict(window_fields(op)), filter_matrix(op, constants)
    channels = len(bias)
    reals = reals * (channels if len(reals) == 1 else 1)
    fours = [min(at, channels - BLOCK) for at in range(0, channels, BLOCK)]  # the last may overlap
    order = [first + k for first in fours for k in range(BLOCK)]
    names = ("in_h", "in_w", "in_c", "out_w", "stride_h", "stride_w", "pad_top", "pad_left")
    return image_call(
        op,
        "depthwise_3x3_packed_s8",
        (
            *((name, fields[name]) for name in names),
            ("span", twos * (2 if fields["stride_w"] == 1 else 1)),
            ("input_zero_point", per_tensor(op, op.input)[1]),
            *pack_columns(op, matrix[order], bias[order], [reals[i] for i in order]),
        ),
    )


def _row_column(op: FullyConnectedOp) -> int:
    taps = shape_of(op.weights)[1]
    sums = sum_taps(taps) if op.has_offset_weights else 0
    return column_bytes(padded(taps) + sums, 1) if pays(op, taps) else 0


def added_up(op: FullyConnectedOp) -> str:
    """Return what of an operator in rows a fast kernel cannot: rows whose products it adds up."""
    return "rows that are added up" if op.accumulates else ""


by_vectors = partial(
    kernel, FullyConnectedOp, "s8", rounding=ROUNDINGS, isa="dsp", rows=own_rows, stays=added_up
)


@by_vectors(workspace=_row_column, fast=WIDE)
def fully_connected_packed_s8(op: FullyConnectedOp, constants: Constants) -> KernelCall:
    """Weights packed for four channels; of many taps by a kernel that costs flash, for cycles."""
    if op.has_offset_weights:
        return packed_rows(op, constants, "fully_connected_packed_offset_s8")
    is_long = shape_of(op.weights)[1] >= LONG
    name = "fully_connected_packed_long_s8" if is_long else "fully_connected_packed_s8"
    return packed_rows(op, constants, name)


def packed_rows(op: FullyConnectedOp, constants: Constants, name: str) -> KernelCall:
    """The call of a kernel that reads such weights."""
    out_n, in_n = shape_of(op.weights)
    weights, scales, zero = _stored_weights(op, constants)
    apart = weights.astype(np.int64) - zero
    bias = folded_bias(op, op.input, op.bias, apart, (1,), constants)
    return KernelCall(
        kernel=name,
        fields=(
            ("in_n", in_n),
            ("out_n", out_n),
            *pack(op, weights, bias, matrix_reals(op, op.input, scales), zero),
        ),
        operands=(op.input,),
        rows=Rows.of(op, size_of(op.input) // in_n, in_n, out_n),
    )


def _stored_weights(
    op: FullyConnectedOp, constants: Constants
) -> tuple[Array, tuple[float, ...], int]:
    """Return the int8 weights, their scales and zero point."""
    if not op.has_offset_weights:
        return *int8_weights(op, op.weights, shape_of(op.weights)[0], constants), 0
    weights, encoding = constants(op.weights), encoding_of(op.weights)
    assert weights is not None
    return weights, encoding.scales[:1], encoding.zero_points[0]
