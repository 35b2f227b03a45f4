"""Random operators that keep something from one run to the next."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from forge_model import ACTIVATIONS, FLOAT32, INT8, INT16, INT32, INT64, Forge, schema


def add_svdf(forge: Forge, remembered: int) -> None:
    """A filter over time that remembers `remembered`. TFLM aborts without a bias."""
    rng, quantized = forge.rng, forge.quantized
    batch, size, units, rank, memory = (int(rng.integers(1, n)) for n in (3, 9, 6, 3, 7))
    source = forge.input([batch, size])
    feature = forge.weights([units * rank, size], 1, 0, False)
    scales, zero = [forge.scale(), float(np.float32(rng.uniform(0.001, 0.02)))], 0
    if remembered == INT8:
        zero = int(rng.integers(-128, 128))

    def tensor(shape: Sequence[int], type_: int, limit: int, scale: float, zero: int = 0) -> int:
        if not quantized:
            return forge.tensor(shape, FLOAT32, rng.normal(size=shape) if limit else None)
        data = rng.integers(-limit, limit + 1, shape) if limit else None
        return forge.tensor(shape, type_, data, [scale], [zero])

    state = tensor([batch, units * rank * memory], remembered, 0, scales[0], zero)
    forge.graph.tensors[state].isVariable = True
    limit = 127 if remembered == INT8 else 3000
    time = tensor([units * rank, memory], remembered, limit, scales[1])
    bias = tensor([units], INT32, 3000, scales[0] * scales[1])
    options: Any = schema.SVDFOptionsT()
    options.rank = rank
    options.fusedActivationFunction = forge.pick(0, 1) if quantized else forge.pick(*ACTIVATIONS)
    inputs, result = [source, feature, time, bias, state], forge.activation([batch, units])
    which = schema.BuiltinOptions.SVDFOptions
    forge.operator(schema.BuiltinOperator.SVDF, inputs, result, options, which)


def add_hybrid_svdf(forge: Forge) -> None:
    """Add a filter over time of reals with int8 weights."""
    rng = forge.rng
    batch, size, units, rank, memory = (int(rng.integers(1, n)) for n in (3, 9, 6, 3, 7))

    def weights(*shape: int) -> int:
        return forge.tensor(shape, INT8, rng.integers(-127, 128, shape), [0.011], [0])

    source, feature = forge.input([batch, size]), weights(units * rank, size)
    time = weights(units * rank, memory)
    bias = forge.tensor([units], FLOAT32, rng.normal(size=units))
    state = forge.tensor([batch, units * rank * memory], FLOAT32)
    forge.graph.tensors[state].isVariable = True
    options: Any = schema.SVDFOptionsT()
    options.rank, options.fusedActivationFunction = rank, forge.pick(0, 1)
    options.asymmetricQuantizeInputs = bool(rng.random() < 0.5)
    inputs, result = [source, feature, time, bias, state], forge.activation([batch, units])
    which = schema.BuiltinOptions.SVDFOptions
    forge.operator(schema.BuiltinOperator.SVDF, inputs, result, options, which)


def add_lstm(forge: Forge, element: int) -> None:
    """A layer of `element` that goes through a sequence, with a cell of int16 or float32."""
    rng, real = forge.rng, element == FLOAT32
    batch, steps, size, units = (int(rng.integers(1, n)) for n in (3, 4, 20, 14))
    options: Any = schema.UnidirectionalSequenceLSTMOptionsT()
    options.timeMajor = bool(rng.random() < 0.5)
    options.cellClip = float(np.float32(forge.pick(0, 0, 0.7, 10)))
    options.projClip, options.fusedActivationFunction = 0.0, 4
    options.asymmetricQuantizeInputs = False
    lengths = [steps, batch] if options.timeMajor else [batch, steps]
    bias = INT64 if element == INT16 else INT32

    def tensor(
        shape: Sequence[int], type_: int, scale: float, zero: int = 0, data: Any = None
    ) -> int:
        if real:
            return forge.tensor(shape, FLOAT32, data)
        return forge.tensor(shape, type_, data, [scale], [zero])

    def weights(shape: Sequence[int]) -> tuple[int, float]:
        data = rng.normal(size=shape) / 2 if real else rng.integers(-127, 128, shape)
        scale = float(np.float32(rng.uniform(0.001, 0.01)))
        return tensor(shape, INT8, scale, 0, data), scale

    narrow = element == INT8
    scale = forge.scale() / (8 if narrow else 2048)
    zeros = [int(rng.integers(-128, 128)) if narrow else 0 for _ in range(2)]
    source = tensor([*lengths, size], element, scale, zeros[0])
    forge.graph.inputs.append(source)
    shown = (1 / 128 if narrow else 1 / 32768) * forge.pick(1, 1, 1.1)
    hidden = tensor([batch, units], element, shown, zeros[1])
    cell = tensor([batch, units], INT16, 2.0 ** -int(forge.pick(11, 12, 13, 15, 8)))
    for state in (hidden, cell):
        forge.graph.tensors[state].isVariable = True
    by_input = [weights([units, size]) for _ in range(4)]
    by_hidden = [weights([units, units]) for _ in range(4)]
    biases = [
        tensor(
            [units],
            bias,
            scale * w,
            0,
            rng.normal(size=units) if real else rng.integers(-3000, 3000, units),
        )
        for _, w in by_input
    ]
    inputs = [source, *(t for t, _ in by_input + by_hidden), -1, -1, -1, *biases, -1, -1]
    inputs += [hidden, cell, -1, -1, -1, -1]
    result = tensor([*lengths, units], element, shown, zeros[1])
    which = schema.BuiltinOptions.UnidirectionalSequenceLSTMOptions
    code = schema.BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM
    forge.operator(code, inputs, result, options, which)


def add_real_lstm(forge: Forge) -> None:
    """Add a layer of float32 with any of its optional parts, of weights of float32 or int8."""
    rng, stored = forge.rng, forge.hybrid
    batch, steps, size, units = (int(rng.integers(1, n)) for n in (3, 4, 20, 14))
    coupled, peeps, projected, normalized = (bool(rng.random() < 0.4) for _ in range(4))
    out = int(rng.integers(1, 9)) if projected else units
    options: Any = schema.UnidirectionalSequenceLSTMOptionsT()
    options.timeMajor = bool(rng.random() < 0.5)
    options.cellClip = float(np.float32(forge.pick(0, 0, 0.7)))
    options.projClip = float(np.float32(forge.pick(0, 0.3)))
    options.fusedActivationFunction = forge.pick(4, 4, 1, 3)
    options.asymmetricQuantizeInputs = bool(rng.random() < 0.5)
    lengths = [steps, batch] if options.timeMajor else [batch, steps]

    def real(*shape: int) -> int:
        return forge.tensor(shape, FLOAT32, rng.normal(size=shape) * 0.5)

    def weights(*shape: int) -> int:
        if not stored:
            return real(*shape)
        data, scale = rng.integers(-127, 128, shape), float(np.float32(rng.uniform(0.001, 0.01)))
        return forge.tensor(shape, INT8, data, [scale], [0])

    def gates(there: bool, make: Any, *shape: int, missing: int = -1) -> list[int]:
        has_gate = [there and not (g == 0 and coupled) and g != missing for g in range(4)]
        return [make(*shape) if k else -1 for k in has_gate]

    source = forge.tensor([*lengths, size], FLOAT32)
    forge.graph.inputs.append(source)
    states = [forge.tensor([batch, n], FLOAT32) for n in (out, units)]
    for state in states:
        forge.graph.tensors[state].isVariable = True
    peepholes = gates(peeps, weights, units, missing=2)
    inputs = [source, *gates(True, weights, units, size), *gates(True, weights, units, out)]
    inputs += [peepholes[g] for g in (0, 1, 3)]
    inputs += gates(True, real, units)
    inputs += [weights(out, units), forge.pick(-1, real(out))] if projected else [-1, -1]
    inputs += [*states, *gates(normalized, real, units)]
    result = forge.tensor([*lengths, out], FLOAT32)
    which = schema.BuiltinOptions.UnidirectionalSequenceLSTMOptions
    code = schema.BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM
    forge.operator(code, inputs, result, options, which)


def add_sequence_rnn(forge: Forge) -> None:
    """Add a layer that reads its result of the step before, of weights of float32 or int8."""
    rng, stored = forge.rng, forge.hybrid
    batch, steps, size, units = (int(rng.integers(1, n)) for n in (3, 5, 20, 14))
    options: Any = schema.SequenceRNNOptionsT()
    options.timeMajor = bool(rng.random() < 0.5)
    options.fusedActivationFunction = forge.pick(4, 4, 1, 3, 0)
    options.asymmetricQuantizeInputs = bool(rng.random() < 0.5)
    lengths = [steps, batch] if options.timeMajor else [batch, steps]

    def weights(*shape: int) -> int:
        if not stored:
            return forge.tensor(shape, FLOAT32, rng.normal(size=shape) / 4)
        return forge.tensor(shape, INT8, rng.integers(-127, 128, shape), [0.003], [0])

    inputs = [forge.input([*lengths, size]), weights(units, size), weights(units, units)]
    inputs.append(forge.tensor([units], FLOAT32, rng.normal(size=units)))
    inputs.append(forge.tensor([batch, units], FLOAT32))
    forge.graph.tensors[inputs[-1]].isVariable = True
    result, which = forge.activation([*lengths, units]), schema.BuiltinOptions.SequenceRNNOptions
    code = schema.BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_RNN
    forge.operator(code, inputs, result, options, which)
