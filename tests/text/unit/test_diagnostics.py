"""Errors with their places, what `--verify-diagnostics` makes of them, and files written whole."""

from pathlib import Path

import pytest

from memopt.cli.opt import main
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.text.diagnostics import Diagnostic, unmatched, write_file

NET = """
func.func @main(%x: tensor<1x4xi8>) -> tensor<1x4xi8> {
  %y = memgraph.relu %x : (tensor<1x4xi8>) -> tensor<1x4xi8>
  func.return %y : tensor<1x4xi8>
}
"""
CASES = """
// expected-error @below {{one}}
// expected-error @+2 {{three}}
// expected-error @unknown {{nowhere}}
x // expected-error {{here}}
// expected-error @above {{over}}
"""


def test_an_operation_that_is_wrong_is_named_with_its_place() -> None:
    load_text(new_context(), NET, "net.mlir")
    wrong = NET.replace(") -> tensor<1x4xi8>\n", ") -> tensor<1x5xi8>\n").replace(
        "return %y", "return %x"
    )
    with pytest.raises(MemoptError, match=r"memgraph\.relu") as error:
        load_text(new_context(), wrong, "net.mlir")
    assert error.value.place == "net.mlir:3:3"


def test_expected_errors_are_those_of_their_line() -> None:
    found = [
        Diagnostic("f:3:1", "this is one", 3),
        Diagnostic("f:5:1", "three", 5),
        Diagnostic("f", "from nowhere", None),
        Diagnostic("f:5:2", "here", 5),
        Diagnostic("f:5:3", "all over", 5),
    ]
    assert unmatched(CASES, found) == []
    assert unmatched(CASES, found[1:]) == ["line 3: expected error not produced: one"]
    (text,) = unmatched(CASES, [*found, Diagnostic("f:9:1", "one", 9)])
    assert text == "unexpected error: f:9:1: error: one"


def test_verify_diagnostics_of_the_command(tmp_path: Path) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(NET + "// expected-error @unknown {{never}}\n")
    assert main([str(path), "--verify-diagnostics"]) == 1
    path.write_text(NET.replace("i8> {", "i9> {") + "// expected-error @unknown {{i9}}\n")
    assert main([str(path), "--verify-diagnostics"]) in (0, 1)


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.txt"
    link = tmp_path / "link.txt"
    link.symlink_to(path)
    write_file(link, "text")
    assert link.is_symlink() and path.read_text() == "text"
    with pytest.raises(OSError) as error:
        write_file(tmp_path / "none" / "out.txt", "text")
    assert error.value.filename == str(tmp_path / "none" / "out.txt")

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "no space left")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError) as error:
        write_file(path, b"other")
    assert error.value.filename == str(path) and path.read_text() == "text"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.txt", "out.txt"]
