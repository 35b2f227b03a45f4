"""How many files an extension takes: each patch here is applied to a clean copy, and works there.

A patch adds one thing of a kind (docs/guides/extending.md says how) and its test. It may touch
exactly the files that are counted for its kind; what else knows of it must find it by itself. What
the project has already is taken out of the copy before. In the copy its test passes, and so do the
tests that look at everything of its kind: at the new one here, at all in `make fuzz`. There each
patch has a copy of its own; here those that go together share one, as most of the time went into
starting the tools once more.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from compiled import KEPT, objects_folder
from places import ROOT

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Extension:
    """What a patch may touch, in words of the project: its sources, and its tests and pages."""

    sources: tuple[str, ...]
    others: tuple[str, ...]
    tests: tuple[str, ...]  # run in the copy


PLACEMENT = "tests/solvers/unit/test_placement.py"
REWRITES = "tests/rewrites/unit/test_rewrites.py"
STORED = "tests/analysis/runtimes/test_evaluate_stored.py"
QUICK = ("property", "unit")  # kinds of which `make fuzz` runs the whole files
# Of all kernels, as many networks as have each: here `make fuzz` alone runs it.
ROW_BY_ROW = (
    "tests/backends/firmware/kernels/test_c_random_operators.py"
    "::test_row_by_row_equals_the_whole_tensor[True]"
)


def of_operator(name: str) -> tuple[str, ...]:
    """The tests of all operators, of those with a case per operator the new one's."""
    return (
        f"tests/dialects/property/test_operator_text.py::test_every_operation_reads_back[{name}]",
        "tests/dialects/property/test_rows_needed.py::test_every_operation_is_tried",
        f"tests/dialects/property/test_rows_needed.py::test_rows_needed_is_what_changes[{name}]",
        "tests/project/pages/test_dialect_docs.py::test_tables_are_those_of_the_code",
        "tests/project/pages/test_dialect_docs.py::test_every_operation_and_attribute_has_a_golden_round_trip",
        "tests/project/pages/test_operator_matrix.py",
    )


def of(file: str, case: str, *tests: str) -> tuple[str, ...]:
    """The tests of one kind, by the file that has them, at this one."""
    return tuple(f"{file}::{test}[{case}]" for test in tests)


EXTENSIONS = {
    "board": Extension(
        ("targets/netduino_plus_2.py",),
        ("tests/targets/unit/test_netduino_plus_2.py",),
        ("tests/targets/unit/test_netduino_plus_2.py", "tests/targets/unit/test_targets.py"),
    ),
    "method": Extension(
        ("solvers/scheduling/methods/newest_first.py",),
        ("tests/solvers/unit/test_newest_first.py",),
        (
            "tests/solvers/unit/test_newest_first.py",
            *of(
                "tests/solvers/unit/test_scheduling.py",
                "newest-first",
                "test_every_method_answers",
                "test_every_method_takes_the_empty_problem",
                "test_every_method_takes_a_single_operator_without_tensors",
            ),
        ),
    ),
    "operator": Extension(
        ("dialects/operators/rectifiers.py",),
        ("docs/reference/operators.md",),
        (
            *(  # against TFLM, every int8
                f"{STORED}::test_int8_only[elu {before} {after}]"
                for before in (0.03, 0.07, 0.0043)
                for after in (0.031, 0.09)
            ),
            *of_operator("elu"),
            "tests/backends/unit/test_kernels.py::test_a_table_is_what_the_operation_evaluates_to[memgraph.elu]",
        ),
    ),
    "operator_float": Extension(
        ("dialects/operators/rectifiers.py",),
        ("docs/reference/operators.md",),
        (
            "tests/backends/firmware/kernels/test_c_functions.py",
            "tests/frontends/runtimes/test_onnx_meaning.py::test_functions_of_one_number",
            "tests/backends/unit/test_kernels.py",
            "tests/project/pages/test_operator_matrix.py",
        ),
    ),
    "operator_of_two": Extension(
        ("dialects/operators/powers.py",),
        ("docs/reference/operators.md",),
        (
            *of_operator("atan2"),
            "tests/backends/firmware/kernels/test_c_functions.py",
            "tests/backends/unit/test_kernels.py",
        ),
    ),
    "option": Extension(
        ("src/memopt/compile/options.py",),
        ("docs/reference/options.md", "tests/cli/unit/test_views_option.py"),
        ("tests/passes/unit/test_options.py", "tests/cli/unit/test_views_option.py"),
    ),
    "pass": Extension(
        ("passes/memgraph_drop_plan.py",),
        ("docs/reference/passes.md", "tests/filecheck/memgraph-drop-plan.mlir"),
        (
            "tests/project/pages/test_dialect_docs.py::test_every_pass_is_explained",
            "tests/passes/unit/test_pass_options.py",
            "tests/project/code/test_architecture.py::test_folders_are_small",
        ),
    ),
    "placement": Extension(
        ("solvers/placement/methods/largest_area.py",),
        ("tests/solvers/unit/test_largest_area.py",),
        (
            "tests/solvers/unit/test_largest_area.py",
            f"{PLACEMENT}::test_load_counts_a_shared_base_once",
            *of(PLACEMENT, "largest-area", "test_nothing_to_place"),
            *of(
                "tests/solvers/unit/test_placement.py",
                "largest-area-buffers0",
                "test_place_refuses",
            ),
        ),
    ),
    "rule": Extension(
        ("rewrites/relu_twice.py",),
        ("docs/reference/rules.md",),
        (
            *of(
                REWRITES,
                "relu-twice-alone2",
                "test_before_becomes_after",
            ),
            *of(
                REWRITES,
                "relu-twice-before0",
                "test_before_becomes_after",
                "test_what_a_rule_changed_is_no_operator_of_the_file",
                "test_before_and_after_compute_the_same",
            ),
            *of(
                REWRITES,
                "relu-twice",
                "test_a_docstring_shows_what_a_rule_does_and_what_it_leaves",
            ),
            "tests/project/pages/test_rule_table.py",
        ),
    ),
    "spatial": Extension(
        (
            "dialects/operators/space_to_depth.py",
            "backends/c/kernels/space_to_depth/__init__.py",
            "backends/c/kernels/space_to_depth/memopt_space_to_depth.c",
        ),
        (
            "docs/reference/operators.md",
            "tests/helpers/firmware/forge.py",
            "tests/helpers/networks/operator_cases.py",
        ),
        (
            # against TFLM on random shapes, and row by row
            "tests/backends/firmware/kernels/test_c_random_operators.py::test_int8_operators_equal_tflm",
            ROW_BY_ROW,
            *of_operator("space_to_depth"),
            "tests/backends/unit/test_kernels.py",
        ),
    ),
}


def run(folder: Path, *command: str, **variables: str) -> str:
    """The output of a command in `folder` that finds the copy and nothing of this checkout."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("COVERAGE")}
    environment |= variables | {
        "PYTHONPATH": str(folder / "src"),
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def clean_copy(folder: Path, names: Sequence[str]) -> None:
    """The files that git knows of, as they stand in the working tree, links as links, without what
    the patches of these names add."""
    for name in filter(None, run(ROOT, "git", "ls-files", "-z").split("\0")):
        here, there = ROOT / name, folder / name
        there.parent.mkdir(parents=True, exist_ok=True)
        if here.is_symlink():
            there.symlink_to(here.readlink())
        elif here.exists():
            there.write_bytes(here.read_bytes())
    for name in {TAKEN_OUT[name] for name in names if name in TAKEN_OUT}:
        run(folder, "git", "apply", "-R", str(HERE / f"{name}.patch"))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file, each once."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def test_every_patch_is_tried() -> None:
    assert {patch.stem for patch in HERE.glob("*.patch")} == set(EXTENSIONS)


# What is taken out first: ELU, which both add, the angle of two numbers, and blocks of pixels.
TAKEN_OUT = {
    "operator": "operator_float",
    "operator_float": "operator_float",
    "operator_of_two": "operator_of_two",
    "spatial": "spatial",
}
TOGETHER = (
    (
        *("board", "method", "operator", "operator_of_two", "option", "pass", "placement", "rule"),
        "spatial",
    ),
    ("operator_float",),
)


@pytest.mark.deep
@pytest.mark.parametrize("name", EXTENSIONS)
def test_only_what_is_counted_is_touched(name: str, tmp_path: Path) -> None:
    clean_copy(tmp_path, [name])
    assert touched(tmp_path, name) == {*EXTENSIONS[name].sources, *EXTENSIONS[name].others}


def test_every_extension_is_in_one_copy() -> None:
    assert sorted(name for names in TOGETHER for name in names) == sorted(EXTENSIONS)


@pytest.mark.deep
@pytest.mark.parametrize("together", TOGETHER, ids=lambda names: names[0])
def test_extensions(
    together: tuple[str, ...],
    fuzz: float,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    if fuzz < 1 and together == ("operator_float",):
        pytest.skip("in make fuzz")
    for names in [(name,) for name in together] if fuzz >= 1 else [together]:
        folder = tmp_path / names[0]
        clean_copy(folder, names)
        for name in names:
            apply(folder, name)
        objects = objects_folder(tmp_path_factory)
        objects.mkdir(exist_ok=True)
        works(folder, [EXTENSIONS[name] for name in names], fuzz, objects)


def apply(folder: Path, name: str) -> None:
    """The patch, on what stands in `folder`."""
    run(folder, "git", "apply", str(HERE / f"{name}.patch"))


def touched(folder: Path, name: str) -> set[str]:
    """The files in `folder` that the patch makes different."""
    before = contents(folder)
    apply(folder, name)
    after = contents(folder)
    return {file for file in before | after if before.get(file) != after.get(file)}


def works(folder: Path, extensions: Sequence[Extension], fuzz: float, objects: Path) -> None:
    """Lint, types and tests of what was added to the copy in `folder`; `objects` has what of its C
    is compiled already, as it is of the same text."""
    files = dict.fromkeys(file for e in extensions for file in (*e.sources, *e.others))
    tests = dict.fromkeys(
        test.partition("::")[0] if fuzz >= 1 and Path(test).parent.name in QUICK else test
        for extension in extensions
        for test in extension.tests
        if fuzz >= 1 or test != ROW_BY_ROW
    )
    whole = {test for test in tests if "::" not in test}
    python = (sys.executable, "-m")
    sources = sorted(file for file in files if file.endswith(".py"))
    run(folder, *python, "ruff", "check", "--no-cache", *sources)
    run(folder, *python, "ruff", "format", "--no-cache", "--check", *sources)
    run(folder, *python, "pyright", "--pythonpath", sys.executable, *sources)
    where = run(folder, sys.executable, "-c", "import memopt; print(memopt.__file__)")
    assert where.startswith(str(folder))
    golden = [file for file in files if file.startswith("tests/filecheck/")]
    if golden:
        run(folder, str(Path(sys.executable).with_name("lit")), "-sv", *golden)
    once = [test for test in tests if test in whole or test.partition("::")[0] not in whole]
    kept = {KEPT: str(objects)}
    run(folder, *python, "pytest", "-q", "-p", "no:cacheprovider", *once, **kept)
