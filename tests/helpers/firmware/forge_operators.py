"""Random operators of a forged file, of few options each (forge.py)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from forge_model import ACTIVATIONS, FLOAT32, INT8, INT16, INT32, UINT8, Forge, schema

TFLM_QUANTIZES = (
    (FLOAT32, INT8),
    (FLOAT32, INT16),
    (INT8, INT8),
    (INT8, UINT8),
    (INT8, INT16),
    (UINT8, INT8),
    (INT16, INT8),
    (INT16, INT16),
    (INT16, INT32),
    (INT8, INT32),
    (INT32, INT8),
    (INT32, INT16),
)
LITERT_QUANTIZES = ((FLOAT32, UINT8), (UINT8, UINT8), (UINT8, INT16))  # what LiteRT alone has


def random_shape(forge: Forge, rank: int = 4, limit: int = 7) -> list[int]:
    return [int(v) for v in forge.rng.integers(1, limit, rank)]


def add_prelu(forge: Forge) -> None:
    shape = random_shape(forge)
    slopes = forge.input(forge.pick(shape, shape[1:], [1, 1, shape[3]], [1, 1, 1]))
    inputs = [forge.input(shape), slopes]
    code, none = schema.BuiltinOperator.PRELU, schema.BuiltinOptions.NONE
    forge.operator(code, inputs, forge.activation(shape), None, none)


def add_squared_difference(forge: Forge) -> None:
    options = schema.SquaredDifferenceOptionsT()
    options.fusedActivationFunction = 0
    shape = random_shape(forge)
    inputs = [forge.input(shape), forge.input(forge.pick(shape, [1, 1, 1, shape[3]]))]
    result = forge.activation(shape)
    numbers = forge.graph.tensors[result].quantization
    if numbers is not None:  # no finer than the squares
        numbers.scale = [float(np.float32(forge.rng.uniform(0.5, 2.0)))]
    code = schema.BuiltinOperator.SQUARED_DIFFERENCE
    kind = schema.BuiltinOptions.SquaredDifferenceOptions
    forge.operator(code, inputs, result, options, kind)


def add_reduction(forge: Forge, name: str) -> None:
    """SUM, REDUCE_MAX, REDUCE_MIN or REDUCE_PROD over neighbouring axes."""
    shape, keep = random_shape(forge), bool(forge.rng.random() < 0.5)
    axes = forge.pick([1, 2], [3], [2], [1], [2, 3], [1, 2, 3])
    source, indices = forge.input(shape), forge.tensor([len(axes)], INT32, axes)
    out = [1 if i in axes else d for i, d in enumerate(shape) if keep or i not in axes]
    options: Any = schema.ReducerOptionsT()
    options.keepDims = keep
    result = forge.activation(out, like=None if name == "SUM" else source)
    code, kind = getattr(schema.BuiltinOperator, name), schema.BuiltinOptions.ReducerOptions
    forge.operator(code, [source, indices], result, options, kind)


def add_arg(forge: Forge, name: str) -> None:
    """ARG_MAX or ARG_MIN."""
    shape, axis = random_shape(forge), int(forge.rng.integers(1, 4))
    source = forge.input(shape)
    options: Any = schema.ArgMaxOptionsT() if name == "ARG_MAX" else schema.ArgMinOptionsT()
    options.outputType = INT32
    where = forge.tensor([1], INT32, [int(forge.pick(axis, axis - 4))])
    result = forge.tensor([*shape[:axis], *shape[axis + 1 :]], INT32)
    code = getattr(schema.BuiltinOperator, name)
    kinds = schema.BuiltinOptions
    kind = kinds.ArgMaxOptions if name == "ARG_MAX" else kinds.ArgMinOptions
    forge.operator(code, [source, where], result, options, kind)


def add_vectors(forge: Forge, name: str) -> None:
    """L2_NORMALIZATION or LOG_SOFTMAX."""
    shape, kinds = [*random_shape(forge, 3), int(forge.rng.integers(1, 40))], schema.BuiltinOptions
    source, result = forge.input(shape), forge.activation(shape)
    if forge.quantized:
        numbers = forge.graph.tensors[result].quantization
        numbers.scale, numbers.zeroPoint = [1 / 128], [forge.low + 128]
        if name == "LOG_SOFTMAX":
            numbers.scale, numbers.zeroPoint = [1 / 16], [127]
            steps = forge.pick(0.05, 0.3, 2e-8, 1e-4, 5.0, 50.0)
            forge.graph.tensors[source].quantization.scale = [float(np.float32(steps))]
    options: Any = schema.L2NormOptionsT()
    kind = kinds.L2NormOptions
    if name == "LOG_SOFTMAX":
        options, kind = schema.LogSoftmaxOptionsT(), kinds.LogSoftmaxOptions
    forge.operator(getattr(schema.BuiltinOperator, name), [source], result, options, kind)


def add_gelu(forge: Forge) -> None:
    shape, options = random_shape(forge), schema.GeluOptionsT()
    options.approximate = bool(forge.pick(True, False))
    code, kind = schema.BuiltinOperator.GELU, schema.BuiltinOptions.GeluOptions
    forge.operator(code, [forge.input(shape)], forge.activation(shape), options, kind)


def add_int32(forge: Forge) -> None:
    """Of integers that stand for themselves."""
    builtin, kinds = schema.BuiltinOperator, schema.BuiltinOptions
    for name in ("Add", "Sub", "Mul", "Maximum", "Minimum"):
        shape = random_shape(forge)
        pair = [shape, forge.pick(shape, [1, 1, 1, 1], [1, 1, 1, shape[3]], [*shape[:3], 1])]
        inputs = [forge.tensor(s, INT32) for s in forge.rng.permutation(np.array(pair))]
        forge.graph.inputs.extend(inputs)
        kind = name if name in ("Add", "Sub", "Mul") else "MaximumMinimum"
        options = getattr(schema, f"{kind}OptionsT")()
        if hasattr(options, "fusedActivationFunction"):
            options.fusedActivationFunction = forge.pick(*ACTIVATIONS)
        code, which = getattr(builtin, name.upper()), getattr(kinds, f"{kind}Options")
        forge.operator(code, inputs, forge.tensor(shape, INT32), options, which)
    forge.store_as(INT32)
    add_squared_difference(forge)
    for name in ("SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN"):
        add_reduction(forge, name)
    add_arg(forge, "ARG_MAX")
    add_arg(forge, "ARG_MIN")
    forge.store_as(INT8)


def add_concat_requantized(forge: Forge) -> None:
    """Of uint8, each operand with a quantization of its own."""
    shape, axis = random_shape(forge), int(forge.rng.integers(0, 4))
    sources = [forge.input([*shape[:axis], int(n), *shape[axis + 1 :]]) for n in (1, 3, 2)]
    options: Any = schema.ConcatenationOptionsT()
    options.axis = axis
    result = forge.activation([*shape[:axis], 6, *shape[axis + 1 :]])
    kind = schema.BuiltinOptions.ConcatenationOptions
    forge.operator(schema.BuiltinOperator.CONCATENATION, sources, result, options, kind)


def add_quantize(forge: Forge, pairs: Sequence[tuple[int, int]] = TFLM_QUANTIZES) -> None:
    """An operator for each pair of types."""
    options = schema.BuiltinOptions.QuantizeOptions
    shape = random_shape(forge)
    for source, result in pairs:
        x, y = forge.stored(shape, source), forge.stored(shape, result)
        if source == INT32:  # of which random ones are large
            forge.graph.tensors[x].quantization.scale = [forge.scale() / (1 << 20)]
        forge.graph.inputs.append(x)
        code = schema.BuiltinOperator.QUANTIZE
        forge.operator(code, [x], y, schema.QuantizeOptionsT(), options)


def add_dequantize(forge: Forge) -> None:
    """An operator for each type."""
    options = schema.BuiltinOptions.DequantizeOptions
    shape = random_shape(forge)
    for source in (INT8, UINT8, INT16):
        x, y = forge.stored(shape, source), forge.tensor(shape, FLOAT32)
        forge.graph.inputs.append(x)
        code = schema.BuiltinOperator.DEQUANTIZE
        forge.operator(code, [x], y, schema.DequantizeOptionsT(), options)


def add_leaky_relu(forge: Forge) -> None:
    shape = random_shape(forge, int(forge.rng.integers(1, 5)))
    options = schema.LeakyReluOptionsT()
    options.alpha = float(forge.rng.choice((0.0, 0.01, 0.3, 1.5)))
    source, result = forge.input(shape), forge.activation(shape)
    which = schema.BuiltinOptions.LeakyReluOptions
    forge.operator(schema.BuiltinOperator.LEAKY_RELU, [source], result, options, which)


def add_real_function(forge: Forge, name: str) -> None:
    """Of float32; roots and logarithms of the sigmoid's numbers, which are positive."""
    shape = random_shape(forge)
    source = forge.input(shape)
    if name in ("SQRT", "RSQRT", "LOG"):
        positive = forge.activation(shape)
        logistic = schema.BuiltinOperator.LOGISTIC
        forge.operator(logistic, [source], positive, None, schema.BuiltinOptions.NONE)
        source = positive
    code = getattr(schema.BuiltinOperator, name)
    forge.operator(code, [source], forge.activation(shape), None, schema.BuiltinOptions.NONE)


def add_resize(forge: Forge, code: int) -> None:
    """To another height and width, smaller or larger."""
    shape = random_shape(forge)
    out = [shape[0], *(int(v) for v in forge.rng.integers(1, 12, 2)), shape[3]]
    source = forge.input(shape)
    size = forge.tensor([2], INT32, out[1:3])
    bilinear = code == schema.BuiltinOperator.RESIZE_BILINEAR
    kinds = schema.BuiltinOptions
    options: Any = (
        schema.ResizeBilinearOptionsT() if bilinear else schema.ResizeNearestNeighborOptionsT()
    )
    options.alignCorners, options.halfPixelCenters = forge.pick((0, 0), (1, 0), (0, 1))
    kind = kinds.ResizeBilinearOptions if bilinear else kinds.ResizeNearestNeighborOptions
    forge.operator(code, [source, size], forge.activation(out, like=source), options, kind)


def add_transpose(forge: Forge) -> None:
    rank = int(forge.rng.integers(2, 5))
    shape = random_shape(forge, rank)
    order = [int(v) for v in forge.rng.permutation(rank)]
    if forge.rng.random() < 0.5:  # of rows, each by itself
        order = [*range(rank - 2), rank - 1, rank - 2]
    source = forge.input(shape)
    permutation = forge.tensor([rank], INT32, order)
    result = forge.activation([shape[i] for i in order], like=source)
    options: Any = schema.TransposeOptionsT()
    forge.operator(
        schema.BuiltinOperator.TRANSPOSE,
        [source, permutation],
        result,
        options,
        schema.BuiltinOptions.TransposeOptions,
    )


def add_mean(forge: Forge) -> None:
    shape = random_shape(forge)
    axes = forge.pick([1, 2], [1, 2], [3], [2], [1])
    keep = bool(forge.rng.random() < 0.5)
    source = forge.input(shape)
    indices = forge.tensor([len(axes)], INT32, axes)
    out = [1 if i in axes else d for i, d in enumerate(shape) if keep or i not in axes]
    options: Any = schema.ReducerOptionsT()
    options.keepDims = keep
    result = forge.activation(out, like=forge.pick(source, None))
    forge.operator(
        schema.BuiltinOperator.MEAN,
        [source, indices],
        result,
        options,
        schema.BuiltinOptions.ReducerOptions,
    )


REAL_FUNCTIONS = (
    "ABS",
    "NEG",
    "SQUARE",
    "SQRT",
    "RSQRT",
    "EXP",
    "LOG",
    "FLOOR",
    "CEIL",
    "ROUND",
    "SIN",
    "COS",
    "SIGN",
)
