"""Which kernel runs which operator. Everything else is refused by name, with its place."""

from xdsl.ir import Operation

from memopt.backends.c import lower_data, lower_f32, lower_s8
from memopt.backends.c.call import Constants, KernelCall, Lower, element_kind, refuse
from memopt.dialects.arithmetic import FLOAT32_MAX
from memopt.dialects.operators.binary import AddOp, BinaryOp, MulOp
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.movement import CopyOp, ReshapeOp, TransposeOp
from memopt.dialects.operators.pad import PadOp
from memopt.dialects.operators.pooling import AveragePool2DOp, MaxPool2DOp
from memopt.dialects.operators.quantization import DequantizeOp, QuantizeOp
from memopt.dialects.operators.slices import ConcatOp, SliceOp, SplitOp
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.dialects.operators.unary import HardSwishOp, LogisticOp, Relu6Op, ReluOp, TanhOp
from memopt.dialects.structure import OpaqueOp
from memopt.dialects.tensors import is_buffer

_KERNELS: dict[type[Operation], dict[str, Lower]] = {
    AddOp: {"s8": lower_s8.add, "f32": lower_f32.add},
    AveragePool2DOp: {"s8": lower_s8.pool_2d, "f32": lower_f32.pool_2d},
    Conv2DOp: {"s8": lower_s8.conv_2d, "f32": lower_f32.conv_2d},
    DepthwiseConv2DOp: {"s8": lower_s8.conv_2d, "f32": lower_f32.conv_2d},
    DequantizeOp: {"s8 to f32": lower_data.dequantize},
    FullyConnectedOp: {"s8": lower_s8.fully_connected, "f32": lower_f32.fully_connected},
    HardSwishOp: {"f32": lower_data.unary_f32("hard_swish_f32")},
    LogisticOp: {"s8": lower_data.logistic_s8, "f32": lower_data.unary_f32("logistic_f32")},
    MaxPool2DOp: {"s8": lower_s8.pool_2d, "f32": lower_f32.pool_2d},
    MeanOp: {"s8": lower_s8.mean, "f32": lower_f32.mean},
    MulOp: {"s8": lower_s8.mul, "f32": lower_f32.mul},
    PadOp: {"s8": lower_data.pad, "f32": lower_data.pad},
    QuantizeOp: {"f32 to s8": lower_data.quantize_float, "s8": lower_data.requantize},
    ReluOp: {"s8": lower_data.requantize, "f32": lower_data.relu_f32(0.0, FLOAT32_MAX)},
    Relu6Op: {"s8": lower_data.relu6, "f32": lower_data.relu_f32(0.0, 6.0)},
    SoftmaxOp: {"s8": lower_s8.softmax, "f32": lower_f32.softmax},
    TanhOp: {"f32": lower_data.unary_f32("tanh_f32")},
    TransposeOp: {"s8": lower_data.transpose, "f32": lower_data.transpose},
}

_ANY_TYPE: dict[type[Operation], Lower] = {
    ConcatOp: lower_data.concat,
    CopyOp: lower_data.copy,
    ReshapeOp: lower_data.reshape,
    SliceOp: lower_data.slice_,
    SplitOp: lower_data.split,
}
"""Operators that only move bytes."""


def _types(op: Operation) -> str:
    """The element types that decide the kernel: `s8`, or `f32 to s8` where they change."""
    operands = op.operands if isinstance(op, BinaryOp) else op.operands[:1]
    kinds = sorted({element_kind(v) for v in operands if is_buffer(v.type)})
    results = sorted({element_kind(v) for v in op.results if is_buffer(v.type)})
    before, after = " and ".join(kinds), " and ".join(results)
    return before if before == after else f"{before} to {after}"


def lower(op: Operation, constants: Constants) -> list[KernelCall]:
    """The kernel calls of one executing operation. Raises MemoptError if there is no kernel."""
    if isinstance(op, OpaqueOp) and op.op_name.data == "UNINITIALIZED":
        raise refuse(op, "a tensor that is read but never written")
    if isinstance(op, OpaqueOp):
        types = ", ".join(element_kind(v) for v in op.operands if is_buffer(v.type))
        raise refuse(op, f"no kernel for {op.op_name.data} on ({types})")
    found = _ANY_TYPE.get(type(op))
    if found is None:
        kernels = _KERNELS.get(type(op))
        if kernels is None:
            raise refuse(op, f"no kernel for {op.name}")
        types = _types(op)
        if types not in kernels:
            raise refuse(op, f"no kernel for {op.name} on {types}")
        found = kernels[types]
    calls = found(op, constants)
    return calls if isinstance(calls, list) else [calls]
