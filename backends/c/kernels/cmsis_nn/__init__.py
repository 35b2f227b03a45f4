"""Whole int8 operators by CMSIS-NN, for plans with `scratch = cmsis-nn-calls`.

Each kernel calls the library where the build has it (`-DMEMOPT_CMSIS_NN=ON`, CMSIS_NN_DIR) and
memopt's own kernel where it has not. Scratch is what TensorFlow Lite Micro's plan counts for the
same functions (targets/cmsis_nn/scratch.py).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from memopt.backends.c.emit.call import Array, Constants, KernelCall, Table, per_tensor
from memopt.backends.c.emit.int8 import WIDE, int32_bias
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.kernels.binary import sum_stored
from memopt.backends.c.kernels.convolution import conv_2d_s8
from memopt.backends.c.kernels.fully_connected import fully_connected_s8
from memopt.backends.c.kernels.pooling import pool_2d_stored
from memopt.backends.c.kernels.softmax import softmax_of_bytes
from memopt.dialects.arithmetic.even_rounding import rounds_even
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import input_radius, softmax_scaling
from memopt.dialects.memgraph.plan import makes_virtual, reads_virtual
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.binary import AddOp
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.pooling import AveragePool2DOp, MaxPool2DOp
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.dialects.operators.window import WindowedOp
from memopt.targets.cmsis_nn import CMSIS_NN, CMSIS_NN_MVE
from memopt.targets.cmsis_nn.scratch import cmsis_nn_bytes

Filtered = Conv2DOp | DepthwiseConv2DOp
Pooled = AveragePool2DOp | MaxPool2DOp
Fields = tuple[tuple[str, Any], ...]


def _scratch(op: Any, mve: bool) -> int:
    """Bytes of the one buffer that a function asks for."""
    return sum(cmsis_nn_bytes(op, mve) or ())


def _dsp(op: Any) -> int:
    return _scratch(op, mve=False)


def _mve(op: Any) -> int:
    return _scratch(op, mve=True)


def _is_whole(op: ComputeOp) -> bool:
    """Return whether an operator reads and makes buffers, and rounds as the library does."""
    return not (reads_virtual(op) or makes_virtual(op) or rounds_even(op))


def _is_one_image(op: ComputeOp) -> bool:
    return _is_whole(op) and len(shape_of(op.operands[0])) == 4 and shape_of(op.operands[0])[0] == 1


def _is_filtered(op: Filtered) -> bool:
    """Return whether the library computes a convolution: not of channels in groups, not in
    place."""
    if isinstance(op, DepthwiseConv2DOp):
        return _is_one_image(op) and op.in_place is None
    return _is_one_image(op) and op.groups.value.data == 1


def _has_one_scale(op: FullyConnectedOp) -> bool:
    one = len(encoding_of(op.weights).scales) == 1
    return _is_whole(op) and one and not op.has_offset_weights


def _is_even(op: AddOp) -> bool:
    """Return whether both operands have the result's shape."""
    return _is_whole(op) and shape_of(op.lhs) == shape_of(op.rhs) == shape_of(op.result)


def _one(calls: KernelCall | list[KernelCall]) -> KernelCall:
    """An operator's one call."""
    assert isinstance(calls, KernelCall)
    return calls


def _adapter(own: KernelCall, fields: Fields) -> KernelCall:
    """The call of the kernel that has `own` to fall back to."""
    given = (("kernel", f"memopt_{own.kernel}"), ("params", replace(own, operands=())))
    return replace(own, kernel=f"cmsis_{own.kernel}", fields=(*given, *fields))


def _window(op: Filtered | Pooled, own: KernelCall, scratch: int) -> Fields:
    """Return the fields of memopt_cmsis_nn_window."""
    assert isinstance(op, WindowedOp)
    (_, *shape), (_, *out) = shape_of(op.operands[0]), shape_of(op.result)
    kernel, stride, dilation, pad = op.window.sizes
    given = dict(own.fields)
    names = ("in_h", "in_w", "in_c", "out_h", "out_w", "out_c", "k_h", "k_w")
    names += ("stride_h", "stride_w", "dilation_h", "dilation_w", "pad_top", "pad_left")
    values = (*shape, *out, *kernel, *stride, *dilation, *pad[:2])
    return (
        *((f"window.{name}", value) for name, value in zip(names, values, strict=True)),
        *((f"window.{name}", given[name]) for name in ("act_min", "act_max")),
        ("window.scratch_bytes", scratch),
    )


def _shifts(own: KernelCall) -> Array:
    """Shifts to the left, of the codes that memopt_requantize takes."""
    table = dict(own.fields)["shift"]
    assert isinstance(table, Table)
    codes = table.values.astype(np.int32)
    return codes - np.int32(WIDE) * (codes >= 0)


def _bias(op: Filtered | FullyConnectedOp, channels: int, constants: Constants) -> Table:
    return Table("int32_t", int32_bias(op, op.bias, channels, constants).astype(np.int32))


def _register(isa: str, workspace: Callable[[Any], int]) -> None:
    """Register the kernels of windows of an instruction set, which work in so much scratch."""
    windows = partial(
        kernel, types="s8", layout="nhwc", rounding="tflm_double", isa=isa, workspace=workspace
    )

    @windows((Conv2DOp, DepthwiseConv2DOp), where=_is_filtered)
    def filtered(op: Filtered, constants: Constants) -> KernelCall:
        own = _one(conv_2d_s8(op, constants))
        given = dict(own.fields)
        return _adapter(
            own,
            (
                *_window(op, own, workspace(op)),
                ("filter.input_zero_point", given["input_zero_point"]),
                ("filter.output_zero_point", given["output_zero_point"]),
                ("filter.weights", given["weights"]),
                ("filter.bias", _bias(op, shape_of(op.result)[3], constants)),
                ("filter.multiplier", given["multiplier"]),
                ("filter.shift", Table("int32_t", _shifts(own))),
            ),
        )

    @windows((AveragePool2DOp, MaxPool2DOp), where=_is_one_image)
    def pooled(op: Pooled, constants: Constants) -> KernelCall:
        own = _one(pool_2d_stored(op, constants))
        return _adapter(own, _window(op, own, workspace(op)))


_register(CMSIS_NN, _dsp)  # cores with the DSP extension, and those with less
_register(CMSIS_NN_MVE, _mve)


@kernel(
    FullyConnectedOp,
    "s8",
    rounding="tflm_double",
    isa=(CMSIS_NN, CMSIS_NN_MVE),
    where=_has_one_scale,
)
def cmsis_fully_connected_s8(op: FullyConnectedOp, constants: Constants) -> KernelCall:
    """Weights that are only known at run time are for memopt's kernel of such."""
    own = _one(fully_connected_s8(op, constants))
    if constants(op.weights) is None:
        return own
    given, shift = dict(own.fields), _shifts(own)
    multiplier = given["multiplier"]
    assert isinstance(multiplier, Table)
    return _adapter(
        own,
        (
            ("vectors", own.rows.end),
            *((name, given[name]) for name in ("in_n", "out_n")),
            ("input_zero_point", per_tensor(op, op.input)[1]),
            *((name, given[name]) for name in ("output_zero_point", "act_min", "act_max")),
            ("multiplier", int(multiplier.values[0])),
            ("shift", int(shift[0])),
            ("weights", given["weights"]),
            ("bias", _bias(op, shape_of(op.weights)[0], constants)),
        ),
    )


@kernel(AddOp, "s8", rounding="tflm_double", isa=(CMSIS_NN, CMSIS_NN_MVE), where=_is_even)
def cmsis_add_s8(op: AddOp, constants: Constants) -> KernelCall:
    own = _one(sum_stored(op, constants))
    given = {k: v for k, v in own.fields if not k.endswith("_step") and k != "row_n"}
    size = own.rows.end * own.rows.out_stride
    return _adapter(own, (("size", size), *given.items()))


@kernel(SoftmaxOp, "s8", isa=(CMSIS_NN, CMSIS_NN_MVE), where=_is_whole)
def cmsis_softmax_s8(op: SoftmaxOp, constants: Constants) -> KernelCall:
    own = _one(softmax_of_bytes(op, constants))
    multiplier, shift = softmax_scaling(float(op.beta.value.data), per_tensor(op, op.input)[0])
    return _adapter(
        own,
        (
            ("vectors", own.rows.end),
            ("depth", shape_of(op.input)[-1]),
            ("multiplier", multiplier),
            ("shift", shift),
            ("least", -input_radius(5, shift)),
        ),
    )
