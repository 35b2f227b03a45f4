"""Several models in one program: nothing clashes, kernels or the arena are shared, and every output
is TensorFlow Lite Micro's."""

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memopt.cli import main as memopt

IMAGE, VECTOR, SMALL = "dscnn_kws_int8", "ad01_autoencoder_int8", "hello_world_int8"
MODELS = (SMALL, IMAGE, VECTOR)
RUNS = 3
STRICT = ("-Wall", "-Wextra", "-Werror", "-Wconversion", "-pedantic")
CALLER = """
@includes@
static uint8_t arena[@bytes@] __attribute__((aligned(16)));
int main(@void@) {
  if (@first@_run(arena, 0, 0) != 0) {
    return 1;
  }
  return @second@_run(arena, 0, 0);
}
"""


def run(*command: str, cwd: Path, code: int = 0) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout + done.stderr


def compiled(shared: Path, out: Path, *flags: str, models: Sequence[str] = MODELS) -> Path:
    paths = [str(shared / "models" / f"{name}.tflite") for name in models]
    assert memopt(["compile", *paths, *flags, "-o", str(out)]) == 0
    return out


def report_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return found


@pytest.fixture(scope="module")
def inputs(shared: Path, lab: Any) -> dict[str, Any]:
    """[runs, ...] of the input of each model."""
    return {
        name: lab.random_inputs(lab.read_model(shared / "models" / f"{name}.tflite"), RUNS, 7)[0]
        for name in MODELS
    }


@pytest.fixture(scope="module")
def wanted(
    shared: Path, inputs: dict[str, Any], tmp_path_factory: pytest.TempPathFactory, lab: Any
) -> bytes:
    """What TFLM says of them, in the order in which the program writes it."""
    found: dict[str, Any] = {}
    for name in MODELS:
        path = shared / "models" / f"{name}.tflite"
        returned = lab.main_of(lab.read_model(path)).body.block.last_op
        tensor = lab.source_tensor(returned.operands[0])
        work = tmp_path_factory.mktemp("tflm")
        found[name] = lab.golden("tflm", path, [inputs[name]], [tensor], work)[tensor]
    return b"".join(found[name][k].tobytes() for k in range(RUNS) for name in MODELS)


@pytest.fixture(scope="module")
def in_one_arena(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All three for a Cortex-M4, the image model in rows, in one arena."""
    out = tmp_path_factory.mktemp("several") / "out"
    return compiled(shared, out, "--target=cortex-m4", "--share-arena")


def given(inputs: dict[str, Any]) -> bytes:
    return b"".join(inputs[name][k].tobytes() for k in range(RUNS) for name in MODELS)


def ran(folder: Path, inputs: dict[str, Any], *flags: str) -> bytes:
    (folder / "in.bin").write_bytes(given(inputs))
    run("make", "-s", "run", *flags, "IN=in.bin", "OUT=out.bin", cwd=folder)
    return (folder / "out.bin").read_bytes()


@pytest.mark.deep
@pytest.mark.parametrize(
    ("target", "flags"),
    [
        pytest.param("cortex-m4", ["--share-arena"], marks=pytest.mark.deep),
        pytest.param(
            "cortex-m55",
            ["--share-arena", "--shared-kernels", "--rows=none"],
            marks=pytest.mark.deep,
        ),
        ("host", ["--shared-kernels", "--rows=none"]),
        pytest.param("host", ["--rows=none"], marks=pytest.mark.deep),
    ],
)
def test_every_output_is_tflms(
    target: str,
    flags: list[str],
    shared: Path,
    inputs: dict[str, Any],
    wanted: bytes,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    fuzz: float,
    lab: Any,
) -> None:
    """Three models in turn, three times: what one leaves in the arena disturbs no other."""
    lab.need_tools(target)
    if fuzz < 1 and (target == "cortex-m55" or flags == ["--rows=none"]):
        pytest.skip("in make fuzz")
    out = tmp_path / "out"
    if target == "cortex-m4":
        out = request.getfixturevalue("in_one_arena")
    else:
        compiled(shared, out, f"--target={target}", *flags)
    report = report_of(out)
    each = [report_of(out / name)["plan"] for name in MODELS]
    assert [m["name"] for m in report["models"]] == list(MODELS)
    assert [m["arena"] for m in report["models"]] == [plan["arena"] for plan in each]
    if "--share-arena" in flags:
        assert report["arena"] == max(plan["arena"] for plan in each)
        assert report["arena"] < sum(plan["arena"] for plan in each)
        assert report["arena_lower_bound"] == max(plan["arena_lower_bound"] for plan in each)
    else:
        assert report["arena"] == sum(plan["arena"] for plan in each)
    assert report["arena_optimal"] and report["arena_lower_bound"] == report["arena"]
    strict = [] if target == "host" else ["CFLAGS=-O2 -Wconversion"]
    assert ran(out, inputs, *strict) == wanted
    if target == "host":
        sanitized = ran(out, inputs, "BUILD=other", f"CFLAGS={lab.SANITIZE}")
        assert sanitized == wanted
        return
    facts = report["target"]
    assert facts["ram"] == facts["arena"] + facts["stack"] + facts["static_ram"]
    alone = [report_of(out / name)["target"] for name in MODELS]
    # a tick is 5/4 of an instruction, and what reads them is not part of the model
    assert abs(facts["instructions"] - sum(f["instructions"] for f in alone)) <= 2 * len(MODELS)
    assert facts["flash"] < sum(f["flash"] for f in alone)


@pytest.mark.deep
def test_a_model_that_writes_outside_its_own_arena_is_seen(
    inputs: dict[str, Any], in_one_arena: Path, lab: Any
) -> None:
    """Also inside the one that all share: the smallest model's is 16 bytes less than it takes."""
    lab.need_tools("cortex-m4")
    out = in_one_arena
    (out / "in.bin").write_bytes(given(inputs))
    build = ["BUILD=less", "CFLAGS=-O2 -DMEMOPT_ARENA_SHRINK=16", "IN=in.bin", "OUT=out.bin"]
    said = run("make", "-s", "run", *build, cwd=out, code=2)
    assert f"{SMALL} wrote outside its arena" in said
    (out / "in.bin").write_bytes(given(inputs)[:-5])
    assert "incomplete input" in run(
        "make", "-s", "run", "IN=in.bin", "OUT=out.bin", cwd=out, code=2
    )
    (out / "in.bin").write_bytes(inputs[SMALL][0].tobytes())
    assert f"no input for {IMAGE}" in run(
        "make", "-s", "run", "IN=in.bin", "OUT=out.bin", cwd=out, code=2
    )


def check_ram(main: Path, folders: Sequence[str], out: Path, language: str) -> None:
    """A build stops where all models together may have less RAM than their arenas take."""
    main.write_text(main.read_text().replace("#include", '#include "memopt_models.h"\n#include', 1))
    need = report_of(out)["arena"]
    compiler = ("g++", "-std=c++11") if language == "c++" else ("gcc", "-std=c99")
    for less in (0, 1):
        given = f"-DMEMOPT_MODELS_RAM_BYTES={need - less}"
        command = (*compiler, *folders, f"-I{out}", given, "-fsyntax-only", str(main))
        said = run(*command, cwd=out, code=less)
        assert ("needs_more_ram" in said or "needs more RAM" in said) == bool(less)


@pytest.mark.deep
@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("kind", ["apart", "together", "shared"])
def test_all_files_of_two_projects_compile_in_one_go(
    kind: str, language: str, shared: Path, tmp_path: Path, fuzz: float, lab: Any
) -> None:
    """Projects of two runs, and of one, with the headers of both in one program."""
    lab.need_tools("host")
    if fuzz < 1 and (kind == "together") != (language == "c++"):
        pytest.skip("in make fuzz")
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    models, out = (VECTOR, SMALL), tmp_path / "out"
    if kind == "apart":
        for name in models:
            compiled(shared, out / name, models=[name])
    else:
        flags = ["--shared-kernels"] * (kind == "shared")
        compiled(shared, out, *flags, models=models)
    includes = [f'#include "{name}.h"' for name in models]
    text = CALLER.replace("@includes@", "\n".join(includes)).replace("@first@", VECTOR)
    text = text.replace("@second@", SMALL).replace("@bytes@", f"{VECTOR.upper()}_ARENA_BYTES")
    main = tmp_path / ("caller.cpp" if language == "c++" else "caller.c")
    main.write_text(text.replace("@void@", "" if language == "c++" else "void"))
    programs = ("main.c", "platform_host.c")
    sources = [str(p) for p in out.rglob("*.c") if p.name not in programs]
    folders = [f"-I{out / name}" for name in models]
    kernels = [f"-I{out / name / 'kernels'}" for name in models]  # as a careless build has them
    given = [*STRICT, *folders, *kernels]
    if language == "c":
        run("gcc", "-std=c99", *given, str(main), *sources, "-lm", "-o", "p", cwd=tmp_path)
    else:
        objects = [f"{k}.o" for k in range(len(sources))]
        for source, made in zip(sources, objects, strict=True):
            run("gcc", "-std=c99", *given, "-c", source, "-o", made, cwd=tmp_path)
        run("g++", *given, str(main), *objects, "-lm", "-o", "p", cwd=tmp_path)
    run("./p", cwd=tmp_path)
    if kind != "apart":
        check_ram(main, folders, out, language)
    symbols = run("nm", "p", cwd=tmp_path)
    kernel = "memopt_fully_connected_s8"
    owners = [""] if kind == "shared" else [f"{name}_" for name in sorted(models)]
    assert re.findall(rf" T (\w*{kernel})$", symbols, re.MULTILINE) == [
        f"{owner}{kernel}" for owner in owners
    ]
    common = re.findall(r" [TW] memopt_requantize_wide$", symbols, re.MULTILINE)
    assert bool(common) == (kind == "shared")  # projects may be of two versions


@pytest.mark.deep
@pytest.mark.parametrize("flags", [pytest.param([], marks=pytest.mark.deep), ["--shared-kernels"]])
def test_cmake_builds_libraries_and_the_program(
    flags: list[str], shared: Path, inputs: dict[str, Any], wanted: bytes, tmp_path: Path
) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("needs cmake")
    how = ["--layout=cmake", "--share-arena", "--rows=none", *flags]
    out = compiled(shared, tmp_path / "out", *how)
    assert not (out / "Makefile").exists()
    (out / "in.bin").write_bytes(given(inputs))
    run("cmake", "-S", ".", "-B", "b", "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror", cwd=out)
    run("cmake", "--build", "b", cwd=out)
    run("b/memopt_models_main", "in.bin", "out.bin", cwd=out)
    assert (out / "out.bin").read_bytes() == wanted
    assert len(list((out / "b").glob("*.a"))) == 3 + len(flags)


def test_layouts_that_are_libraries(shared: Path, tmp_path: Path) -> None:
    models = (SMALL, VECTOR)
    out = compiled(shared, tmp_path / "out", "--layout=arduino", "--share-arena", models=models)
    files = {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()}
    for name in models:
        assert {f"{name}/library.properties", f"{name}/src/{name}.c"} <= files
        assert {f"{name}/report.json", f"{name}/plan.mlir"} <= files
        assert f'#include "{name}/src/{name}.h"' in (out / "memopt_models.h").read_text()
    assert {f for f in files if "/" not in f} == {
        *("memopt_models.h", "memopt-manifest.json", "report.json")
    }
    assert report_of(out)["target"]["name"] == "host"


@pytest.mark.deep
def test_who_is_smaller_takes_the_room_that_there_is(shared: Path, tmp_path: Path) -> None:
    """dscnn alone is cut into rows for its 3,866 bytes; beside a larger one it needs no more than
    what that leaves, for fewer calls."""
    large = "resnet8_int8"
    alone = report_of(compiled(shared, tmp_path / "alone", models=[IMAGE]))["plan"]
    out = compiled(shared, tmp_path / "out", "--share-arena", models=[IMAGE, large])
    report, beside = report_of(out), report_of(out / IMAGE)["plan"]
    assert alone["arena"] < beside["arena"] <= report["arena"]
    assert report["arena"] == report_of(out / large)["plan"]["arena"]
    assert beside["rows"] is None or beside["rows"]["calls"] < alone["rows"]["calls"]
    assert memopt(["verify", str(out / IMAGE / "plan.mlir")]) == 0


@pytest.mark.deep
def test_windows_that_slide_keep_their_rows_while_others_run(
    shared: Path, tmp_path: Path, lab: Any
) -> None:
    """What stays from window to window is in their states, not in the arena."""
    lab.need_tools("host")
    models = ("streaming_wakeword_int8", "other")
    shutil.copyfile(shared / "models" / f"{models[0]}.tflite", tmp_path / "other.tflite")
    paths = [str(shared / "models" / f"{models[0]}.tflite"), str(tmp_path / "other.tflite")]
    alone, both = tmp_path / "alone", tmp_path / "both"
    assert memopt(["compile", paths[0], "--slide=1", "-o", str(alone)]) == 0
    assert memopt(["compile", *paths, "--slide=1", "--share-arena", "-o", str(both)]) == 0
    header = (alone / f"{models[0]}.h").read_text()
    row, first = (int(n) for n in re.findall(r"_(?:FIRST_ROWS|ROW_BYTES) (\d+)u", header)[::-1])
    rng = np.random.default_rng(3)
    rows = rng.integers(-128, 128, (2, first + 4, row), dtype=np.int8)
    wanted: list[bytes] = []
    for k in range(2):
        (alone / "in.bin").write_bytes(rows[k].tobytes())
        run("make", "-s", "run", "IN=in.bin", "OUT=out.bin", cwd=alone)
        wanted.append((alone / "out.bin").read_bytes())
    turns = [range(first), *([n] for n in range(first, first + 4))]
    (both / "in.bin").write_bytes(
        b"".join(rows[k, list(turn)].tobytes() for turn in turns for k in range(2))
    )
    run("make", "-s", "run", "IN=in.bin", "OUT=out.bin", cwd=both)
    each = len(wanted[0]) // len(turns)
    assert len(wanted[0]) == each * len(turns) and wanted[0] != wanted[1]
    assert (both / "out.bin").read_bytes() == b"".join(
        wanted[k][n * each :][:each] for n in range(len(turns)) for k in range(2)
    )


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--target=tflm"], "several models are of C targets"),
        (["--memory=dtcm:64K,sram:320K"], "--memory is of one model"),
        (["--ram=64K"], "--ram of several models"),
        (["--model-path=x.tflite"], "--model-path is of one model"),
        (["--shared-kernels", "--layout=single-file"], "--layout=single-file has kernels in"),
    ],
)
def test_what_several_cannot_have(
    flags: list[str], said: str, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(shared / "models" / f"{name}.tflite") for name in (SMALL, VECTOR)]
    assert memopt(["compile", *paths, *flags, "-o", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_refusals_say_which_model(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    paths = [
        str(shared / "models" / f"{name}.tflite") for name in (SMALL, "person_detect_vela_plan")
    ]
    assert memopt(["compile", *paths, "-o", out]) == 1
    assert capsys.readouterr().err.startswith(f"{paths[1]}: subgraph 0 operator ")
    assert memopt(["compile", paths[0], paths[0], "-o", out]) == 2
    assert "two of the models are called hello_world_int8" in capsys.readouterr().err
    assert memopt(["compile", paths[0], "--share-arena", "-o", out]) == 2
    assert "--share-arena is of several models" in capsys.readouterr().err
    objects = ["--place=shared-objects", "--rows=none"]
    assert (
        memopt(
            [
                "compile",
                *objects,
                *[str(shared / "models" / f"{n}.tflite") for n in (SMALL, VECTOR)],
                "-o",
                out,
            ]
        )
        == 1
    )
    assert "several models each has one arena" in capsys.readouterr().err
    for name in ("kernels", "Makefile"):  # `make` would read a folder `makefile` first
        shutil.copyfile(paths[0], tmp_path / f"{name}.tflite")
        assert memopt(["compile", str(tmp_path / f"{name}.tflite"), paths[0], "-o", out]) == 1
        assert f"cannot be called {name.lower()}" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.deep
def test_ram_is_that_of_all(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], lab: Any
) -> None:
    lab.need_tools("cortex-m4")
    flags = ["--target=cortex-m4", "--share-arena"]
    models = (SMALL, VECTOR)
    out = compiled(shared, tmp_path / "out", *flags, "--ram=4K", models=models)
    need = report_of(out)["target"]["ram"]
    assert need <= 4096
    paths = [str(shared / "models" / f"{name}.tflite") for name in models]
    other = str(tmp_path / "other")
    capsys.readouterr()
    assert memopt(["compile", *paths, *flags, f"--ram={need - 1}", "-o", other]) == 1
    assert "1 B are missing" in capsys.readouterr().err
