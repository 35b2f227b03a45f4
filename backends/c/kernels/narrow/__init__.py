"""Kernels with packed weights that read bytes, mostly where they lie, without scratch, or columns
of a part of a row."""

from dataclasses import replace

from memopt.backends.c.emit.call import Constants, KernelCall, Table
from memopt.backends.c.emit.registry import ROUNDINGS, kernel
from memopt.backends.c.emit.rowwise import a_few
from memopt.backends.c.kernels.packed import (
    by_vectors,
    columns_under,
    packed_columns,
    packed_rows,
    packed_windows,
    pays,
    taps_of,
    twos_of,
    windows_pay,
)
from memopt.backends.c.rows.row_calls import window_rows
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.memgraph.plan import NARROW
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp

WORD = 4  # bytes
RUNS = 10  # CONV_2D_NARROW_RUNS
FEW = 32  # CONV_2D_FEW_NARROW


def _in_runs(op: Conv2DOp) -> bool:
    """Return whether windows are words in no more runs than the kernel takes, or one without
    padding."""
    (rows, columns, *more), _, dilation, pad = op.window.sizes
    one = rows == 1 and (columns == 1 or dilation[-1] == 1) and not any(pad)
    apart = columns if dilation[-1] > 1 else min(columns, 1 + (pad[1] > 0) + (pad[-1] > 0))
    return (
        not more
        and op.groups.value.data == 1
        and (one or shape_of(op.input)[-1] % WORD == 0)
        and rows * apart <= RUNS
        and pays(op, taps_of(op))
    )


def _few_taps(op: Conv2DOp | DepthwiseConv2DOp) -> bool:
    """Return whether windows are no words, but few bytes."""
    return shape_of(op.input)[-1] % WORD != 0 and taps_of(op) <= FEW and windows_pay(op)


@kernel(
    Conv2DOp,
    "s8",
    "nhwc",
    rounding=ROUNDINGS,
    isa="dsp",
    rows=window_rows,
    fast=NARROW,
    where=lambda op: _in_runs(op) or _few_taps(op),
)
def conv_2d_narrow_s8(op: Conv2DOp, constants: Constants) -> KernelCall:
    """Windows of channels that are words, or of few taps."""
    if _few_taps(op):
        return packed_windows(op, constants, "conv_2d_few_narrow_s8")
    call = packed_windows(op, constants, "conv_2d_narrow_s8")
    fields, (kernel, stride, _, pad) = dict(call.fields), op.window.sizes
    bytes_ = (kernel[1] + stride[1]) * shape_of(op.input)[-1]
    padding = np.full(bytes_, fields.pop("input_zero_point"), np.int8)
    table = Table("int8_t", padding) if any(pad) else "NULL"
    return replace(call, fields=(*fields.items(), ("padding", table)))


def _few_columns(op: DepthwiseConv2DOp) -> int:
    """Bytes of those of a part of a row; 0 where that is all of it."""
    few = a_few(twos_of(op))
    return columns_under(op, few) if few else 0


@kernel(
    DepthwiseConv2DOp,
    "s8",
    "nhwc",
    rounding=ROUNDINGS,
    isa="dsp",
    workspace=_few_columns,
    rows=window_rows,
    fast=NARROW,
    where=lambda op: _few_taps(op) or _few_columns(op) > 0,
)
def depthwise_conv_2d_narrow_s8(op: DepthwiseConv2DOp, constants: Constants) -> KernelCall:
    """Return the call for one channel, or for columns that are packed a part of a row at a time."""
    if _few_taps(op):
        return packed_windows(op, constants, "conv_2d_few_narrow_s8")
    return packed_columns(op, constants, a_few(twos_of(op)))


def _in_words(op: FullyConnectedOp) -> bool:
    out_n, in_n = shape_of(op.weights)
    is_in_words = in_n % WORD == 0 and out_n * in_n > 0 and pays(op, in_n)
    return is_in_words and not op.has_offset_weights


@by_vectors(fast=NARROW, where=_in_words)
def fully_connected_narrow_s8(op: FullyConnectedOp, constants: Constants) -> KernelCall:
    """Rows that are words, read where they lie."""
    return packed_rows(op, constants, "fully_connected_narrow_s8")
