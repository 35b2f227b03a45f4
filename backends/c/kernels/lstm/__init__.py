"""Kernels of UNIDIRECTIONAL_SEQUENCE_LSTM and UNIDIRECTIONAL_SEQUENCE_RNN."""

from collections.abc import Iterable
from typing import Any

from memopt.backends.c.emit.c_text import float_literal
from memopt.backends.c.emit.call import (
    Array,
    Constants,
    KernelCall,
    Rows,
    Table,
    per_tensor,
    refuse,
)
from memopt.backends.c.emit.float32 import float_weights
from memopt.backends.c.emit.int8 import WIDE, codes, folded_bias, int8_weights
from memopt.backends.c.emit.int16 import sigmoids, wide_codes
from memopt.backends.c.emit.registry import kernel
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import quantize_multiplier
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.lstm import LstmOp
from memopt.dialects.operators.real_lstm import (
    BIAS,
    FROM_CELL,
    FROM_HIDDEN,
    FROM_INPUT,
    INPUT,
    NORMALIZATION,
    PROJECTION,
    PROJECTION_BIAS,
    RealLstmOp,
)
from memopt.dialects.operators.sequence_rnn import SequenceRnnOp

GATES = range(4)
BENT = {"relu": 1, "relu6": 3, "tanh": 4}


def _sizes(op: LstmOp | RealLstmOp) -> tuple[tuple[str, int], ...]:
    in_n = shape_of(op.input)[2]
    units = op.units if isinstance(op, RealLstmOp) else shape_of(op.result)[2]
    if 0 in (op.batches, op.steps, in_n, units):
        raise refuse(op, "a tensor without elements")
    steps = (op.steps, 1) if op.time_major is None else (1, op.batches)
    return (
        *(("batches", op.batches), ("steps", op.steps), ("in_n", in_n), ("units", units)),
        *zip(("batch_step", "time_step"), steps, strict=True),
    )


def _call(op: LstmOp | RealLstmOp, kernel: str, fields: tuple[tuple[str, Any], ...]) -> KernelCall:
    return KernelCall(kernel, fields, (op.input, op.hidden, op.cell), Rows(1, 0, 0))


def _number(pair: Iterable[int]) -> str:
    """A memopt_lstm_number."""
    return "{" + ", ".join(str(int(v)) for v in pair) + "}"


def _numbers(pairs: Iterable[Iterable[int]]) -> str:
    return "{" + ", ".join(map(_number, pairs)) + "}"


def _stored_sizes(op: LstmOp) -> tuple[tuple[str, Any], ...]:
    """The fields of memopt_lstm_sizes. Products of two int16 may be 2**30."""
    names = ("forget", "input", "output")
    pairs = [quantize_multiplier(real) for real in op.product_reals]
    if max(shift for _, shift in pairs) > 0:
        raise refuse(op, "a scale so small that a product could overflow")
    fields = (
        *_sizes(op),
        *((n, _number((m, s + WIDE))) for n, (m, s) in zip(names, pairs, strict=True)),
        *zip(("cell_multiplier", "cell_shift"), op.cell_units, strict=True),
        ("clip", op.stored_clip),
        ("output_zero_point", per_tensor(op, op.hidden)[1]),
        ("table", sigmoids()),
    )
    return tuple((f"sizes.{name}", value) for name, value in fields)


def _weights(op: LstmOp, first: int, constants: Constants) -> list[Array]:
    """Return the weights of the four gates, from number `first` on."""
    return [int8_weights(op, op.gates[first + g], 1, constants)[0] for g in GATES]


@kernel(LstmOp, "s8", rounding="tflm_double")
def lstm_s8(op: LstmOp, constants: Constants) -> KernelCall:
    fields: list[tuple[str, Any]] = []
    parts = (("input", op.input, 0), ("hidden", op.hidden, 4))
    for k, (name, source, first) in enumerate(parts):
        weights = _weights(op, first, constants)
        bias = [op.gates[8 + g] if k == 0 else None for g in GATES]
        totals = [folded_bias(op, source, bias[g], weights[g], (1,), constants) for g in GATES]
        pairs: list[tuple[int, int]] = []
        for g in GATES:
            sizes = np.abs(weights[g].astype(np.int64)).sum(1)
            largest = (np.abs(totals[g]) + 128 * sizes).max(keepdims=True)
            multiplier, shift = codes(op, largest, [op.gate_reals(g)[k]])
            pairs.append((int(multiplier[0]), int(shift[0])))
        fields += [
            (f"by_{name}", _numbers(pairs)),
            (f"from_{name}", Table("int8_t", np.stack(weights))),
            (f"{name}_bias", Table("int32_t", np.stack(totals, 1).astype(np.int32))),
        ]
    return _call(op, "lstm_s8", (*_stored_sizes(op), *fields))


@kernel(LstmOp, "s16", rounding="tflm_double")
def lstm_s16(op: LstmOp, constants: Constants) -> KernelCall:
    biases: list[Array] = [constants(op.gates[8 + g]) for g in GATES]
    if any(array is None for array in biases):
        raise refuse(op, "a bias that is only known at run time")
    bias: Array = np.stack(biases).astype(np.int64)
    fields: list[tuple[str, Any]] = [("input_bias", Table("int64_t", bias))]
    for k, (name, first) in enumerate((("input", 0), ("hidden", 4))):
        weights = np.stack(_weights(op, first, constants))
        largest = np.abs(weights.astype(np.int64)).sum(2) << 15
        reals = [op.gate_reals(g)[k] for g in GATES]
        multiplier, shift = wide_codes(op, largest + (np.abs(bias) if k == 0 else 0), reals)
        fields.append((f"by_{name}", _numbers(zip(multiplier, shift, strict=True))))
        fields.append((f"from_{name}", Table("int8_t", weights)))
    return _call(op, "lstm_s16", (*_stored_sizes(op), *fields))


@kernel(LstmOp, "f32")
def lstm_f32(op: LstmOp, constants: Constants) -> KernelCall:
    def table(first: int) -> Table:
        arrays = [float_weights(op, op.gates[first + g], constants) for g in GATES]
        return Table("float", np.stack(arrays))

    tables = (("from_input", table(0)), ("from_hidden", table(4)), ("bias", table(8)))
    return _call(op, "lstm_f32", (*_sizes(op), ("clip", float(op.clip.value.data)), *tables))


def _layer_scratch(op: RealLstmOp) -> int:
    """Return the bytes of a vector for each gate and, where weights are stored, of three vectors as
    bytes."""
    vectors = shape_of(op.input)[2], shape_of(op.result)[2], op.units
    return 16 * op.units + (sum(vectors) if op.is_hybrid else 0)


@kernel(RealLstmOp, "f32", workspace=_layer_scratch)
def real_lstm(op: RealLstmOp, constants: Constants) -> KernelCall:
    """Return the call that computes all gates together; zeros stand for a part that a gate
    lacks."""
    arrays: dict[int, Array] = {number: constants(v) for number, v in op.part_of.items()}
    if any(a is None for a in arrays.values()):
        raise refuse(op, "weights that are only known at run time")
    c_type, dtype = ("int8_t", "int8") if op.is_hybrid else ("float", "float32")
    longest = max(shape_of(op.input)[2], shape_of(op.result)[2], op.units)
    if op.is_hybrid and 255 * 128 * longest >= 1 << 31:
        raise refuse(op, "the int32 accumulator could overflow")

    def scale(part: int) -> float:
        weights = op.part_of.get(part)
        return encoding_of(weights).scales[0] if op.is_hybrid and weights is not None else 1.0

    def gates(first: int, kind: str, size: int = 1) -> Table | str:
        gate_arrays = [arrays.get(first + g) for g in GATES]
        if all(a is None for a in gate_arrays):
            return "0"
        nothing = np.zeros((op.units, size))
        filled = [nothing if a is None else a.reshape(op.units, size) for a in gate_arrays]
        return Table(kind, np.stack(filled).astype(dtype if kind == c_type else "float32"))

    def one(part: int, kind: str) -> Table | str:
        return "0" if part not in arrays else Table(kind, arrays[part])

    for g in GATES:
        if op.is_hybrid and FROM_CELL + g in arrays:
            stored = arrays[FROM_CELL + g].astype(np.float32)
            arrays[FROM_CELL + g] = stored * np.float32(scale(FROM_CELL + g))
    if op.activation.data not in BENT:
        raise refuse(op, f"no activation {op.activation.data}")
    fields: tuple[tuple[str, Any], ...] = (
        *(*_sizes(op), ("out_n", shape_of(op.result)[2])),
        *(("symmetric", int(op.asymmetric is None)), ("bent", BENT[op.activation.data])),
        ("coupled", int(FROM_INPUT + INPUT not in arrays)),
        *(("clip", op.clip.value.data), ("projection_clip", op.projection_clip.value.data)),
        ("from_input", gates(FROM_INPUT, c_type, shape_of(op.input)[2])),
        ("from_hidden", gates(FROM_HIDDEN, c_type, shape_of(op.result)[2])),
        *(("from_cell", gates(FROM_CELL, "float")), ("bias", gates(BIAS, "float"))),
        ("factor", gates(NORMALIZATION, "float")),
        ("projection", one(PROJECTION, c_type)),
        ("projection_bias", one(PROJECTION_BIAS, "float")),
        *(
            (f"{name}_scale", "{" + ", ".join(float_literal(scale(first + g)) for g in GATES) + "}")
            for name, first in (("input", FROM_INPUT), ("hidden", FROM_HIDDEN))
        ),
        ("projection_scale", scale(PROJECTION)),
    )
    name = "hybrid_lstm_f32" if op.is_hybrid else "real_lstm_f32"
    return _call(op, name, tuple((f"layer.{key}", value) for key, value in fields))


def _two_vectors(op: SequenceRnnOp) -> int:
    """Return the bytes of a step's sums and, where weights are stored, of two vectors as bytes."""
    size, units = shape_of(op.input)[2], shape_of(op.result)[2]
    return 4 * units + (size + units if op.is_hybrid else 0)


@kernel(SequenceRnnOp, "f32", workspace=_two_vectors)
def sequence_rnn(op: SequenceRnnOp, constants: Constants) -> KernelCall:
    values: list[Array] = [constants(v) for v in (op.weights, op.recurrent, op.bias)]
    if any(a is None for a in values):
        raise refuse(op, "weights that are only known at run time")
    size, units = shape_of(op.input)[2], shape_of(op.result)[2]
    if 0 in (op.batches, op.steps, size, units):
        raise refuse(op, "a tensor without elements")
    bent = "" if op.activation is None else op.activation.data
    if bent not in ("", *BENT) or (op.is_hybrid and 255 * 128 * max(size, units) >= 1 << 31):
        raise refuse(op, f"activation {bent}, or an int32 accumulator that could overflow")
    c_type, dtype = ("int8_t", np.int8) if op.is_hybrid else ("float", np.float32)
    pair = (op.weights, op.recurrent)
    scales = [encoding_of(v).scales[0] if op.is_hybrid else 1.0 for v in pair]
    steps = (op.steps, 1) if op.time_major is None else (1, op.batches)
    fields: tuple[tuple[str, Any], ...] = (
        *(("batches", op.batches), ("steps", op.steps), ("in_n", size), ("units", units)),
        *(("batch_step", steps[0]), ("time_step", steps[1]), ("hybrid", int(op.is_hybrid))),
        *(("symmetric", int(op.asymmetric is None)), ("bent", BENT.get(bent, 0))),
        *(("input_scale", scales[0]), ("hidden_scale", scales[1])),
        ("from_input", Table(c_type, values[0].astype(dtype))),
        ("from_hidden", Table(c_type, values[1].astype(dtype))),
        ("bias", Table("float", values[2].astype(np.float32))),
    )
    return KernelCall("sequence_rnn_f32", fields, (op.input, op.hidden), Rows(1, 0, 0))
