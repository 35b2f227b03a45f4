"""Modules that commands import and files that they read before they begin, counted."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from xdsl.ir import Operation

from memopt.dialects.operators import operations, operator_named


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
    slow = {"numpy", "xdsl", "memopt.cli", "importlib.metadata", "dataclasses", "pathlib"}
    assert "memopt" in modules and not modules & slow
    assert sum(module.startswith("memopt.") for module in modules) <= 16


TEXT = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = memgraph.relu6 %x : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}"""


def test_a_small_file_loads_the_families_that_it_has(tmp_path: Path) -> None:
    """And no pass, backend or solver beside what is asked for."""
    (tmp_path / "tiny.mlir").write_text(TEXT)
    arguments = [str(tmp_path / "tiny.mlir"), "-o", str(tmp_path / "read.mlir")]
    modules = imported(f"from memopt.cli.opt import main; assert main({arguments}) == 0")
    rooms = ("passes.memgraph", "solvers.scheduling", "backends.c.kernels", "verify.channels")
    loaded = [m for m in modules if m.startswith(tuple(f"memopt.{room}" for room in rooms))]
    assert loaded == ["memopt.passes.memgraph_input_range"]  # what its option is called
    families = {m for m in modules if m.startswith("memopt.dialects.operators.")}
    assert "memopt.dialects.operators.unary" in families
    assert len(families) < 20 and "memopt.dialects.operators.binary" not in families
    assert "importlib.metadata" not in modules


@pytest.mark.parametrize("kind", operations(), ids=lambda kind: kind.name)
def test_every_operation_is_found_by_its_name(kind: type[Operation]) -> None:
    assert operator_named(kind.name) is kind


def test_what_is_no_operation_is_not_found() -> None:
    assert operator_named("memgraph.nothing") is None


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
