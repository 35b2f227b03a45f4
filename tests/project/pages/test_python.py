"""What docs/guides/python.md and `help` of the public names show is what Python prints."""

import doctest
import inspect
import json
import pydoc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import onnx
import pytest
from cells import write_cells
from demo_model import demo_model
from onnx import TensorProto, helper
from places import ROOT

import memopt

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PUBLIC = [name for name in memopt.__all__ if inspect.isfunction(getattr(memopt, name))]


def onnx_model(*shape: int | str) -> onnx.ModelProto:
    """Two operators, the first of them with a name; the batch is symbolic."""
    wide = shape or ("n", 8)
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, wide) for n in "xy"]
    nodes = [
        helper.make_node("Relu", ["x"], ["t"], name="first"),
        helper.make_node("Softmax", ["t"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the examples work on: net.tflite, net.onnx, and candidates/ with two cells."""
    (tmp_path / "net.tflite").write_bytes(demo_model())
    (tmp_path / "net.onnx").write_bytes(onnx_model().SerializeToString())
    (tmp_path / "candidates").mkdir()
    for number, path in enumerate(write_cells(tmp_path / "candidates", 2, 0)):
        path.rename(path.with_name(f"cell{number}.json"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(text: str, name: str) -> None:
    """Run the examples of a text. A test of its own that notices a wrong one is below."""
    known = {"memopt": memopt, "Path": Path, "ThreadPoolExecutor": ThreadPoolExecutor}
    text = text.replace("```", "\n```") if name.endswith(".md") else text
    text = "\n".join("" if line.startswith("```") else line for line in text.splitlines())
    test = doctest.DocTestParser().get_doctest(text, known, name, name, 0)
    assert test.examples, f"{name}: no example"
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    lines: list[str] = []
    runner.run(test, out=lines.append)
    assert not runner.failures, "".join(lines)


@pytest.mark.deep
@pytest.mark.usefixtures("folder")
def test_the_page_prints_what_it_says() -> None:
    check((ROOT / "docs/guides/python.md").read_text(encoding="utf-8"), "python.md")


@pytest.mark.deep
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["memopt", *PUBLIC])
def test_help_prints_what_it_says(name: str) -> None:
    documented: Any = memopt if name == "memopt" else getattr(memopt, name)
    check(inspect.getdoc(documented) or "", name)


@pytest.mark.deep
def test_the_notebook_runs(folder: Path, fuzz: float) -> None:
    """Its code cells in order, in one namespace; it is stored without what they print. But in `make
    fuzz` on the small model of the same shape, with samples of its size."""
    notebook = json.loads((ROOT / "docs/guides/notebook.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 4 and not any(cell["outputs"] for cell in cells)
    codes = ["".join(cell["source"]) for cell in cells]
    if fuzz < 1:
        (folder / "net.tflite").write_bytes(demo_model(size="small"))
        assert "\n".join(codes).count("96, 96") == 1
        codes = [code.replace("96, 96", "16, 16") for code in codes]
    names: dict[str, Any] = {}
    for number, code in enumerate(codes):
        exec(compile(code, f"cell {number}", "exec"), names)
    shown = [names[name]._repr_html_() for name in ("plan", "report", "profile")]
    assert all("<table>" in html for html in shown)


def test_a_wrong_example_would_be_noticed() -> None:
    with pytest.raises(AssertionError):
        check(">>> 1 + 1\n3\n", "wrong")


def test_help_has_every_public_name_with_its_units_and_errors() -> None:
    text = pydoc.plain(pydoc.render_doc(memopt))
    assert {*PUBLIC} == {
        *("compile", "load", "peak", "place", "plan", "profile", "sweep", "validate", "verify")
    }
    assert all(name in text for name in {*memopt.__all__} - {"__version__"})
    assert memopt.__version__ in text
    functions: list[Callable[..., Any]] = [getattr(memopt, name) for name in PUBLIC]
    for function in functions:
        assert "Raises" in (function.__doc__ or ""), function


def test_onnx_objects_and_bytes_with_shapes() -> None:
    proto, shapes = onnx_model(), {"x": (1, 8)}
    for given in (proto, proto.SerializeToString()):
        model = memopt.load(given, shapes=shapes)
        assert (model.kind, model.operators) == ("onnx", ("first", "softmax (y)"))
        assert (model.inputs, model.outputs) == (("x",), ("y",))
        assert memopt.peak(given, shapes=shapes).order == model.operators
    assert memopt.peak(proto) == memopt.peak(proto, shapes=shapes)  # a batch that is open is 1
    with pytest.raises(memopt.MemoptError, match="has the shape 1xn"):
        memopt.peak(onnx_model(1, "n"))
