"""The check of names and docstrings in `make lint`: it finds each kind, and the project passes."""

import ast
import tomllib
from pathlib import Path

import pytest
from style_check import COMPLEXITY, ROOT, TABLE, check, complexity, findings, lowered

SOURCE = '''"""What the module holds."""


def function(kept: int) -> int:
    """Return the largest."""
    most = max(i for i in range(3))

    def inner() -> int:
        """The same inside."""
        found = 1
        return found

    return most + kept + inner()


class Class:
    """Assets of a kind: no opening that is banned, though it begins with "As"."""

    whole: int = 1
'''


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "solvers").mkdir()
    (tmp_path / "solvers" / "kills.py").write_text(SOURCE)
    (tmp_path / "verify").mkdir()
    (tmp_path / "verify" / "plan.py").write_text('"""Verify a plan."""\n')
    return tmp_path


def test_each_kind_is_found_at_its_line(tree: Path) -> None:
    assert [(f.kind, f.place) for f in findings(tree)] == [
        ("modules", "solvers/kills.py:1"),
        ("docstrings", "solvers/kills.py:1"),
        ("variables", "solvers/kills.py:6"),
        ("docstrings", "solvers/kills.py:9"),
        ("variables", "solvers/kills.py:10"),
    ]


BRANCHED = """
def branched(a, b):
    for x in [y for y in a if y if x]:  # 1 and 3
        if a and b or x:  # 3
            continue
    else:  # 1
        a = b if a else x  # 1
    match a:
        case 1 | 2:  # 1
            return lambda: b
        case _:
            pass
    try:
        assert a  # 1
    except ValueError:  # 1
        while b:  # 1
            pass

    def inner():
        return a or b  # counted by itself
"""


def test_functions_of_many_ways_are_found(tmp_path: Path) -> None:
    function = ast.parse(BRANCHED).body[0]
    assert isinstance(function, ast.FunctionDef) and complexity(function) == 1 + 13
    (tmp_path / "solvers").mkdir()
    body = "    if a:\n        return\n"
    for count in (COMPLEXITY - 1, COMPLEXITY):
        (tmp_path / "solvers" / "plan.py").write_text(f"def many(a):\n{body * count}")
        assert [f.kind for f in findings(tmp_path)] == ["functions"] * (count == COMPLEXITY)


def test_links_are_not_followed(tree: Path) -> None:
    (tree / "src").mkdir()
    (tree / "src" / "solvers").symlink_to("../solvers")
    assert {f.room for f in findings(tree)} == {"solvers"}


def test_a_room_with_more_than_allowed_is_listed(tree: Path) -> None:
    allowed = {"docstrings": {"solvers": 1}, "variables": {"solvers": 2}, "modules": {"solvers": 1}}
    assert check(tree, allowed) == [
        "solvers/kills.py:1: docstring begins 'What'",
        "solvers/kills.py:9: docstring begins 'The same'",
        "solvers/: 2 docstrings, tests/style_allowance.toml allows 1",
    ]
    assert not check(tree, {**allowed, "docstrings": {"solvers": 2}})


def test_allowances_only_fall(tree: Path) -> None:
    allowed = {"docstrings": {"solvers": 1, "verify": 4}, "variables": {"solvers": 7}}
    assert tomllib.loads(lowered(tree, allowed)) == {
        "docstrings": {"solvers": 1},
        "variables": {"solvers": 2},
        "modules": {},
        "functions": {},
    }


@pytest.mark.deep
def test_no_room_has_more_than_it_is_allowed() -> None:
    assert not check(ROOT, tomllib.loads((ROOT / TABLE).read_text()))
