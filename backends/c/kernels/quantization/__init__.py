"""QUANTIZE and DEQUANTIZE: every pair that TensorFlow Lite Micro or LiteRT has."""

from memopt.backends.c.emit.call import Constants, KernelCall, element_kind, per_tensor, refuse
from memopt.backends.c.emit.int8 import WIDE
from memopt.backends.c.emit.registry import ROUNDINGS, kernel
from memopt.backends.c.emit.rowwise import lookup, rowwise
from memopt.backends.c.rows.row_calls import own_rows
from memopt.dialects.arithmetic.even_rounding import rounds_even
from memopt.dialects.arithmetic.scalars import quantize_multiplier
from memopt.dialects.arithmetic.stored import limits_of
from memopt.dialects.operators.quantization import DequantizeOp, QuantizeOp, narrower
from memopt.dialects.operators.unary import requantizer


@kernel(QuantizeOp, "f32 to s8, f32 to u8, f32 to s16", rounding=ROUNDINGS, rows=own_rows)
def quantize_float(op: QuantizeOp, constants: Constants) -> KernelCall:
    scale, zero = per_tensor(op, op.result)
    fields = (("scale", scale), ("zero_point", zero), ("ties_even", int(rounds_even(op))))
    return rowwise(op, f"quantize_f32_{element_kind(op.result)}", fields)


@kernel(
    QuantizeOp,
    "s8, u8, s8 to u8, u8 to s8, s8 to s16, u8 to s16",
    rounding=ROUNDINGS,
    rows=own_rows,
)
def requantize(op: QuantizeOp, constants: Constants) -> KernelCall:
    """Return the call for bytes, of which there are no more than 256: a table."""
    return lookup(op)


@kernel(QuantizeOp, "s8 to i32, s16, s16 to s8, s16 to i32", rounding="tflm_double", rows=own_rows)
def requantize_stored(op: QuantizeOp, constants: Constants) -> KernelCall:
    (in_scale, in_zero), (out_scale, out_zero) = per_tensor(op, op.input), per_tensor(op, op.result)
    limits = limits_of(op, op.result)
    requantizer(op, limits_of(op, op.input), *limits)  # refuses what has no meaning
    if out_zero and element_kind(op.result) == "i32":
        raise refuse(op, "32 bits with a zero point")
    multiplier, shift = quantize_multiplier(in_scale / out_scale)
    code = shift + WIDE if shift >= 0 else shift
    numbers = (("multiplier", multiplier), ("shift", code))
    fields = (("input_zero_point", in_zero), ("output_zero_point", out_zero), *numbers)
    return rowwise(op, _name(op), fields)


def _name(op: QuantizeOp) -> str:
    return f"requantize_{element_kind(op.input)}_{element_kind(op.result)}"


@kernel(QuantizeOp, "i32 to s8, i32 to s16", rounding="tflm_double", rows=own_rows)
def requantize_i32(op: QuantizeOp, constants: Constants) -> KernelCall:
    narrower(op)  # refuses what has no meaning
    (in_scale, _), (out_scale, out_zero) = per_tensor(op, op.input), per_tensor(op, op.result)
    multiplier, shift = quantize_multiplier(in_scale / out_scale)
    numbers = (("multiplier", multiplier), ("shift", min(shift, 31)))
    return rowwise(op, _name(op), (("output_zero_point", out_zero), *numbers))


@kernel(DequantizeOp, "s8 to f32, u8 to f32, s16 to f32", rows=own_rows)
def dequantize(op: DequantizeOp, constants: Constants) -> KernelCall:
    scale, zero = per_tensor(op, op.input)
    fields = (("scale", scale), ("zero_point", zero))
    return rowwise(op, f"dequantize_{element_kind(op.input)}_f32", fields)
