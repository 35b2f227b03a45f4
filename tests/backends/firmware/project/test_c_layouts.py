"""Projects for the builds that firmware is made with: their manifests by the published schemas,
compiled as those builds do, two models in one tree, run on a core of their boards, equal to TFLM:
a Cortex-M4, of ESP-IDF the RV32IMC of an ESP32-C3, of the Pico SDK the Cortex-M0+ of an RP2040."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from build_systems import BOARDS, BUILDERS, STRICT, core, run
from pass_functions import assign_function
from xdsl.context import Context

from memopt.backends.c.project.layouts import layout_names
from memopt.backends.c.project.project_files import Project
from memopt.backends.c.project.write import make_project, write_files
from memopt.cli import main as memopt
from memopt.compile.driver import load_text, new_context
from memopt.passes.memgraph_memory import parse_banks
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.targets.core.target import target_named

STREAMED, WHOLE = "tinymaix_mnist_resnet_int8", "dscnn_kws_int8"
MODELS = (STREAMED, WHOLE)


def planned(target: str, shared: Path, folder: Path) -> dict[str, Project]:
    """Return the models for a target, one of which is fed row by row."""
    found: dict[str, Project] = {}
    for name in MODELS:
        out = folder / name
        flags = ["--stream-input"] if name == STREAMED else ["--rows=none"]
        model = str(shared / "models" / f"{name}.tflite")
        assert memopt(["compile", model, f"--target={target}", *flags, "-o", str(out)]) == 0
        path = out / "plan.mlir"
        module = load_text(new_context(True), path.read_text(), str(path))
        found[name] = make_project(module, name, target)
    return found


@pytest.fixture(scope="module")
def projects(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Project]:
    """The models for a Cortex-M4."""
    return planned("cortex-m4", shared, tmp_path_factory.mktemp("plans"))


@pytest.fixture(scope="module")
def wanted(shared: Path, tmp_path_factory: pytest.TempPathFactory, lab: Any) -> dict[str, Any]:
    """What TFLM says of the examples' patterns."""
    found: dict[str, Any] = {}
    for name in MODELS:
        path = shared / "models" / f"{name}.tflite"
        function = lab.main_of(lab.read_model(path))
        (argument,) = function.body.block.args
        shape = (1, *argument.type.get_shape())
        pattern = np.arange(np.prod(shape), dtype=np.uint32) * np.uint32(40503) % 256
        inputs = [(pattern.astype(np.int64) - 128).astype(np.int8).reshape(shape)]
        tensor = lab.source_tensor(function.body.block.last_op.operands[0])
        work = tmp_path_factory.mktemp("tflm")
        found[name] = lab.golden("tflm", path, inputs, [tensor], work)[tensor].reshape(-1)
    return found


# -- compiled as each build does ------------------------------------------------------------------


@pytest.mark.deep
@pytest.mark.parametrize("build", BUILDERS)
def test_two_models_in_one_tree(
    build: str,
    projects: dict[str, Project],
    wanted: dict[str, Any],
    shared: Path,
    tmp_path: Path,
    lab: Any,
) -> None:
    """Both libraries are in both programs; each prints what TFLM computes."""
    board = target_named(BOARDS.get(build, "cortex-m4"))
    lab.need_tools(board.name)
    compiler = board.compiler.removesuffix("gcc")
    if shutil.which(f"{compiler}g++") is None or shutil.which("cmake") is None:
        pytest.skip(f"needs {compiler}g++ and cmake")
    if build in BOARDS:
        projects = planned(board.name, shared, tmp_path / "plans")
    tree = tmp_path / "tree"
    for name, project in projects.items():
        write_files(project, tree / name, build)
    for name, project in projects.items():
        folder = tmp_path / name
        folder.mkdir()
        core(build, project, folder)
        image = BUILDERS[build](tree, name, folder)
        said = run(
            *(board.qemu, "-M", board.emulator, "-nographic", "-monitor", "none"),
            *("-serial", "none", *f"{board.loads}{image}".split(), "-semihosting-config"),
            "enable=on,target=native,arg=program,arg=in,arg=out",
            cwd=tmp_path,
        )
        got = [
            int(n)
            for n in re.findall(rf"^{name} output 0 \[\d+\] = (-?\d+) \(", said, re.MULTILINE)
        ]
        assert got == list(wanted[name]), said
        assert len(set(got)) > 1
        symbols = run(f"{compiler}nm", str(image), cwd=tmp_path)
        for other in MODELS:  # streamed, nothing calls the whole run
            assert f" T {other}_{'start' if other == STREAMED else 'run'}" in symbols


@pytest.mark.deep
def test_middleware_compiles_as_c_for_a_cortex_m4(
    projects: dict[str, Project], tmp_path: Path
) -> None:
    """With its example, by the warnings of CubeIDE and more."""
    board = target_named("cortex-m4")
    if shutil.which(board.compiler) is None:
        pytest.skip(f"needs {board.compiler}")
    for name, project in projects.items():
        write_files(project, tmp_path / name, "stm32cube")
        folder = tmp_path / name / "Middlewares" / "Third_Party" / name
        sources = [folder / "Src" / f"{name}.c", tmp_path / name / f"Core/Src/{name}_example.c"]
        flags = [*board.flags.split(), "-std=gnu11", *STRICT.split(), f"-I{folder}/Inc"]
        run(board.compiler, *flags, "-c", *map(str, sources), cwd=tmp_path)
        page = (tmp_path / name / "README.md").read_text()
        assert f"add_subdirectory(Middlewares/Third_Party/{name})" in page


# -- manifests, by what is published of them ------------------------------------------------------

NAME = re.compile(r"(?!arduino)[a-zA-Z][a-zA-Z0-9 _.-]{0,62}", re.IGNORECASE)
SEMVER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
CATEGORIES = (
    *("Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing"),
    *("Data Storage", "Data Processing", "Other"),
)


def test_library_properties(projects: dict[str, Project], tmp_path: Path) -> None:
    """arduino-lint's schema of library.properties, and the specification's of folders."""
    for name, project in projects.items():
        folder = tmp_path / name
        write_files(project, folder, "arduino")
        lines = (folder / "library.properties").read_text().splitlines()
        found = dict(line.split("=", 1) for line in lines)
        assert len(found) == len(lines)
        required = "name version author maintainer sentence paragraph category url architectures"
        assert set(required.split()) <= set(found) <= {*required.split(), "includes"}
        assert all(found.values())
        assert NAME.fullmatch(found["name"])
        assert SEMVER.fullmatch(found["version"])
        assert not found["maintainer"].lower().startswith("arduino")
        assert found["category"] in CATEGORIES
        assert re.fullmatch(r"[a-z][a-z0-9+.-]*:\S+", found["url"])
        assert (folder / "src" / found["includes"]).is_file()
        (sketch,) = folder.glob("examples/*/*.ino")
        assert sketch.stem == sketch.parent.name
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}", sketch.stem)


def test_library_json(projects: dict[str, Project], tmp_path: Path) -> None:
    """PlatformIO's schema of manifests: types, lengths and patterns of all that stands there."""
    patterns = {
        "$schema": r"https://\S+/library\.json",
        "name": r"[^:;/,@<>]{1,50}",
        "version": r"(?=.{1,20}$)\d+\.\d+\.\d+",
        "description": r".{1,255}",
        "frameworks": r"[a-z\d_-]+|\*",
        "platforms": r"[a-z\d_-]+|\*",
        "headers": r"\w+\.h",
    }
    long = replace(projects[STREAMED], name="a" * 90)
    for name, project in [*projects.items(), (long.name, long)]:
        folder = tmp_path / name
        write_files(project, folder, "platformio")
        found = json.loads((folder / "library.json").read_text())
        assert set(found) == {*patterns, "keywords", "examples"}
        for key, pattern in patterns.items():
            assert re.fullmatch(pattern, found[key]), key
        assert all(re.fullmatch(r"[a-z\d][a-z\d+. -]{0,49}", word) for word in found["keywords"])
        assert (folder / "src" / found["headers"]).is_file()
        for example in found["examples"]:
            assert set(example) == {"name", "base", "files"}
            assert re.fullmatch(r"[a-zA-Z\d_/-]{1,100}", example["name"])
            assert all((folder / example["base"] / file).is_file() for file in example["files"])


def test_module_yml(projects: dict[str, Project], tmp_path: Path) -> None:
    """The schema in Zephyr's zephyr_module.py, and what it says of the files that are named."""
    for name, project in projects.items():
        folder = tmp_path / name
        write_files(project, folder, "zephyr")
        text = (folder / "zephyr" / "module.yml").read_text()
        shape = r"name: (\w+)\nbuild:\n  cmake: (\S+)\n  kconfig: (\S+)\n"
        found = re.fullmatch(shape, text)
        assert found is not None
        assert (folder / found[2] / "CMakeLists.txt").is_file()
        kconfig = (folder / found[3]).read_text()
        symbol = re.match(r'config (MEMOPT_[A-Z0-9_]+)\n\tbool "[^"]+"\n\thelp\n\t  ', kconfig)
        assert symbol is not None
        sample = folder / "samples" / name
        assert f"CONFIG_{symbol[1]}=y" in (sample / "prj.conf").read_text().splitlines()
        assert f"if(CONFIG_{symbol[1]})" in (folder / "zephyr" / "CMakeLists.txt").read_text()


# -- what else can be planned ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["arena", "caller", "objects", "memories", "float"])
def test_examples_of_every_kind_of_memory(
    kind: str, shared: Path, tmp_path: Path, lab: Any
) -> None:
    """Built with the single source, and run."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    model = {"io": "caller"} if kind == "caller" else {}
    name = "hello_world_float" if kind == "float" else "keyword_scrambled_int8"
    module = lab.read_model(shared / "models" / f"{name}.tflite")
    if kind in ("arena", "caller", "float"):
        lab.plan(module, target="host", **model)
    else:
        lab.ordered(module, target="host")
    if kind == "objects":
        MemgraphPlacePass("shared-objects").apply(Context(), module)
    elif kind == "memories":
        assign_function(lab.main_of(module), parse_banks("fast:32K,slow:320K"), True)
    project = make_project(module, "net", "host")
    for layout in layout_names():
        write_files(project, tmp_path / layout, layout)
        assert "net_run" in (tmp_path / layout / "README.md").read_text()
    library = tmp_path / "platformio"
    sanitize = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    run("cc", "-std=c99", *STRICT.split(), *sanitize, "-c", "src/net.c", cwd=library)
    run(
        "g++",
        *STRICT.split(),
        *sanitize,
        "-Isrc",
        "examples/net/src/main.cpp",
        "net.o",
        "-lm",
        "-o",
        "net",
        cwd=library,
    )
    said = run("./net", cwd=library)
    shape = r"(-?\d+\.\d{3})" if kind == "float" else r"(-?\d+)( \(-?\d+\.\d{3}\))?"
    assert re.fullmatch(rf"(net output \d+ \[\d+\] = {shape}\n)+", said)


@pytest.mark.deep
def test_the_command_writes_a_layout(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And measures what it would with make; only C has one."""
    model = str(shared / "models" / "hello_world_int8.tflite")
    measured: list[Any] = []
    for layout in ("make", "arduino"):
        out = tmp_path / layout
        flags = [f"--layout={layout}", "--target=cortex-m4", "-o", str(out)]
        assert memopt(["compile", model, *flags]) == 0
        measured.append(json.loads((out / "report.json").read_text())["target"])
    assert measured[0] == measured[1]
    assert not (tmp_path / "arduino" / "Makefile").exists()
    capsys.readouterr()
    wrong = ["--layout=arduino", "--target=tflm", "-o", str(tmp_path / "no")]
    assert memopt(["compile", model, *wrong]) == 2
    assert "--layout=arduino is of C targets" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()
