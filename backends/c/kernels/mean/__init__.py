"""MEAN over axes."""

from collections.abc import Sequence

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    Table,
    element_kind,
    per_tensor,
    refuse,
)
from memopt.backends.c.emit.even_sums import sum_fields
from memopt.backends.c.emit.int8 import WIDE, even_steps
from memopt.backends.c.emit.registry import ROUNDINGS, kernel
from memopt.backends.c.emit.regrouped import copied_bytes, over_axes, regrouped
from memopt.backends.c.inline.sums import part_of
from memopt.backends.c.rows.row_calls import summed_rows
from memopt.dialects.arithmetic.even_rounding import rounds_even
from memopt.dialects.arithmetic.stored import limits_of
from memopt.dialects.operators.mean import MeanOp, divided


@kernel(MeanOp, "s8", rounding=ROUNDINGS, workspace=copied_bytes, rows=summed_rows)
@kernel(MeanOp, "u8, s16", rounding="tflm_double", workspace=copied_bytes, rows=summed_rows)
def mean_stored(op: MeanOp, constants: Constants) -> KernelCall:
    """With 1 / count folded into the multiplier; ONNX's by integers where any do."""
    low, high = limits_of(op, op.input)
    even = rounds_even(op)
    return _mean(op, sum_fields(op, "line", [over_axes(op)[1]], low, high) if even else None)


@kernel(
    MeanOp,
    "s8",
    rounding="onnx_even",
    isa="fp64",
    workspace=copied_bytes,
    rows=summed_rows,
    where=rounds_even,
)
def mean_by_doubles(op: MeanOp, constants: Constants) -> KernelCall:
    """Return the call that computes ONNX's mean in floating point."""
    return _mean(op, None)


def _mean(op: MeanOp, lines: Sequence[tuple[str, Table]] | None) -> KernelCall:
    outer, count, inner = over_axes(op)
    (in_scale, in_zero), (out_scale, out_zero) = per_tensor(op, op.input), per_tensor(op, op.result)
    multiplier, shift = divided(in_scale / out_scale, count)
    low, high = limits_of(op, op.input)
    if (high - low) * count << max(shift, 0) >= 1 << 30:
        raise refuse(op, f"a mean of {count} elements, the sum could overflow")
    sizes = (("count", count), ("inner", inner), ("offset", count * in_zero))
    rows = Rows.of(op, outer, count * inner, inner)
    if lines is not None:
        fields = (*sizes, ("output_zero_point", out_zero), *lines)
        return regrouped(op, KernelCall("mean_even_s8", fields, (op.input,), rows))
    call = KernelCall(
        kernel=f"mean_{element_kind(op.input)}",
        fields=(
            *sizes,
            ("multiplier", multiplier),
            ("shift", shift + WIDE if shift >= 0 else shift),
            ("output_zero_point", out_zero),
            *(even_steps(op) if rounds_even(op) else ()),
        ),
        operands=(op.input,),
        rows=rows,
    )
    return regrouped(op, call)


@kernel(MeanOp, "f32", workspace=copied_bytes, rows=summed_rows)
def mean_f32(op: MeanOp, constants: Constants) -> KernelCall:
    outer, count, inner = over_axes(op)
    call = KernelCall(
        kernel="mean_f32",
        fields=(("count", count), ("inner", inner)),
        operands=(op.input,),
        rows=Rows.of(op, outer, count * inner, inner),
    )
    return regrouped(op, call)


@kernel(MeanOp, "f32", sums=True)
def mean_sum_f32(op: MeanOp, constants: Constants) -> KernelCall:
    """A mean that is added to others; the last one divides by how many they are."""
    if copied_bytes(op):
        raise refuse(op, "a sum of means over axes between which others lie")
    outer, count, inner = over_axes(op)
    part = part_of(op)
    if part.whole.bias is not None or part.whole.activation_name:
        raise refuse(part.whole, "a sum of means with a bias or an activation")
    divides = part.finishes and part.whole.mean is not None
    return KernelCall(
        kernel="mean_sum_f32",
        fields=(
            ("count", count),
            ("inner", inner),
            ("adds", int(part.adds)),
            ("means", len(part.whole.sums) if divides else 1),
        ),
        operands=(op.input,),
        rows=Rows.of(op, outer, count * inner, inner),
    )
