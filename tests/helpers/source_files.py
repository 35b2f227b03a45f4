"""The files of the project as Python reads them."""

import ast
from functools import cache
from pathlib import Path

from places import ROOT


def files(*folders: str) -> list[Path]:
    """Python files of the project, each once (the rooms are also links below src)."""
    paths = [p for f in folders for p in sorted((ROOT / f).rglob("*.py"))]
    return [p for p in paths if p.resolve() == p]


@cache
def parsed(path: Path) -> ast.Module:
    """Return what a file says, which several tests ask."""
    return ast.parse(path.read_text())


@cache
def imports(path: Path) -> set[str]:
    """Full names of the modules that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names
