"""Random comparisons, choices, products of matrices and powers of a forged file."""

from typing import Any

import numpy as np
from forge_model import ACTIVATIONS, BOOL, INT8, INT16, INT32, INT64, UINT8, Forge, schema
from forge_operators import random_shape

BUILTIN, KINDS = schema.BuiltinOperator, schema.BuiltinOptions
COMPARISONS = ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")


def code_of(name: str) -> int:
    """`LessEqual` is LESS_EQUAL."""
    words = "".join(f"_{c}" if c.isupper() else c.upper() for c in name)
    return int(getattr(BUILTIN, words.strip("_")))


def add(forge: Forge, name: str, inputs: list[int], result: int, **options: Any) -> None:
    made: Any = getattr(schema, f"{name}OptionsT")()
    for key, value in options.items():
        setattr(made, key, value)
    code = BUILTIN.BATCH_MATMUL if name == "BatchMatMul" else code_of(name)
    forge.operator(code, inputs, result, made, getattr(KINDS, f"{name}Options"))


def pair(forge: Forge) -> tuple[list[int], list[int], list[int]]:
    """A shape, and two that make it, of which one may be broadcast."""
    shape = random_shape(forge)
    n, h, w, c = shape
    other = forge.pick(shape, [1, 1, 1, 1], [1, 1, 1, c], [n, h, w, 1], [n, 1, 1, c], [1, h, 1, c])
    both = [shape, other]
    if forge.rng.random() < 0.5:
        both.reverse()
    return shape, both[0], both[1]


def truths(forge: Forge, shape: list[int]) -> int:
    index = forge.tensor(shape, BOOL)
    forge.graph.inputs.append(index)
    return index


def add_comparison(forge: Forge, name: str) -> None:
    shape, a, b = pair(forge)
    add(forge, name, [forge.input(a), forge.input(b)], forge.tensor(shape, BOOL))


def add_logic(forge: Forge) -> None:
    for name in ("LogicalAnd", "LogicalOr", "Equal", "NotEqual"):
        shape, a, b = pair(forge)
        add(forge, name, [truths(forge, a), truths(forge, b)], forge.tensor(shape, BOOL))
    shape = random_shape(forge)
    add(forge, "LogicalNot", [truths(forge, shape)], forge.tensor(shape, BOOL))


def add_quotients(forge: Forge) -> None:
    """Of reals; powers of the sigmoid's numbers, which are positive."""
    for name in ("FloorDiv", "FloorMod", "Pow"):
        shape, a, b = pair(forge)
        first = forge.input(a)
        if name == "Pow":
            positive = forge.activation(a)
            forge.operator(BUILTIN.LOGISTIC, [first], positive, None, KINDS.NONE)
            first = positive
        add(forge, name, [first, forge.input(b)], forge.activation(shape))


def add_stored_quotient(forge: Forge, real: float) -> None:
    """Of bytes, with scales of which the first is `real` times the product of the others."""
    shape, a, b = pair(forge)
    inputs, result = [forge.input(a), forge.input(b)], forge.activation(shape)
    below, above = (forge.graph.tensors[i].quantization.scale[0] for i in (inputs[1], result))
    forge.graph.tensors[inputs[0]].quantization.scale = [float(np.float32(below * above * real))]
    add(forge, "Div", inputs, result, fusedActivationFunction=forge.pick(*ACTIVATIONS))


def add_stored_quotients(forge: Forge) -> None:
    """One of each type; of some elements runtimes have no result: test_c_quotients.py."""
    for element in (UINT8, INT8):
        forge.store_as(element)
        add_stored_quotient(forge, 4.0)


def add_choice(forge: Forge) -> None:
    shape, a, b = pair(forge)
    first = forge.input(shape)
    other = forge.activation(shape, like=first)
    forge.graph.inputs.append(other)
    result = forge.activation(shape, like=first)
    add(forge, "Select", [truths(forge, shape), first, other], result)
    first = forge.input(a)
    other = forge.activation(b, like=first)
    forge.graph.inputs.append(other)
    condition = truths(forge, forge.pick(shape, [1], [*shape[:3], 1], [1, *shape[1:]]))
    add(forge, "SelectV2", [condition, first, other], forge.activation(shape, like=first))


def add_gather_nd(forge: Forge) -> None:
    shape, depth = random_shape(forge), int(forge.rng.integers(1, 5))
    at = [int(v) for v in forge.rng.integers(1, 4, int(forge.rng.integers(1, 3)))]
    rows = forge.rng.integers(0, shape[:depth], (*at, depth))
    source, indices = forge.input(shape), forge.tensor([*at, depth], INT32, rows)
    result = forge.activation([*at, *shape[depth:]], like=source)
    add(forge, "GatherNd", [source, indices], result)


def add_product(forge: Forge) -> None:
    """Of matrices, transposed or not; of many with many, or with one."""
    rows, depth, columns = (int(v) for v in forge.rng.integers(1, 9, 3))
    adj_x, adj_y = (bool(v) for v in forge.rng.random(2) < 0.5)
    a, b = ([depth, rows] if adj_x else [rows, depth]), [depth, columns]
    b = b[::-1] if adj_y else b
    batches = [int(v) for v in forge.rng.integers(1, 4, 2)]
    x, y = forge.pick((batches, batches), (batches, [1, 1]), ([1, 1], batches), ([], []))
    result = forge.activation([*(x if np.prod(x) > np.prod(y) else y), rows, columns])
    if forge.quantized:
        forge.graph.tensors[result].quantization.scale = [float(np.float32(0.4))]
    inputs = [forge.input([*x, *a]), forge.input([*y, *b])]
    add(forge, "BatchMatMul", inputs, result, adjX=adj_x, adjY=adj_y)


def add_outer(forge: Forge) -> None:
    """Each of one operand with each of the other, where neither has all dimensions."""
    n, h, w, c = random_shape(forge)
    for a, b, name in (([n, 1, w, 1], [1, h, 1, c], "Mul"), ([w, 1], [n, h, 1, c], "Add")):
        operands = [forge.input(a), forge.input(b)]
        add(forge, name, operands, forge.activation([n, h, w, c]))


def add_functions(forge: Forge) -> None:
    """Of int8: by tables. Roots of what is not below zero."""
    roots = (BUILTIN.SQRT, BUILTIN.RSQRT)
    for code in (BUILTIN.ABS, *roots, BUILTIN.EXP, BUILTIN.LOG):
        shape = random_shape(forge)
        source = forge.input(shape)
        numbers = forge.graph.tensors[source].quantization
        numbers.zeroPoint = [-128] if code in roots else numbers.zeroPoint
        result = forge.activation(shape, like=forge.pick(source, None))
        forge.operator(code, [source], result, None, KINDS.NONE)


def add_gather(forge: Forge) -> None:
    """By indices that are found at run time, of 32 or 64 bits, also of each batch its own."""
    for element in (INT32, INT64):
        n, count, inner = (int(v) for v in forge.rng.integers(1, 6, 3))
        batches, length = (int(v) for v in forge.rng.integers(2, 6, 2))
        where = forge.tensor([], INT32, np.array(2))
        for own in (0, 1):
            indices = forge.tensor([batches, count], element)
            operands = [forge.input([batches, count, length]), where]
            add(forge, "ArgMax", operands, indices, outputType=element)
            source = forge.input([batches, n, length, inner])
            made = [batches, n, count, inner] if own else [batches, n, batches, count, inner]
            result = forge.activation(made, like=source)
            add(forge, "Gather", [source, indices], result, axis=2, batchDims=own)
        rows = forge.tensor([batches, 1], element)
        operands = [forge.input([batches, 1, length]), where]
        add(forge, "ArgMin", operands, rows, outputType=element)
        source = forge.input([length, inner])
        add(forge, "GatherNd", [source, rows], forge.activation([batches, inner], like=source))


def add_matrix(forge: Forge) -> None:
    """FULLY_CONNECTED by weights of run time."""
    rows, depth, columns = (int(v) for v in forge.rng.integers(1, 9, 3))
    source, wide = forge.input([rows, depth]), forge.element == INT16
    if wide:
        weights = forge.stored([columns, depth], INT8)
        forge.graph.inputs.append(weights)
    else:
        weights = forge.input([columns, depth])
    result = forge.activation([rows, columns])
    if forge.quantized:
        if not wide:
            forge.graph.tensors[weights].quantization.zeroPoint = [0]
        forge.graph.tensors[result].quantization.scale = [float(np.float32(0.4))]
    add(forge, "FullyConnected", [source, weights, -1], result)
