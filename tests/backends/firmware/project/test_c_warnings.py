"""Generated C, its kernels and the program around it: no compiler warns, cppcheck finds nothing.

cppcheck's `style` is left out: it sees one file at a time, in which most of a parameter block is
unused, and prefers other scopes of variables.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
from kernel_units import put_faults, write_units

from memopt.backends.c.kernels import Form, kernel_files, needed_files, text_of
from memopt.cli import main as memopt
from memopt.targets.core.target import target_named

WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]
CPPCHECK = (
    *("cppcheck", "-q", "--std=c99", "--enable=warning,performance,portability"),
    *("--error-exitcode=1", "--template={file}:{line}: {id}: {message}"),
)
COMPILERS = ("gcc", "clang", "arm-none-eabi-gcc")
MODELS = ("dscnn_kws_int8", "hello_world_float")
FAULT = "static int fault{number}(void) {{ int a[2]; a[0] = 1; return a[2]; }}\n"
FOUND = "arrayIndexOutOfBounds"
TICKS = ["-DTICK_NUMERATOR=5u", "-DTICK_DENOMINATOR=4u"]


def need(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")


def run(*command: str, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-2000:]}{done.stderr[-4000:]}"


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All kernels of networks that have nothing rare, and of those that round as ONNX's."""
    folder = tmp_path_factory.mktemp("kernels")
    names = [f.removeprefix("memopt_").removesuffix(".c") for f in kernel_files() if ".c" in f]
    for even in (False, True):
        (folder / str(even)).mkdir()
        for path in needed_files(names):
            (folder / str(even) / path.name).write_text(
                text_of(path, Form(even, not even, None if even else frozenset()))
            )
    return folder


@pytest.fixture(scope="module")
def projects(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Target -> a project of several models."""
    found: dict[str, Path] = {}
    for target in ("host", "cortex-m4"):
        folder = tmp_path_factory.mktemp("projects") / target
        models = [str(shared / "models" / f"{name}.tflite") for name in MODELS]
        how = ["--rows=none", "--rewrite=none", f"--target={target}", "--share-arena"]
        assert memopt(["compile", *models, *how, "-o", str(folder)]) == 0
        found[target] = folder
    return found


def sources(folder: Path) -> list[str]:
    found = sorted(str(p.relative_to(folder)) for p in folder.rglob("*.c"))
    assert found
    return found


@pytest.mark.deep
@pytest.mark.parametrize("even", [False, True])
def test_kernels_without_a_warning_of_clang(even: bool, kernels: Path) -> None:
    """GCC and that of the boards: test_c_project.py."""
    need("clang")
    folder = kernels / str(even)
    run("clang", *WARNINGS, "-fsyntax-only", *sources(folder), cwd=folder)


@pytest.mark.deep
@pytest.mark.parametrize("compiler", COMPILERS)
def test_projects_without_a_warning(compiler: str, projects: dict[str, Path]) -> None:
    need(compiler)
    board = compiler.startswith("arm")
    folder = projects["cortex-m4" if board else "host"]
    flags = [*target_named("cortex-m4").flags.split(), *TICKS] if board else []
    include = ["-I.", "-Iplatform", *(f"-I{name}" for name in MODELS)]
    for source in sources(folder):
        command = [compiler, *WARNINGS, *flags, *include, "-O2", "-c", source, "-o", "warnings.o"]
        run(*command, cwd=folder)


@pytest.mark.deep
def test_cppcheck_finds_nothing_in_kernels(kernels: Path, tmp_path: Path) -> None:
    need("cppcheck")
    folder = shutil.copytree(kernels / "True", tmp_path / "kernels")
    run(*CPPCHECK, "-I.", *write_units(folder), cwd=folder)


@pytest.mark.deep
def test_cppcheck_finds_a_fault_in_any_kernel_of_a_unit(kernels: Path, tmp_path: Path) -> None:
    need("cppcheck")
    folder = shutil.copytree(kernels / "True", tmp_path / "kernels")
    large = ((unit, names) for unit, names in write_units(folder).items() if len(names) > 20)
    unit, names = min(large, key=lambda u: len(u[1]))
    put_faults(folder, names, FAULT)
    command = [*CPPCHECK, "-I.", unit]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert {line.partition(":")[0] for line in done.stderr.splitlines() if FOUND in line} == {
        *names
    }


@pytest.mark.deep
def test_cppcheck_finds_nothing_in_projects(projects: dict[str, Path]) -> None:
    need("cppcheck")
    for folder in projects.values():
        own = [s for s in sources(folder) if "/kernels/" not in s]
        include = ["-I.", "-Iplatform", *(f"-I{name}" for name in MODELS)]
        run(*CPPCHECK, *TICKS, *include, *own, cwd=folder)
