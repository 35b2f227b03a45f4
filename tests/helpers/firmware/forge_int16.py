"""Random operators of int16 with int8 weights."""

from typing import Any

from forge_model import INT8, INT16, INT32, INT64, Forge, schema
from forge_operators import add_squared_difference, random_shape
from forge_truth import add_matrix


def add_int16(types: Any, forge: Forge) -> None:
    """Convolutions with biases of 64 bits and of 32, matrices, sums, differences and products, and
    what has no weights; `types` is tests/helpers/firmware/forge.py."""
    forge.store_as(INT16)
    codes, kinds = schema.BuiltinOperator, schema.BuiltinOptions
    for bits in (INT64, INT32, INT64):
        forge.wide_bias = bits
        types.add_convolution(forge, False)
        forge.wide_bias = INT64  # which alone depthwise ones and matrices have
        types.add_convolution(forge, True)
    for _ in range(2):
        types.add_transpose_convolution(forge)
    types.add_fully_connected(forge, needs_bias=True)
    add_matrix(forge)
    for name in ("Add", "Sub", "Mul") * 4:
        options: Any = getattr(schema, f"{name}OptionsT")()
        if name != "Mul":
            options.potScaleInt16 = False
        kind = getattr(kinds, f"{name}Options")
        types.add_binary(forge, getattr(codes, name.upper()), options, kind)
    add_int16_alone(types, forge)
    forge.store_as(INT8)


def add_int16_alone(types: Any, forge: Forge) -> None:
    """What has no weights."""
    codes = schema.BuiltinOperator
    for code in (codes.AVERAGE_POOL_2D, codes.MAX_POOL_2D):
        types.add_pool(forge, code)
    for code in (codes.MAXIMUM, codes.MINIMUM):
        types.add_selection(forge, code)
    for code in (codes.RELU, codes.RELU6, codes.ABS):
        types.add_unary(forge, code)
    for add in (types.add_mean, types.add_pad, types.add_transpose, types.add_leaky_relu):
        add(forge)
    for add in (types.add_concat, types.add_slice, types.add_split, types.add_softmax):
        add(forge)
    for code in (codes.LOGISTIC, codes.TANH):
        types.add_unary(forge, code)
    add_squared_difference(forge)
    add_root(forge)


def add_root(forge: Forge) -> None:
    """1 over the root of what is not below zero."""
    shape, none = random_shape(forge), schema.BuiltinOptions.NONE
    size, result = forge.activation(shape), forge.activation(shape)
    made = forge.graph.tensors[result].quantization
    made.scale = [16 * float(made.scale[0])]  # roots of finer numbers could overflow
    forge.operator(schema.BuiltinOperator.ABS, [forge.input(shape)], size, None, none)
    forge.operator(schema.BuiltinOperator.RSQRT, [size], result, None, none)
