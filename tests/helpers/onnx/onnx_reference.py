"""ONNX models by onnxruntime and as they are imported."""

from pathlib import Path
from typing import Any

import pytest
from numpy.typing import NDArray

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model
from memopt.dialects.arithmetic.stored import dtype_of
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.operators.base import ComputeOp

Array = NDArray[Any]


ort = pytest.importorskip("onnxruntime")


def run(data: bytes, path: Path, feeds: dict[str, Array]) -> tuple[list[Array], set[str]]:
    """(results, names of the operations that ran) of the imported model."""
    path.write_bytes(data)
    module = load_model(path, {})
    module.verify()
    func = next(functions(module))
    opaque = [op for op in func.body.walk() if isinstance(op, OpaqueOp)]
    assert not opaque, f"{opaque[0]} was not typed"
    values = evaluate(func, Weights.of(module, path.parent), list(feeds.values()))
    ran = {
        op.name.removeprefix("memgraph.") for op in func.body.walk() if isinstance(op, ComputeOp)
    }
    for value, array in values.items():
        assert array.shape == value.type.get_shape(), value  # type: ignore[attr-defined]
        assert array.dtype == dtype_of(value), value
    returned = func.get_return_op()
    assert returned is not None
    return [values[v] for v in returned.operands], ran


def reference(data: bytes, feeds: dict[str, Array]) -> list[Array]:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return ort.InferenceSession(data, options).run(None, feeds)
