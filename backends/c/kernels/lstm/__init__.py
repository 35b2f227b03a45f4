"""UNIDIRECTIONAL_SEQUENCE_LSTM."""

from collections.abc import Iterable
from typing import Any

from memopt.backends.c.call import Array, Constants, KernelCall, Rows, Table, per_tensor, refuse
from memopt.backends.c.float32 import float_weights
from memopt.backends.c.int8 import WIDE, codes, folded_bias, int8_weights
from memopt.backends.c.int16 import sigmoids, wide_codes
from memopt.backends.c.registry import kernel
from memopt.dialects.arithmetic import quantize_multiplier
from memopt.dialects.operators.lstm import LstmOp
from memopt.dialects.tensors import shape_of

GATES = range(4)


def _sizes(op: LstmOp) -> tuple[tuple[str, int], ...]:
    in_n, units = shape_of(op.input)[2], shape_of(op.result)[2]
    if 0 in (op.batches, op.steps, in_n, units):
        raise refuse(op, "a tensor without elements")
    steps = (op.steps, 1) if op.time_major is None else (1, op.batches)
    return (
        *(("batches", op.batches), ("steps", op.steps), ("in_n", in_n), ("units", units)),
        *zip(("batch_step", "time_step"), steps, strict=True),
    )


def _call(op: LstmOp, kernel: str, fields: tuple[tuple[str, Any], ...]) -> KernelCall:
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
    """Those of the four gates, from number `first` of the weights on."""
    return [int8_weights(op, op.gates[first + g], 1, constants)[0] for g in GATES]


@kernel(LstmOp, "s8", rounding="tflm_double")
def lstm_s8(op: LstmOp, constants: Constants) -> KernelCall:
    import numpy as np

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
    import numpy as np

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
    import numpy as np

    def table(first: int) -> Table:
        arrays = [float_weights(op, op.gates[first + g], constants) for g in GATES]
        return Table("float", np.stack(arrays))

    tables = (("from_input", table(0)), ("from_hidden", table(4)), ("bias", table(8)))
    return _call(op, "lstm_f32", (*_sizes(op), ("clip", float(op.clip.value.data)), *tables))
