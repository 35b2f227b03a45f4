"""Frontends are found by their files: one more is known everywhere, from --help to the API."""

from collections.abc import Generator
from pathlib import Path

import pytest
from xdsl.dialects.func import ReturnOp

import memopt
from memopt import frontends
from memopt.cli import main as memopt_main
from memopt.cli.opt import main
from memopt.frontends.core.node import Entry, Node, typed
from memopt.frontends.core.registry import all_frontends, frontend_of_bytes, suffixes

CHAIN = '''
"""A chain of operators, one per line: its name and the bytes of its result."""

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, TensorType, i8

from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.frontends.core.function import Draft
from memopt.frontends.core.registry import Frontend

MARK = b"chain"
FRONTEND = Frontend(".chain", __name__, looks=lambda data: data.startswith(MARK))


def read(data: bytes, name: str, path: Path | None = None) -> ModuleOp:
    """The module of such a file. Raises MemoptError."""
    first, *lines = data.decode().splitlines()
    if not lines:
        raise MemoptError("a chain without operators", name)
    draft = Draft[int]()
    draft.take([0], ["x"], [TensorType(i8, [int(first.split()[1])])])
    for i, line in enumerate(lines):
        kind, size = line.split()
        op = OpaqueOp(kind, [draft.values[i]], [TensorType(i8, [int(size)])])
        draft.add(op, [i + 1], [f"t{i + 1}"], SourceAttr(0, i, ()))
    return ModuleOp([draft.function("main", [draft.values[len(lines)]])])
'''
NET = "chain 16\nwide 64\nslim 32\n"


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A model of a format that one file adds."""
    (tmp_path / "added").mkdir()
    (tmp_path / "added/chain.py").write_text(CHAIN)
    monkeypatch.setattr(frontends, "__path__", [*frontends.__path__, str(tmp_path / "added")])
    all_frontends.cache_clear()
    file = tmp_path / "net.chain"
    file.write_text(NET)
    yield file
    all_frontends.cache_clear()


def test_one_file_adds_a_format_to_the_commands(
    net: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(net), "--schedule=auto"]) == 0
    assert "peak = 96, lower_bound = 96" in capsys.readouterr().out
    assert memopt_main(["sweep", str(net.parent)]) == 0
    assert "96 B  optimal" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--help"])
    assert ".chain, .hlo, .json, .onnx, .tflite or .mlir" in " ".join(
        capsys.readouterr().out.split()
    )
    net.with_suffix(".text").write_text("")
    assert main([str(net.with_suffix(".text"))]) == 1
    assert "expected .chain, .hlo, .json, .onnx, .tflite or .mlir" in capsys.readouterr().err


def test_one_file_adds_a_format_to_the_api(net: Path) -> None:
    assert memopt.load(net).kind == memopt.load(NET.encode()).kind == "chain"
    assert memopt.peak(NET.encode()).peak == 96
    with pytest.raises(memopt.MemoptError, match=r"net\.chain: error: a chain without operators"):
        memopt.load(b"chain 16\n", name="net.chain")
    with pytest.raises(memopt.MemoptError, match=r"--shape names 'y', but the inputs are: x"):
        memopt.load(net, shapes={"y": (16,)})


def test_an_entry_for_no_operator_is_refused_by_its_names() -> None:
    entry = Entry(lambda *_: ReturnOp(), "relu", "fully_conected")
    with pytest.raises(memopt.MemoptError) as refused:
        typed({"FC": entry}, Node("FC", {}, (), (), lambda _: pytest.fail()))
    text = "entry of a frontend for relu, fully_conected: memgraph.fully_conected is no operator"
    assert str(refused.value) == f"error: {text}"


def test_a_format_that_is_not_there_is_none() -> None:
    assert suffixes() == (".hlo", ".json", ".onnx", ".tflite")
    with pytest.raises(memopt.MemoptError, match="is empty"):
        frontend_of_bytes(b" \n", "x")
    assert frontend_of_bytes(b"func.func @main()", "x") is None
    found = [frontend_of_bytes(data, "x") for data in (b'\xef\xbb\xbf {"a": 1}', b"\x08\x0a\x12")]
    assert [f.name for f in found if f is not None] == ["json", "onnx"]
