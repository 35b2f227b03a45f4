"""Generated C through other compilers: clang for every Cortex-M, and C++ of a single file."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import deep_but
from kernel_units import put_faults, write_units
from quick_options import QUICK

from memopt.backends.c.kernels import Form, kernel_files, needed_headers, text_of
from memopt.cli import main as memopt
from memopt.cli.opt import main as memopt_opt
from memopt.targets.core.target import target_named, target_names

BOARDS = [name for name in target_names("c") if target_named(name).clang]
CLANG = ("clang", "--target=arm-none-eabi", "-fshort-enums")
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror")
# As a single file needs them: what a header has for other kernels is unused.
CPP = ("-std=c++11", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers")
CPP_KERNELS = ("-x", "c++", *CPP, "-Wno-unused-function", "-fsyntax-only")
CPP_COMPILERS = ("g++", "clang++")
ALL_ERRORS = {"g": (), "c": ("-ferror-limit=0",)}
FAULTS = {
    "of types": "int fault{number}(float a) {{ return a; }}\n",
    "of assembly": 'void fault{number}(void) {{ __asm__("such {number}"); }}\n',
    "of C++": "int *fault{number}(void *a) {{ return a; }}\n",
}
INSTRUCTION = re.compile(r"^ +(\w+):\t(\w{4}(?: \w{4})?) +\t(\S+)", re.MULTILINE)
HERE = Path(__file__).parent
NAKED = re.compile(r"naked[^;]*?\b(memopt_\w+|\w+_s8)\(")


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout


def need(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")


@pytest.fixture(scope="module")
def clang() -> tuple[str, ...]:
    """The compiler with newlib's headers, which stand where GCC for boards looks for them."""
    need("clang", "arm-none-eabi-gcc")
    command = ("arm-none-eabi-gcc", "-M", "-include", "string.h", "-x", "c", "/dev/null")
    words = run(*command, cwd=Path("/")).split()
    header = next(word for word in words if word.endswith("/string.h"))
    return (*CLANG, "-isystem", str(Path(header).parent.resolve()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All kernels as files, with what only networks need that round as ONNX does."""
    return written_kernels(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(scope="module")
def units(folder: Path) -> dict[str, list[str]]:
    """Units of these kernels, with the kernels that each includes."""
    return write_units(folder)


def written_kernels(folder: Path) -> Path:
    for file in kernel_files().values():
        (folder / file.name).write_text(text_of(file, Form(rounds_even=True)))
    return folder


def with_naked_functions() -> list[str]:
    """Kernels that have functions of assembly alone, or include them."""
    texts = {name: source.text for name, source in kernel_files().items()}
    own = {name for name, text in texts.items() if "naked" in text}
    found = [n for n in texts if n[-1] == "c" and own & {n, *needed_headers(n)}]
    assert len(found) > 5
    return found


def compile_for(
    target: str, compiler: tuple[str, ...], names: list[str], folder: Path, level: str = "-O2"
) -> Path:
    """The folder of the object files."""
    out = folder / f"{target}-{compiler[0]}{level}-{len(names)}"
    out.mkdir()
    flags = target_named(target).flags.split()
    sources = [f"../{name}" for name in names]
    run(*compiler, *flags, *STRICT, level, "-ffunction-sections", "-c", *sources, cwd=out)
    assert len(list(out.glob("*.o"))) == len(names)
    return out


def places_of(file: Path, function: str) -> list[tuple[str, int]]:
    """Address and length of each instruction of a function that is a section of an object file, but
    for what fills its last word."""
    section = f"--section=.text.{function}"
    found = INSTRUCTION.findall(run("arm-none-eabi-objdump", "-d", section, str(file), cwd=HERE))
    assert found
    return [(at, len(code)) for at, code, _ in found[: -1 if found[-1][2] == "nop" else None]]


@pytest.mark.deep
def test_assembly_is_as_long_by_clang_as_by_gcc(clang: tuple[str, ...], folder: Path) -> None:
    """Loops are entered by distances that count bytes of instructions."""
    names = with_naked_functions()
    text = "".join(s.text for s in kernel_files().values())
    functions = set(NAKED.findall(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)))
    assert len(functions) >= 6
    compared: set[str] = set()
    without_dsp = ["memopt_conv_2d_s8.c"]
    of_cores = {"cortex-m4": names, "cortex-m3": without_dsp, "cortex-m0plus": without_dsp}
    for core, of_core in of_cores.items():
        by_gcc, by_clang = (
            compile_for(core, compiler, of_core, folder)
            for compiler in (("arm-none-eabi-gcc",), clang)
        )
        for file in sorted(Path(name).with_suffix(".o").name for name in of_core):
            symbols = [
                set(run("nm", str(f / file), cwd=folder).split()) for f in (by_gcc, by_clang)
            ]
            known = compared if core == "cortex-m4" else set[str]()
            for function in (functions - known) & symbols[0] & symbols[1]:
                by_each = [places_of(f / file, function) for f in (by_gcc, by_clang)]
                assert by_each[0] == by_each[1], (core, file, function)
                compared.add(function)
    assert compared == functions


def with_own_code() -> list[str]:
    """Kernels that have code for some cores alone, or include it, but for what all include."""
    texts = {name: source.text for name, source in kernel_files().items()}
    own = {name for name, text in texts.items() if re.search(r"__ARM_|__asm", text)}
    own -= {"memopt_common.h"}
    found = [n for n in texts if n[-1] == "c" and own & {n, *needed_headers(n)}]
    assert 20 < len(found) < len(texts) // 2
    return found


@pytest.mark.deep
@pytest.mark.parametrize("target", BOARDS)
def test_clang_compiles_every_kernel(
    target: str, fuzz: float, clang: tuple[str, ...], folder: Path, units: dict[str, list[str]]
) -> None:
    """For a core of each kind; for the others, but in `make fuzz`, those that have code of some
    cores, and once what is compiled by the same flags. Plain C, whose warnings are of any level, is
    optimised less."""
    cores = {target_named(name).flags: name for name in reversed(BOARDS)}
    if fuzz < 1 and cores[target_named(target).flags] != target:
        pytest.skip("in make fuzz")
    whole = fuzz >= 1 or target in ("cortex-m0plus", "cortex-m4", "cortex-m55")
    own = {unit for unit, names in units.items() if set(names) & set(with_own_code())}
    compile_for(target, clang, sorted(own), folder)
    if whole:
        compile_for(target, clang, sorted(set(units) - own), folder, "-O0")


@pytest.mark.deep
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_any_kernel_of_a_unit_is_found(
    fault: str, clang: tuple[str, ...], tmp_path: Path
) -> None:
    folder = written_kernels(tmp_path)
    large = ((unit, names) for unit, names in write_units(folder).items() if len(names) > 20)
    unit, names = min(large, key=lambda u: len(u[1]))
    put_faults(folder, names, FAULTS[fault])
    strict = (*clang, *target_named("cortex-m0plus").flags.split(), *STRICT, "-O1", "-c")
    compilers = [(name, *CPP_KERNELS) for name in CPP_COMPILERS] if fault == "of C++" else [strict]
    for compiler in compilers:
        command = [*compiler, *ALL_ERRORS[compiler[0][0]], unit]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        lines = [line for line in done.stderr.splitlines() if "error:" in line]
        found = {Path(line.partition(":")[0]).name for line in lines}
        assert (done.returncode, found) == (1, set(names))


@pytest.mark.deep
@pytest.mark.parametrize("target", deep_but("cortex-m4", BOARDS))
def test_firmware_of_clang_answers_as_tflm(
    target: str, clang: tuple[str, ...], shared: Path, tmp_path: Path, lab: Any
) -> None:
    """A network of convolutions, and operators of each family; GCC links with its newlib."""
    lab.need_tools(target)
    forge = lab.forge.Forge(np.random.default_rng(36), True)
    lab.forge.add_each(forge)
    forged = forge.save(tmp_path / "random.tflite")
    small = shared / "models" / "dscnn_kws_int8.tflite"
    compiler = [f"CC={' '.join(clang)}", "LD=arm-none-eabi-gcc"]
    for path in (small,) if target == "cortex-m4" else (small, forged):
        module = lab.plan(lab.read_model(path), schedule="source", target=target)
        inputs = lab.random_inputs(module, 2, seed=4)
        want = lab.golden("tflm", path, inputs, lab.tensors_of(module), tmp_path / "golden")
        project = lab.write(module, tmp_path / path.stem, "net", target)
        ran = lab.run_project(project, inputs, variables=compiler)
        assert ran.code == 0, ran.messages
        assert lab.unequal_tensors(ran, want) == []


@pytest.mark.deep
@pytest.mark.parametrize("target", deep_but("cortex-m4", BOARDS))
def test_firmware_of_clang_rounds_as_that_of_gcc(
    target: str, clang: tuple[str, ...], shared: Path, tmp_path: Path, lab: Any
) -> None:
    """A network by ONNX."""
    lab.need_tools(target)
    path, out = shared / "models/families/tcn_q.onnx", tmp_path / "c"
    words = ["compile", str(path), f"--target={target}", "--int8-io", *QUICK, "-o", str(out)]
    assert memopt([*words, "--rewrite=all", "--rows=none"]) == 0
    header = (out / "tcn_q.h").read_text()
    size = re.findall(r"INPUT_BYTES (\d+)u", header)[0]
    given = np.random.default_rng(0).integers(-128, 128, (3, int(size)), np.int8)
    compilers = (), (f"CC={' '.join(clang)}", "LD=arm-none-eabi-gcc")
    by_each = [
        lab.run_project(out, [given], build=f"build{i}", trace=False, variables=v)
        for i, v in enumerate(compilers)
    ]
    assert by_each[0].code == by_each[1].code == 0, by_each
    assert by_each[0].output == by_each[1].output != b""


@pytest.mark.deep
@pytest.mark.parametrize("compiler", CPP_COMPILERS)
def test_every_kernel_is_cpp(compiler: str, folder: Path, units: dict[str, list[str]]) -> None:
    need(compiler)
    run(compiler, *CPP_KERNELS, *units, cwd=folder)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("model", "target"),
    deep_but(
        [("resnet8_int8", "cortex-m4")],
        [
            ("resnet8_int8", "cortex-m4"),
            ("resnet8_int8", "host"),
            ("dscnn_kws_int8", "cortex-m55"),
            ("dscnn_kws_int8", "cortex-m0plus"),
            ("hello_world_float", "host"),
            ("streaming_wakeword_int8", "cortex-m7"),
        ],
        several=True,
    ),
)
def test_a_single_file_is_c_and_cpp_without_a_warning(
    model: str, target: str, shared: Path, tmp_path: Path, clang: tuple[str, ...]
) -> None:
    """For the board and for the host, where the same file is plain C."""
    need(*CPP_COMPILERS)
    path = str(shared / "models" / f"{model}.tflite")
    how = [f"--target={target}", "--layout=single-file", "--schedule=rpo", "--place=greedy-by-size"]
    assert memopt(["compile", path, *QUICK, *how, "-o", str(tmp_path / "one")]) == 0
    source = str(tmp_path / "one" / f"{model}.c")
    for name in ("clang", *CPP_COMPILERS):
        language = STRICT if name == "clang" else ("-x", "c++", *CPP)
        run(name, *language, "-fsyntax-only", source, cwd=tmp_path)
    flags = target_named(target).flags.split()
    if flags:
        run(*clang, *flags, *STRICT, "-O1", "-c", source, "-o", "one.o", cwd=tmp_path)
        board = ("arm-none-eabi-g++", *flags, "-x", "c++", *CPP)
        run(*board, "-O1", "-c", source, "-o", "one.o", cwd=tmp_path)
    planned = str(tmp_path / "one" / "plan.mlir")
    assert memopt_opt([planned, "-t", "c", "-o", str(tmp_path / "all.c")]) == 0
    for name in CPP_COMPILERS:
        run(name, "-x", "c++", *CPP, "-fsyntax-only", "all.c", cwd=tmp_path)
