"""float32 operators to kernel calls."""

from xdsl.ir import Operation, SSAValue

from memopt.backends.c.call import (
    Array,
    Constants,
    KernelCall,
    Rows,
    Table,
    activation_of,
    need_layout,
    refuse,
    size_of,
)
from memopt.backends.c.shapes import binary_steps, mean_shape, pool_fields, window_fields
from memopt.dialects.arithmetic import float_range
from memopt.dialects.operators.binary import AddOp, MulOp
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.pooling import AveragePool2DOp, MaxPool2DOp
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.dialects.tensors import shape_of


def _range(op: Operation) -> tuple[tuple[str, float], ...]:
    low, high = float_range(activation_of(op))
    return (("act_min", low), ("act_max", high))


def _weights(op: Operation, weights: SSAValue, constants: Constants) -> Array:
    array = constants(weights)
    if array is None:
        raise refuse(op, "weights that are only known at run time")
    if str(array.dtype) != "float32":
        raise refuse(op, f"hybrid operator: float32 activations with {array.dtype} weights")
    return array


def _bias(op: Operation, bias: SSAValue | None, channels: int, constants: Constants) -> Table:
    import numpy as np

    if bias is None:
        return Table("float", np.zeros(channels, dtype=np.float32))
    array = _weights(op, bias, constants)
    if array.size != channels:
        raise refuse(op, f"{array.size} biases for {channels} channels")
    return Table("float", array)


def conv_2d(op: Conv2DOp | DepthwiseConv2DOp, constants: Constants) -> KernelCall:
    """CONV_2D and DEPTHWISE_CONV_2D."""
    need_layout(op, op.input, "nhwc")
    depthwise = isinstance(op, DepthwiseConv2DOp)
    need_layout(op, op.weights, *(("ihwo", "1hwo") if depthwise else ("ohwi",)))
    shape, out = shape_of(op.input), shape_of(op.result)
    return KernelCall(
        kernel="depthwise_conv_2d_f32" if depthwise else "conv_2d_f32",
        c_type="float",
        fields=(
            *window_fields(op),
            *_range(op),
            ("weights", Table("float", _weights(op, op.weights, constants))),
            ("bias", _bias(op, op.bias, out[3], constants)),
        ),
        operands=(op.input,),
        rows=Rows(out[1], shape[2] * shape[3], out[2] * out[3]),
        batches=out[0],
        in_batch=size_of(op.input) // shape[0],
        out_batch=size_of(op.result) // out[0],
    )


def fully_connected(op: FullyConnectedOp, constants: Constants) -> KernelCall:
    out_n, in_n = shape_of(op.weights)
    if 0 in (out_n, in_n):
        raise refuse(op, "a tensor without elements")
    return KernelCall(
        kernel="fully_connected_f32",
        c_type="float",
        fields=(
            ("in_n", in_n),
            ("out_n", out_n),
            *_range(op),
            ("weights", Table("float", _weights(op, op.weights, constants))),
            ("bias", _bias(op, op.bias, out_n, constants)),
        ),
        operands=(op.input,),
        rows=Rows(size_of(op.input) // in_n, in_n, out_n),
    )


def add(op: AddOp, constants: Constants) -> KernelCall:
    row_n, rows, operands, steps = binary_steps(op, constants)
    return KernelCall(
        kernel="add_f32",
        c_type="float",
        fields=(("row_n", row_n), *_range(op), *steps),
        operands=operands,
        rows=rows,
    )


def mul(op: MulOp, constants: Constants) -> KernelCall:
    row_n, rows, operands, steps = binary_steps(op, constants)
    return KernelCall(
        kernel="mul_f32",
        c_type="float",
        fields=(("row_n", row_n), *_range(op), *steps),
        operands=operands,
        rows=rows,
    )


def mean(op: MeanOp, constants: Constants) -> KernelCall:
    outer, count, inner = mean_shape(op)
    return KernelCall(
        kernel="mean_f32",
        c_type="float",
        fields=(("count", count), ("inner", inner)),
        operands=(op.input,),
        rows=Rows(outer, count * inner, inner),
    )


def pool_2d(op: AveragePool2DOp | MaxPool2DOp, constants: Constants) -> KernelCall:
    """AVERAGE_POOL_2D and MAX_POOL_2D."""
    need_layout(op, op.input, "nhwc")
    shape, out = shape_of(op.input), shape_of(op.result)
    return KernelCall(
        kernel="average_pool_2d_f32" if isinstance(op, AveragePool2DOp) else "max_pool_2d_f32",
        c_type="float",
        fields=(("window", pool_fields(op)), *_range(op)),
        operands=(op.input,),
        rows=Rows(out[1], shape[2] * shape[3], out[2] * out[3]),
        batches=out[0],
        in_batch=size_of(op.input) // shape[0],
        out_batch=size_of(op.result) // out[0],
    )


def softmax(op: SoftmaxOp, constants: Constants) -> KernelCall:
    shape = shape_of(op.input)
    if op.axis.value.data != len(shape) - 1:
        raise refuse(op, f"softmax over axis {op.axis.value.data}, only over the last one")
    if 0 in shape:
        raise refuse(op, "a tensor without elements")
    return KernelCall(
        kernel="softmax_f32",
        c_type="float",
        fields=(("depth", shape[-1]), ("beta", float(op.beta.value.data))),
        operands=(op.input,),
        rows=Rows(size_of(op.input) // shape[-1], shape[-1], shape[-1]),
    )
