"""The options that a method's file declares, however the file writes them."""

import sys
from pathlib import Path

import pytest

from memopt.modules import modules_in
from memopt.solvers.registry import declared_options

SOLVE = """

def solve(graph, time_limit: float | None = None, depth: int = 1) -> int:
    return depth
"""
WRITTEN = {
    "lines": 'OPTIONS = {\n    "depth": "levels looked at",\n}',
    "one line": 'OPTIONS = {"depth": "levels looked at"}',
    "annotated": 'OPTIONS: dict[str, str] = {"depth": "levels looked at"}',
    "broken line": 'OPTIONS = {"depth": "levels "\n    "looked at"}',
    "quoted": '"""A file has\n\nOPTIONS = {\n    "width": "of nothing",\n}\n"""\n'
    'OPTIONS = {"depth": "levels looked at"}',
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_options_are_read_as_python_reads_them(
    written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "declaring_methods"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "deep.py").write_text(written + SOLVE)
    (package / "keyword.py").write_text("def solve(graph, *, depth: int = 2) -> int: ...\n")
    (package / "plain.py").write_text("def solve(graph) -> int: ...\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    methods = modules_in("declaring_methods")
    try:
        (option,) = declared_options(methods, "solve")
    finally:
        for name in ("", ".deep", ".keyword", ".plain"):
            sys.modules.pop(f"declaring_methods{name}", None)
    assert (option.name, option.types, option.text) == ("depth", (int,), "levels looked at")
    assert option.methods == ("deep", "keyword")
