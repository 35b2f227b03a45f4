# pyright: basic
"""ONNX's arithmetic of int32 and int64 as C: what onnxruntime computes, and what it cannot."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, save, shape_inference
from quick_options import QUICK

from memopt.cli import main

ort = pytest.importorskip("onnxruntime")
SHAPE = (3, 40)
TWO = ("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min")
TRUTHS = ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal")
ONE = ("Abs", "Neg", "Sign")
TYPES = {"int32": TensorProto.INT32, "int64": TensorProto.INT64}


def model(path: Path, element: int) -> Path:
    """Every function of the inputs `a` and `b`, each an output; `Mod` with both signs, `Clip`."""
    nodes = [helper.make_node(k, ["a", "b"], [k]) for k in (*TWO, *TRUTHS)]
    nodes += [helper.make_node(k, ["a"], [k]) for k in ONE]
    nodes.append(helper.make_node("Mod", ["a", "b"], ["Rest"], fmod=1))
    nodes.append(helper.make_node("Clip", ["a", "low", "high"], ["Clip"]))
    ends = [helper.make_tensor(n, element, [], [v]) for n, v in (("low", -7), ("high", 9))]
    inputs = [helper.make_tensor_value_info(n, element, SHAPE) for n in "ab"]
    outputs = [
        helper.make_tensor_value_info(
            n.output[0], TensorProto.BOOL if n.op_type in TRUTHS else element, SHAPE
        )
        for n in nodes
    ]
    graph = helper.make_graph(nodes, "g", inputs, outputs, ends)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    save(shape_inference.infer_shapes(made), path)
    return path


def numbers(dtype: str, safe: bool) -> tuple[Any, Any]:
    """Small and large ones, equal ones, the least; divisors of 0 and -1 only where not `safe`."""
    rng, ends = np.random.default_rng(1), np.iinfo(dtype)
    a = rng.integers(ends.min, ends.max, SHAPE, dtype)
    b = rng.integers(ends.min, ends.max, SHAPE, dtype)
    a[1], b[1] = rng.integers(-9, 10, SHAPE[1]), rng.integers(-5, 6, SHAPE[1])
    a[2], b[2] = ends.min, rng.choice([-3, -2, 1, 2, ends.min, ends.max], SHAPE[1])
    a[0, :4] = b[0, :4]
    if safe:
        b[(b == 0) | (b == -1)] = 7
    else:
        b[:, ::2], b[:, 1::2] = 0, -1
    return a, b


def outputs(lab: Any, path: Path, folder: Path, given: tuple[Any, Any]) -> list[Any]:
    """What the compiled program returns, with sanitizers."""
    assert main(["compile", str(path), *QUICK, "-o", str(folder)]) == 0
    run = lab.run_project(folder, [x[None] for x in given], lab.SANITIZE, trace=False)
    assert run.code == 0, run.messages
    wide = given[0].dtype
    dtypes = [
        *(wide for _ in TWO),
        *(np.dtype(bool) for _ in TRUTHS),
        *(wide for _ in (*ONE, 0, 0)),
    ]
    found, at = [], 0
    for dtype in dtypes:
        size = given[0].size * dtype.itemsize
        found.append(np.frombuffer(run.output[at : at + size], dtype).reshape(SHAPE))
        at += size
    assert at == len(run.output)
    return found


@pytest.mark.parametrize("dtype", TYPES)
def test_integers_are_those_of_onnxruntime(dtype: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    path, (a, b) = model(tmp_path / "m.onnx", TYPES[dtype]), numbers(dtype, safe=True)
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    want = session.run(None, {"a": a, "b": b})
    names = [o.name for o in session.get_outputs()]
    for name, x, y in zip(names, outputs(lab, path, tmp_path / "c", (a, b)), want, strict=True):
        np.testing.assert_array_equal(x, y, err_msg=name)


@pytest.mark.parametrize("dtype", TYPES)
def test_nothing_is_undefined(dtype: str, tmp_path: Path, lab: Any) -> None:
    """Check that quotients by 0 are 0, and so are remainders; by -1 the least number wraps."""
    lab.need_tools("host")
    path, (a, b) = model(tmp_path / "m.onnx", TYPES[dtype]), numbers(dtype, safe=False)
    found = dict(
        zip(
            (*TWO, *TRUTHS, *ONE, "Rest", "Clip"),
            outputs(lab, path, tmp_path / "c", (a, b)),
            strict=True,
        )
    )
    zero = b == 0
    np.testing.assert_array_equal(found["Div"], np.where(zero, 0, -a))
    np.testing.assert_array_equal(found["Mod"], np.zeros(SHAPE, dtype))
    np.testing.assert_array_equal(found["Rest"], np.zeros(SHAPE, dtype))
