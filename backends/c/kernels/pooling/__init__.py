"""AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D."""

from collections.abc import Sequence
from math import prod

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Table,
    element_kind,
    per_tensor,
    refuse,
)
from memopt.backends.c.emit.even_sums import sum_fields
from memopt.backends.c.emit.float32 import float_result_range
from memopt.backends.c.emit.int8 import even_steps, int8_range
from memopt.backends.c.emit.registry import ROUNDINGS, kernel
from memopt.backends.c.emit.rowwise import image_call
from memopt.backends.c.rows.row_calls import window_rows
from memopt.dialects.arithmetic.even_rounding import rounds_even
from memopt.dialects.arithmetic.scalars import INT32_MAX
from memopt.dialects.arithmetic.stored import limits_of
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.pooling import AveragePool2DOp, L2Pool2DOp, MaxPool2DOp, PoolBase


def _pool_fields(op: PoolBase) -> str:
    """The initialiser of memopt_pool_2d_window."""
    shape, out = shape_of(op.input), shape_of(op.result)
    if len(shape) != 4:
        raise refuse(op, f"a pool over {len(shape) - 2} spatial dimensions")
    if 0 in shape or 0 in out:
        raise refuse(op, "a tensor without elements")
    if op.count_include_pad is not None and element_kind(op.input) != "f32":
        raise refuse(op, "a pool whose padding counts")
    kernel, stride, dilation, pad = op.window.sizes
    if dilation != (1, 1):
        raise refuse(op, "a dilated pool")
    for i in range(2):
        last = (out[1 + i] - 1) * stride[i] - pad[i]
        if pad[i] >= kernel[i] or last >= shape[1 + i]:
            raise refuse(op, "a pool window that lies in the padding altogether")
    values = {
        "in_h": shape[1],
        "in_w": shape[2],
        "channels": shape[3],
        "out_w": out[2],
        "k_h": kernel[0],
        "k_w": kernel[1],
        "stride_h": stride[0],
        "stride_w": stride[1],
        "pad_top": pad[0],
        "pad_left": pad[1],
    }
    return "{" + ", ".join(f".{name} = {value}" for name, value in values.items()) + "}"


def _counts(op: AveragePool2DOp) -> list[int]:
    """Return how many taps windows have that are no padding, without repetitions."""
    along = [set[int](), set[int]()]
    for axis, counts in enumerate(along):
        size, stride, _, pad = (sizes[axis] for sizes in op.window.sizes)
        extent = shape_of(op.input)[1 + axis]
        for i in range(shape_of(op.result)[1 + axis]):
            begin = i * stride - pad
            counts.add(min(begin + size, extent) - max(begin, 0))
    return sorted({h * w for h in along[0] for w in along[1]})


@kernel(
    AveragePool2DOp,
    "s8",
    "nhwc",
    rounding="onnx_even",
    isa="fp64",
    rows=window_rows,
    where=rounds_even,
)
def average_by_doubles(op: AveragePool2DOp, constants: Constants) -> KernelCall:
    """Return the call that computes ONNX's means in floating point."""
    return _even_average(op, "", even_steps(op))


def _even_average(
    op: AveragePool2DOp, form: str, finish: Sequence[tuple[str, float | Table]]
) -> KernelCall:
    """Return the call of one of the kernels whose result may be of another quantization."""
    (_, in_zero), (_, out_zero) = per_tensor(op, op.input), per_tensor(op, op.result)
    fields = (
        ("window", _pool_fields(op)),
        *int8_range(op, op.result),
        ("input_zero_point", in_zero),
        ("output_zero_point", out_zero),
        *finish,
    )
    return image_call(op, f"average_pool_2d{form}_s8", fields)


@kernel(AveragePool2DOp, "s8", "nhwc", rounding=ROUNDINGS, rows=window_rows)
@kernel(MaxPool2DOp, "s8, u8, s16", "nhwc", rows=window_rows)
@kernel(AveragePool2DOp, "u8, s16", "nhwc", rounding="tflm_double", rows=window_rows)
def pool_2d_stored(op: AveragePool2DOp | MaxPool2DOp, constants: Constants) -> KernelCall:
    """AVERAGE_POOL_2D and MAX_POOL_2D, between tensors of one quantization; ONNX's means of two."""
    (in_scale, in_zero), (out_scale, out_zero) = per_tensor(op, op.input), per_tensor(op, op.result)
    if isinstance(op, AveragePool2DOp) and rounds_even(op):
        (_, low), (_, high) = int8_range(op, op.result)
        lines = sum_fields(op, "lines", _counts(op), low, high)
        form, finish = ("", even_steps(op)) if lines is None else ("_even", lines)
        return _even_average(op, form, finish)
    if abs(in_scale - out_scale) > 1.0e-6 or in_zero != out_zero:
        raise refuse(op, "an int8 pool needs the same quantization before and after")
    low, high = limits_of(op, op.input)
    if isinstance(op, AveragePool2DOp) and -low * prod(op.window.sizes[0]) > INT32_MAX - high:
        raise refuse(op, "a window so large that the sum could overflow")
    kernel = "average_pool_2d" if isinstance(op, AveragePool2DOp) else "max_pool_2d"
    kernel = f"{kernel}_{element_kind(op.input)}"
    return image_call(op, kernel, (("window", _pool_fields(op)), *int8_range(op, op.result)))


@kernel((AveragePool2DOp, MaxPool2DOp), "f32", "nhwc", rows=window_rows)
def pool_2d_f32(op: AveragePool2DOp | MaxPool2DOp, constants: Constants) -> KernelCall:
    """Return the call that pools float32; a mean may count padding."""
    fields = (("window", _pool_fields(op)), *float_result_range(op))
    if isinstance(op, MaxPool2DOp):
        return image_call(op, "max_pool_2d_f32", fields)
    counted = prod(op.window.sizes[0]) if op.count_include_pad is not None else 0
    return image_call(op, "average_pool_2d_f32", (*fields, ("counted", counted)))


@kernel(L2Pool2DOp, "f32", "nhwc", rows=window_rows)
def l2_pool_2d(op: L2Pool2DOp, constants: Constants) -> KernelCall:
    return image_call(op, "l2_pool_2d_f32", (("window", _pool_fields(op)), *float_result_range(op)))
