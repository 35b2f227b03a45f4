"""How many files an extension takes: each patch here is applied to a clean copy, and works there.

A patch adds one thing of a kind (docs/architecture.md says how) and its test. It may touch exactly
the files that are counted for its kind; what else knows of it must find it by itself. In the copy
its test passes, and so do the tests that look at everything of its kind: at the new one here, at
all in `make fuzz`.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Extension:
    """What a patch may touch, in words of the project: its sources, and its tests and pages."""

    sources: tuple[str, ...]
    others: tuple[str, ...]
    tests: tuple[str, ...]  # run in the copy


QUICK = ("tests/property/", "tests/unit/")  # of which `make fuzz` runs the whole files


def of_operator(name: str) -> tuple[str, ...]:
    """The tests of all operators, of those with a case per operator the new one's."""
    return (
        f"tests/property/test_operator_text.py::test_every_operation_reads_back[{name}]",
        "tests/property/test_rows_needed.py::test_every_operation_is_tried",
        f"tests/property/test_rows_needed.py::test_rows_needed_is_what_changes[{name}]",
        "tests/unit/test_dialect_docs.py::test_tables_are_those_of_the_code",
        "tests/unit/test_dialect_docs.py::test_every_operation_and_attribute_has_a_golden_round_trip",
        "tests/unit/test_operator_matrix.py",
    )


EXTENSIONS = {
    "board": Extension(
        ("targets/netduino_plus_2.py",),
        ("tests/unit/test_netduino_plus_2.py",),
        ("tests/unit/test_netduino_plus_2.py", "tests/unit/test_targets.py"),
    ),
    "method": Extension(
        ("solvers/scheduling/methods/newest_first.py",),
        ("tests/unit/test_newest_first.py",),
        ("tests/unit/test_newest_first.py", "tests/unit/test_scheduling.py"),
    ),
    "operator": Extension(
        ("dialects/operators/unary.py", "frontends/tflite/operators.py"),
        ("docs/operators.md",),
        (
            *(  # against TFLM, every int8
                f"tests/models/test_evaluate_stored.py::test_int8_only[elu {before} {after}]"
                for before in (0.03, 0.07, 0.0043)
                for after in (0.031, 0.09)
            ),
            *of_operator("elu"),
            "tests/unit/test_kernels.py::test_a_table_is_what_the_operation_evaluates_to[memgraph.elu]",
        ),
    ),
    "operator_float": Extension(
        (
            "dialects/operators/unary.py",
            "frontends/tflite/operators.py",
            "frontends/onnx/operators.py",
            "backends/c/kernels/unary/__init__.py",
            "backends/c/kernels/unary/memopt_elu_f32.c",
        ),
        ("docs/operators.md",),
        (
            "tests/firmware/test_c_functions.py",
            "tests/models/test_onnx_meaning.py::test_functions_of_one_number",
            "tests/unit/test_kernels.py",
            "tests/unit/test_operator_matrix.py",
        ),
    ),
    "placement": Extension(
        ("solvers/placement/methods/largest_area.py",),
        ("tests/unit/test_largest_area.py",),
        ("tests/unit/test_largest_area.py", "tests/unit/test_placement.py"),
    ),
    "rule": Extension(
        ("rewrites/relu_twice.py",),
        (),
        ("tests/unit/test_rewrites.py",),
    ),
    "spatial": Extension(
        (
            "dialects/operators/depth_to_space.py",
            "frontends/tflite/operators.py",
            "backends/c/kernels/depth_to_space/__init__.py",
            "backends/c/kernels/depth_to_space/memopt_depth_to_space_s8.c",
        ),
        (
            "docs/operators.md",
            "tests/firmware/forge.py",
            "tests/helpers/operator_cases.py",
        ),
        (
            # against TFLM on random shapes, and row by row
            "tests/firmware/test_c_random_operators.py::test_int8_operators_equal_tflm",
            "tests/firmware/test_c_random_operators.py::test_row_by_row_equals_the_whole_tensor[True]",
            *of_operator("depth_to_space"),
            "tests/unit/test_kernels.py",
        ),
    ),
}


def run(folder: Path, *command: str) -> str:
    """The output of a command in `folder` that finds the copy and nothing of this checkout."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("COVERAGE")}
    environment |= {
        "PYTHONPATH": str(folder / "src"),
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def clean_copy(folder: Path) -> None:
    """The files that git knows of, as they stand in the working tree, links as links."""
    for name in filter(None, run(ROOT, "git", "ls-files", "-z").split("\0")):
        here, there = ROOT / name, folder / name
        there.parent.mkdir(parents=True, exist_ok=True)
        if here.is_symlink():
            there.symlink_to(here.readlink())
        elif here.exists():
            there.write_bytes(here.read_bytes())


def contents(folder: Path) -> dict[str, bytes]:
    """Every file, each once."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def test_every_patch_is_tried() -> None:
    assert {patch.stem for patch in HERE.glob("*.patch")} == set(EXTENSIONS)


@pytest.mark.parametrize("name", EXTENSIONS)
def test_extension(name: str, fuzz: float, tmp_path: Path) -> None:
    extension = EXTENSIONS[name]
    tests = dict.fromkeys(
        test.partition("::")[0] if fuzz >= 1 and test.startswith(QUICK) else test
        for test in extension.tests
    )
    clean_copy(tmp_path)
    before = contents(tmp_path)
    run(tmp_path, "git", "apply", str(HERE / f"{name}.patch"))
    after = contents(tmp_path)
    touched = {file for file in before | after if before.get(file) != after.get(file)}
    assert touched == {*extension.sources, *extension.others}
    python = (sys.executable, "-m")
    sources = sorted(file for file in touched if file.endswith(".py"))
    run(tmp_path, *python, "ruff", "check", "--no-cache", *sources)
    run(tmp_path, *python, "ruff", "format", "--no-cache", "--check", *sources)
    run(tmp_path, *python, "pyright", "--pythonpath", sys.executable, *sources)
    where = run(tmp_path, sys.executable, "-c", "import memopt; print(memopt.__file__)")
    assert where.startswith(str(tmp_path))
    run(tmp_path, *python, "pytest", "-q", "-p", "no:cacheprovider", *tests)
