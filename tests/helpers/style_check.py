"""Check of names and docstrings, a part of `make lint`: CONTRIBUTING.md, "Style".

    python tests/helpers/style_check.py            # each room with more findings than it is allowed
    python tests/helpers/style_check.py --all      # every finding
    python tests/helpers/style_check.py --lower    # lower the allowances to what there is

`tests/style_allowance.toml` says how many findings of each kind a room still has. The numbers only
fall: `--lower` never raises one.
"""

import argparse
import ast
import os
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "tests/helpers/style_check.py"
TABLE = "tests/style_allowance.toml"
ROOMS = (
    *("analysis", "backends", "benchmarks", "dialects", "formats", "frontends"),
    *("passes", "rewrites", "solvers", "src", "targets", "verify"),
)
OPENINGS = ("What", "Who", "Whether", "Of", "The same", "Those", "As")
VARIABLES = frozenset(("found", "its", "made", "left", "most", "there", "whole", "kept", "asked"))
MODULES = frozenset(
    (
        *("kills", "calmer", "wholes", "corners", "stairs", "local", "items", "paper", "pulling"),
        *("in_time", "customs", "text", "texts", "placing", "placed", "places", "within"),
        *("kept_rows", "keep_rows", "recalled_rows", "fewest_rows", "fitting_rows", "fit_hints"),
        *("narrow", "narrowing", "narrowed", "planned_model", "measured_model", "written_model"),
        *("before_after", "connect_kernels", "weighed", "kept", "choices"),
    )
)
KINDS = ("docstrings", "variables", "modules", "functions")
COMPLEXITY = 25  # the ways through a function (McCabe, 1976), counted as radon does
WAYS = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.Assert)

Allowances = Mapping[str, Mapping[str, int]]
"""Kind of finding -> room -> number."""


class Finding(NamedTuple):
    """A line that breaks a rule of style; `kind` is one of `KINDS`, `place` is file:line."""

    kind: str
    room: str
    place: str
    text: str


def findings(root: Path) -> list[Finding]:
    """Return every finding in the rooms below `root`, by file and line."""
    return [f for room in ROOMS for path in _files(root / room) for f in _of_file(root, room, path)]


def _files(room: Path) -> Iterator[Path]:
    """Yield the Python files of a room, each once: links in src/memopt lead to other rooms."""
    for folder, folders, names in os.walk(room):
        folders[:] = sorted(f for f in folders if not Path(folder, f).is_symlink())
        yield from (Path(folder, n) for n in sorted(names) if n.endswith(".py"))


def _of_file(root: Path, room: str, path: Path) -> Iterator[Finding]:
    name = str(path.relative_to(root))
    if path.stem in MODULES:
        yield Finding("modules", room, f"{name}:1", f"the module's name is {path.stem!r}")
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            line, text = _opening(node)
            if text:
                yield Finding("docstrings", room, f"{name}:{line}", f"docstring begins {text!r}")
        if isinstance(node, ast.FunctionDef):
            for variable, line in sorted(_assigned(node).items()):
                if variable in VARIABLES:
                    yield Finding("variables", room, f"{name}:{line}", f"variable {variable!r}")
            if (ways := complexity(node)) > COMPLEXITY:
                text = f"{node.name} has {ways} ways through it, {COMPLEXITY} are allowed"
                yield Finding("functions", room, f"{name}:{node.lineno}", text)


def _opening(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> tuple[int, str]:
    """Return the line and the opening of a docstring that begins with one of `OPENINGS`, or ""."""
    docstring = ast.get_docstring(node) or ""
    text = next((o for o in OPENINGS if docstring.startswith(f"{o} ")), "")
    return node.body[0].lineno if node.body else 1, text


def _assigned(function: ast.FunctionDef) -> dict[str, int]:
    """Return the variables that a function assigns, but for functions inside it -> first line."""
    lines: dict[str, int] = {}
    for node in _inside(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            lines[node.id] = min(node.lineno, lines.get(node.id, node.lineno))
    return lines


def _inside(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body, but for functions and classes inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node
            waiting += ast.iter_child_nodes(node)


def complexity(function: ast.FunctionDef) -> int:
    """Return the number of ways through a function, but for functions inside it."""
    return 1 + sum(map(_ways, _inside(function)))


def _ways(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    if isinstance(node, ast.Match):
        return sum(ast.unparse(case.pattern) != "_" for case in node.cases)
    has_else = isinstance(node, ast.For | ast.While | ast.Try) and bool(node.orelse)
    return isinstance(node, WAYS) + has_else


def check(root: Path, allowed: Allowances) -> list[str]:
    """Return the findings of each room that has more of a kind than it is allowed, as lines."""
    lines: list[str] = []
    everything = findings(root)
    for (kind, room), number in sorted(Counter((f.kind, f.room) for f in everything).items()):
        limit = allowed.get(kind, {}).get(room, 0)
        if number > limit:
            lines += [f"{f.place}: {f.text}" for f in everything if f[:2] == (kind, room)]
            lines.append(f"{room}/: {number} {kind}, {TABLE} allows {limit}")
    return lines


def lowered(root: Path, allowed: Allowances) -> str:
    """Return the table of allowances with no number above what there is, or above what it was."""
    counts = Counter((f.kind, f.room) for f in findings(root))
    lines = [f"# Findings that {SCRIPT} still allows in each room; the numbers only fall."]
    for kind in KINDS:
        rooms = {r: min(n, counts[kind, r]) for r, n in sorted(allowed.get(kind, {}).items())}
        lines += ["", f"[{kind}]", *(f"{room} = {n}" for room, n in rooms.items() if n)]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print findings, or lower the table; return 1 if a room has more than it is allowed."""
    parser = argparse.ArgumentParser(description="names and docstrings of the project")
    parser.add_argument("--all", action="store_true", help="list every finding")
    parser.add_argument("--lower", action="store_true", help=f"lower the numbers of {TABLE}")
    chosen = parser.parse_args(arguments)
    allowed = tomllib.loads((ROOT / TABLE).read_text())
    if chosen.all:
        print(*(f"{f.place}: {f.text}" for f in findings(ROOT)), sep="\n")
        return 0
    lines = check(ROOT, allowed)
    for line in lines:
        print(line)
    if chosen.lower:
        (ROOT / TABLE).write_text(lowered(ROOT, allowed))
    return int(bool(lines))


if __name__ == "__main__":
    raise SystemExit(main())
