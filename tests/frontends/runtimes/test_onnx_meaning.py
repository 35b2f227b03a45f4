# pyright: basic
# (arrays of any element type, through lambdas: strict has nothing to say about them)
"""Typed operations mean what ONNX means: what they evaluate to against onnxruntime.

An operation is evaluated from the IR alone (types, properties, constants), so a wrong padding, axis
or stride in the frontend shows as a wrong number.
"""

import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_reference import Array, reference, run

from memopt.compile.driver import import_bytes
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.operators.unary import FunctionOp
from memopt.frontends.onnx.operators import OPERATORS

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
    "transposed": (
        "ConvTranspose",
        X,
        [f32(4, 3, 3, 2), f32(3)],
        {"strides": [2, 3], "pads": [1, 0, 2, 1]},
        "transpose_conv_2d",
    ),
    "transposed more": (
        "ConvTranspose",
        X,
        [f32(4, 3, 3, 3)],
        {"strides": [2, 3], "pads": [0, 1, 1, 0], "output_padding": [1, 2]},
        "transpose_conv_2d",
    ),
    "transposed groups": (
        "ConvTranspose",
        X,
        [f32(4, 3, 2, 3), f32(6)],
        {"group": 2, "dilations": [3, 2], "strides": [2, 1]},
        "transpose_conv_2d",
    ),
    "transposed valid": (
        "ConvTranspose",
        X,
        [f32(4, 2, 1, 2)],
        {"auto_pad": "VALID", "strides": [3, 1]},
        "transpose_conv_2d",
    ),
    **{
        f"depth {mode}": (
            "DepthToSpace",
            (1, 12, 3, 5),
            [],
            {"blocksize": 2, "mode": mode},
            "depth_to_space",
        )
        for mode in ("DCR", "CRD")
    },
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
        "maximum",
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
    "div": ("Div", X, [f32(4, 1, 1)], {}, "div"),
    "max": ("Max", X, [f32(9, 8)], {}, "maximum"),
    "min": ("Min", X, [f32(9, 8)], {}, "minimum"),
    **{
        f"batch normalization {len(shape)}": (
            "BatchNormalization",
            shape,
            [f32(4), 3 * f32(4), 5 * f32(4), abs(f32(4))],
            {"epsilon": 0.01} if len(shape) == 4 else {},
            "batch_normalization",
        )
        for shape in ((3, 4), (2, 4, 5), X)
    },
    "relu": ("Relu", X, [], {}, "relu"),
    "relu6": ("Clip", X, [np.float32(0), np.float32(6)], {}, "relu6"),
    "clip": ("Clip", X, [np.float32(0)], {}, "relu"),
    "sigmoid": ("Sigmoid", X, [], {}, "logistic"),
    "tanh": ("Tanh", X, [], {}, "tanh"),
    "elu": ("Elu", X, [], {}, "elu"),
    "leaky relu": ("LeakyRelu", X, [], {"alpha": 0.3}, "leaky_relu"),
    "hard swish": ("HardSwish", X, [], {}, "hard_swish"),
    "softmax": ("Softmax", X, [], {"axis": 1}, "softmax"),
    "softmax last": ("Softmax", (3, 5), [], {}, "softmax"),
    "mean": ("ReduceMean", X, [i64(-1, 2)], {"keepdims": 0}, "mean"),
    "mean all": ("ReduceMean", X, [], {}, "mean"),
    "sum of no rows": ("ReduceSum", (1, 0, 3), [i64(1)], {}, "reduce_sum"),
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
        f"einsum {equation}": (
            "Einsum",
            shape,
            [f32(*o) for o in others],
            {"equation": equation},
            op,
        )
        for equation, shape, others, op in (
            ("ij,jk->ik", (3, 4), [(4, 5)], "batch_matmul"),
            ("ij,kj->ki", (3, 4), [(5, 4)], "batch_matmul"),
            ("bij,bjk->bik", (2, 3, 4), [(2, 4, 5)], "batch_matmul"),
            ("ijk,jl", (2, 3, 4), [(3, 5)], "batch_matmul"),
            ("bJ,aJ", (2, 3), [(4, 3)], "batch_matmul"),
            ("ijk,jl->lj", (2, 3, 4), [(3, 5)], "reduce_sum"),
            ("ijk->kji", (2, 3, 4), [], "transpose"),
            ("ijk->j", (2, 3, 4), [], "reduce_sum"),
            ("nlhd,nhmd,nlh->nlhm", (1, 3, 2, 4), [(1, 2, 5, 4), (1, 3, 2)], "mul"),
            ("bld,bln,bld->bldn", (1, 3, 4), [(1, 3, 2), (1, 3, 4)], "mul"),
            ("i,ji,k->kj", (3,), [(2, 3), (4,)], "mul"),
            ("...id,...jd->...ij", (2, 3, 4), [(2, 5, 4)], "batch_matmul"),
            ("...de,...nd,...n->...ne", (1, 2, 3, 4), [(1, 2, 5, 3), (1, 2, 5)], "mul"),
            ("...i,i", (2, 3), [(3,)], "batch_matmul"),
            ("i...->...", (2, 3, 4), [], "reduce_sum"),
        )
    },
    **{
        f"gather of scalar {k}": ("Gather", (4, 3, 5), [np.int64(k)], {"axis": 1}, "gather_along")
        for k in (-2, 1)
    },
    "scatter": (
        "ScatterElements",
        (4, 3, 5),
        [np.array([[[0, 2, 1, -1]], [[1, 1, -3, 2]]]), f32(2, 1, 4)],
        {"axis": 1},
        "scatter_update",
    ),
    "scatter many": (  # more than folding looks at
        "ScatterElements",
        (1500,),
        [np.random.default_rng(3).permutation(1500)[:1100], f32(1100)],
        {},
        "scatter_update",
    ),
    "matrix of a vector": ("MatMul", (4,), [f32(4, 5)], {}, "fully_connected"),
    "matrices of other batches": ("MatMul", (2, 1, 3, 4), [f32(1, 5, 4, 2)], {}, "batch_matmul"),
    "gemm with factors": (
        "Gemm",
        (4, 3),
        [f32(4, 5), f32(3, 5)],
        {"alpha": 0.5, "beta": 2.0, "transA": 1},
        "fully_connected",
    ),
    **{
        f"bilinear {where}": (
            "Resize",
            X,
            [None, None, i64(1, 4, 18, 5)],
            {"coordinate_transformation_mode": where, "mode": "linear"},
            "resize_bilinear",
        )
        for where in ("asymmetric", "align_corners", "half_pixel", "pytorch_half_pixel")
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


@pytest.mark.parametrize("name", CASES)
def test_one_operator(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    data = model_of(case, 18).SerializeToString()
    feeds = {"x": 3 * f32(*case[1])}
    expected = reference(data, feeds)
    found, names = run(data, tmp_path / "m.onnx", feeds)
    assert case[4] in names
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5, atol=1e-5)


def test_a_mean_of_no_numbers_is_refused(tmp_path: Path) -> None:
    data = model_of(("ReduceMean", (1, 0, 3), [i64(1)], {}, "mean"), 18).SerializeToString()
    with pytest.raises(MemoptError, match="mean cannot be evaluated: of no numbers"):
        run(data, tmp_path / "m.onnx", {"x": f32(1, 0, 3)})


FUNCTIONS = [
    name
    for name, entry in OPERATORS.items()
    if len(entry.kinds) == 1 and issubclass(entry.kinds[0], FunctionOp)
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_one_number(name: str, tmp_path: Path) -> None:
    """Whatever is in the table is looked at, as it is without attributes."""
    data = model_of((name, X, [], {}, ""), 20).SerializeToString()
    feeds = {"x": 3 * f32(*X)}
    found, names = run(data, tmp_path / "m.onnx", feeds)
    assert names == {OPERATORS[name].kinds[0].name.removeprefix("memgraph.")}
    np.testing.assert_allclose(found[0], reference(data, feeds)[0], rtol=1e-5, atol=1e-5)


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


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
@pytest.mark.parametrize("number", [1.0, -1.0, 0.0])
def test_what_is_known_to_be_infinite(
    number: float, shape: tuple[int, ...], tmp_path: Path
) -> None:
    """It is made when the file is read, of a constant that has no text: a scalar, too."""
    tensors = [
        onnx.numpy_helper.from_array(np.full(shape, value, np.float32), name)
        for name, value in (("a", number), ("b", 0.0))
    ]
    nodes = [helper.make_node("Div", ["a", "b"], ["c"]), helper.make_node("Add", ["x", "c"], ["y"])]
    x, y = (helper.make_tensor_value_info(name, 1, (2, 3)) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    feeds = {"x": f32(2, 3)}
    (found,), _ = run(model.SerializeToString(), tmp_path / "m.onnx", feeds)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found, feeds["x"] + np.float32(number) / np.float32(0))


@pytest.mark.deep
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
                module = import_bytes(data, ".onnx", case.name, None)
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
