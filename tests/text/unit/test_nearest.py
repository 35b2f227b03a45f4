"""A name that there is not: the nearest of those that there are is offered, exit code 2 or 1."""

from pathlib import Path

import numpy as np
import pytest
from onnx_graphs import make, node

from memopt.cli import main
from memopt.cli.opt import main as opt
from memopt.dialects.memgraph.errors import nearest

NETWORK = """func.func @main(%image: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %0 = memgraph.relu %image {memgraph.names = ["features"]}
    : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  func.return %0 : tensor<1x4x4x1xf32>
}
"""
OPT = {
    "--scedule=auto": (2, "--scedule=auto (did you mean --schedule?)"),
    "--schedule=gredy": (2, "method=gredy (did you mean greedy?)"),
    "--schedule=ipl": (2, "method=ipl (did you mean ilp?)"),
    "--place=best-ft": (2, "method=best-ft (did you mean best-fit?)"),
    "--rewrite=gathr": (2, "'gathr' (did you mean gather?)"),
    "--model=target=cortex-m44": (2, "target 'cortex-m44' (did you mean cortex-m4?)"),
    "--model=io=caler": (2, "'caler' (did you mean caller?)"),
    "--prepare=viw": (2, "'viw' (did you mean view?)"),
    "-thtm": (2, "'htm' (did you mean html?)"),
    "-pmemgraph-schedul": (2, "unknown pass 'memgraph-schedul' (did you mean memgraph-schedule?)"),
    "-pmemgraph-schedule{metod=dp}": (2, "no option 'metod' (did you mean method?)"),
    "-pmemgraph-expand-rows{rows=atuo}": (1, "makes 'atuo' (did you mean auto?)"),
    "-pmemgraph-expand-rows{rows=feature}": (1, "makes 'feature' (did you mean features?)"),
    "--shape=imag=1x4x4x1": (1, "'imag' (did you mean image?), but the inputs are: image"),
    "--input-range=imag=0:1": (1, "'imag' (did you mean image?), but the inputs are: image"),
}
COMMANDS = {
    "complie": "'complie' (did you mean compile?)",
    "compile net.mlir -o out --target=cortex-m44": "'cortex-m44' (did you mean cortex-m4?)",
    "compile net.mlir -o out --layout=cmak": "'cmak' (did you mean cmake?)",
    "compile net.mlir -o out --layot=cmake": "--layot=cmake (did you mean --layout?)",
    "compile net.mlir -o out --schedule=gredy": "--schedule=gredy (did you mean greedy?)",
    "compile net.mlir -o out --rewrite=gathr": "'gathr' (did you mean gather?)",
    "compile net.mlir -o out --optimize=rma": "'rma' (did you mean ram?)",
    "place net.csv --strategy=best-ft": "--strategy=best-ft (did you mean best-fit?)",
}


def code_of(run: object, arguments: list[str]) -> int:
    try:
        return run(arguments)  # type: ignore[operator,no-any-return]
    except SystemExit as end:
        return int(end.code or 0)


@pytest.mark.parametrize("argument", OPT)
def test_memopt_opt(argument: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "net.mlir"
    source.write_text(NETWORK)
    code, said = OPT[argument]
    assert code_of(opt, [argument, str(source)]) == code
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


@pytest.mark.parametrize("line", COMMANDS)
def test_memopt(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.mlir").write_text(NETWORK)
    Path("net.csv").write_text("id,lower,upper,size\na,0,1,4\n")
    assert code_of(main, line.split()) == 2
    error = capsys.readouterr().err
    assert COMMANDS[line] in error and error.count("\n") == 1


def test_inputs_that_are_fixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.onnx"
    model = make([node("Add", ("image", "w"))], (1, 4), {"w": np.ones(4, np.float32)}, (1, 4))
    model.graph.input[0].name = "image"
    path.write_bytes(model.SerializeToString())
    assert main(["report", str(path), "--fix=imag=0"]) == 1
    assert "'imag' (did you mean image?), but the inputs are: image" in capsys.readouterr().err


def test_what_is_like_nothing() -> None:
    assert nearest("qqq", ["auto", "exact"]) == nearest("x", []) == ""
    assert nearest("tosa.conv2d", ["tosa.cond_if", "memgraph.conv_2d"]) == ""


@pytest.mark.parametrize(
    ("there", "wrong", "said"),
    [
        ("memgraph.relu", "memgraph.rel", "Operation memgraph.rel is not registered{relu}"),
        ("memgraph.relu", "memgraph.ad", "Operation memgraph.ad is not registered{add}"),
        ('["features"]', "#memgraph.modl<>", "'memgraph.modl' is not registered{model}"),
        ("%image: tensor", "%image: !memgraph.chan", "'memgraph.chan' is not registered{chain}"),
    ],
)
def test_names_of_a_dialect(
    there: str, wrong: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(NETWORK.replace(there, wrong, 1))
    assert opt([str(path)]) == 1
    end = said.replace("{", " (did you mean memgraph.").replace("}", "?)")
    assert end in capsys.readouterr().err


def test_a_text_that_cannot_be_read_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line and a caret under the place; of a long line what is around it, on any terminal."""
    source = tmp_path / "net.mlir"
    source.write_text(
        NETWORK.replace("    : (tensor<1x4x4x1xf32>) ->", "\t: (tensor<1x4x4x1xf32>) =>")
    )
    for run in (lambda: opt([str(source)]), lambda: main(["report", str(source)])):
        assert run() == 1
        first, line, mark = capsys.readouterr().err.splitlines()
        assert first == f"{source}:3:26: error: Expected '->'"
        assert line == "   : (tensor<1x4x4x1xf32>) => tensor<1x4x4x1xf32>"
        assert line[mark.index("^") :].startswith("=> tensor")
    source.write_text("module {" + " " * 500 + "nothing\x1b[31m" + " " * 500 + "}")
    assert opt([str(source)]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and all(len(text) < 200 and text.isprintable() for text in lines)
