"""Functions of one value. Those of an int8 are tables of 256, computed as TFLM computes each."""

from memopt.backends.c.call import (
    Constants,
    KernelCall,
    per_tensor,
    refuse,
)
from memopt.backends.c.registry import kernel
from memopt.backends.c.rowwise import lookup, rowwise
from memopt.dialects.arithmetic import (
    FLOAT32_MAX,
    input_radius,
    logistic,
    multiply,
    quantize_multiplier,
    quantized_range,
    round_shift,
    saturate,
)
from memopt.dialects.operators.unary import (
    HardSwishOp,
    LogisticOp,
    Relu6Op,
    ReluOp,
    TanhOp,
    requantizer,
)


@kernel(ReluOp, "s8")
def relu_s8(op: ReluOp, constants: Constants) -> KernelCall:
    """Requantises and clamps."""
    low, high = quantized_range("relu", *per_tensor(op, op.result))
    return lookup(op, requantizer(op, (-128, 127), low, high))


@kernel(Relu6Op, "s8")
def relu6_s8(op: Relu6Op, constants: Constants) -> KernelCall:
    """RELU6 clamps stored values: TFLM takes the result to be quantised as the operand is."""
    scale, zero = per_tensor(op, op.input)
    if (scale, zero) != per_tensor(op, op.result):
        raise refuse(op, "an int8 RELU6 needs the same quantization before and after")
    low, high = quantized_range("relu6", scale, zero)
    return lookup(op, lambda x: saturate(x, low, high))


@kernel(ReluOp, "f32")
@kernel(Relu6Op, "f32")
def relu_f32(op: ReluOp | Relu6Op, constants: Constants) -> KernelCall:
    high = 6.0 if isinstance(op, Relu6Op) else FLOAT32_MAX
    fields = (("act_min", 0.0), ("act_max", high))
    return rowwise(op, "clamp_range_f32", fields)


@kernel(LogisticOp, "s8")
def logistic_s8(op: LogisticOp, constants: Constants) -> KernelCall:
    scale, zero = per_tensor(op, op.input)
    if per_tensor(op, op.result) != (1.0 / 256.0, -128):
        raise refuse(op, "an int8 logistic needs scale 1/256 and zero point -128 after it")
    multiplier, shift = quantize_multiplier(scale * (1 << 27))
    if not 0 <= shift <= 27:
        raise refuse(op, f"an int8 logistic of input scale {scale}")
    radius = input_radius(4, shift)

    def function(x: int) -> int:
        value = x - zero
        if abs(value) >= radius:
            return 127 if value > 0 else -128
        return saturate(round_shift(logistic(multiply(value, multiplier, shift)), 23) - 128)

    return lookup(op, function)


@kernel(LogisticOp, "f32")
def logistic_f32(op: LogisticOp, constants: Constants) -> KernelCall:
    return rowwise(op, "logistic_f32")


@kernel(TanhOp, "f32")
def tanh_f32(op: TanhOp, constants: Constants) -> KernelCall:
    return rowwise(op, "tanh_f32")


@kernel(HardSwishOp, "f32")
def hard_swish_f32(op: HardSwishOp, constants: Constants) -> KernelCall:
    return rowwise(op, "hard_swish_f32")
