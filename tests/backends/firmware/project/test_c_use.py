"""Generated C in a program of the user's: names, CMake, C++, floats in and out."""

import io
import itertools
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pass_functions import assign_function
from xdsl.context import Context

from memopt.backends.c.emit.c_text import RESERVED
from memopt.backends.c.emit.header import RANGES, conversions
from memopt.backends.c.emit.source import emit_c
from memopt.cli import main
from memopt.cli.opt import main as opt
from memopt.passes.memgraph_memory import parse_banks
from memopt.passes.memgraph_place import MemgraphPlacePass

Capture = pytest.CaptureFixture[str]
PLAN = ("--schedule=source", "--place=greedy-by-size")
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def need(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")


# -- names ----------------------------------------------------------------------------------------


@pytest.fixture
def hello(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A planned network `hello.mlir` in the working directory."""
    monkeypatch.chdir(tmp_path)
    model = str(shared / "models" / "hello_world_int8.tflite")
    assert opt([model, *PLAN, "-o", "hello.mlir"]) == 0
    return tmp_path


@pytest.mark.parametrize(
    ("target", "output", "name"),
    [
        ("c{name=net}", "x.c", "net"),
        ('c{name="net_2"}', "-", "net_2"),
        ("c", "Person Detect-1.c", "person_detect_1"),
        ("c", "net.h", "net"),
        ("c", "-", "hello"),
        ("c", "out.txt", "hello"),
        ("c", "string.c", "string_model"),
        ("c", "memopt_copy.c", "memopt_copy_model"),
    ],
)
def test_the_single_file_takes_a_name(
    target: str, output: str, name: str, hello: Path, capsys: Capture
) -> None:
    capsys.readouterr()
    assert opt(["hello.mlir", "-t", target, "-o", output]) == 0
    text = capsys.readouterr().out if output == "-" else Path(output).read_text(encoding="utf-8")
    assert f"\nint {name}_run(uint8_t *arena, " in text
    assert f"#define {name.upper()}_ARENA_BYTES " in text
    assert f"#ifndef {name.upper()}_H\n" in text
    assert "model_run" not in text or name.endswith("_model")


@pytest.mark.parametrize(
    "target",
    [
        *(f"c{{name={name}}}" for name in ("Net", "3d", "a-b", "", "_x", "ü", "memopt_x", "a b")),
        *("c{}", "c{name}", "c{nam=x}", "c{name=x,y=1}", "c{name=x", "mlir{name=x}", "C", ""),
    ],
)
def test_a_name_that_is_none_is_wrong_usage(target: str, hello: Path, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as stop:
        opt(["hello.mlir", "-t", target, "-o", "x.c"])
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (hello / "x.c").exists()


TWO = """
#include <stdint.h>
int one_run(uint8_t *arena, const int8_t *input, int8_t *output);
int two_run(uint8_t *arena, const int8_t *input, int8_t *output);
__attribute__((aligned(16))) static uint8_t arena[4096];
int main(void) {
  int8_t in = 7, a = 0, b = 1;
  return one_run(arena, &in, &a) || two_run(arena, &in, &b) || a != b;
}
"""


def test_two_single_files_in_one_program(hello: Path) -> None:
    need("cc")
    for name in ("one", "two"):
        assert opt(["hello.mlir", "-t", "c", "-o", f"{name}.c"]) == 0
    (hello / "main.c").write_text(TWO)
    run("cc", "-std=c99", *STRICT, "main.c", "one.c", "two.c", "-lm", "-o", "program", cwd=hello)
    run("./program", cwd=hello)


# -- CMake ----------------------------------------------------------------------------------------

PARENT = """cmake_minimum_required(VERSION 3.13)
project(parent CXX)
add_executable(app app.cpp)
"""
APP = """#include "@name@.h"
int main() { return @name@_run(nullptr, nullptr, nullptr) == 1 ? 0 : 1; }
"""


@pytest.mark.deep
@pytest.mark.parametrize("place", ["greedy-by-size", "shared-objects"])
def test_a_parent_gets_the_library_and_no_program(place: str, hello: Path) -> None:
    need("cmake", "make", "cc", "g++")
    plan = ["--schedule=source", f"--place={place}"]
    assert main(["compile", "hello.mlir", *plan, "-o", "net"]) == 0
    # an arena of null is refused; with objects nothing is to be given
    answer = ("nullptr, nullptr, nullptr) == 1", "nullptr, nullptr) == 0")
    call = APP if place == "greedy-by-size" else APP.replace(*answer)
    (hello / "app.cpp").write_text(call.replace("@name@", "hello"))
    text = f"{PARENT}add_subdirectory(net)\ntarget_link_libraries(app hello)\n"
    (hello / "CMakeLists.txt").write_text(text)
    run("cmake", "-S", ".", "-B", "cmake", cwd=hello)
    run("cmake", "--build", "cmake", cwd=hello)
    programs = [
        p.name
        for p in (hello / "cmake").rglob("*")
        if p.is_file() and "CMakeFiles" not in p.parts and p.stat().st_mode & 0o111
    ]
    assert programs == ["app"]
    run("cmake/app", cwd=hello)
    run("cmake", "-S", "net", "-B", "alone", cwd=hello)
    run("cmake", "--build", "alone", cwd=hello)
    assert (hello / "alone" / "hello_main").exists()


@pytest.mark.deep
@pytest.mark.parametrize("name", ["test", "all", "m", "features", "install"])
def test_names_that_cmake_or_the_c_library_keep(name: str, hello: Path) -> None:
    need("cmake", "make", "cc")
    assert name in RESERVED
    (hello / f"{name}.mlir").write_text((hello / "hello.mlir").read_text())
    assert main(["compile", f"{name}.mlir", *PLAN, "-o", "net"]) == 0
    run("make", "-s", "-C", "net", cwd=hello)
    run("cmake", "-S", "net", "-B", "cmake", cwd=hello)
    run("cmake", "--build", "cmake", cwd=hello)


# -- floats in and out ----------------------------------------------------------------------------

SCALES = (1.0, 0.00390625, 0.1, 7.8431372e-3, 3.0e-39, 2.5e30)
LOOP = """
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
static float the_scale; /* macros are constants in a header; here one program serves for many */
static int32_t the_zero;
#define NET_INPUT_0_SCALE the_scale
#define NET_INPUT_0_ZERO_POINT the_zero
#define NET_OUTPUT_0_SCALE the_scale
#define NET_OUTPUT_0_ZERO_POINT the_zero
@include@
int main(int count, char **arguments) {
  float value;
  the_scale = (float)atof(arguments[1]);
  the_zero = atoi(arguments[count - 1]);
  while (fread(&value, sizeof value, 1, stdin) == 1) {
    const @type@ stored = net_quantize_input_0(value);
    const float back = net_dequantize_output_0(stored);
    const int32_t wide = stored;
    fwrite(&wide, sizeof wide, 1, stdout);
    fwrite(&back, sizeof back, 1, stdout);
  }
  return 0;
}
"""


def quantised(values: Any, scale: float, zero: int, low: int, high: int) -> Any:
    """TFLM's AffineQuantize, where the rounded ratio does not overflow: float32 ratio, round()."""
    with np.errstate(all="ignore"):
        ratio = np.asarray(values, np.float32) / np.float32(scale)
    wide = np.where(np.isnan(ratio), 0, np.clip(ratio.astype(np.float64), -1e6, 1e6))
    rounded = np.trunc(wide + np.copysign(0.5, wide))  # exact in float64
    return np.clip(rounded + zero, low, high).astype(np.int32)


def values_around(scale: float, zero: int, low: int, high: int) -> Any:
    """Halves and their neighbours, both ends, numbers of every size, zeros, infinities, NaN."""
    rng = np.random.default_rng(3)
    steps = np.arange(max(low - zero - 3, -300), min(high - zero + 3, 300))
    halves = ((steps + 0.5) * scale).astype(np.float32)
    ends = (np.array([low - zero, high - zero])[:, None] + np.linspace(-1, 1, 9)).reshape(
        -1
    ) * scale
    bits = rng.integers(0, 2**32, 2000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 1e-45, 0.49999997, -0.49999997]
    groups = [
        *(halves, np.nextafter(halves, np.float32(np.inf)), steps * scale, ends, special),
        *(np.nextafter(halves, np.float32(-np.inf)), bits, np.array([0.49999997]) * scale),
    ]
    with np.errstate(invalid="ignore"):  # NaNs that signal
        return np.concatenate(groups).astype(np.float32)


@pytest.mark.parametrize("compiler", [("cc", "-std=c99"), ("g++", "-std=c++98"), ("g++",)])
@pytest.mark.parametrize("c_type", RANGES)
def test_floats_as_tflm_quantises_them(
    compiler: tuple[str, ...], c_type: str, tmp_path: Path
) -> None:
    need(compiler[0])
    low, high = RANGES[c_type]
    text = LOOP.replace("@include@", conversions("net", {0: c_type}, {0: c_type}))
    (tmp_path / "loop.c").write_text(text.replace("@type@", c_type))
    language = ("-x", "c++") if compiler[0] == "g++" else ()
    sanitize = ("-fsanitize=undefined,float-cast-overflow", "-fno-sanitize-recover=all")
    warnings = (*STRICT, "-Wshadow", "-Wconversion")
    command = (*compiler, *language, *warnings, "-O1", *sanitize, "loop.c", "-o", "loop")
    run(*command, cwd=tmp_path)
    zeros = sorted({low, high, (low + high) // 2, 0})
    for scale, zero in itertools.product(SCALES, zeros):
        scale = float(np.float32(scale))
        values = values_around(scale, zero, low, high)
        done = subprocess.run(
            [str(tmp_path / "loop"), repr(scale), str(zero)],
            input=values.tobytes(),
            capture_output=True,
            check=True,
        )
        got = np.frombuffer(done.stdout, np.int32).reshape(-1, 2)
        want = quantised(values, scale, zero, low, high)
        wrong = np.flatnonzero(got[:, 0] != want)
        assert not len(wrong), (values[wrong[:5]], got[wrong[:5], 0], want[wrong[:5]])
        with np.errstate(all="ignore"):
            back = (np.float64(np.float32(scale)) * (want - zero)).astype(np.float32)
        assert np.array_equal(got[:, 1].copy().view(np.float32), back)
        assert set(want) >= {low, high, zero}


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["arena", "caller", "objects", "memories", "float"])
def test_the_header_is_cpp(kind: str, shared: Path, tmp_path: Path, lab: Any) -> None:
    need("g++", "cc", "make")
    name = "resnet8_float" if kind == "float" else "resnet8_int8"
    model = {"io": "caller"} if kind == "caller" else {}
    module = lab.read_model(shared / "models" / f"{name}.tflite")
    if kind in ("arena", "caller", "float"):
        lab.plan(module, **model)
    else:
        lab.ordered(module)
    if kind == "objects":
        MemgraphPlacePass("shared-objects").apply(Context(), module)
    elif kind == "memories":
        assign_function(lab.main_of(module), parse_banks("fast:32K,slow:320K"), True)
    project = lab.write(module, tmp_path / "c", "net", "host")
    header = (project / "net.h").read_text()
    uses = (
        "int main() { return net_dequantize_output_0(net_quantize_input_0(0.0f)) > 1e9f; }\n"
        if kind != "float"
        else "int main() { return 0; }\n"
    )
    assert ("net_quantize_input_0" in header) == (kind != "float")
    (project / "use.cpp").write_text(
        f'#include "net.h"\n#include "net.h"\nvoid *run() {{ '
        f"return reinterpret_cast<void *>(&net_run); }}\n{uses}"
    )
    run("make", "-s", cwd=project)
    objects = [f"build/{p.stem}.o" for p in project.glob("kernels/*.c")]
    for standard in ("c++98", "c++17"):
        flags = (f"-std={standard}", *STRICT, "-I.")
        run("g++", *flags, "use.cpp", "build/net.o", *objects, "-o", "use", cwd=project)
        run("./use", cwd=project)


def test_the_single_file_has_them_too(shared: Path, tmp_path: Path, lab: Any) -> None:
    out = io.StringIO()
    module = lab.read_model(shared / "models" / "resnet8_int8.tflite")
    emit_c(lab.plan(module), out, "net")
    assert "int8_t net_quantize_input_0(float value)" in out.getvalue()
    assert "float net_dequantize_output_0(int8_t value)" in out.getvalue()


# -- RAM ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["-std=c99", "-std=c11", "-xc++ -std=c++98", "-xc++ -std=c++17"])
@pytest.mark.parametrize("name", ["hello_world_int8", "keyword_scrambled_int8"])
def test_a_build_with_less_ram_stops(
    name: str, how: str, shared: Path, tmp_path: Path, lab: Any
) -> None:
    need("cc", "g++")
    module = lab.plan(lab.read_model(shared / "models" / f"{name}.tflite"), target="host")
    project = lab.write(module, tmp_path / "c", "net", "host")
    numbers = dict(
        line.split()[1:3]
        for line in (project / "net.h").read_text().splitlines()
        if line.startswith(("#define NET_ARENA_BYTES", "#define NET_VARIABLE_BYTES"))
    )
    ram = sum(int(number.removesuffix("u")) for number in numbers.values())
    assert (len(numbers) == 2) == name.startswith("keyword")
    (project / "use.c").write_text('#include "net.h"\nint use;\n')
    for stack, less, code in ((0, 0, 0), (0, 1, 1), (696, 0, 0), (696, 1, 1)):
        flags = [*STRICT, *how.split(), f"-DNET_RAM_BYTES={ram + stack - less}", "-fsyntax-only"]
        flags += [f"-DNET_STACK_BYTES={stack}"] * bool(stack)
        done = subprocess.run(
            ["cc", *flags, "use.c"], cwd=project, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        assert ("more" in done.stderr and "ram" in done.stderr.lower()) == bool(code)
