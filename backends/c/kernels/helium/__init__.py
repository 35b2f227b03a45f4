"""Convolutions by Helium that work in scratch to be faster."""

from collections.abc import Callable
from functools import partial
from math import prod

from memopt.backends.c.emit.call import Constants, KernelCall
from memopt.backends.c.emit.int8 import int8_range, zero_points
from memopt.backends.c.emit.registry import ROUNDINGS, kernel
from memopt.backends.c.emit.rowwise import a_few, image_call
from memopt.backends.c.kernels.convolution import filter_matrix, window_fields
from memopt.backends.c.rows.row_calls import window_rows
from memopt.backends.c.weights.packing import channel_list, rounding_of
from memopt.backends.c.weights.vectors import LANES, STEP, blocks_of, strips_of
from memopt.dialects.memgraph.plan import NARROW, WIDE
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp

SHAPE, WINDOW = "in_h in_w in_c out_w", "k_h k_w stride_h stride_w dilation_h"  # fields
PAD = "pad_top pad_left"
Filtering = Conv2DOp | DepthwiseConv2DOp
FEW = 2  # channels that cost less by twos
_windows = partial(
    kernel, types="s8", layout="nhwc", rounding=ROUNDINGS, isa="mve", rows=window_rows
)
STRIP = 4096  # bytes of a strip that would be longer than two pixels need


def _steps(op: Filtering) -> int:
    """Return how many steps of sixteen taps a window takes."""
    return -(-prod(op.window.sizes[0]) * shape_of(op.input)[-1] // STEP)


def _two_windows(op: Filtering) -> int:
    """Two windows as bytes; 0 for what no such kernel computes. A depthwise convolution of one
    channel is one that is not."""
    fits = op.groups.value.data == 1 and shape_of(op.result)[-1] > FEW
    if isinstance(op, DepthwiseConv2DOp):
        fits = fits and op.in_place is None
    return 2 * STEP * _steps(op) if fits else 0


@_windows(Conv2DOp, workspace=_two_windows, fast=WIDE)
def conv_2d_blocks_s8(op: Filtering, constants: Constants) -> KernelCall:
    """Weights in the order in which vectors of sixteen taps read them, four channels at a time."""
    matrix, bias, reals = filter_matrix(op, constants)
    fields = {**dict(window_fields(op)), "out_c": len(bias)}
    return image_call(
        op,
        "conv_2d_blocks_s8",
        (
            *((name, fields[name]) for name in f"{SHAPE} out_c {WINDOW} dilation_w {PAD}".split()),
            *zero_points(op, op.input, op.result),
            *int8_range(op, op.result),
            *blocks_of(channel_list(op, matrix, bias, reals, rounding_of(op)), _steps(op)),
        ),
    )


def _column(op: DepthwiseConv2DOp) -> int:
    """Bytes of one column of a strip."""
    return op.window.sizes[0][0] * LANES


def _span(op: DepthwiseConv2DOp) -> int:
    """Pixels whose windows a strip holds: an even number, or all of a row."""
    (_, k_w), (_, stride) = op.window.sizes[:2]
    all_ = shape_of(op.result)[2]
    fit = (STRIP // _column(op) - k_w) // stride + 1
    return all_ if fit >= all_ else max(2, fit // 2 * 2)


def _short_span(op: DepthwiseConv2DOp) -> int:
    """Return the span of a strip that is as short for any row; 0 where a long one is no longer."""
    return a_few(_span(op))


def _strip(op: DepthwiseConv2DOp, span: Callable[[DepthwiseConv2DOp], int]) -> int:
    """A strip, and what weights of zero read behind it; 0 for what no such kernel computes."""
    shape, out = shape_of(op.input), shape_of(op.result)
    kernel_, stride, dilation, _ = op.window.sizes
    fits = (
        len(shape) == 4
        and op.in_place is None
        and dilation[1] == 1
        and out[2] > 1  # two pixels
        and out[3] == shape[3] == op.groups.value.data
    )
    pixels = span(op) if fits else 0
    columns = (pixels - 1) * stride[1] + kernel_[1]
    return columns * _column(op) + (0 if prod(kernel_) % 2 else LANES) if pixels else 0


def _long_strip(op: DepthwiseConv2DOp) -> int:
    return _two_windows(op) or _strip(op, _span)


def _short_strip(op: DepthwiseConv2DOp) -> int:
    return 0 if _two_windows(op) else _strip(op, _short_span)


@_windows(DepthwiseConv2DOp, workspace=_long_strip, fast=WIDE)
def depthwise_strips_s8(
    op: DepthwiseConv2DOp, constants: Constants
) -> KernelCall | list[KernelCall]:
    """Windows that are one run each."""
    if _two_windows(op):
        return conv_2d_blocks_s8(op, constants)
    return _strips(op, constants, _span(op))


@_windows(DepthwiseConv2DOp, workspace=_short_strip, fast=NARROW)
def depthwise_short_strips_s8(op: DepthwiseConv2DOp, constants: Constants) -> KernelCall:
    """Return the call of the strips of a few pixels at a time."""
    return _strips(op, constants, _short_span(op))


def _strips(op: DepthwiseConv2DOp, constants: Constants, span: int) -> KernelCall:
    """The call of the kernel, with strips of so many pixels."""
    fields, (k_h, k_w) = dict(window_fields(op)), op.window.sizes[0]
    rows, bias, reals = filter_matrix(op, constants)
    matrix = rows.reshape(-1, k_h, k_w).swapaxes(1, 2).reshape(len(bias), -1)  # column by column
    return image_call(
        op,
        "depthwise_strips_s8",
        (
            *((name, fields[name]) for name in f"{SHAPE} {WINDOW} {PAD}".split()),
            ("span", span),
            *zero_points(op, op.input, op.result),
            *int8_range(op, op.result),
            *strips_of(channel_list(op, matrix, bias, reals, rounding_of(op)), k_h * k_w),
        ),
    )
