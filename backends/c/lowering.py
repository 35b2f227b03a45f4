"""Which kernel runs which operator. Everything else is refused by name, with its place."""

from xdsl.ir import Operation

from memopt.backends.c import lower_f32, lower_s8
from memopt.backends.c.call import Constants, KernelCall, Lower, Rows, element_kind, refuse
from memopt.dialects.memory import bytes_of, is_buffer
from memopt.dialects.operations import AddOp, FullyConnectedOp, ReshapeOp, SoftmaxOp
from memopt.dialects.structure import OpaqueOp
from memopt.dialects.windowed import AveragePool2DOp, Conv2DOp, DepthwiseConv2DOp, MaxPool2DOp

_KERNELS: dict[type[Operation], dict[str, Lower]] = {
    AddOp: {"s8": lower_s8.add, "f32": lower_f32.add},
    AveragePool2DOp: {"s8": lower_s8.pool_2d, "f32": lower_f32.pool_2d},
    Conv2DOp: {"s8": lower_s8.conv_2d, "f32": lower_f32.conv_2d},
    DepthwiseConv2DOp: {"s8": lower_s8.conv_2d, "f32": lower_f32.conv_2d},
    FullyConnectedOp: {"s8": lower_s8.fully_connected, "f32": lower_f32.fully_connected},
    MaxPool2DOp: {"s8": lower_s8.pool_2d, "f32": lower_f32.pool_2d},
    SoftmaxOp: {"s8": lower_s8.softmax, "f32": lower_f32.softmax},
}


def _copy(op: ReshapeOp) -> KernelCall:
    size = bytes_of(op.result.type) or 0
    return KernelCall("copy", "uint8_t", (("row_n", size),), (op.input,), Rows(1, size, size))


def lower(op: Operation, constants: Constants) -> KernelCall:
    """The kernel call of one executing operation. Raises MemoptError if there is no kernel."""
    if isinstance(op, ReshapeOp):
        return _copy(op)
    if isinstance(op, OpaqueOp):
        raise refuse(op, f"no kernel for {op.op_name.data}")
    if type(op) not in _KERNELS:
        raise refuse(op, f"no kernel for {op.name}")
    activations = [v for v in (*op.operands[:1], *op.results) if is_buffer(v.type)]
    if isinstance(op, AddOp):
        activations.append(op.rhs)
    kinds = sorted({element_kind(v) for v in activations})
    if len(kinds) != 1 or kinds[0] not in _KERNELS[type(op)]:
        raise refuse(op, f"no kernel for {op.name} on {' and '.join(kinds)}")
    return _KERNELS[type(op)][kinds[0]](op, constants)
