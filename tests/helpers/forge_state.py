"""Random operators that keep something from one run to the next."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from forge_model import ACTIVATIONS, FLOAT32, INT8, INT32, Forge, schema


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
