"""The files that the C backend leaves: self-contained, deterministic, without libc, or none."""

import io
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ArrayAttr

from memopt.backends.c.emit.source import emit_c
from memopt.backends.c.project.write import measure_project, write_project
from memopt.dialects.attributes.model import AliasAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.operators.convolution import Conv2DOp
from memopt.targets.core.target import target_named, target_names

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion")
AS_DOUBLES = ("memopt_hybrid_", "memopt_sequence_rnn", "memopt_detection_postprocess")
EXACT_SPREADS = ("memopt_layer_normalization_even", "memopt_group_statistics_")
LIBM = {
    f"{name}f"
    for name in (
        "atan",
        "atan2",
        "ceil",
        "cos",
        "erf",
        "erfc",
        "exp",
        "floor",
        "fmod",
        "hypot",
        "log",
        "pow",
        "rint",
        "round",
        "sin",
        "sincos",
        "sqrt",
        "tanh",
    )
}
ALLOWED = {"memcpy", "memmove", "memset", "memcmp", *LIBM}
# What the compiler brings along, of Arm and of RISC-V.
DOUBLES = r"__aeabi_(d|f2d|i2d).*|__[a-z]+df.*|__(extend|float|fix)\w*df\w*"
FLOAT_AND_LONG = r"__aeabi_(l2f|f2lz)$|__floatdisf$|__fixsfdi$"
LONG_DIVISIONS = r"memopt_(div|floor_mod|remainder)_i64\."
LONG_DIVISION = r"__aeabi_ldivmod$|__(div|mod)di3$"
BOARDS = [name for name in target_names("c") if target_named(name).has_memories]

CALLER = """
#include <stdio.h>
#include <string.h>
#include "net.h"
static uint8_t memory[NET_ARENA_BYTES + 32];
static int8_t input[NET_INPUT_0_BYTES], output[NET_OUTPUT_0_BYTES];
int main(void) {
  uint8_t *arena = memory + (16 - (uintptr_t)memory % 16) % 16;
  memset(input, 3, sizeof input);
  if (net_run(NULL, input, output) != 1 || net_run(arena + 1, input, output) != 1) return 1;
  if (net_run(arena, input, output) != 0) return 2;
  memset(arena + NET_INPUT_0_OFFSET, 3, NET_INPUT_0_BYTES);
  if (net_run(arena, NULL, NULL) != 0) return 3;
  return memcmp(output, arena + NET_OUTPUT_0_OFFSET, NET_OUTPUT_0_BYTES) == 0 ? 0 : 4;
}
"""


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture
def planned(shared: Path, lab: Any) -> Any:
    """A function that plans a shared model."""

    def get(name: str, **model: Any) -> Any:
        return lab.plan(lab.read_model(shared / "models" / f"{name}.tflite"), **model)

    return get


@pytest.mark.deep
@pytest.mark.parametrize("name", ["resnet8_int8", "resnet8_float", "dscnn_kws_int8"])
def test_one_file_is_self_contained(name: str, planned: Any, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    module = planned(name)
    texts: list[str] = []
    for _ in range(2):
        out = io.StringIO()
        emit_c(module, out, "net")
        texts.append(out.getvalue())
    assert texts[0] == texts[1]
    inputs = lab.random_inputs(module, 2, seed=2)
    project = lab.write(module, tmp_path / "project", "net", "host")
    want = lab.run_project(project, inputs)
    (project / "net.c").write_text(texts[0])
    shutil.rmtree(project / "kernels")
    run("cc", *STRICT, "-O2", "-c", "net.c", "-o", "net.o", cwd=project)
    symbols = [line.split() for line in run("nm", "net.o", cwd=project).splitlines()]
    assert {s[-1] for s in symbols if s[-2] == "U"} <= ALLOWED
    assert [s[-1] for s in symbols if s[-2].isupper() and s[-2] != "U"] == ["net_run"]
    main = ["main.c", "platform/platform_host.c"]
    flags = [*STRICT[:1], "-Iplatform", "-I.", "-DMEMOPT_TRACE"]
    run("cc", *flags, "net.c", *main, "-lm", "-o", "one", cwd=project)
    run("./one", "in.bin", "out.bin", "trace.bin", cwd=project)
    assert (project / "out.bin").read_bytes() == want.output
    assert lab.read_trace((project / "trace.bin").read_bytes()) == want.trace


def test_project_has_its_kernels_and_no_others(planned: Any, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    project = lab.write(planned("ad01_autoencoder_int8"), tmp_path / "c", "net", "host")
    sources = sorted(p.name for p in (project / "kernels").glob("*.c"))
    assert sources == ["memopt_fully_connected_s8.c"]
    flags = [*STRICT, "-O2", "-I.", "-Ikernels", "-c"]
    run("cc", *flags, "net.c", f"kernels/{sources[0]}", cwd=project)
    undefined: set[str] = set()
    for name in ("net.o", "memopt_fully_connected_s8.o"):
        lines = run("nm", "-u", name, cwd=project).splitlines()
        undefined |= {line.split()[-1] for line in lines}
    assert undefined - {"memopt_fully_connected_s8"} <= ALLOWED


@pytest.mark.deep
def test_every_kernel_is_strict_c99(tmp_path: Path) -> None:
    from memopt.backends.c.kernels import kernel_files

    for file in kernel_files().values():
        (tmp_path / file.name).write_text(file.text)
    sources = sorted(tmp_path.glob("*.c"))
    assert len(sources) > 20
    run("cc", *STRICT, "-O2", "-c", *[source.name for source in sources], cwd=tmp_path)
    check_needed(tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize("target", BOARDS)
def test_every_kernel_is_strict_c99_and_no_frame_exceeds_the_bound(
    target: str, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    from memopt.backends.c.kernels import kernel_files

    if fuzz < 1 and target not in ("cortex-m4", "cortex-m55", "riscv32"):
        pytest.skip("in make fuzz")
    lab.need_tools(target)
    for file in kernel_files().values():
        (tmp_path / file.name).write_text(file.text)
    names = sorted(source.name for source in tmp_path.glob("*.c"))
    flags = [*target_named(target).flags.split(), *STRICT, "-O2", "-fstack-usage"]
    run(target_named(target).compiler, *flags, "-c", *names, cwd=tmp_path)
    check_needed(tmp_path, bool({"-mfloat-abi=hard", "-mabi=ilp32f"} & {*flags}))
    frames: dict[str, int] = {}
    for usage in tmp_path.glob("*.su"):
        for line in usage.read_text().splitlines():
            name, size, kind = line.split("\t")
            assert kind == "static", line
            frames[name] = int(size)
    assert len(frames) > 20
    assert max(frames.values()) <= target_named(target).kernel_frame


def check_needed(folder: Path, has_floats: bool = True) -> None:
    """Check that the object files in a folder keep nothing from call to call, and need nothing but
    what is allowed, and for a core that has no floats what the compiler brings along for that."""
    for line in run("nm", "-A", *[p.name for p in folder.glob("*.o")], cwd=folder).splitlines():
        file, _, wanted = line.partition(":")
        kind, name = wanted.split()[-2:]
        assert kind not in "BbDdCcSsGg", line
        if kind != "U":
            continue
        if file.startswith(AS_DOUBLES) and re.match(rf"({DOUBLES}|exp)$", name):
            continue  # scales at run time and boxes, as LiteRT's doubles
        if file.startswith(EXACT_SPREADS) and name in ("__aeabi_l2f", "__floatdisf"):
            continue  # the spread of a vector, which is an exact integer, once for each
        if file.startswith("memopt_cast_any") and re.match(FLOAT_AND_LONG, name):
            continue  # between float and int64
        if re.match(LONG_DIVISIONS, file) and re.match(LONG_DIVISION, name):
            continue  # of 64 bits, for which no core has an instruction
        soft = not has_floats and re.match(r"__aeabi_|__gnu_thumb1_|__[a-z]+sf", name)
        assert soft or name in ALLOWED | {"_GLOBAL_OFFSET_TABLE_"}, line


def test_run_checks_its_arena_and_copies(planned: Any, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    project = lab.write(planned("resnet8_int8"), tmp_path / "c", "net", "host")
    (project / "caller.c").write_text(CALLER)
    kernels = [str(p.relative_to(project)) for p in (project / "kernels").glob("*.c")]
    command = ["cc", *lab.SANITIZE.split(), "-I.", "-Ikernels", "caller.c", "net.c", *kernels]
    run(*command, "-lm", "-o", "caller", cwd=project)
    run("./caller", cwd=project)


def test_cmake_builds_the_same_program(planned: Any, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    if shutil.which("cmake") is None:
        pytest.skip("needs cmake")
    module = planned("hello_world_int8")
    project = lab.write(module, tmp_path / "c", "net", "host")
    inputs = lab.random_inputs(module, 5, seed=2)
    want = lab.run_project(project, inputs, trace=False)
    run("cmake", "-S", ".", "-B", "cmake", cwd=project)
    run("cmake", "--build", "cmake", cwd=project)
    run("cmake/net_main", "in.bin", "out2.bin", cwd=project)
    assert (project / "out2.bin").read_bytes() == want.output


def test_measured_facts(planned: Any, tmp_path: Path, lab: Any) -> None:
    module = planned("hello_world_int8")
    host = measure_project(lab.write(module, tmp_path / "host", "net", "host"), "host")
    assert host["arena"] == 32 and host["flash"] is None
    lab.need_tools("cortex-m4")
    project = lab.write(module, tmp_path / "m4", "net", "cortex-m4")
    before = sorted(project.rglob("*"))
    facts = measure_project(project, "cortex-m4")
    assert sorted(project.rglob("*")) == before
    assert facts["arena"] == 32
    assert 1000 < facts["flash"] < 8000
    assert 0 < facts["stack"] < 1024
    assert facts["static_ram"] < 256
    assert 1000 < facts["instructions"] < 5268  # TFLM's reference kernels, emulated the same way


@pytest.mark.deep
def test_fewer_instructions_than_tflms_reference_kernels(
    planned: Any, tmp_path: Path, lab: Any
) -> None:
    """tflm-notes.md section 5: TFLM, release build, the same emulated Cortex-M4."""
    lab.need_tools("cortex-m4")
    reference = {
        "resnet8_int8": 107.5e6,
        "dscnn_kws_int8": 43.1e6,
        "mobilenet_vww96_int8": 100.5e6,
        "streaming_wakeword_int8": 8.30e6,
    }
    for name, instructions in reference.items():
        project = lab.write(planned(name), tmp_path / name, "net", "cortex-m4")
        facts = measure_project(project, "cortex-m4")
        assert facts["instructions"] < 0.5 * instructions, name


def test_refusals_name_operator_and_place(planned: Any, tmp_path: Path) -> None:
    cases = {"person_detect_vela_plan": "compiled for Arm's Ethos-U, which alone runs it"}
    for name, operator in cases.items():
        module = planned(name)
        with pytest.raises(MemoptError, match=operator) as caught:
            write_project(module, tmp_path / name, "net", "host")
        assert caught.value.place.startswith("subgraph 0 operator ")
        assert "\n" not in str(caught.value)
        assert not (tmp_path / name).exists()
    assert list(tmp_path.iterdir()) == []


def test_plans_that_do_not_fit_are_refused(shared: Path, planned: Any, lab: Any) -> None:
    path = shared / "models" / "hello_world_int8.tflite"
    with pytest.raises(MemoptError, match="no plan"):
        emit_c(lab.read_model(path), io.StringIO())
    with pytest.raises(MemoptError, match="planned for target tflm"):
        emit_c(planned("hello_world_int8", target="tflm"), io.StringIO())
    with pytest.raises(MemoptError, match="scratch = tflm"):
        emit_c(planned("hello_world_int8", scratch="tflm"), io.StringIO())
    for_m4 = planned("hello_world_int8", target="cortex-m4")
    with pytest.raises(MemoptError, match="cortex-m4, not for cortex-m7"):
        write_project(for_m4, Path("never"), "net", "cortex-m7")
    stale = planned("hello_world_int8")
    for op in lab.main_of(stale).body.block.ops:
        op.properties.pop("activation", None)
    with pytest.raises(MemoptError, match="stale"):
        emit_c(stale, io.StringIO())


def test_a_convolution_in_place_is_refused(shared: Path, lab: Any) -> None:
    module = lab.read_model(shared / "models" / "resnet8_int8.tflite")
    convolutions = [op for op in lab.main_of(module).body.block.ops if isinstance(op, Conv2DOp)]
    alias = ArrayAttr([ArrayAttr([AliasAttr(0, "inplace")])])
    convolutions[2].attributes["memgraph.alias"] = alias
    with pytest.raises(MemoptError, match="in place"):
        emit_c(lab.plan(module, schedule="source"), io.StringIO())


@pytest.mark.parametrize("name", ["main", "string", "startup", "3 nets/ÄÖ", "memopt_add_s8"])
def test_any_name_of_a_model_builds(name: str, planned: Any, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    module = planned("hello_world_int8")
    project = lab.write(module, tmp_path / "c", name, "host")
    assert lab.run_project(project, lab.random_inputs(module, 1, seed=1)).code == 0


def test_nothing_half_written(planned: Any, tmp_path: Path) -> None:
    module = planned("hello_world_int8")
    (tmp_path / "file").write_text("kept")
    with pytest.raises(MemoptError):
        write_project(module, tmp_path / "file" / "project", "net", "host")
    with pytest.raises(MemoptError, match=r"target 'cortex-m0' .* is not one of"):
        write_project(module, tmp_path / "project", "net", "cortex-m0")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    write_project(module, tmp_path / "project", "net", "host")
    (tmp_path / "project" / "notes.txt").write_text("mine")
    write_project(module, tmp_path / "project", "net", "host")
    assert (tmp_path / "project" / "notes.txt").read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "project"]
