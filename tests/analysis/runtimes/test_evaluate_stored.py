"""Integers that no shared model has, bit for bit TensorFlow Lite Micro's: int16, int8 functions.

Inputs of element-wise operators hold every int8, or random int16 with the ends of the range.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evaluate_against_litert import compared
from tflite_builder import Graph, Op, T, build

from memopt.backends.c.emit.lowering import lower
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.dialects.operators.unary import FunctionOp
from memopt.dialects.operators.unit_length import LogSoftmaxOp
from memopt.frontends.tflite.operators import OPERATORS
from memopt.frontends.tflite.read import read

A, B, C = (0.043, 7), (0.0171, -30), (0.061, 11)
UNIT = {"TANH": (1 / 128, 0), "LOGISTIC": (1 / 256, -128), "SOFTMAX": (1 / 256, -128)}
# Input scales of LOGISTIC and TANH, of which a step is nothing, one, several, or all that there is.
COARSE = (0.0, 4e-9, 1e-4, 0.99, 1.0, 1.5, 7.9, 8.0, 15.0, 16.0, 100.0, 1e6, 3e10)
Numbers = tuple[float, int]


def tensor(name: str, shape: tuple[int, ...], bits: int, numbers: Numbers) -> T:
    """Activations of int16 have a finer scale and no zero point."""
    scale, zero = numbers if bits == 8 else (numbers[0] / 128, 0)
    return T(name, shape, f"INT{bits}", scale=[float(np.float32(scale))], zero=[zero])


def one(
    op: str,
    bits: int,
    shapes: tuple[tuple[int, ...], ...],
    out: tuple[int, ...],
    constants: tuple[Any, ...] = (),
    options: tuple[str, dict[str, Any]] | None = None,
    numbers: tuple[Numbers, ...] = (A, B, C),
    out_bits: int = 0,
    order: tuple[int, ...] = (),
) -> bytes:
    """A model of one operator; `constants` are its last operands, unless `order` says which of all
    tensors comes where."""
    tensors = [tensor(f"x{i}", s, bits, numbers[i]) for i, s in enumerate(shapes)]
    for array in constants:
        if isinstance(array, T):
            tensors.append(array)
        else:
            data = np.asarray(array, np.int32)
            tensors.append(T(f"c{len(tensors)}", data.shape, "INT32", data))
    tensors.append(tensor("y", out, out_bits or bits, numbers[-1]))
    last = len(tensors) - 1
    inputs = list(range(len(shapes)))
    return build(Graph(tensors, [Op(op, order or range(last), [last], options)], inputs, [last]))


def weights(shape: tuple[int, ...], channels: int, axis: int, bias: Any) -> tuple[T, ...]:
    rng = np.random.default_rng(5)
    scale = [float(np.float32(v)) for v in rng.uniform(0.002, 0.02, channels)]
    data = rng.integers(-127, 128, shape).astype(np.int8)
    found = [T("w", shape, "INT8", data, scale=scale, axis=axis)]
    if bias is not None:
        values = rng.integers(-50000, 50000, channels).astype(bias)
        found.append(T("b", (channels,), np.dtype(bias).name.upper(), values, scale=scale))
    return tuple(found)


def matrix(bits: int, bias: Any) -> tuple[T, ...]:
    """5 x 20 weights of one scale; TFLM wants the bias in the scale of the products."""
    rng = np.random.default_rng(6)
    scale = tensor("x", (), bits, A).scale[0] * 0.0078125
    data = rng.integers(-127, 128, (5, 20)).astype(np.int8)
    values = rng.integers(-50000, 50000, 5).astype(bias)
    return (
        T("w", (5, 20), "INT8", data, scale=[0.0078125]),
        T("b", (5,), np.dtype(bias).name.upper(), values, scale=[scale]),
    )


X = (1, 5, 7, 6)
WINDOW = {"strideH": 2, "strideW": 1, "padding": 0, "fusedActivationFunction": 1}
POOL = ("Pool2D", {**WINDOW, "filterHeight": 3, "filterWidth": 2})
FULL = (1, 16, 16, 1)


@cache
def models(bits: int) -> dict[str, bytes]:
    """Operators that TFLM has for both types."""
    other = (1, 1, 1, 6)
    bias = np.int32 if bits == 8 else np.int64
    conv = ("Conv2D", {**WINDOW, "dilationHFactor": 1, "dilationWFactor": 1})
    depthwise = ("DepthwiseConv2D", {**WINDOW, "depthMultiplier": 2, "dilationWFactor": 2})
    depthwise[1]["dilationHFactor"] = 1
    found = {
        "add": one("ADD", bits, (X, X), X, options=("Add", {"potScaleInt16": False})),
        "add broadcast": one("ADD", bits, (X, other), X, options=("Add", {"potScaleInt16": False})),
        "sub": one("SUB", bits, (X, X), X, options=("Sub", {"potScaleInt16": False})),
        "sub broadcast": one("SUB", bits, (other, X), X, options=("Sub", {"potScaleInt16": False})),
        "mul": one("MUL", bits, (X, X), X, options=("Mul", {"fusedActivationFunction": 3})),
        "average": one("AVERAGE_POOL_2D", bits, (X,), (1, 3, 7, 6), options=POOL, numbers=(A,)),
        "max pool": one("MAX_POOL_2D", bits, (X,), (1, 3, 7, 6), options=POOL, numbers=(A,)),
        "mean": one("MEAN", bits, (X,), (1, 6), ([1, 2],), ("Reducer", {"keepDims": False})),
        "conv": one("CONV_2D", bits, (X,), (1, 3, 7, 4), weights((4, 3, 3, 6), 4, 0, bias), conv),
        "depthwise": one(
            "DEPTHWISE_CONV_2D",
            bits,
            (X,),
            (1, 3, 7, 12),
            weights((1, 3, 3, 12), 12, 3, bias),
            depthwise,
        ),
        "matrix": one(
            "FULLY_CONNECTED",
            bits,
            ((3, 20),),
            (3, 5),
            matrix(bits, bias),
            ("FullyConnected", {"fusedActivationFunction": 1}),
        ),
        "concat": one(
            "CONCATENATION",
            bits,
            (X, X),
            (1, 5, 7, 12),
            (),
            ("Concatenation", {"axis": 3}),
            (A,) * 3,
        ),
        "pad": one(
            "PAD", bits, (X,), (1, 8, 7, 6), ([[0, 0], [1, 2], [0, 0], [0, 0]],), None, (A,)
        ),
        "other bits": one("QUANTIZE", bits, (X,), X, out_bits=24 - bits),
        "relu": one("RELU", bits, (X,), X),
        "relu6": one("RELU6", bits, (X,), X, numbers=(A,)),
        "maximum": one("MAXIMUM", bits, (X, X), X, numbers=(A, A, A)),
        "minimum": one("MINIMUM", bits, (X, X), X, numbers=(A, A, A)),
        "nearest": one(
            "RESIZE_NEAREST_NEIGHBOR",
            bits,
            (X,),
            (1, 9, 5, 6),
            ([9, 5],),
            ("ResizeNearestNeighbor", {}),
            (A,),
        ),
        "transpose": one("TRANSPOSE", bits, (X,), (1, 7, 5, 6), ([0, 2, 1, 3],), None, (A,)),
        "requantize": one("QUANTIZE", bits, (X,), X),
        "leaky": one("LEAKY_RELU", bits, (X,), X, options=("LeakyRelu", {"alpha": 0.3})),
    }
    if bits == 16:
        narrow = weights((4, 3, 3, 6), 4, 0, np.int32)
        found["abs"] = one("ABS", 16, (X,), X)
        found["abs as it is"] = one("ABS", 16, (X,), X, numbers=(A,))
        many, numbers = (1, 128, 128, 8), ((4.018611e-04, 0), (2.6338996e-04, 0))
        found["leaky, whose slopes are doubles"] = one(
            "LEAKY_RELU", 16, (many,), many, (), ("LeakyRelu", {"alpha": 0.3}), numbers
        )
        squares: tuple[str, dict[str, Any]] = ("SquaredDifference", {})
        for name, other in (("", X), (" broadcast", (1, 1, 1, 6))):
            numbers = (A, B, (0.8, 0))
            found[f"squared difference{name}"] = one(
                "SQUARED_DIFFERENCE", 16, (X, other), X, (), squares, numbers
            )
        found["conv int32 bias"] = one("CONV_2D", 16, (X,), (1, 3, 7, 4), narrow, conv)
    return found


def is_function(op: str) -> bool:
    """Whether the frontend makes an operator of one operand a function of single numbers."""
    try:
        module = read(one(op, 8, (FULL,), FULL), "m.tflite")
    except MemoptError:
        return False
    return any(isinstance(found, FunctionOp) for found in module.walk())


# what TFLM has not: test_c_random_operators.py, test_c_truth.py
OF_LITERT = {"RELU_0_TO_1", "RELU_N1_TO_1", "EXP", "LOG"}
OF_SOME = {"SQRT", "RSQRT"}  # of what is below zero runtimes refuse to compute: test_c_truth.py
FUNCTIONS = [op for op in OPERATORS if is_function(op) and op not in OF_LITERT | OF_SOME]


def test_the_functions_are_found() -> None:
    assert {"TANH", "LOGISTIC", "HARD_SWISH", "RELU", "RELU6"} <= set(FUNCTIONS)


@cache
def int8_models() -> dict[str, bytes]:
    """What is int8 only, or of which only int8 is defined here."""
    found = {
        f"{op.lower()} {scale} {end[0]}": one(op, 8, (FULL,), FULL, numbers=((scale, zero), end))
        for op in FUNCTIONS
        if op.lower() not in models(8)
        for end in ([UNIT[op]] if op in UNIT else [(0.031, -100), (0.09, -3)])
        for scale, zero in ((0.03, 5), (0.07, -128), (0.0043, 127))
    }
    for op in ("LOGISTIC", "TANH"):
        for scale in COARSE:
            numbers = ((scale, 5), UNIT[op])
            found[f"{op.lower()} {scale}"] = one(op, 8, (FULL,), FULL, numbers=numbers)
    for alpha, scale in ((0.0, 0.03), (1.7, 0.011), (0.01, 0.2)):
        numbers, options = ((scale, 3), (0.031, -100)), ("LeakyRelu", {"alpha": alpha})
        found[f"leaky {alpha}"] = one(
            "LEAKY_RELU", 8, (FULL,), FULL, options=options, numbers=numbers
        )
    for n, scale in enumerate((2e-8, 1e-4, 0.031, 0.4, 7.0, 50.0)):  # some of which see one step
        for length in (1, 16, 4095):
            shape, numbers = (3, length), ((scale, n - 128), (1 / 16, 127))
            found[f"log softmax {scale} {length}"] = one(
                "LOG_SOFTMAX", 8, (shape,), shape, options=("LogSoftmax", {}), numbers=numbers
            )
    numbers = ((0.5, 3), UNIT["SOFTMAX"])
    found["softmax of long vectors"] = one(
        "SOFTMAX", 8, ((3, 9000),), (3, 9000), (), ("Softmax", {"beta": 1.0}), numbers
    )
    for corners, half in ((False, False), (True, False), (False, True)):
        flags = {"alignCorners": corners, "halfPixelCenters": half}
        for size in ((9, 5), (3, 20), (5, 7), (1, 1)):
            for op, name in (
                ("RESIZE_BILINEAR", "ResizeBilinear"),
                ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighbor"),
            ):
                out, options = (1, *size, 6), (name, flags)
                found[f"{op} {corners} {half} {size}"] = one(
                    op, 8, (X,), out, (list(size),), options, (A,)
                )
    for padding, stride, size in (
        (0, 2, (10, 14)),
        (0, 1, (5, 7)),
        (1, 2, (11, 15)),
        (0, 3, (13, 19)),
    ):
        options = {"padding": padding, "strideH": stride, "strideW": stride}
        for bias in (None, np.int32):
            taps = weights((4, 3, 3, 6), 4, 0, bias)
            found[f"transposed {padding} {stride} {bias}"] = one(
                "TRANSPOSE_CONV",
                8,
                (X,),
                (1, *size, 4),
                ([1, *size, 4], *taps),
                ("TransposeConv", options),
                order=(1, 2, 0, *((3,) if bias else ())),
            )
    for block in (1, 2, 3):
        out = (1, 5 * block, 7 * block, 4)
        found[f"depth {block}"] = one(
            "DEPTH_TO_SPACE",
            8,
            ((1, 5, 7, 4 * block**2),),
            out,
            (),
            ("DepthToSpace", {"blockSize": block}),
            (A,),
        )
    return found


def check(data: bytes, folder: Path, oracle: str = "tflm") -> None:
    path = folder / "m.tflite"
    path.write_bytes(data)
    module = read(data, path.name, path)
    assert compared(module, path, oracle, folder).total() == 1, "was not typed"


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("name", [*models(16)])
def test_both_types(name: str, bits: int, tmp_path: Path) -> None:
    found = models(bits)
    if name in found:
        check(found[name], tmp_path)


@pytest.mark.parametrize("name", int8_models())
def test_int8_only(name: str, tmp_path: Path) -> None:
    check(int8_models()[name], tmp_path)


@pytest.mark.parametrize("op", ["SOFTMAX", "LOGISTIC", "TANH", "HARD_SWISH"])
def test_what_is_not_known_is_refused_by_name(op: str, tmp_path: Path) -> None:
    data = one(
        op, 16, (FULL,), FULL, options=("Softmax", {"beta": 1.0}) if op == "SOFTMAX" else None
    )
    path = tmp_path / "m.tflite"
    path.write_bytes(data)
    func = next(iter(read(data, path.name, path).walk(reverse=False)))
    operations = [o for o in func.walk() if o.name == f"memgraph.{op.lower()}"]
    with pytest.raises(MemoptError, match=f"memgraph.{op.lower()} cannot be evaluated"):
        operations[0].evaluate([np.zeros(FULL, np.int16)])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("length", "numbers", "reason"),
    [
        (4096, (A, (1 / 16, 127)), "so long that the sum could overflow"),
        (9, (A, (1 / 16, 0)), "needs scale 1/16 and zero point 127"),
        (9, ((2.0**-26, 0), (1 / 16, 127)), r"an input scale of 2\*\*-26 or less"),
    ],
)
def test_logarithms_that_no_runtime_has(
    length: int, numbers: tuple[Numbers, ...], reason: str
) -> None:
    data = one("LOG_SOFTMAX", 8, ((2, length),), (2, length), (), ("LogSoftmax", {}), numbers)
    (op,) = (o for o in read(data, "m.tflite").walk() if isinstance(o, LogSoftmaxOp))
    with pytest.raises(MemoptError, match=f"memgraph.log_softmax cannot be evaluated: .*{reason}"):
        op.evaluate([np.zeros((2, length), np.int8)])
    with pytest.raises(MemoptError, match=reason):
        lower(op, lambda _: None, ("c",))


def softmax_of(bits: int, length: int) -> SoftmaxOp:
    numbers = (A, UNIT["SOFTMAX"] if bits == 8 else (1 / 256, 0))
    data = one(
        "SOFTMAX", bits, ((2, length),), (2, length), (), ("Softmax", {"beta": 1.0}), numbers
    )
    (op,) = (o for o in read(data, "m.tflite").walk() if isinstance(o, SoftmaxOp))
    return op


def test_vectors_so_long_that_sums_could_overflow() -> None:
    op = softmax_of(16, (1 << 16) + 1)
    with pytest.raises(MemoptError, match="so long that the sum could overflow"):
        op.evaluate([np.zeros((2, (1 << 16) + 1), np.int16)])
    with pytest.raises(MemoptError, match="so long that the sum could overflow"):
        lower(op, lambda _: None, ("c",))


def test_parts_of_a_sum_that_overflows_are_none() -> None:
    """Of bytes; the kernel's sum ends at the largest int32, too."""
    op, equal = softmax_of(8, 5000), np.full((2, 5000), 3, np.int8)
    assert (op.evaluate([equal])[0] == -128).all()


def test_what_is_infinite_is_the_largest(tmp_path: Path) -> None:
    """e to the power of up to 2,550."""
    data = one("EXP", 8, (FULL,), FULL, numbers=((10.0, -128), (0.01, 0)))
    check(data, tmp_path, "litert_ref")
