"""Operators that move or convert data: concat, split, slice, pad, transpose, quantize, tables.

int8 functions of one value (LOGISTIC, RELU, requantising QUANTIZE) become tables of 256 values,
computed as TensorFlow Lite Micro computes each.
"""

import math
from collections.abc import Callable

from xdsl.ir import SSAValue

from memopt.backends.c.call import (
    Array,
    Constants,
    KernelCall,
    Rows,
    Table,
    element_kind,
    need_tflm_rounding,
    per_tensor,
    refuse,
    size_of,
    split_rows,
)
from memopt.dialects.arithmetic import (
    input_radius,
    logistic,
    multiply,
    quantize_multiplier,
    quantized_range,
    round_shift,
    saturate,
)
from memopt.dialects.operators.movement import CopyOp, ReshapeOp, TransposeOp
from memopt.dialects.operators.pad import PadOp
from memopt.dialects.operators.quantization import DequantizeOp, QuantizeOp
from memopt.dialects.operators.slices import ConcatOp, SliceOp, SplitOp
from memopt.dialects.operators.unary import LogisticOp, Relu6Op, ReluOp, UnaryOp, requantizer
from memopt.dialects.tensors import bytes_of, encoding_of, shape_of


def _copy(
    operand: SSAValue | Table, rows: int, row_bytes: int, strides: tuple[int, int]
) -> KernelCall:
    return KernelCall("copy", "uint8_t", (("row_n", row_bytes),), (operand,), Rows(rows, *strides))


def _moved(call: KernelCall, in_offset: int, out_offset: int, result: int = 0) -> KernelCall:
    from dataclasses import replace

    return replace(call, in_offset=in_offset, out_offset=out_offset, result=result)


def _bytes_per_element(value: SSAValue) -> int:
    return (bytes_of(value.type) or 0) // max(1, size_of(value))


def reshape(op: ReshapeOp, constants: Constants) -> KernelCall:
    size = bytes_of(op.result.type) or 0
    return _copy(op.input, 1, size, (size, size))


def copy(op: CopyOp, constants: Constants) -> KernelCall:
    size = bytes_of(op.result.type) or 0
    return _copy(op.input, 1, size, (size, size))


def concat(op: ConcatOp, constants: Constants) -> list[KernelCall]:
    """One copy per operand. All operands must be quantised as the result is."""
    axis, out = op.axis.value.data, shape_of(op.result)
    if "activation" in op.properties:
        raise refuse(op, "a concatenation with a fused activation")
    width = _bytes_per_element(op.result)
    rows = math.prod(out[:axis])
    inner = math.prod(out[axis + 1 :]) * width
    calls: list[KernelCall] = []
    at = 0
    for value in op.inputs:
        a, b = encoding_of(value), encoding_of(op.result)
        if (a.scales, a.zero_points) != (b.scales, b.zero_points):
            raise refuse(op, "a concatenation of different quantizations")
        size = shape_of(value)[axis] * inner
        array = constants(value)
        operand = value if array is None else Table("uint8_t", _as_bytes(array))
        if size:
            calls.append(_moved(_copy(operand, rows, size, (size, out[axis] * inner)), 0, at))
        at += size
    return calls


def _as_bytes(array: Array) -> Array:
    import numpy as np

    return np.frombuffer(array.tobytes(), np.uint8)


def split(op: SplitOp, constants: Constants) -> list[KernelCall]:
    axis, whole = op.axis.value.data, shape_of(op.input)
    inner = math.prod(whole[axis + 1 :]) * _bytes_per_element(op.input)
    calls: list[KernelCall] = []
    at = 0
    for number, part in enumerate(op.parts):
        size = shape_of(part)[axis] * inner
        copy = _copy(op.input, math.prod(whole[:axis]), size, (whole[axis] * inner, size))
        calls.append(_moved(copy, at, 0, number))
        at += size
    return calls


def slice_(op: SliceOp, constants: Constants) -> KernelCall:
    """A slice along one axis, every element of it."""
    shape, out = shape_of(op.input), shape_of(op.result)
    starts = [int(v) for v in op.starts.get_values()]
    strides = [int(v) for v in op.strides.get_values()]
    axes = [i for i in range(len(shape)) if shape[i] != out[i]] or [0]
    if len(axes) != 1 or strides[axes[0]] != 1:
        raise refuse(op, "a slice along several axes or with a stride")
    axis = axes[0]
    inner = math.prod(shape[axis + 1 :]) * _bytes_per_element(op.input)
    size = out[axis] * inner
    copy = _copy(op.input, math.prod(shape[:axis]), size, (shape[axis] * inner, size))
    return _moved(copy, starts[axis] * inner, 0)


def _four(shape: tuple[int, ...], fill: int = 1) -> tuple[int, ...]:
    return (fill,) * (4 - len(shape)) + shape


def pad(op: PadOp, constants: Constants) -> KernelCall:
    shape, out = shape_of(op.input), shape_of(op.result)
    if len(shape) > 4:
        raise refuse(op, f"a pad of {len(shape)} dimensions")
    before = _four(tuple(int(v) for v in op.before.get_values()), 0)
    kind = element_kind(op.input)
    value: int | float = float(op.value.value.data)
    if kind == "s8":
        same = per_tensor(op, op.input) == per_tensor(op, op.result)
        if not same or value != 0.0:
            raise refuse(op, "an int8 pad with another value than zero, or another quantization")
        value = per_tensor(op, op.result)[1]
    (n, h, w, c), (_, out_h, out_w, out_c) = _four(shape), _four(out)
    names = ("in_images", "in_h", "in_w", "in_c", "out_h", "out_w", "out_c")
    befores = ("before_images", "before_h", "before_w", "before_c")
    return KernelCall(
        f"pad_{kind}",
        "int8_t" if kind == "s8" else "float",
        (
            *zip(names, (n, h, w, c, out_h, out_w, out_c), strict=True),
            *zip(befores, before, strict=True),
            ("value", value),
        ),
        (op.input,),
        Rows(_four(out)[0] * out_h, w * c, out_w * out_c),
    )


def transpose(op: TransposeOp, constants: Constants) -> KernelCall:
    shape, out = shape_of(op.input), shape_of(op.result)
    if len(shape) > 4:
        raise refuse(op, f"a transpose of {len(shape)} dimensions")
    steps = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    strides = _four(tuple(steps[int(v)] for v in op.permutation.get_values()), 0)
    sizes = _four(out)
    kind = element_kind(op.input)
    return KernelCall(
        f"transpose_{kind}",
        "int8_t" if kind == "s8" else "float",
        (
            ("size", "{" + ", ".join(map(str, sizes[1:])) + "}"),
            ("stride", "{" + ", ".join(map(str, strides)) + "}"),
        ),
        (op.input,),
        Rows(sizes[0] * sizes[1], 0, sizes[2] * sizes[3]),
    )


def _rowwise(
    op: UnaryOp, kernel: str, result: str, fields: tuple[tuple[str, object], ...], operand: str
) -> KernelCall:
    rows, row_n = split_rows(shape_of(op.result))
    return KernelCall(
        kernel,
        result,
        (("row_n", row_n), *fields),  # type: ignore[arg-type]
        (op.input,),
        Rows(rows, row_n, row_n),
        operand_types=(operand,),
    )


def quantize_float(op: QuantizeOp, constants: Constants) -> KernelCall:
    scale, zero = per_tensor(op, op.result)
    rounding = op.rounding.data if op.rounding is not None else ""
    if rounding != "onnx_even":
        need_tflm_rounding(op)
    fields = (("scale", scale), ("zero_point", zero), ("ties_even", int(rounding == "onnx_even")))
    return _rowwise(op, "quantize_f32_s8", "int8_t", fields, "float")


def dequantize(op: DequantizeOp, constants: Constants) -> KernelCall:
    scale, zero = per_tensor(op, op.input)
    fields = (("scale", scale), ("zero_point", zero))
    return _rowwise(op, "dequantize_s8_f32", "float", fields, "int8_t")


def _lookup(op: UnaryOp, function: Callable[[int], int]) -> KernelCall:
    import numpy as np

    table = np.array([function(x) for x in range(-128, 128)], dtype=np.int8)
    fields = (("table", Table("int8_t", table)),)
    return _rowwise(op, "lookup_s8", "int8_t", fields, "int8_t")


def requantize(op: QuantizeOp | ReluOp, constants: Constants) -> KernelCall:
    """QUANTIZE between int8 types, and RELU, which requantises and clamps."""
    activation = "relu" if isinstance(op, ReluOp) else ""
    low, high = quantized_range(activation, *per_tensor(op, op.result))
    return _lookup(op, requantizer(op, (-128, 127), low, high))


def relu6(op: Relu6Op, constants: Constants) -> KernelCall:
    """RELU6 clamps stored values: TFLM takes the result to be quantised as the operand is."""
    scale, zero = per_tensor(op, op.input)
    if (scale, zero) != per_tensor(op, op.result):
        raise refuse(op, "an int8 RELU6 needs the same quantization before and after")
    low, high = quantized_range("relu6", scale, zero)
    return _lookup(op, lambda x: saturate(x, low, high))


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

    return _lookup(op, function)


def unary_f32(kernel: str) -> Callable[[UnaryOp, Constants], KernelCall]:
    """A float32 function of one value without parameters."""
    return lambda op, constants: _rowwise(op, kernel, "float", (), "float")


def relu_f32(low: float, high: float) -> Callable[[UnaryOp, Constants], KernelCall]:
    fields = (("act_min", low), ("act_max", high))
    return lambda op, constants: _rowwise(op, "clamp_range_f32", "float", fields, "float")
