"""FULLY_CONNECTED."""

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    Table,
    per_tensor,
    refuse,
    size_of,
)
from memopt.backends.c.emit.float32 import float_bias, float_result_range, float_weights
from memopt.backends.c.emit.int8 import (
    accumulation,
    int8_range,
    int8_weights,
    offset_filters,
    zero_points,
)
from memopt.backends.c.emit.int16 import wide_sums
from memopt.backends.c.emit.registry import ROUNDINGS, kernel
from memopt.backends.c.inline.sums import real_part
from memopt.backends.c.kernels.batch_products import matrix_call
from memopt.backends.c.rows.row_calls import summed_rows
from memopt.dialects.arithmetic.stored import rounds_once
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.products import matrix_reals


def fully_connected_s8(
    op: FullyConnectedOp, constants: Constants, lines: bool = True
) -> KernelCall:
    out_n, in_n = shape_of(op.weights)
    if 0 in (out_n, in_n):
        raise refuse(op, "a tensor without elements")
    if constants(op.weights) is None:
        return matrix_call(op, constants)
    if op.has_offset_weights:
        return _offset_call(op, constants, "fully_connected_offset_s8")
    weights, scales = int8_weights(op, op.weights, out_n, constants)
    reals = matrix_reals(op, op.input, scales)
    return KernelCall(
        kernel="fully_connected_s8",
        fields=(
            ("in_n", in_n),
            ("out_n", out_n),
            ("output_zero_point", per_tensor(op, op.result)[1]),
            *int8_range(op, op.result),
            ("per_axis", int(len(scales) > 1)),
            ("weights", Table("int8_t", weights)),
            *accumulation(op, op.input, op.bias, weights, (1,), reals, constants, lines),
        ),
        operands=(op.input,),
        rows=Rows.of(op, size_of(op.input) // in_n, in_n, out_n),
    )


def fully_connected_floats_s8(op: FullyConnectedOp, constants: Constants) -> KernelCall:
    """A matrix where an FPU rounds, or Helium."""
    return fully_connected_s8(op, constants, lines=False)


for _isa in ("c", "dsp", "mve"):
    _lower = fully_connected_s8 if _isa == "c" else fully_connected_floats_s8
    kernel(FullyConnectedOp, "s8", rounding=ROUNDINGS, isa=_isa, rows=summed_rows)(_lower)


@kernel(FullyConnectedOp, "u8", rounding=("tflite_single", "tflm_double"), rows=summed_rows)
def fully_connected_u8(op: FullyConnectedOp, constants: Constants) -> KernelCall:
    return _offset_call(op, constants, "fully_connected_u8", ("rounds_once", int(rounds_once(op))))


def _offset_call(
    op: FullyConnectedOp, constants: Constants, kernel: str, *more: tuple[str, int]
) -> KernelCall:
    """The call of a kernel that takes the zero point of weights off as it goes."""
    out_n, in_n = shape_of(op.weights)
    if 0 in (out_n, in_n):
        raise refuse(op, "a tensor without elements")
    reals = matrix_reals(op, op.input, encoding_of(op.weights).scales[:1])
    return KernelCall(
        kernel=kernel,
        fields=(
            ("in_n", in_n),
            ("out_n", out_n),
            *zero_points(op, op.input, op.result),
            *int8_range(op, op.result),
            *more,
            *offset_filters(op, op.weights, op.bias, out_n, (1,), reals, constants),
        ),
        operands=(op.input,),
        rows=Rows.of(op, size_of(op.input) // in_n, in_n, out_n),
    )


@kernel(FullyConnectedOp, "s16", rounding="tflm_double")
def fully_connected_s16(op: FullyConnectedOp, constants: Constants) -> KernelCall:
    """With int8 weights; its sums are of 64 bits, so that rows are not added up."""
    out_n, in_n = shape_of(op.weights)
    if 0 in (out_n, in_n):
        raise refuse(op, "a tensor without elements")
    if constants(op.weights) is None:
        return matrix_call(op, constants)
    scales = encoding_of(op.weights).scales
    reals = matrix_reals(op, op.input, scales)
    reals = reals if len(reals) == out_n else reals[:1] * out_n
    sums = wide_sums(op, (op.input, op.weights, op.bias), (1,), reals, constants)
    return KernelCall(
        "fully_connected_s16",
        (("in_n", in_n), ("out_n", out_n), *sums),
        (op.input,),
        Rows.of(op, size_of(op.input) // in_n, in_n, out_n),
    )


@kernel(FullyConnectedOp, "f32", rows=summed_rows)
def fully_connected_f32(op: FullyConnectedOp, constants: Constants) -> KernelCall:
    out_n, in_n = shape_of(op.weights)
    if 0 in (out_n, in_n):
        raise refuse(op, "a tensor without elements")
    if constants(op.weights) is None:
        return matrix_call(op, constants)
    known = constants(op.input)
    return KernelCall(
        kernel="fully_connected_f32",
        fields=(
            ("in_n", in_n),
            ("out_n", out_n),
            *float_result_range(op),
            ("weights", Table("float", float_weights(op, op.weights, constants))),
            ("bias", float_bias(op, op.bias, out_n, constants)),
        ),
        operands=(op.input if known is None else Table("float", known),),
        rows=Rows.of(op, size_of(op.input) // in_n, in_n, out_n),
    )


@kernel(FullyConnectedOp, "f32", sums=True)
def fully_connected_sum_f32(op: FullyConnectedOp, constants: Constants) -> KernelCall:
    """Sums of products, which others add to."""
    out_n, in_n = shape_of(op.weights)
    if 0 in (out_n, in_n):
        raise refuse(op, "a tensor without elements")
    if op.bias is not None:
        raise refuse(op, "a partial sum with a bias")
    return KernelCall(
        kernel="fully_connected_sum_f32",
        fields=(
            ("in_n", in_n),
            ("out_n", out_n),
            *real_part(op, out_n, constants),
            ("weights", Table("float", float_weights(op, op.weights, constants))),
        ),
        operands=(op.input,),
        rows=Rows.of(op, size_of(op.input) // in_n, in_n, out_n),
    )
