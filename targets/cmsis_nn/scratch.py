"""Scratch that TensorFlow Lite Micro's CMSIS-NN kernels ask for when they are prepared.

    cmsis_nn_bytes(op, mve=False)    # (576,) for a 3x3 convolution of 16 int8 channels
    requested(op, model)             # of the kernels that the memory model names

`mve`: the kernels of a core with the vector extension (Cortex-M55, M85), else of one with the DSP
extension (Cortex-M4, M7, M33). Operators without a CMSIS-NN kernel, and float ones, ask for what
the reference kernels do.
Source: the kernels' Prepare functions in tensorflow/tflite-micro, micro/kernels/cmsis_nn, and what
they call in ARM-software/CMSIS-NN (the `arm_*_get_buffer_size` functions, named at each formula) as
TFLM builds it with GCC. Row sums of constant weights (SVDF, FULLY_CONNECTED with `mve`) are
persistent, not scratch.
"""

from collections.abc import Callable

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.custom import IN_FILE
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.operators.base import ComputeOp
from memopt.targets.core.registry import all_targets
from memopt.targets.tflm.scratch import operand, scratch_bytes

INT8, INT16 = IntegerType(8), IntegerType(16)


def requested(op: Operation, model: ModelAttr) -> tuple[int, ...] | None:
    """Bytes of each scratch buffer that `op` asks for in TFLM with the kernels of `model`, the
    reference kernels if it names none; None where they are not known."""
    if IN_FILE in op.attributes:
        return None
    if model.scratch.data == "cmsis-nn":
        board = all_targets().get(model.target.data)
        return cmsis_nn_bytes(op, board is not None and "mve" in board.isa)
    return scratch_bytes(op)


def cmsis_nn_bytes(op: Operation, mve: bool) -> tuple[int, ...] | None:
    """Bytes of each scratch buffer in the order of the requests; None where they are not known."""
    if isinstance(op, OpaqueOp):
        formula = OPAQUE.get(op.op_name.data)
        return formula(op) if formula else scratch_bytes(op)
    if isinstance(op, ComputeOp):
        return op.scratch("cmsis-nn-mve" if mve else "cmsis-nn")
    return scratch_bytes(op)


def _transpose_conv(op: OpaqueOp) -> tuple[int, ...] | None:
    """arm_transpose_conv_s8_get_buffer_size is another formula in each release."""
    source = operand(op, 2)
    return None if source is None or element_of(source) == INT8 else scratch_bytes(op)


def _lstm(op: OpaqueOp) -> tuple[int, ...] | None:
    """unidirectional_sequence_lstm.cc: three gates where the cell is int16, else four."""
    reference, cell = scratch_bytes(op), operand(op, 19)
    integer = cell is not None and element_of(cell) == INT16
    return reference[:3] if reference is not None and integer else reference


OPAQUE: dict[str, Callable[[OpaqueOp], tuple[int, ...] | None]] = {
    "TRANSPOSE_CONV": _transpose_conv,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
}
