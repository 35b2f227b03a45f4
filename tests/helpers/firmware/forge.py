"""Makes .tflite files of random operators, so that kernels meet shapes that no real model has."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from forge_model import ACTIVATIONS, FLOAT32, INT8, INT16, INT32, SAME, UINT8, VALID, Forge, schema
from forge_model import DTYPES as DTYPES
from forge_model import flatbuffer_utils as flatbuffer_utils
from forge_operators import (
    LITERT_QUANTIZES,
    REAL_FUNCTIONS,
    add_arg,
    add_concat_requantized,
    add_dequantize,
    add_gelu,
    add_int32,
    add_leaky_relu,
    add_mean,
    add_prelu,
    add_quantize,
    add_real_function,
    add_reduction,
    add_resize,
    add_squared_difference,
    add_transpose,
    add_vectors,
    random_shape,
)
from forge_truth import COMPARISONS, add_comparison, add_logic, add_quotients


def spatial(
    size: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    padding: int,
) -> list[int]:
    """Output height and width as TensorFlow computes them."""
    if padding == SAME:
        return [-(-s // t) for s, t in zip(size, stride, strict=True)]
    return [
        (s - (k - 1) * d - 1) // t + 1
        for s, k, t, d in zip(size, kernel, stride, dilation, strict=True)
    ]


def add_convolution(forge: Forge, depthwise: bool) -> None:
    size, kernel, stride, padding = forge.window()
    dilation = [1, 1] if forge.rng.random() < 0.6 else [int(v) for v in forge.rng.integers(1, 4, 2)]
    if padding == VALID:
        size = [max(s, (k - 1) * d + 1) for s, k, d in zip(size, kernel, dilation, strict=True)]
    out = spatial(size, kernel, stride, dilation, padding)
    batch, channels = forge.pick(1, 1, 2), int(forge.rng.integers(1, 10))
    groups = 1
    if depthwise:
        multiplier = int(forge.pick(1, 1, 2, 5))
        out_channels = channels * multiplier
        shape, axis = [1, *kernel, out_channels], 3
    else:
        out_channels = int(forge.rng.integers(1, 10))
        if forge.rng.random() < 0.2:
            groups = int(forge.pick(2, 3))
            channels, out_channels = channels * groups, out_channels * groups
        shape, axis = [out_channels, *kernel, channels // groups], 0
    source = forge.input([batch, *size, channels])
    per_axis = bool(forge.rng.random() < 0.7) or (forge.hybrid and (depthwise or groups > 1))
    weights = forge.weights(shape, out_channels, axis, per_axis)
    # LiteRT insists on a bias, TFLM does not.
    bias = forge.bias(
        source, weights, out_channels, needed=not forge.quantized or forge.element == UINT8
    )
    if depthwise:
        options: Any = schema.DepthwiseConv2DOptionsT()
        options.depthMultiplier = out_channels // channels
        code, kind = (
            schema.BuiltinOperator.DEPTHWISE_CONV_2D,
            schema.BuiltinOptions.DepthwiseConv2DOptions,
        )
    else:
        options = schema.Conv2DOptionsT()
        code, kind = schema.BuiltinOperator.CONV_2D, schema.BuiltinOptions.Conv2DOptions
    options.padding, (options.strideH, options.strideW) = padding, stride
    options.dilationHFactor, options.dilationWFactor = dilation
    options.fusedActivationFunction = forge.pick(*ACTIVATIONS)
    result = forge.activation([batch, *out, out_channels])
    inputs = [source, weights] + ([bias] if bias >= 0 else [])
    forge.operator(code, inputs, result, options, kind)


def add_transpose_convolution(forge: Forge) -> None:
    size, kernel, stride, padding = forge.window()
    channels, out_channels = (int(v) for v in forge.rng.integers(1, 10, 2))
    out = [s * t for s, t in zip(size, stride, strict=True)]
    if padding == VALID:
        out = [(s - 1) * t + k for s, t, k in zip(size, stride, kernel, strict=True)]
    source = forge.input([forge.pick(1, 1, 2), *size, channels])
    shape = [out_channels, *kernel, channels]
    weights = forge.weights(shape, out_channels, 0, bool(forge.rng.random() < 0.7))
    result = [forge.graph.tensors[source].shape[0], *out, out_channels]
    inputs = [forge.tensor([4], INT32, result), weights, source]
    if forge.rng.random() < 0.7:
        inputs.append(forge.bias(source, weights, out_channels, needed=True))
    options: Any = schema.TransposeConvOptionsT()
    options.padding, (options.strideH, options.strideW) = padding, stride
    code, kind = schema.BuiltinOperator.TRANSPOSE_CONV, schema.BuiltinOptions.TransposeConvOptions
    forge.operator(code, inputs, forge.activation(result), options, kind)


def add_fully_connected(
    forge: Forge, needs_bias: bool = False, below: tuple[int, int, int] = (4, 40, 12)
) -> None:
    """Rows, inputs and outputs are fewer than `below`."""
    rows, in_n, out_n = (int(forge.rng.integers(1, n)) for n in below)
    source = forge.input([rows, in_n])
    weights = forge.weights([out_n, in_n], out_n, 0, bool(forge.rng.random() < 0.4))
    bias = forge.bias(source, weights, out_n, needed=needs_bias)
    options: Any = schema.FullyConnectedOptionsT()
    options.fusedActivationFunction = forge.pick(*ACTIVATIONS)
    forge.operator(
        schema.BuiltinOperator.FULLY_CONNECTED,
        [source, weights, bias],
        forge.activation([rows, out_n]),
        options,
        schema.BuiltinOptions.FullyConnectedOptions,
    )


def add_pool(forge: Forge, code: int) -> None:
    size, kernel, stride, padding = forge.window()
    if padding == VALID:
        size = [max(s, k) for s, k in zip(size, kernel, strict=True)]
    out = spatial(size, kernel, stride, [1, 1], padding)
    channels = int(forge.rng.integers(1, 10))
    source = forge.input([1, *size, channels])
    options: Any = schema.Pool2DOptionsT()
    options.padding, (options.strideH, options.strideW) = padding, stride
    options.filterHeight, options.filterWidth = kernel
    options.fusedActivationFunction = forge.pick(*ACTIVATIONS)
    result = forge.activation([1, *out, channels], like=source)
    forge.operator(code, [source], result, options, schema.BuiltinOptions.Pool2DOptions)


def add_binary(forge: Forge, code: int, options: Any, kind: int) -> None:
    shape = [1, *(int(v) for v in forge.rng.integers(1, 7, 3))]
    others = [1, 1, 1, 1], [1, 1, 1, shape[3]], [*shape[:3], 1], [1, shape[1], 1, shape[3]]
    pair = [shape, forge.pick(shape, shape, shape, *others)]
    if forge.rng.random() < 0.5:
        pair.reverse()
    options.fusedActivationFunction = forge.pick(*ACTIVATIONS)
    inputs = [forge.input(s) for s in pair]
    forge.operator(code, inputs, forge.activation(shape), options, kind)


def add_selection(forge: Forge, code: int) -> None:
    """MAXIMUM or MINIMUM, of tensors of one quantization."""
    shape = [1, *random_shape(forge, 3)]
    first = forge.input(shape)
    other = forge.activation(forge.pick(shape, [1, 1, 1, 1], [1, 1, 1, shape[3]]), like=first)
    forge.graph.inputs.append(other)
    inputs = forge.pick([first, other], [other, first])
    kind = schema.BuiltinOptions.MaximumMinimumOptions
    result = forge.activation(shape, like=first)
    forge.operator(code, inputs, result, schema.MaximumMinimumOptionsT(), kind)


def add_softmax(forge: Forge) -> None:
    shape = [int(forge.rng.integers(1, 4)), int(forge.rng.integers(1, 40))]
    source = forge.input(shape)
    options: Any = schema.SoftmaxOptionsT()
    options.beta = float(np.float32(forge.pick(1.0, 1.0, 0.3, 2.5)))
    if forge.element == INT8 and forge.quantized and forge.rng.random() < 0.4:
        result = forge.tensor(shape, INT16, None, [1 / forge.pick(65536, 65535)], [-32768])
    elif forge.element == INT16:
        result = forge.tensor(shape, INT16, None, [1 / 32768], [0])
    elif forge.quantized:
        result = forge.tensor(shape, forge.element, None, [1 / 256], [forge.low])
    else:
        result = forge.activation(shape)
    forge.operator(
        schema.BuiltinOperator.SOFTMAX,
        [source],
        result,
        options,
        schema.BuiltinOptions.SoftmaxOptions,
    )


def add_unary(forge: Forge, code: int) -> None:
    """RELU, RELU6, LOGISTIC, TANH, HARD_SWISH or ELU."""
    shape = random_shape(forge, int(forge.rng.integers(1, 5)))
    source = forge.input(shape)
    fixed = {
        schema.BuiltinOperator.LOGISTIC: (1 / 256, forge.low),
        schema.BuiltinOperator.TANH: (1 / 128, forge.low + 128),
    }
    if code in fixed and forge.quantized:
        scale, zero_point = (1 / 32768, 0) if forge.element == INT16 else fixed[code]
        result = forge.tensor(shape, forge.element, None, [scale], [zero_point])
    else:
        same = code in (schema.BuiltinOperator.RELU6, schema.BuiltinOperator.HARD_SWISH)
        result = forge.activation(shape, like=source if same else None)
    forge.operator(code, [source], result, None, schema.BuiltinOptions.NONE)


CASTS = tuple(
    (a, b) for a in (INT8, UINT8, INT32, FLOAT32) for b in (INT8, UINT8, INT32, FLOAT32) if a != b
)


def add_cast(
    forge: Forge, pairs: Sequence[tuple[int, int]] = CASTS, shape: Sequence[int] = ()
) -> None:
    """An operator for each pair of types, without quantization."""
    shape = shape or random_shape(forge)
    for source, result in pairs:
        x, y = forge.tensor(shape, source), forge.tensor(shape, result)
        forge.graph.inputs.append(x)
        options: Any = schema.CastOptionsT()
        options.inDataType, options.outDataType = source, result
        kind = schema.BuiltinOptions.CastOptions
        forge.operator(schema.BuiltinOperator.CAST, [x], y, options, kind)


def add_concat(forge: Forge) -> None:
    shape, axis = random_shape(forge), int(forge.rng.integers(0, 4))
    first = forge.input(shape)
    sources = [first]
    for _ in range(int(forge.rng.integers(1, 3))):
        shape = [int(forge.rng.integers(1, 6)) if i == axis else d for i, d in enumerate(shape)]
        sources.append(forge.activation(shape, like=first))
        forge.graph.inputs.append(sources[-1])
    out = list(shape)
    out[axis] = sum(forge.graph.tensors[s].shape[axis] for s in sources)
    options: Any = schema.ConcatenationOptionsT()
    options.axis = axis
    forge.operator(
        schema.BuiltinOperator.CONCATENATION,
        sources,
        forge.activation(out, like=first),
        options,
        schema.BuiltinOptions.ConcatenationOptions,
    )


def add_pad(forge: Forge) -> None:
    shape = random_shape(forge)
    widths = forge.rng.integers(0, 3, (4, 2))
    if forge.rng.random() < 0.8:
        widths[0] = 0  # of images, so that one has rows
    source = forge.input(shape)
    amounts = forge.tensor([4, 2], INT32, widths)
    out = [int(s + w.sum()) for s, w in zip(shape, widths, strict=True)]
    options: Any = schema.PadOptionsT()
    result = forge.activation(out, like=source)
    forge.operator(
        schema.BuiltinOperator.PAD,
        [source, amounts],
        result,
        options,
        schema.BuiltinOptions.PadOptions,
    )


def add_slice(forge: Forge) -> None:
    """A part of one dimension, or of the image's three."""
    shape = random_shape(forge)
    begin, out = [0, 0, 0, 0], list(shape)
    axes: tuple[int, ...] = forge.pick((0,), (1,), (2,), (3,), (1, 2, 3))
    for axis in axes:
        begin[axis] = int(forge.rng.integers(shape[axis]))
        out[axis] = int(forge.rng.integers(1, shape[axis] - begin[axis] + 1))
    source = forge.input(shape)
    starts, sizes = forge.tensor([4], INT32, begin), forge.tensor([4], INT32, out)
    forge.operator(
        schema.BuiltinOperator.SLICE,
        [source, starts, sizes],
        forge.activation(out, like=source),
        schema.SliceOptionsT(),
        schema.BuiltinOptions.SliceOptions,
    )


def add_split(forge: Forge) -> None:
    """Two or three equal parts of one dimension."""
    parts, axis = int(forge.rng.integers(2, 4)), int(forge.rng.integers(4))
    out = random_shape(forge)
    shape = [d * parts if i == axis else d for i, d in enumerate(out)]
    source = forge.input(shape)
    options: Any = schema.SplitOptionsT()
    options.numSplits = parts
    forge.operator(
        schema.BuiltinOperator.SPLIT,
        [forge.tensor([], INT32, np.array(axis)), source],
        [forge.activation(out, like=source) for _ in range(parts)],
        options,
        schema.BuiltinOptions.SplitOptions,
    )


def add_quotient(forge: Forge) -> None:
    options = schema.BuiltinOptions.DivOptions
    add_binary(forge, schema.BuiltinOperator.DIV, schema.DivOptionsT(), options)


def add_bytes_of_litert(forge: Forge) -> None:
    """One operator of each kind of bytes that TFLM has not."""
    builtin = schema.BuiltinOperator
    for element in (INT8, UINT8):
        forge.store_as(element)
        add_gelu(forge)
        for code in (builtin.RELU_N1_TO_1, builtin.RELU_0_TO_1):
            add_unary(forge, code)
    add_prelu(forge)
    for name in ("SUM", "REDUCE_MAX", "REDUCE_MIN"):
        add_reduction(forge, name)
    add_arg(forge, "ARG_MAX")
    add_arg(forge, "ARG_MIN")
    forge.store_as(INT8)


def add_of_litert(forge: Forge) -> None:
    """What LiteRT has and TFLM has not, one of each kind of stored integers."""
    if forge.quantized:
        add_int32(forge)
        add_bytes_of_litert(forge)
        add_logic(forge)
        for element in (UINT8, INT32, INT8):
            forge.store_as(element)
            add_comparison(forge, "Less")
        forge.store_as(INT16)
        for name in ("REDUCE_MAX", "REDUCE_MIN"):
            add_reduction(forge, name)
        for _ in range(3):
            add_resize(forge, schema.BuiltinOperator.RESIZE_BILINEAR)
        forge.store_as(INT8)
        add_quantize(forge, LITERT_QUANTIZES)
        add_cast(forge)
        add_uint8(forge)


def add_uint8(forge: Forge) -> None:
    """One operator of each kind of uint8."""
    builtin, kinds = schema.BuiltinOperator, schema.BuiltinOptions
    forge.store_as(UINT8)
    for depthwise in (False, True, False, True):
        add_convolution(forge, depthwise)
    add_fully_connected(forge)
    add_transpose_convolution(forge)
    for code in (builtin.AVERAGE_POOL_2D, builtin.MAX_POOL_2D):
        add_pool(forge, code)
    add_binary(forge, builtin.ADD, schema.AddOptionsT(), kinds.AddOptions)
    add_binary(forge, builtin.SUB, schema.SubOptionsT(), kinds.SubOptions)
    add_binary(forge, builtin.MUL, schema.MulOptionsT(), kinds.MulOptions)
    for code in (builtin.RELU, builtin.RELU6, builtin.LOGISTIC, builtin.TANH, builtin.HARD_SWISH):
        add_unary(forge, code)
    for code in (builtin.MAXIMUM, builtin.MINIMUM):
        add_selection(forge, code)
    for code in (builtin.RESIZE_BILINEAR, builtin.RESIZE_NEAREST_NEIGHBOR):
        add_resize(forge, code)
    for add in (add_softmax, add_leaky_relu, add_mean, add_concat, add_pad, add_transpose):
        add(forge)
    for add in (add_slice, add_split, add_concat_requantized):
        add(forge)
    add_vectors(forge, "L2_NORMALIZATION")
    forge.store_as(INT8)


def add_space_to_depth(forge: Forge) -> None:
    (n, h, w, c), block = random_shape(forge), int(forge.rng.integers(1, 4))
    source = forge.input([n, h * block, w * block, c])
    options: Any = schema.SpaceToDepthOptionsT()
    options.blockSize = block
    forge.operator(
        schema.BuiltinOperator.SPACE_TO_DEPTH,
        [source],
        forge.activation([n, h, w, c * block**2], like=source),
        options,
        schema.BuiltinOptions.SpaceToDepthOptions,
    )


def add_random(forge: Forge) -> None:
    """One random operator of those that the C backend has kernels for."""
    kinds = kinds_of(forge)
    kinds[int(forge.rng.integers(len(kinds)))]()


def add_each(forge: Forge) -> None:
    """A random operator of each kind."""
    for add in kinds_of(forge):
        add()


def reals_of_litert(forge: Forge) -> tuple[Callable[[], None], ...]:
    """Kinds that are of float32 alone."""
    builtin = schema.BuiltinOperator
    return (
        lambda: add_gelu(forge),
        lambda: add_unary(forge, builtin.RELU_N1_TO_1),
        lambda: add_unary(forge, builtin.RELU_0_TO_1),
        lambda: add_reduction(forge, "REDUCE_PROD"),
        lambda: add_pool(forge, builtin.L2_POOL_2D),
        lambda: add_quotients(forge),
    )


def kinds_of(forge: Forge) -> tuple[Callable[[], None], ...]:
    """What adds a random operator, by kind; of the large families more than once."""
    builtin = schema.BuiltinOperator
    return (
        lambda: add_convolution(forge, False),
        lambda: add_convolution(forge, False),
        lambda: add_convolution(forge, True),
        lambda: add_convolution(forge, True),
        lambda: add_fully_connected(forge),
        lambda: add_transpose_convolution(forge),
        lambda: add_pool(forge, builtin.AVERAGE_POOL_2D),
        lambda: add_pool(forge, builtin.MAX_POOL_2D),
        lambda: add_binary(
            forge, builtin.ADD, schema.AddOptionsT(), schema.BuiltinOptions.AddOptions
        ),
        lambda: add_binary(
            forge, builtin.MUL, schema.MulOptionsT(), schema.BuiltinOptions.MulOptions
        ),
        lambda: add_binary(
            forge, builtin.SUB, schema.SubOptionsT(), schema.BuiltinOptions.SubOptions
        ),
        lambda: add_softmax(forge),
        lambda: add_softmax(forge),
        lambda: add_unary(forge, builtin.RELU),
        lambda: add_unary(forge, builtin.RELU6),
        lambda: add_unary(forge, builtin.LOGISTIC),
        lambda: add_quantize(forge) if forge.quantized else add_quotient(forge),
        lambda: add_dequantize(forge) if forge.quantized else add_quotient(forge),
        lambda: add_concat(forge),
        lambda: add_pad(forge),
        lambda: add_transpose(forge),
        lambda: add_mean(forge),
        lambda: add_slice(forge),
        lambda: add_split(forge),
        lambda: add_selection(forge, builtin.MAXIMUM),
        lambda: add_selection(forge, builtin.MINIMUM),
        lambda: add_resize(forge, builtin.RESIZE_BILINEAR),
        lambda: add_resize(forge, builtin.RESIZE_NEAREST_NEIGHBOR),
        *(
            ()
            if forge.quantized
            else (partial(add_real_function, forge, n) for n in REAL_FUNCTIONS)
        ),
        *(() if forge.quantized else reals_of_litert(forge)),
        lambda: add_prelu(forge),
        lambda: add_squared_difference(forge),
        lambda: add_reduction(forge, "SUM"),
        lambda: add_reduction(forge, "REDUCE_MAX"),
        lambda: add_reduction(forge, "REDUCE_MIN"),
        lambda: add_arg(forge, "ARG_MAX"),
        lambda: add_arg(forge, "ARG_MIN"),
        lambda: add_vectors(forge, "L2_NORMALIZATION"),
        lambda: add_vectors(forge, "LOG_SOFTMAX"),
        lambda: add_comparison(forge, forge.pick(*COMPARISONS)),
        lambda: add_unary(forge, builtin.TANH),
        lambda: add_unary(forge, builtin.HARD_SWISH),
        lambda: add_unary(forge, builtin.ELU),
        lambda: add_leaky_relu(forge),
        lambda: add_space_to_depth(forge),
    )
