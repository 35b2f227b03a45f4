# pyright: basic
"""Recurrent layers of ONNX are one operation for each direction, close to onnxruntime, and their
rows have the bits of the whole."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recurrent_networks import layers
from xdsl.context import Context

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.rows.operations import RowOp
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.passes.rows.expand import NoRowsError
from memopt.rewrites import apply_rules

ort = pytest.importorskip("onnxruntime")
FULL = 2_000
FIRST = 60
BOUND = 4e-6  # of the largest number, or of 1


def results(module: Any, given: dict[str, Any], folder: Path) -> list[Any]:
    func = only_function(module)
    values = evaluate(func, Weights.of(module, folder), list(given.values()))
    returned = func.get_return_op()
    assert returned is not None
    return [values[v] for v in returned.operands]


def row_operations(module: Any) -> list[RowOp]:
    return [op for op in only_function(module).body.block.ops if isinstance(op, RowOp)]


@pytest.mark.deep
@pytest.mark.parametrize("stored", [False, True])
def test_layers_are_close_to_onnxruntime(stored: bool, tmp_path: Path, fuzz: float) -> None:
    """Stored weights stay so, to the bit."""
    rows = 0
    for seed in range(max(FIRST, int(FULL * fuzz))):
        path, given = layers(tmp_path / "m.onnx", seed, stored=stored)
        session = ort.InferenceSession(str(path))
        module = load_model(path, {})
        assert "_layer" in str(module) and "fully_connected" not in str(module), seed
        got = results(module, given, tmp_path)
        if stored:
            assert apply_rules(module, ("stored-weights",)), seed
            assert "memgraph.dequantize" not in str(module), seed
            for a, b in zip(results(module, given, tmp_path), got, strict=True):
                np.testing.assert_array_equal(a, b, err_msg=str(seed))
        for a, b in zip(got, session.run(None, given), strict=True):
            assert a.shape == b.shape, seed
            assert abs(a - b).max() <= BOUND * max(1, abs(b).max()), seed
        try:
            MemgraphExpandRowsPass(("all",)).apply(Context(), module)
        except NoRowsError:
            continue
        rows += any("_layer" in op.operation.name for op in row_operations(module))
        for a, b in zip(results(module, given, tmp_path), got, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=str(seed))
    assert rows > 10
