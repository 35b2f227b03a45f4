"""Kernels of ConvInteger of ONNX: products of integers of 8 bits, channels first."""

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    element_kind,
    refuse,
    tensor_or_table,
)
from memopt.backends.c.emit.registry import kernel
from memopt.dialects.arithmetic.stored import is_stored
from memopt.dialects.memgraph.tensors import elements_of, shape_of
from memopt.dialects.operators.convolution_integer import ConvIntegerOp


@kernel(ConvIntegerOp, "s8 to i32, u8 to i32")
def conv_integer(op: ConvIntegerOp, constants: Constants) -> KernelCall:
    if any(is_stored(v) for v in (*op.operands, op.result)):
        raise refuse(op, "integers with a scale")
    shape, filters, out = (shape_of(v) for v in (op.input, op.weights, op.result))
    if 0 in (*shape, *filters, *out):
        raise refuse(op, "a tensor without elements")
    kinds = [element_kind(v) for v in (op.input, op.weights, op.zero, op.weights_zero)]
    if kinds[:2] != kinds[2:] or kinds[1] not in ("s8", "u8"):
        raise refuse(op, f"a convolution of {kinds[0]} and {kinds[1]}, zero points of other types")
    _, stride, dilation, pad = op.window.sizes
    groups = op.groups.value.data
    fields = (
        *(("batches", shape[0]), ("groups", groups), ("in_h", shape[2]), ("in_w", shape[3])),
        *(("filters", filters[0] // groups), ("depth", filters[1])),
        *(("k_h", filters[2]), ("k_w", filters[3]), ("out_h", out[2]), ("out_w", out[3])),
        *(("stride_h", stride[0]), ("stride_w", stride[1])),
        *(("dilation_h", dilation[0]), ("dilation_w", dilation[1])),
        *(("pad_top", pad[0]), ("pad_left", pad[1])),
        *(("zeros", int(elements_of(op.weights_zero) > 1)),),
        *((f"{side}_sign", 128 * (kind == "s8")) for side, kind in zip("ab", kinds, strict=False)),
    )
    operands = tuple(tensor_or_table(op, v, constants) for v in op.operands)
    return KernelCall("conv_integer", fields, operands, Rows(1, 0, 0))
