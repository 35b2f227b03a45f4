"""A package of a user's adds to every registry, and one that is broken is named."""

import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from installed_package import finding, installed

from memopt.dialects.memgraph.errors import MemoptError
from memopt.modules import load, modules_in, plugins

HERE = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent
TWICE = """
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = memgraph.relu %x : (tensor<64xf32>) -> tensor<64xf32>
  %1 = memgraph.relu %0 : (tensor<64xf32>) -> tensor<64xf32>
  func.return %1 : tensor<64xf32>
}
"""
IN_PYTHON = """
import sys, memopt
chain = b"chain 16\\nwide 64\\nslim 32\\n"
plan = memopt.plan(chain, schedule="newest-first", place="largest-area")
print(plan.peak, plan.arena, repr(plan.emit("toy-list")))
words = {"target": "toy-board", "layout": "toy-sdk", "rewrite": "relu-twice"}
report = memopt.compile(sys.argv[1], out=sys.argv[2], **words)
print(report["operators"], report["plan"]["alignment"])
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that finds toyboard, installed into a folder."""
    return installed(HERE / "toyboard", tmp_path_factory.mktemp("toyboard"))


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """A network that each of toyboard's parts has something to do with."""
    file = tmp_path / "twice.mlir"
    file.write_text(TWICE)
    return file


def run(environment: dict[str, str], *command: object) -> str:
    done = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.deep
def test_through_memopt(environment: dict[str, str], network: Path, tmp_path: Path) -> None:
    out, words = tmp_path / "out", ("--schedule=newest-first", "--place=largest-area")
    building = ("--target=toy-board", "--layout=toy-sdk", "--rewrite=relu-twice", "-o", out)
    run(environment, BIN / "memopt", "compile", network, *words, *building)
    assert (out / "component.toy").read_text() == "sources = src/twice.c\n"
    source = (out / "src/twice.c").read_text()
    assert "0.5f * (x + fabsf(x))" in source and "clamp_range" not in source
    assert source.count("toy_relu_f32(&") == 1  # of two


@pytest.mark.deep
def test_through_memopt_opt(environment: dict[str, str], network: Path, tmp_path: Path) -> None:
    passes = "memgraph-toy-mark{board=second},memgraph-rewrite{rules=relu-twice}"
    text = run(environment, BIN / "memopt-opt", "-p", passes, network)
    assert 'toy.board = "second"' in text and text.count("memgraph.relu") == 1
    chain = tmp_path / "net.chain"
    chain.write_text("chain 16\nwide 64\nslim 32\n")
    listed = run(
        environment, BIN / "memopt-opt", "--schedule=newest-first", "-t", "toy-list", chain
    )
    assert listed == "memgraph.opaque\nmemgraph.opaque\nfunc.return\n"
    options = run(environment, BIN / "memopt-opt", "--list-passes")
    assert "which of the toy boards" in options
    assert "newest-first: of several that became ready together" in options


@pytest.mark.deep
def test_through_python(environment: dict[str, str], network: Path, tmp_path: Path) -> None:
    text = run(environment, sys.executable, "-c", IN_PYTHON, network, tmp_path / "out")
    peaks, counts = text.splitlines()
    assert peaks == r"96 96 'memgraph.opaque\nmemgraph.opaque\nfunc.return\n'"
    assert counts == "1 32"
    assert (tmp_path / "out/component.toy").exists()


Package = Callable[[str, dict[str, str]], Path]
QUOTED = """
from typing import ClassVar

from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.operators.unary import FunctionOp


@operation_definition
class QuotedOp(FunctionOp):
    name = 'memgraph.quoted'
    C: ClassVar[str] = 'x + 1.0f'
    ONNX: ClassVar[str] = 'Quoted'
"""
QUOTED_KERNEL = """
from memopt.backends.c.emit.registry import kernel
from quoted.dialects.operators import quoted

kernel(quoted.QuotedOp, "toy")(print)
"""
FOUND = """
from memopt.backends.c.emit.registry import kernels_of
from memopt.backends.c.kernels import kernel_file
from memopt.dialects.operators import operator_named
from memopt.frontends.onnx.operators import OPERATORS

assert "x + 1.0f" in kernel_file("memopt_quoted_f32.c").text
assert "Quoted" in OPERATORS
assert {"f32", "toy"} <= {k.types for k in kernels_of(operator_named("memgraph.quoted"))}
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Package]:
    """A function that installs a package of these files, and returns where."""

    def install(name: str, files: dict[str, str]) -> Path:
        written = {f"{name}/__init__.py": "", **{f"{name}/{k}": v for k, v in files.items()}}
        about = f"{name}-1.dist-info"
        written[f"{about}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"
        written[f"{about}/entry_points.txt"] = f"[memopt.plugins]\n{name} = {name}\n"
        for file, text in written.items():
            path = tmp_path / "site" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / "site"

    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    plugins.cache_clear()
    yield install
    plugins.cache_clear()


def test_a_name_that_is_there_twice_is_refused_with_both_places(package: Package) -> None:
    package("doubled", {"targets/cortex_m4.py": ""})
    with pytest.raises(MemoptError) as refused:
        modules_in("memopt.targets")
    assert str(refused.value) == (
        "error: package doubled: doubled.targets.cortex_m4 is called 'cortex-m4', "
        "as memopt.targets.cortex_m4 is"
    )
    assert "source" in modules_in("memopt.solvers.scheduling.methods")


def test_two_packages_with_the_same_name_are_refused(package: Package) -> None:
    package("first_one", {"solvers/placement/methods/mine.py": ""})
    assert modules_in("memopt.solvers.placement.methods")["mine"].startswith("first_one.")
    plugins.cache_clear()
    package("second_one", {"solvers/placement/methods/mine.py": ""})
    with pytest.raises(MemoptError, match=r"^error: package second_one: .* as first_one\."):
        modules_in("memopt.solvers.placement.methods")


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (
            "lost",
            "import nowhere",
            "cannot be loaded: ModuleNotFoundError: No module named ",
        ),
        ("unclosed", "TARGET = (", "cannot be loaded: SyntaxError: "),
        ("empty", "", "has no TARGET"),
    ],
)
def test_a_broken_module_is_one_line_that_names_the_package(
    name: str, text: str, why: str, package: Package
) -> None:
    package(name, {"targets/mine.py": text})
    with pytest.raises(MemoptError) as refused:
        load(modules_in("memopt.targets")["mine"], "TARGET")
    assert str(refused.value).startswith(f"error: package {name}: {name}.targets.mine {why}")


def test_an_entry_point_that_names_no_package_is_refused(package: Package) -> None:
    site = package("vague", {})
    (site / "vague-1.dist-info/entry_points.txt").write_text("[memopt.plugins]\nx = vague_not\n")
    with pytest.raises(MemoptError, match=r"package vague: .*'vague_not', which is no package"):
        plugins()


def test_operators_are_found_however_they_are_written(package: Package) -> None:
    """With single quotes, and kernels below a family's folder."""
    family = "backends/c/kernels/quoted"
    files = {
        "dialects/operators/quoted.py": QUOTED,
        f"{family}/__init__.py": "import quoted.backends.c.kernels.quoted.below",
        f"{family}/below/__init__.py": QUOTED_KERNEL,
    }
    environment = finding(package("quoted", files))
    run(environment, sys.executable, "-c", FOUND)


@pytest.mark.deep
def test_a_command_says_it_in_one_line(package: Package, network: Path, tmp_path: Path) -> None:
    environment = finding(package("broken", {"targets/mine.py": "import nowhere\n"}))
    for program, *words in (("memopt", "compile", "-o", tmp_path / "out"), ("memopt-opt",)):
        command = list(map(str, (BIN / program, *words, network)))
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "error: package broken: broken.targets.mine cannot be loaded" in done.stderr
        assert done.stderr.count("\n") == 1
