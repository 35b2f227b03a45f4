"""Modules that commands import and files that they read before they begin, counted."""

import subprocess
import sys
from typing import Any

import pytest

from memopt.dialects.operators import operations


def imported(code: str) -> set[str]:
    """Return the packages and modules that a new process has imported after `code`."""
    after = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", after], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("name", ["memopt", "memopt_opt"])
def test_the_version_is_said_before_anything_is_imported(name: str) -> None:
    modules = imported(
        f"import sys; from memopt.console import {name} as main\n"
        "sys.argv = ['memopt', '--version']; assert main() == 0"
    )
    assert "memopt" in modules and not modules & {"numpy", "xdsl", "memopt.cli"}
    assert sum(module.startswith("memopt.") for module in modules) <= 20


def test_or_tools_comes_without_pandas_until_it_is_asked_for() -> None:
    """A series of variables, which only pandas can make, is as it was."""
    program = "from memopt.solvers.programs.or_tools import cp_model"
    assert "pandas" not in imported(program)
    series = (
        "\nimport pandas; index = pandas.Index([1, 2])"
        "\nassert len(cp_model.CpModel().new_int_var_series('x', index, 0, 3)) == 2"
    )
    assert "pandas" in imported(program + series)


def test_operations_are_told_by_what_they_derive_from() -> None:
    """Asking each class of every family by `issubclass` took a tenth of a command's start."""
    asked: list[str] = []

    def count(_: object, event: str, what: Any) -> None:
        if event == "c_call":
            asked.append(what.__name__)

    operations()  # loads them
    sys.setprofile(count)
    try:
        assert operations()
    finally:
        sys.setprofile(None)
    assert "sorted" in asked and asked.count("_abc_subclasscheck") == 0
