"""QUANTIZE and DEQUANTIZE."""

from memopt.backends.c.call import (
    Constants,
    KernelCall,
    per_tensor,
)
from memopt.backends.c.registry import kernel
from memopt.backends.c.row_calls import own_rows
from memopt.backends.c.rowwise import lookup, rowwise
from memopt.dialects.even_rounding import rounds_even
from memopt.dialects.operators.quantization import DequantizeOp, QuantizeOp


@kernel(QuantizeOp, "f32 to s8", rounding=("tflm_double", "onnx_even"), rows=own_rows)
def quantize_float(op: QuantizeOp, constants: Constants) -> KernelCall:
    scale, zero = per_tensor(op, op.result)
    fields = (("scale", scale), ("zero_point", zero), ("ties_even", int(rounds_even(op))))
    return rowwise(op, "quantize_f32_s8", fields)


@kernel(QuantizeOp, "s8", rounding=("tflm_double", "onnx_even"), rows=own_rows)
def requantize(op: QuantizeOp, constants: Constants) -> KernelCall:
    """Between int8 types."""
    return lookup(op)


@kernel(DequantizeOp, "s8 to f32", rows=own_rows)
def dequantize(op: DequantizeOp, constants: Constants) -> KernelCall:
    scale, zero = per_tensor(op, op.input)
    fields = (("scale", scale), ("zero_point", zero))
    return rowwise(op, "dequantize_s8_f32", fields)
