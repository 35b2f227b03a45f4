"""SVDF."""

from typing import Any

from memopt.backends.c.emit.call import Constants, KernelCall, Rows, Table, per_tensor, refuse
from memopt.backends.c.emit.float32 import float_bias, float_result_range, float_weights
from memopt.backends.c.emit.int8 import codes, int8_weights, int32_bias
from memopt.backends.c.emit.registry import kernel
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import quantize_multiplier
from memopt.dialects.arithmetic.stored import limits_of
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.svdf import SvdfOp


def _sizes(op: SvdfOp) -> tuple[tuple[str, int], ...]:
    (batches, in_n), (_, units) = shape_of(op.input), shape_of(op.result)
    if 0 in (batches, in_n, units, op.memory_size):
        raise refuse(op, "a tensor without elements")
    return (
        ("batches", batches),
        ("in_n", in_n),
        ("units", units),
        ("rank", op.rank.value.data),
        ("memory", op.memory_size),
    )


def _call(op: SvdfOp, kernel: str, fields: tuple[tuple[str, Any], ...]) -> KernelCall:
    return KernelCall(kernel, fields, (op.input, op.state), Rows(1, 0, 0))


@kernel(SvdfOp, "s8", rounding="tflm_double")
def svdf_s8(op: SvdfOp, constants: Constants) -> KernelCall:
    """Remembers int8 or int16. What sums of int16 overflow to, those of the runtimes do too."""
    feature, _ = int8_weights(op, op.feature, 1, constants)
    time = constants(op.time)
    if time is None:
        raise refuse(op, "weights that are only known at run time")
    sizes, state_zero = _sizes(op), per_tensor(op, op.state)[1]
    bias = int32_bias(op, op.bias, shape_of(op.result)[1], constants)
    products = 255 * np.abs(feature.astype(np.int64)).sum(1).max(keepdims=True)
    low, high = limits_of(op, op.state)
    span = max(high - state_zero, state_zero - low)
    by_unit = np.abs(time.astype(np.int64)).sum(1).reshape(bias.size, -1).sum(1)
    sums = (np.abs(bias) + span * by_unit).max(keepdims=True)
    first, second = op.reals
    wraps = time.dtype == np.int16
    if wraps:
        sums = np.array([(1 << 31) - 1 >> max(0, quantize_multiplier(second)[1])])
    pairs = [(codes(op, products, [first]), "feature"), (codes(op, sums, [second]), "time")]
    fields = [(f"sizes.{name}", value) for name, value in sizes]
    for which, value in (("input", op.input), ("state", op.state), ("output", op.result)):
        fields.append((f"sizes.{which}_zero_point", per_tensor(op, value)[1]))
    for (multiplier, shift), which in pairs:
        fields.append((f"sizes.{which}_multiplier", int(multiplier[0])))
        fields.append((f"sizes.{which}_shift", int(shift[0])))
    tables = (
        ("sizes.feature", Table("int8_t", feature)),
        ("sizes.bias", Table("int32_t", bias.astype(np.int32))),
        ("time", Table("int16_t" if wraps else "int8_t", time)),
    )
    return _call(op, "svdf_s8_s16" if wraps else "svdf_s8", (*fields, *tables))


def _input_bytes(op: SvdfOp) -> int:
    """Return the bytes of the quantized input of a hybrid layer; 0 for others."""
    return shape_of(op.input)[1] if op.is_hybrid else 0


def _hybrid(op: SvdfOp, constants: Constants) -> KernelCall:
    """Return the call for float32 with int8 weights."""
    feature, scales = int8_weights(op, op.feature, 1, constants)
    time = constants(op.time)
    if time is None:
        raise refuse(op, "weights that are only known at run time")
    if 255 * 128 * shape_of(op.input)[1] >= 1 << 31:
        raise refuse(op, "the int32 accumulator could overflow")
    fields = (
        *(*_sizes(op), *float_result_range(op)),
        *(("symmetric", int(op.asymmetric is None)), ("scale", scales[0])),
        ("feature", Table("int8_t", feature)),
        ("time", Table("float", op.real_time(time))),
        ("bias", float_bias(op, op.bias, shape_of(op.result)[1], constants)),
    )
    return _call(op, "hybrid_svdf_f32", fields)


@kernel(SvdfOp, "f32", workspace=_input_bytes)
def svdf_f32(op: SvdfOp, constants: Constants) -> KernelCall:
    if op.is_hybrid:
        return _hybrid(op, constants)
    return _call(
        op,
        "svdf_f32",
        (
            *_sizes(op),
            *float_result_range(op),
            ("feature", Table("float", float_weights(op, op.feature, constants))),
            ("time", Table("float", float_weights(op, op.time, constants))),
            ("bias", float_bias(op, op.bias, shape_of(op.result)[1], constants)),
        ),
    )
