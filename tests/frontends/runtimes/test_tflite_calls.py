"""Tests of operators of a .tflite that run another subgraph and become its operators."""

from pathlib import Path

import numpy as np
import pytest
from tflite_builder import FLATBUFFERS, SCHEMA, Graph, Op, T, build, objects

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.cli import main as memopt
from memopt.dialects.memgraph.functions import only_function
from memopt.frontends.tflite.branches import without_branches
from memopt.frontends.tflite.read import read

SQUARES = Graph(
    [T("a", (1, 4), "FLOAT32"), T("b", (1, 4), "FLOAT32")], [Op("SQUARE", [0], [1])], [0], [1], "f"
)
MAIN = (T("x", (1, 4), "FLOAT32"), T("y", (1, 4), "FLOAT32"), T("z", (1, 4), "FLOAT32"))


def composed(subgraph: int) -> bytes:
    """Return a network whose composite is computed by a subgraph, as PyTorch's exporter writes
    it."""
    composite = Op("STABLEHLO_COMPOSITE", [0], [1])
    model = objects(build(Graph(MAIN, [composite, Op("NEG", [1], [2])], [0], [2]), SQUARES))
    options = SCHEMA.StableHLOCompositeOptionsT()
    options.name, options.decompositionSubgraphIndex = b"odml.square", subgraph
    operator = model.subgraphs[0].operators[0]
    operator.builtinOptions2Type = SCHEMA.BuiltinOptions2.StableHLOCompositeOptions
    operator.builtinOptions2 = options
    builder = FLATBUFFERS.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())


@pytest.mark.parametrize("name", ["CALL", "STABLEHLO_COMPOSITE"])
def test_what_is_called_is_computed(name: str, tmp_path: Path) -> None:
    call = Op("CALL", [0], [1], ("Call", {"subgraph": 1}))
    called = build(Graph(MAIN, [call, Op("NEG", [1], [2])], [0], [2]), SQUARES)
    data = called if name == "CALL" else composed(1)
    func = only_function(without_branches(read(data, "m.tflite")))
    given = np.array([[1, -2, 3, 0.5]], np.float32)
    (result,) = (o.operands[0] for o in func.body.block.ops if o.name == "func.return")
    assert np.array_equal(evaluate(func, Weights({}), [given])[result], -(given**2))
    path = tmp_path / "m.tflite"
    path.write_bytes(data)
    assert memopt(["compile", str(path), "--target=host", "-o", str(tmp_path / "c")]) == 0


def test_a_subgraph_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(composed(7))
    assert memopt(["compile", str(path), "--target=host", "-o", str(tmp_path / "c")]) == 1
    assert "nothing computes STABLEHLO_COMPOSITE" in capsys.readouterr().err
