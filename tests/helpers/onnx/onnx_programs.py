# pyright: basic, reportUnknownVariableType=false
"""Graphs of ONNX operators as C: their results beside onnxruntime's."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import NodeProto, helper, numpy_helper
from quick_options import QUICK

from memopt.cli import main

DOMAINS = (("com.microsoft", 1), ("ai.onnx.ml", 3))


def saved(
    path: Path,
    nodes: Sequence[NodeProto],
    given: Mapping[str, Any],
    constants: Mapping[str, Any],
    opset: int = 17,
    declared: Mapping[str, tuple[int, tuple[int, ...]]] | None = None,
) -> Path:
    """Write a graph whose inputs are of the types of `given` and whose outputs are all results that
    no node reads; `declared` are types of results that onnx does not infer."""
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    element = helper.np_dtype_to_tensor_dtype
    inputs = [helper.make_tensor_value_info(k, element(v.dtype), v.shape) for k, v in given.items()]
    read = {name for n in nodes for name in n.input}
    result_names = [name for n in nodes for name in n.output if name and name not in read]
    types = declared or {}
    outputs = [
        helper.make_tensor_value_info(k, *types[k])
        if k in types
        else helper.make_empty_tensor_value_info(k)
        for k in result_names
    ]
    graph = helper.make_graph(list(nodes), "g", inputs, outputs, tensors)
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, v) for d, v in DOMAINS)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    onnx.save(onnx.shape_inference.infer_shapes(model), path)
    return path


def compare(
    lab: Any,
    path: Path,
    given: Mapping[str, Any],
    rtol: float = 1e-5,
    atol: float = 1e-5,
    options: Sequence[str] = (),
) -> None:
    """Compile a model, run it with sanitizers, and compare all results with onnxruntime's: integers
    to the bit."""
    import onnxruntime as ort

    settings = ort.SessionOptions()
    settings.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(path), settings)
    wanted: list[Any] = list(session.run(None, dict(given)))
    folder = path.parent / f"{path.stem}_c"
    assert main(["compile", str(path), "-o", str(folder), *QUICK, *options]) == 0
    run = lab.run_project(folder, [v[None] for v in given.values()], lab.SANITIZE, trace=False)
    assert run.code == 0, run.messages
    at = 0
    for value, want in zip(session.get_outputs(), wanted, strict=True):
        size = want.dtype.itemsize * want.size
        got = np.frombuffer(run.output[at : at + size], want.dtype).reshape(want.shape)
        at += size
        if want.dtype.kind == "f":
            np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=value.name)
        else:
            np.testing.assert_array_equal(got, want, err_msg=value.name)
    assert at == len(run.output)
