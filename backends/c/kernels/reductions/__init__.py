"""SUM, REDUCE_PROD, REDUCE_MAX and REDUCE_MIN over axes; ARG_MAX and ARG_MIN."""

import math
from dataclasses import replace

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    element_kind,
    per_tensor,
    refuse,
)
from memopt.backends.c.emit.even_sums import sum_fields
from memopt.backends.c.emit.int8 import WIDE, even_steps
from memopt.backends.c.emit.registry import ROUNDINGS, kernel
from memopt.backends.c.emit.regrouped import copied_bytes, over_axes, regrouped
from memopt.backends.c.rows.row_calls import own_rows, summed_rows
from memopt.dialects.arithmetic.even_rounding import rounds_even
from memopt.dialects.arithmetic.scalars import quantize_multiplier
from memopt.dialects.arithmetic.stored import is_stored, limits_of, need_same_numbers
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.reductions import (
    ArgMaxOp,
    ArgMinOp,
    ArgOp,
    ReduceMaxOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
    ReductionOp,
    need_scales,
)


def _call(
    op: ReductionOp | ArgOp, kernel: str, sizes: tuple[int, int, int], least: bool | None = None
) -> KernelCall:
    outer, count, inner = sizes
    fields = (("count", count), ("inner", inner))
    more = () if least is None else (("least", int(least)),)
    rows = Rows.of(op, outer, count * inner, inner)
    return KernelCall(kernel, (*fields, *more), (op.input,), rows)


@kernel(
    (ReduceMaxOp, ReduceMinOp), "s8, u8, s16, f32, i32, bool", workspace=copied_bytes, rows=own_rows
)
def extreme(op: ReduceMaxOp | ReduceMinOp, constants: Constants) -> KernelCall:
    """Return the call for the largest or least element over axes; what is true is a byte of 1."""
    need_same_numbers(op, op.input, op.result)
    least = isinstance(op, ReduceMinOp)
    kind = element_kind(op.input).replace("bool", "u8")
    return regrouped(op, _call(op, f"extreme_{kind}", over_axes(op), least))


@kernel((ReduceSumOp, ReduceProdOp), "f32, i32", workspace=copied_bytes, rows=summed_rows)
def reduced(op: ReduceSumOp | ReduceProdOp, constants: Constants) -> KernelCall:
    """The kernel of the operation's own name."""
    if is_stored(op.input) or is_stored(op.result):
        raise refuse(op, "quantized int32")
    name = f"{op.name.removeprefix('memgraph.')}_{element_kind(op.input)}"
    return regrouped(op, _call(op, name, over_axes(op)))


@kernel(ReduceSumOp, "s8", rounding=ROUNDINGS, workspace=copied_bytes, rows=summed_rows)
@kernel(ReduceSumOp, "u8, s16", rounding="tflm_double", workspace=copied_bytes, rows=summed_rows)
def sum_of_stored(op: ReduceSumOp, constants: Constants) -> KernelCall:
    """A mean that is not divided."""
    even = rounds_even(op)
    if not even:
        need_scales(op)
    outer, count, inner = over_axes(op)
    multiplier, shift = (0, 0) if even else quantize_multiplier(op.ratio)
    low, high = limits_of(op, op.input)
    if (high - low) * count << max(shift, 0) >= 1 << 30:
        raise refuse(op, f"a sum of {count} elements, which could overflow")
    sizes = (("count", count), ("inner", inner), ("offset", count * per_tensor(op, op.input)[1]))
    zero_point = ("output_zero_point", per_tensor(op, op.result)[1])
    rows = Rows.of(op, outer, count * inner, inner)
    lines = sum_fields(op, "line", [count], low, high, divides=False) if even else None
    if lines is not None:
        fields = (*sizes, zero_point, *lines)
        return regrouped(op, KernelCall("mean_even_s8", fields, (op.input,), rows))
    call = KernelCall(
        kernel=f"mean_{element_kind(op.input)}",
        fields=(
            *sizes,
            ("multiplier", multiplier),
            ("shift", shift + WIDE if shift >= 0 else shift),
            zero_point,
            *(_sum_steps(op, count) if even else ()),
        ),
        operands=(op.input,),
        rows=rows,
    )
    return regrouped(op, call)


def _sum_steps(op: ReduceSumOp, count: int) -> tuple[tuple[str, float], ...]:
    """The scales of a mean of as many times what there is, for a sum that is rounded to even."""
    (name, scale), output = even_steps(op)
    return ((name, scale * count), output)


@kernel(
    (ArgMaxOp, ArgMinOp),
    "s8 to i32, u8 to i32, f32 to i32, i32, s8 to i64, u8 to i64, f32 to i64, i32 to i64",
    rows=own_rows,
)
def arg(op: ArgOp, constants: Constants) -> KernelCall:
    axis, shape = op.axis.value.data, shape_of(op.input)
    if 0 in shape:
        raise refuse(op, "a tensor without elements")
    sizes = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    call = _call(op, f"arg_{element_kind(op.input)}", sizes, isinstance(op, ArgMinOp))
    wide = int(element_kind(op.result) == "i64")
    return replace(call, fields=(*call.fields, ("wide", wide)))
