# pyright: basic
"""A layer of a transformer, compiled: query by query in less memory, close to onnxruntime."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_programs import compare, saved

PLACES, HEADS, DEPTH = 24, 2, 8
WIDTH = HEADS * DEPTH


def layer(path: Path) -> Path:
    rng = np.random.default_rng(5)
    constants: dict[str, Any] = {
        "parts": np.array([1, PLACES, HEADS, DEPTH], np.int64),
        "all": np.array([1, PLACES, WIDTH], np.int64),
        "scale": np.float32(DEPTH**-0.5),
    }
    nodes: list[Any] = []

    def node(kind: str, *names: str, **attributes: Any) -> None:
        nodes.append(helper.make_node(kind, names[1:], names[:1], **attributes))

    def product(made: str, read: str) -> None:
        weights = rng.normal(size=(WIDTH, WIDTH)) / WIDTH**0.5
        constants[f"{made}_w"] = weights.astype(np.float32)
        node("MatMul", made, read, f"{made}_w")

    node("Relu", "r", "x")
    for name in "qkv":
        product(name, "r")
        node("Reshape", f"{name}h", name, "parts")
        node(
            "Transpose", f"{name}t", f"{name}h", perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3]
        )
    node("MatMul", "s", "qt", "kt")
    node("Mul", "ss", "s", "scale")
    node("Softmax", "p", "ss", axis=-1)
    node("MatMul", "m", "p", "vt")
    node("Transpose", "mt", "m", perm=[0, 2, 1, 3])
    node("Reshape", "o", "mt", "all")
    product("w", "o")
    node("Add", "y", "x", "w")
    x = np.zeros((1, PLACES, WIDTH), np.float32)
    types = {"y": (TensorProto.FLOAT, x.shape)}
    return saved(path, nodes, {"x": x}, constants, declared=types)


@pytest.mark.deep
def test_a_layer_is_close_to_onnxruntime(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    x = np.random.default_rng(1).normal(size=(1, PLACES, WIDTH)).astype(np.float32)
    arenas: dict[str, int] = {}
    for rows in ("all", "none"):
        (tmp_path / rows).mkdir()
        path = layer(tmp_path / rows / "layer.onnx")
        compare(lab, path, {"x": x}, options=["--rewrite=all", "--nhwc-io", f"--rows={rows}"])
        report = json.loads((path.parent / "layer_c" / "report.json").read_text())
        arenas[rows] = report["plan"]["arena"]
    assert arenas["all"] < arenas["none"]
