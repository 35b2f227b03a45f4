"""The wheel and the sdist, built and used outside the checkout."""

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from demo_model import demo_model
from places import ROOT

# Every package below memopt, to which its link leads.
CHECKOUT = "benchmarks"  # a package of the checkout alone
ROOMS = {p.parent.name for p in ROOT.glob("*/__init__.py")} - {CHECKOUT}
NATIVE = "memopt/solvers/native"
# Of the native library, as the wheel's compiler optimises it: with one the wheel is without it.
WARNINGS = "-Wall -Wextra -Wconversion -Wshadow -Werror"
FIGURE = (ROOT / "tests/filecheck/figure1.mlir").read_text()


def run(command: list[str], cwd: Path, path: Path | None = None, **variables: str) -> str:
    environment = {**os.environ, **({"PYTHONPATH": str(path)} if path else {}), **variables}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=cwd, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, set[str]]:
    """(wheel, sdist, files that must be inside), of a copy of what git would see."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    names = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT)
    for name in filter(None, names.split("\0")):
        here, there = ROOT / name, source / name
        there.parent.mkdir(parents=True, exist_ok=True)
        if here.is_symlink():
            there.symlink_to(here.readlink())
        elif here.is_file():
            there.write_bytes(here.read_bytes())
    isolation = [] if int(version("setuptools").split(".")[0]) < 77 else ["--no-isolation"]
    command = [sys.executable, "-m", "build", *isolation, "--outdir", str(out), str(source)]
    said = run(command, out, CFLAGS=WARNINGS, CXXFLAGS=WARNINGS)
    assert WARNINGS in said
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, sdist, project_files(source)


def project_files(source: Path) -> set[str]:
    """Files below the rooms that an installation needs, as they are named in the wheel."""
    suffixes = {".py", ".c", ".h", ".ld", ".S", ".in"}
    found = {
        f"memopt/{room}/{p.relative_to(source / room)}"
        for room in ROOMS
        for p in (source / room).rglob("*")
        if p.is_file() and p.suffix in suffixes
    }
    links = {p.name for p in (source / "src/memopt").iterdir() if p.is_symlink()}
    assert links == ROOMS >= {"dialects", "analysis", "verify", "solvers", "backends"}
    front = source / "src/memopt"
    folders = [f for f in front.iterdir() if f.is_dir() and not f.is_symlink()]
    own = [*front.glob("*.py"), *(p for f in folders for p in f.rglob("*.py")), front / "py.typed"]
    return found | {f"memopt/{p.relative_to(front)}" for p in own}


@pytest.mark.deep
def test_every_file_is_inside(built: tuple[Path, Path, set[str]]) -> None:
    wheel, sdist, needed = built
    assert len(needed) > 100
    with zipfile.ZipFile(wheel) as archive:
        inside = {i.filename for i in archive.infolist()}
    missing = needed - inside
    assert not missing
    assert re.search(r"-py3-none-(?!any)\w+\.whl$", wheel.name)  # for any Python of this platform
    assert f"{NATIVE}/core.native" in inside
    assert "memopt/torch/allocator.cpp" in inside  # PyTorch builds it where it is asked for
    assert not [n for n in inside if n.startswith(NATIVE) and n.endswith((".cpp", ".hpp"))]
    assert not [n for n in inside if n.split("/")[0] in (*ROOMS, "tests")]
    assert not [n for n in inside if CHECKOUT in n.split("/")[:2]]
    with tarfile.open(sdist) as archive:
        names = {"/".join(m.name.split("/")[1:]) for m in archive.getmembers()}
    sources = {f"{NATIVE}/{p.name}" for p in (ROOT / "solvers/native").glob("*.[ch]pp")}
    assert sources and {f"src/{n}" for n in needed | sources} <= names


@pytest.mark.deep
def test_without_a_compiler_the_library_is_left_out_in_one_line(
    built: tuple[Path, Path, set[str]], tmp_path: Path
) -> None:
    with tarfile.open(built[1]) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "bdist_wheel", "--dist-dir", str(tmp_path)],
        env=os.environ | {"CC": "no-such-compiler", "CXX": "no-such-compiler"},
        capture_output=True, text=True, check=False, cwd=source,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "compiler" in line]
    assert len(lines) == 1 and lines[0].startswith("memopt: without its native library")
    (wheel,) = tmp_path.glob("*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert f"{NATIVE}/library.py" in archive.namelist()
        assert f"{NATIVE}/core.native" not in archive.namelist()


@pytest.mark.deep
def test_the_wheel_runs_outside_the_checkout(
    built: tuple[Path, Path, set[str]], tmp_path: Path
) -> None:
    site, work = tmp_path / "site", tmp_path / "work"
    with zipfile.ZipFile(built[0]) as archive:
        archive.extractall(site)
    work.mkdir()
    (work / "in.mlir").write_text(FIGURE)
    python = [sys.executable, "-P", "-c"]
    where = run([*python, "import memopt.dialects.memgraph as p; print(p.__file__)"], work, site)
    assert where.startswith(str(site))
    main = "import sys; from memopt.cli.opt import main; sys.exit(main(sys.argv[1:]))"
    flags = ["--fuse", "--schedule=auto", "--place=auto", "--verify-plan"]
    run([*python, main, *flags, "in.mlir", "-o", "out.mlir"], work, site)
    assert "peak = 4960, lower_bound = 4960" in (work / "out.mlir").read_text()
    universe = "from xdsl.universe import Universe as U; print(*U.get_multiverse().all_passes)"
    assert "memgraph-schedule" in run([*python, universe], work, site)
    native = "from memopt.solvers.native.library import library; print(library())"
    assert str(site) in run([*python, native], work, site)
    kernels = "from memopt.backends.c import kernels; print(kernels.__file__)"
    assert run([*python, kernels], work, site).startswith(str(site))


@pytest.mark.deep
def test_the_commands_of_the_wheel_write_a_project(
    built: tuple[Path, Path, set[str]], tmp_path: Path
) -> None:
    """Outside the checkout, with the kernels that are inside; what is said about it is in it."""
    site, work = tmp_path / "site", tmp_path / "work"
    with zipfile.ZipFile(built[0]) as archive:
        archive.extractall(site)
    work.mkdir()
    (work / "net.tflite").write_bytes(demo_model(size="small"))
    main = "import sys; from memopt.console import memopt; sys.exit(memopt())"
    python = [sys.executable, "-P", "-c", main]
    run([*python, "compile", "net.tflite", "--layout=single-file", "-o", "out"], work, site)
    assert (work / "out/net.c").exists()
    assert "complete -o default" in run([*python, "completion", "bash"], work, site)
    (about,) = site.glob("memopt-*.dist-info")
    assert "Project-URL: Source, " in (about / "METADATA").read_text()
    assert "memopt = memopt.console:memopt" in (about / "entry_points.txt").read_text()


SCRIPT = """
import memopt
from memopt import Peak, Plan, Row, Verified

found: Peak = memopt.peak("net.tflite", time_limit=1.0)
plan: Plan = memopt.plan(b"", target="tflm", shapes={"x": (1, 8)})
checked: Verified = memopt.verify(plan)
arena: int = memopt.verify(memopt.place([(0, 1, 8)], capacity="1K"))
rows: list[Row] = list(memopt.sweep(["a", {"nodes": []}]))
numbers: tuple[int, ...] = found.indices
names: tuple[str, ...] = plan.order
offset: int = plan.offsets["x"] + plan.arena + found.peak + checked.peak
text: str = memopt.__version__ + found.proof + memopt.load("a").name
"""


@pytest.mark.deep
def test_a_checker_of_types_knows_every_answer(
    built: tuple[Path, Path, set[str]], tmp_path: Path
) -> None:
    """In strict mode, of a script outside the checkout and the package in the wheel."""
    site, work = tmp_path / "site", tmp_path / "work"
    with zipfile.ZipFile(built[0]) as archive:
        archive.extractall(site)
    assert (site / "memopt" / "py.typed").exists()
    work.mkdir()
    (work / "right.py").write_text(SCRIPT)
    (work / "wrong.py").write_text("import memopt\nx: str = memopt.peak('a').peak\n")
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(site)]}
    (work / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable],
        capture_output=True, text=True, check=False, cwd=work,
    )  # fmt: skip
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert [(Path(d["file"]).name, d["rule"]) for d in found] == [
        ("wrong.py", "reportAssignmentType")
    ]
