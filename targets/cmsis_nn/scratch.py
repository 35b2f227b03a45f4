"""Scratch that TensorFlow Lite Micro's CMSIS-NN kernels request when they are prepared.

    cmsis_nn_bytes(op, mve=False)    # (576,) for a 3x3 convolution of 16 int8 channels

`mve`: the kernels of a core with the vector extension (Cortex-M55, M85), else of one with the DSP
extension (Cortex-M4, M7, M33). A typed operation whose kernel requests other scratch than the
reference kernel has a function here, registered by its class; the others, and float ones, ask for
what the reference kernels do.
Source: the kernels' Prepare functions in tensorflow/tflite-micro, micro/kernels/cmsis_nn, and what
they call in ARM-software/CMSIS-NN (the `arm_*_get_buffer_size` functions, named at each formula) as
TFLM builds it with GCC. Row sums of constant weights (SVDF, FULLY_CONNECTED with `mve`) are
persistent, not scratch.
"""

from collections.abc import Callable
from functools import singledispatch

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from memopt.dialects.arithmetic.stored import element_of, is_small_integer
from memopt.dialects.attributes.model import GENERIC, ModelAttr
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.lstm import LstmOp
from memopt.dialects.operators.pooling import AveragePool2DOp
from memopt.dialects.operators.transpose_convolution import TransposeConv2DOp
from memopt.targets.core.target import all_targets
from memopt.targets.tflm.scratch import is_of_user, operand, scratch_bytes

INT4, INT8, INT16 = (IntegerType(n) for n in (4, 8, 16))
DEPTHWISE_BLOCK = 124  # channels of one block of the vector kernel (CH_IN_BLOCK_MVE)
FAST_INT16 = 512  # elements of a window from which on the int16 kernel takes its slow way


def requests(op: Operation, model: ModelAttr) -> tuple[int, ...] | None:
    """Return what the kernel of the model's core requests; None also where it is the user's."""
    board = all_targets().get(model.target.data)
    has_vectors = board is not None and "mve" in board.isa
    return None if is_of_user(op) else cmsis_nn_bytes(op, has_vectors)


@singledispatch
def cmsis_nn_bytes(op: Operation, mve: bool) -> tuple[int, ...] | None:
    """Bytes of each scratch buffer in the order of the requests; None where they are not known."""
    return scratch_bytes(op)


@cmsis_nn_bytes.register
def _(op: OpaqueOp, mve: bool) -> tuple[int, ...] | None:
    formula = OPAQUE.get(op.op_name.data)
    return formula(op) if formula else scratch_bytes(op)


@cmsis_nn_bytes.register
def _(op: FullyConnectedOp, mve: bool) -> tuple[int, ...] | None:
    """arm_fully_connected_s8: row sums, scratch only of weights that are not constant."""
    if not is_small_integer(op.input):
        return scratch_bytes(op)
    known = is_constant_expression(op.weights, GENERIC)
    int8 = element_of(op.input) == INT8 == element_of(op.weights)
    return (4 * shape_of(op.weights)[0],) if mve and int8 and not known else ()


@cmsis_nn_bytes.register
def _(op: AveragePool2DOp, mve: bool) -> tuple[int, ...]:
    """arm_avgpool_s8 and _s16: a sum per channel."""
    return (4 * shape_of(op.input)[3],) if not mve and is_small_integer(op.input) else ()


@cmsis_nn_bytes.register
def _(op: LstmOp, mve: bool) -> tuple[int, ...]:
    """unidirectional_sequence_lstm.cc: three gates where the cell is int16, else four."""
    gates = scratch_bytes(op) or ()
    return gates[:3] if element_of(op.cell) == INT16 else gates


@cmsis_nn_bytes.register
def _(op: TransposeConv2DOp, mve: bool) -> tuple[int, ...] | None:
    """arm_transpose_conv_s8_get_buffer_size is another formula in each release."""
    return None if element_of(op.input) == INT8 else scratch_bytes(op)


@cmsis_nn_bytes.register
def _(op: Conv2DOp, mve: bool) -> tuple[int, ...] | None:
    if not is_small_integer(op.input):
        return scratch_bytes(op)
    size = _columns(op, mve)
    return (size,) if size else ()


def _columns(op: Conv2DOp, mve: bool) -> int:
    """arm_convolve_wrapper_s8, _s4 and _s16: the window's columns, several at a time."""
    kernel, stride, dilation, pad = op.window.sizes
    channels, plain = shape_of(op.input)[3], dilation == (1, 1)
    window = kernel[0] * kernel[1] * channels
    if element_of(op.input) == INT16:
        return 4 * window if window < FAST_INT16 and plain and not mve else 0
    if kernel == (1, 1) and plain and pad[:2] == (0, 0):
        return 0
    if not mve:
        return 4 * (window if element_of(op.weights) == INT4 else -(-window // 4) * 4)
    row = shape_of(op.input)[1] == 1 and kernel[0] == 1 and dilation[1] == 1
    if row and stride[1] * channels % 4 == 0:
        return _one_row(op)
    return 64 * -(-window // 16)


def _one_row(op: Conv2DOp) -> int:
    """arm_convolve_1_x_n_s8 of the vector kernels: a padded end of the row."""
    kernel, stride, _, pad = op.window.sizes
    (_, _, width, channels), out = shape_of(op.input), shape_of(op.result)[2]
    total = (out - 1) * stride[1] + kernel[1] - width
    odd = total - 2 * int(total / 2)  # C's remainder: -1 where the last columns are not read
    right = max(1, -(-(pad[1] + odd) // stride[1])) if pad[1] + odd else 0
    left_columns = -(-pad[1] // stride[1])
    if right + max(out - right - left_columns, 0) + left_columns != out:
        return 64 * -(-kernel[1] * channels // 16)
    first = kernel[1] * channels
    end = right if odd else pad[1]
    return max(first + pad[1] * channels, first - channels + end * channels)


@cmsis_nn_bytes.register
def _(op: DepthwiseConv2DOp, mve: bool) -> tuple[int, ...] | None:
    """arm_depthwise_conv_wrapper_s8 and _s4; the int16 kernel asks for nothing."""
    if not is_small_integer(op.input):
        return scratch_bytes(op)
    kernel, _, dilation, pad = op.window.sizes
    shape, out = shape_of(op.input), shape_of(op.result)
    optimised = shape[3] == out[3] and shape[0] == 1 and dilation == (1, 1)
    if not optimised or element_of(op.input) == INT16:
        return ()
    if mve:
        return (4 * DEPTHWISE_BLOCK * kernel[0] * kernel[1],)
    if kernel == (3, 3) and max(pad[:2]) <= 1 and element_of(op.weights) == INT8:
        return ()
    return (2 * shape[3] * kernel[0] * kernel[1],)


def _transpose_conv(op: OpaqueOp) -> tuple[int, ...] | None:
    source = operand(op, 2)
    return None if source is None or element_of(source) == INT8 else scratch_bytes(op)


def _lstm(op: OpaqueOp) -> tuple[int, ...] | None:
    reference, cell = scratch_bytes(op), operand(op, 19)
    integer = cell is not None and element_of(cell) == INT16
    return reference[:3] if reference is not None and integer else reference


OPAQUE: dict[str, Callable[[OpaqueOp], tuple[int, ...] | None]] = {
    "TRANSPOSE_CONV": _transpose_conv,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
}
"""Formulas, as above, of operators that stay opaque."""
