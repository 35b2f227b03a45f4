# pyright: basic
# (arrays of any element type, through lambdas: strict has nothing to say about them)
"""Typed operations mean what ONNX means: a small numpy interpreter of the IR against onnxruntime.

The interpreter reads the IR alone (types, properties, constants), so a wrong padding, axis or
stride in the frontend shows as a wrong number.
"""

import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from onnx import TensorProto, helper
from xdsl.ir import Operation, SSAValue

from memopt.analysis.weights import Weights
from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import functions
from memopt.dialects.structure import ConstantOp, OpaqueOp
from memopt.frontends.onnx import read

Array = NDArray[Any]
ort = pytest.importorskip("onnxruntime")


# -- the interpreter ----------------------------------------------------------------------------


def ints(op: Operation, name: str) -> list[int]:
    return [int(v) for v in getattr(op, name).get_values()]


def windows(x: Array, op: Any, fill: float) -> Array:
    """Windows of an NCHW array: shape N, C, H', W', kH, kW; outside is `fill`."""
    kernel, stride, dilation, pad = op.window.sizes
    span = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    around = ((0, 0), (0, 0), (pad[0], pad[2]), (pad[1], pad[3]))
    padded = np.pad(x, around, constant_values=fill)
    view: Array = sliding_window_view(padded, span, axis=(2, 3))  # type: ignore[call-overload]
    return view[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]


def conv(op: Any, x: Array, w: Array, bias: Array | None = None) -> Array:
    groups = op.groups.value.data
    parts = zip(np.split(x, groups, 1), np.split(w, groups, 0), strict=True)
    out = np.concatenate(
        [np.einsum("nchwij,ocij->nohw", windows(a, op, 0.0), b) for a, b in parts], axis=1
    )
    return out if bias is None else out + bias.reshape(1, -1, 1, 1)


def average_pool(op: Any, x: Array) -> Array:
    if op.count_include_pad is not None:
        return windows(x, op, 0.0).mean((-2, -1))
    count = windows(np.ones_like(x), op, 0.0).sum((-2, -1))
    return windows(x, op, 0.0).sum((-2, -1)) / count


def softmax(op: Any, x: Array) -> Array:
    axis, beta = op.axis.value.data, op.beta.value.data
    e = np.exp(beta * (x - x.max(axis, keepdims=True)))
    return e / e.sum(axis, keepdims=True)


def fully_connected(op: Any, x: Array, w: Array, bias: Array | None = None) -> Array:
    out = x.reshape(-1, w.shape[1]) @ w.T + (0 if bias is None else bias)
    return out.reshape(op.result.type.get_shape())


def slice_(op: Any, x: Array) -> Array:
    shape = op.result.type.get_shape()
    starts, strides = ints(op, "starts"), ints(op, "strides")
    rows = [s + d * np.arange(n) for s, d, n in zip(starts, strides, shape, strict=True)]
    return x[np.ix_(*rows)]


def split(op: Any, x: Array) -> list[Array]:
    axis = op.axis.value.data
    sizes = [p.type.get_shape()[axis] for p in op.parts]
    return list(np.split(x, np.cumsum(sizes)[:-1], axis))


def coordinates(op: Any, size: int, out: int) -> Array:
    at = np.arange(out, dtype=np.float64)
    if op.align_corners is not None and out > 1:
        return at * (size - 1) / (out - 1)
    if op.half_pixel_centers is not None:
        return (at + 0.5) * size / out - 0.5
    return at * size / out


def nearest(op: Any, x: Array) -> Array:
    for axis in (2, 3):
        size, out = x.shape[axis], op.result.type.get_shape()[axis]
        at = coordinates(op, size, out)
        index = np.floor(at + 0.5) if op.align_corners is not None else np.floor(at)
        x = np.take(x, np.clip(index, 0, size - 1).astype(int), axis)
    return x


def bilinear(op: Any, x: Array) -> Array:
    for axis in (2, 3):
        size, out = x.shape[axis], op.result.type.get_shape()[axis]
        at = np.clip(coordinates(op, size, out), 0, size - 1)
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, size - 1)
        part = (at - low).reshape([-1 if i == axis else 1 for i in range(4)])
        x = np.take(x, low, axis) * (1 - part) + np.take(x, high, axis) * part
    return x.astype(np.float32)


def encoding(value: SSAValue) -> tuple[Array, Array]:
    e: Any = value.type.encoding  # type: ignore[attr-defined]
    shape = [1] * len(value.type.get_shape())  # type: ignore[attr-defined]
    if e.axis.data >= 0:
        shape[e.axis.data] = -1
    scale, zero = np.array(e.scales, np.float32), np.array(e.zero_points)
    return (scale.reshape(shape), zero.reshape(shape)) if len(scale) > 1 else (scale[0], zero[0])


def quantize(op: Any, x: Array) -> Array:
    assert op.rounding.data == "onnx_even"
    scale, zero = encoding(op.results[0])
    dtype: Any = np.uint8 if "ui8" in str(op.results[0].type) else np.int8
    limits = np.iinfo(dtype)
    return np.clip(np.rint(x / scale) + zero, limits.min, limits.max).astype(dtype)


def dequantize(op: Any, x: Array) -> Array:
    scale, zero = encoding(op.operands[0])
    return ((x.astype(np.int32) - zero) * scale).astype(np.float32)


RULES: dict[str, Callable[..., Any]] = {
    "conv_2d": conv,
    "depthwise_conv_2d": conv,
    "average_pool_2d": average_pool,
    "max_pool_2d": lambda op, x: windows(x, op, -np.inf).max((-2, -1)),
    "fully_connected": fully_connected,
    "add": lambda op, a, b: a + b,
    "sub": lambda op, a, b: a - b,
    "mul": lambda op, a, b: a * b,
    "maximum": lambda op, a, b: np.maximum(a, b),
    "minimum": lambda op, a, b: np.minimum(a, b),
    "relu": lambda op, x: np.maximum(x, 0),
    "relu6": lambda op, x: np.clip(x, 0, 6),
    "logistic": lambda op, x: 1 / (1 + np.exp(-x)),
    "tanh": lambda op, x: np.tanh(x),
    "hard_swish": lambda op, x: x * np.clip(x + 3, 0, 6) / 6,
    "softmax": softmax,
    "mean": lambda op, x: x.mean(tuple(ints(op, "axes"))),
    "concat": lambda op, *xs: np.concatenate(xs, op.axis.value.data),
    "split": split,
    "slice": slice_,
    "pad": lambda op, x: np.pad(
        x,
        list(zip(ints(op, "before"), ints(op, "after"), strict=True)),
        constant_values=op.value.value.data,
    ),
    "reshape": lambda op, x: x,
    "transpose": lambda op, x: x.transpose(ints(op, "permutation")),
    "cast": lambda op, x: x.astype(np.int32 if "i32" in str(op.result.type) else np.float32),
    "quantize": quantize,
    "dequantize": dequantize,
    "resize_nearest": nearest,
    "resize_bilinear": bilinear,
}

ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "": lambda x: x,
    "#memgraph.activation<relu>": lambda x: np.maximum(x, 0),
    "#memgraph.activation<relu6>": lambda x: np.clip(x, 0, 6),
}


def run(data: bytes, path: Path, feeds: dict[str, Array]) -> tuple[list[Array], set[str]]:
    """(results, names of the operations that ran) of the imported model."""
    path.write_bytes(data)
    module = read(data, path.name, path)
    module.verify()
    weights = Weights.of(module, path.parent)
    func = next(functions(module))
    values: dict[SSAValue, Array] = dict(zip(func.body.block.args, feeds.values(), strict=True))
    names: set[str] = set()
    for op in func.body.block.ops:
        if op.name == "func.return":
            return [values[v] for v in op.operands], names
        if isinstance(op, ConstantOp):
            values[op.result] = weights.array(op)
            continue
        assert not isinstance(op, OpaqueOp), f"{op} was not typed"
        names.add(op.name.removeprefix("memgraph."))
        answer = RULES[op.name.removeprefix("memgraph.")](op, *(values[v] for v in op.operands))
        clamp = ACTIVATIONS[str(op.properties.get("activation", ""))]
        for result, array in zip(
            op.results, answer if isinstance(answer, list) else [clamp(answer)], strict=True
        ):
            values[result] = array.reshape(result.type.get_shape())  # type: ignore[attr-defined]
    raise AssertionError("no return")


# -- the cases ----------------------------------------------------------------------------------

X = (1, 4, 9, 8)
NODE = tuple[str, tuple[int, ...], list[Any], dict[str, Any], str]


def i64(*values: int) -> Array:
    return np.array(values, np.int64)


def f32(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


CASES: dict[str, NODE] = {  # name: operator, shape of x, other inputs, attributes, operation
    "conv": ("Conv", X, [f32(6, 4, 3, 3), f32(6)], {"pads": [1, 0, 2, 1]}, "conv_2d"),
    "conv no bias": ("Conv", X, [f32(6, 4, 2, 3)], {"strides": [2, 3]}, "conv_2d"),
    "conv groups": ("Conv", X, [f32(6, 2, 3, 3), f32(6)], {"group": 2}, "conv_2d"),
    "conv dilated": ("Conv", X, [f32(2, 4, 3, 2)], {"dilations": [2, 3]}, "conv_2d"),
    **{
        f"conv {auto} {s}": (
            "Conv",
            X,
            [f32(2, 4, 4, 3)],
            {"auto_pad": auto, "strides": [s, s]},
            "conv_2d",
        )
        for auto in ("SAME_UPPER", "SAME_LOWER", "VALID")
        for s in (1, 2)
    },
    "depthwise": ("Conv", X, [f32(4, 1, 3, 3), f32(4)], {"group": 4}, "depthwise_conv_2d"),
    "multiplier": ("Conv", X, [f32(8, 1, 3, 3)], {"group": 4}, "depthwise_conv_2d"),
    "max pool": (
        "MaxPool",
        X,
        [],
        {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]},
        "max_pool_2d",
    ),
    "max pool dilated": (
        "MaxPool",
        X,
        [],
        {"kernel_shape": [2, 2], "dilations": [2, 3]},
        "max_pool_2d",
    ),
    "max pool ceil": (
        "MaxPool",
        X,
        [],
        {"kernel_shape": [3, 2], "strides": [2, 2], "ceil_mode": 1},
        "max_pool_2d",
    ),
    "average pool": (
        "AveragePool",
        X,
        [],
        {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]},
        "average_pool_2d",
    ),
    "average pool all": (
        "AveragePool",
        X,
        [],
        {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1},
        "average_pool_2d",
    ),
    "average pool same": (
        "AveragePool",
        X,
        [],
        {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"},
        "average_pool_2d",
    ),
    "global average": ("GlobalAveragePool", X, [], {}, "average_pool_2d"),
    "global max": ("GlobalMaxPool", X, [], {}, "max_pool_2d"),
    "gemm": ("Gemm", (3, 5), [f32(7, 5), f32(7)], {"transB": 1}, "fully_connected"),
    "gemm plain": ("Gemm", (3, 5), [f32(5, 7), f32(7)], {}, "fully_connected"),
    "gemm no bias": ("Gemm", (3, 5), [f32(5, 7)], {"beta": 0.5}, "fully_connected"),
    "matmul": ("MatMul", (3, 5), [f32(5, 7)], {}, "fully_connected"),
    "matmul rows": ("MatMul", (2, 3, 5), [f32(5, 2)], {}, "fully_connected"),
    "add": ("Add", X, [f32(4, 1, 1)], {}, "add"),
    "sub": ("Sub", X, [f32(1)], {}, "sub"),
    "mul": ("Mul", (4, 1), [f32(1, 5)], {}, "mul"),
    "max": ("Max", X, [f32(9, 8)], {}, "maximum"),
    "min": ("Min", X, [f32(9, 8)], {}, "minimum"),
    "relu": ("Relu", X, [], {}, "relu"),
    "relu6": ("Clip", X, [np.float32(0), np.float32(6)], {}, "relu6"),
    "clip": ("Clip", X, [np.float32(0)], {}, "relu"),
    "sigmoid": ("Sigmoid", X, [], {}, "logistic"),
    "tanh": ("Tanh", X, [], {}, "tanh"),
    "hard swish": ("HardSwish", X, [], {}, "hard_swish"),
    "softmax": ("Softmax", X, [], {"axis": 1}, "softmax"),
    "softmax last": ("Softmax", (3, 5), [], {}, "softmax"),
    "mean": ("ReduceMean", X, [i64(-1, 2)], {"keepdims": 0}, "mean"),
    "mean all": ("ReduceMean", X, [], {}, "mean"),
    "concat": ("Concat", X, [f32(1, 2, 9, 8)], {"axis": -3}, "concat"),
    "slice": ("Slice", X, [i64(-3, 1), i64(100, 7), i64(3, -2), i64(1, 2)], {}, "slice"),
    "slice back": ("Slice", X, [i64(-1), i64(-100), i64(2), i64(-2)], {}, "slice"),
    "slice from end": ("Slice", X, [i64(100), i64(0), i64(2), i64(-1)], {}, "slice"),
    "slice plain": ("Slice", (5, 6), [i64(1, 2), i64(4, 5)], {}, "slice"),
    "pad": ("Pad", X, [i64(0, 1, 2, 0, 0, 0, 1, 3), np.float32(1.5)], {}, "pad"),
    "pad axes": ("Pad", X, [i64(1, 2, 0, 4), np.float32(0), i64(-1, 1)], {}, "pad"),
    "reshape": ("Reshape", X, [i64(0, -1, 4)], {}, "reshape"),
    "flatten": ("Flatten", X, [], {"axis": 2}, "reshape"),
    "squeeze": ("Squeeze", (1, 3, 1), [i64(0)], {}, "reshape"),
    "squeeze all": ("Squeeze", (1, 3, 1), [], {}, "reshape"),
    "unsqueeze": ("Unsqueeze", (3, 4), [i64(1, -1)], {}, "reshape"),
    "identity": ("Identity", X, [], {}, "reshape"),
    "dropout": ("Dropout", X, [], {}, "reshape"),
    "transpose": ("Transpose", X, [], {"perm": [0, 2, 3, 1]}, "transpose"),
    "transpose all": ("Transpose", (2, 3, 4), [], {}, "transpose"),
    "cast": ("Cast", X, [], {"to": TensorProto.INT32}, "cast"),
    "nearest": (
        "Resize",
        X,
        [None, np.array([1, 1, 2, 3], np.float32)],
        {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
        "resize_nearest",
    ),
    "nearest corners": (
        "Resize",
        X,
        [None, None, i64(1, 4, 5, 13)],
        {"coordinate_transformation_mode": "align_corners", "nearest_mode": "round_prefer_ceil"},
        "resize_nearest",
    ),
    **{
        f"bilinear {where}": (
            "Resize",
            X,
            [None, None, i64(1, 4, 18, 5)],
            {"coordinate_transformation_mode": where, "mode": "linear"},
            "resize_bilinear",
        )
        for where in ("asymmetric", "align_corners", "half_pixel")
    },
}


def model_of(case: NODE, opset: int) -> onnx.ModelProto:
    kind, shape, others, attributes, _ = case
    names, tensors = ["x"], list[TensorProto]()
    for i, array in enumerate(others):
        names.append("" if array is None else f"c{i}")
        if array is not None:
            tensors.append(onnx.numpy_helper.from_array(np.asarray(array), f"c{i}"))
    out = attributes.get("to", TensorProto.FLOAT)
    y = helper.make_tensor_value_info("y", out, None)
    graph = helper.make_graph(
        [helper.make_node(kind, names, ["y"], **attributes)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [y],
        tensors,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return onnx.shape_inference.infer_shapes(model)


def reference(data: bytes, feeds: dict[str, Array]) -> list[Array]:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return ort.InferenceSession(data, options).run(None, feeds)


@pytest.mark.parametrize("name", CASES)
def test_one_operator(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    data = model_of(case, 18).SerializeToString()
    feeds = {"x": 3 * f32(*case[1])}
    expected = reference(data, feeds)
    found, names = run(data, tmp_path / "m.onnx", feeds)
    assert case[4] in names
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5, atol=1e-5)


def test_split(tmp_path: Path) -> None:
    graph = helper.make_graph(
        [helper.make_node("Split", ["x", "s"], ["a", "b", "c"], axis=1)],
        "g",
        [helper.make_tensor_value_info("x", 1, X)],
        [helper.make_tensor_value_info(n, 1, None) for n in "abc"],
        [onnx.numpy_helper.from_array(i64(1, 2, 1), "s")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    data = onnx.shape_inference.infer_shapes(model).SerializeToString()
    feeds = {"x": f32(*X)}
    found, names = run(data, tmp_path / "m.onnx", feeds)
    assert names == {"split"}
    for a, b in zip(found, reference(data, feeds), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", [TensorProto.INT8, TensorProto.UINT8])
def test_quantized(dtype: int, tmp_path: Path) -> None:
    """Q, a move of integers, DQ, and weights per channel: bit for bit, halves to even."""
    zero = 3 if dtype == TensorProto.INT8 else 130
    w = np.arange(-12, 12, dtype=np.int8).reshape(3, 2, 2, 2)
    tensors = [
        helper.make_tensor("s", 1, [], [0.5]),
        helper.make_tensor("z", dtype, [], [zero]),
        onnx.numpy_helper.from_array(np.array([0.5, 0.25, 2], np.float32), "ws"),
        onnx.numpy_helper.from_array(w, "w"),
        onnx.numpy_helper.from_array(np.zeros(3, np.int8), "wz"),
    ]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("Transpose", ["q"], ["t"], perm=[0, 1, 3, 2]),
        helper.make_node("DequantizeLinear", ["t", "s", "z"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=0),
        helper.make_node("Conv", ["d", "wd"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, (1, 2, 4, 4))],
        [helper.make_tensor_value_info(n, 1, None) for n in ("d", "y")],
        tensors,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    data = onnx.shape_inference.infer_shapes(model).SerializeToString()
    feeds = {"x": (np.arange(32, dtype=np.float32) / 4 - 3).reshape(1, 2, 4, 4)}  # halves too
    found, names = run(data, tmp_path / "m.onnx", feeds)
    assert {"quantize", "dequantize", "transpose", "conv_2d"} == names
    expected = reference(data, feeds)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_onnx_own_cases(tmp_path: Path, fuzz: float) -> None:
    """onnx's own node tests: imported or refused in one line, and if typed, with its results.

    Each also with all inputs but the first as constants. All of them with MEMOPT_FUZZ=1.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        cases: Any = [c for c in collect_testcases(None) if c.model is not None]  # type: ignore[arg-type]
    counts: Counter[str] = Counter()
    for case in cases[:: max(1, round(1 / fuzz))]:
        inputs, outputs = case.data_sets[0]
        arrays = all(isinstance(v, np.ndarray) for v in (*inputs, *outputs))
        for bound in (False, True):
            model = onnx.ModelProto()
            model.CopyFrom(case.model)
            feeds = dict(zip([v.name for v in model.graph.input], inputs, strict=True))
            if bound:
                if len(feeds) < 2 or not arrays:
                    continue
                for value in list(model.graph.input)[1:]:
                    array = np.asarray(feeds.pop(value.name))
                    model.graph.initializer.append(onnx.numpy_helper.from_array(array, value.name))
                del model.graph.input[1:]
            data = model.SerializeToString()
            try:
                module = read(data, case.name)
            except MemoptError as error:
                assert "\n" not in str(error)
                counts["refused"] += 1
                continue
            module.verify()
            numpy_knows = not any(t in str(module) for t in ("i4", "i2,", "i2>", "bf16", "f16"))
            if arrays and numpy_knows and not any(isinstance(op, OpaqueOp) for op in module.walk()):
                found, _ = run(data, tmp_path / "m.onnx", feeds)
                for a, b in zip(found, outputs, strict=True):
                    np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5, err_msg=case.name)
                counts["typed"] += 1
            else:
                counts["opaque"] += 1
    assert counts["typed"] > 100 * fuzz and counts["refused"] < 500 * fuzz, counts
