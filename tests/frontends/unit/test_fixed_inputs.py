"""`--fix`: an input of an .onnx file that is a constant in use."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import memopt
from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.cli import main
from memopt.cli.opt import main as opt
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.names import name_of

Capture = pytest.CaptureFixture[str]
INT64, BOOL, FLOAT = TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT


def branches() -> tuple[Any, Any]:
    """`If` bodies: twice x, or x negated."""
    made = (helper.make_node("Add", ["x", "x"], ["t"]), helper.make_node("Neg", ["x"], ["e"]))
    graphs = [
        helper.make_graph(
            [node], "b", [], [helper.make_tensor_value_info(node.output[0], FLOAT, [2, 3])]
        )
        for node in made
    ]
    return graphs[0], graphs[1]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """x, masked, goes one of two ways by the rate `sr`; `gain` scales it."""
    taken, other = branches()
    nodes = [
        helper.make_node("Constant", [], ["rate"], value_ints=[16000]),
        helper.make_node("Equal", ["sr", "rate"], ["same"]),
        helper.make_node("Squeeze", ["same"], ["one"]),
        helper.make_node("If", ["one"], ["way"], then_branch=taken, else_branch=other),
        helper.make_node("Where", ["mask", "way", "gain"], ["y"]),
    ]
    inputs: list[tuple[str, int, list[int]]] = [
        ("x", FLOAT, [2, 3]),
        ("sr", INT64, [1]),
        ("mask", BOOL, [3]),
        ("gain", FLOAT, []),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_tensor_value_info("y", FLOAT, [2, 3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    return tmp_path / "m.onnx"


GIVEN = ("--fix=sr=16000", "--fix=mask=true,0,1", "--fix=gain=0.5")


def test_what_is_fixed_is_computed(path: Path) -> None:
    module = load_model(path, {}, {"sr": [16000], "mask": [1, 0, 1], "gain": [0.5]})
    func = only_function(module)
    assert [name_of(a) for a in func.args] == ["x"]
    x: Any = np.arange(6, dtype=np.float32).reshape(2, 3)
    values = evaluate(func, Weights.of(module, path.parent), [x])
    returned = func.get_return_op()
    assert returned is not None
    want: Any = np.where([True, False, True], x + x, np.float32(0.5))
    np.testing.assert_array_equal(values[returned.operands[0]], want)


@pytest.mark.parametrize("command", ["memopt-opt", "report", "compile"])
def test_the_commands_take_it(command: str, path: Path, tmp_path: Path, capsys: Capture) -> None:
    if command == "memopt-opt":
        assert opt([str(path), *GIVEN]) == 0
        text = capsys.readouterr().out
        assert text.count("tensor<2x3xf32>") and "%mask" not in text.split("->")[0]
        return
    where = ["-o", str(tmp_path / "out")] if command == "compile" else ["--json"]
    assert main([command, str(path), *GIVEN, *where]) == 0
    if command == "compile":
        (header,) = [p.read_text() for p in (tmp_path / "out").glob("*.h")]
        assert "input_0" in header and "input_1" not in header
    else:
        assert json.loads(capsys.readouterr().out)["model"]


def test_python_takes_numbers_arrays_and_lists(path: Path) -> None:
    mask: Any = np.array([True, False, True])
    model = memopt.load(path, fixed={"sr": 16000, "mask": mask, "gain": [0.5]})
    assert model.operators
    assert memopt.plan(model).peak
    with pytest.raises(TypeError, match="no number"):
        memopt.load(path, fixed={"sr": "16000"})


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("rate=1", "--fix names 'rate', but the inputs are: x, sr, mask, gain"),
        ("mask=1,0", "input 'mask': error: --fix gives 2 values for 3 elements"),
        ("mask=2", "--fix gives 2, which is no bool"),
        ("sr=16000.5", "--fix gives 16000.5, which is no int64"),
        ("sr=9223372036854775808", "which is no int64"),
        ("gain=1e39", "which is no finite float"),
        ("gain=nan", "which is no finite float"),
        ("gain=" + "9" * 350, "which is no finite float"),
        ("sr=fast", "'fast' is not numbers, true or false"),
        ("sr", "expected NAME=VALUE"),
        ("=1", "expected NAME=VALUE"),
        ("sr=", "'' is not numbers"),
    ],
)
def test_what_it_cannot_be_is_refused(given: str, text: str, path: Path, capsys: Capture) -> None:
    for command in (opt, main):
        report = ["report"] if command is main else []
        assert command([*report, str(path), f"--fix={given}"])
        error = capsys.readouterr().err
        assert text in error and "Traceback" not in error
        assert error.count("\n") <= 3


def test_a_name_has_one_value(path: Path, capsys: Capture) -> None:
    assert main(["report", str(path), "--fix=sr=1", "--fix=sr=2"])
    assert "'sr' is fixed already" in capsys.readouterr().err


def test_large_inputs_are_no_constants(tmp_path: Path, capsys: Capture) -> None:
    graph = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", FLOAT, [5, 205])],
        [helper.make_tensor_value_info("y", FLOAT, [5, 205])],
    )
    opsets = [helper.make_opsetid("", 18)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    assert main(["report", str(tmp_path / "m.onnx"), "--fix=x=1"])
    assert "has 1025 elements, --fix takes at most 1024" in capsys.readouterr().err


def test_other_files_have_none(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "m.mlir").write_text("func.func @main(%x: tensor<4xi8>) { func.return }")
    tables = ("tensors", "nodes", "graph_inputs", "graph_outputs")
    (tmp_path / "m.json").write_text(json.dumps({"name": "g", **{k: [] for k in tables}}))
    for name in ("m.mlir", "m.json"):
        for command in (opt, main):
            report = ["report"] if command is main else []
            assert command([*report, str(tmp_path / name), "--fix=x=1"])
            assert "--fix makes constants of inputs of an .onnx file" in capsys.readouterr().err
