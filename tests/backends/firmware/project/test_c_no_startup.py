"""`--no-startup`: a library without start-up code, linker script and main, for your own program."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import memopt
from memopt.cli import main
from memopt.targets.core.target import target_named

MAIN = """
#include "hello_world_int8.h"
static uint8_t arena[HELLO_WORLD_INT8_ARENA_BYTES]
    __attribute__((aligned(HELLO_WORLD_INT8_ARENA_ALIGNMENT)));
int main(void) { return hello_world_int8_run(arena, 0, 0); }
void _exit(int code) { for (;;) { (void)code; } }
"""
OURS = ("main.c", "platform", "startup.c")


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


@pytest.mark.deep
def test_make_builds_a_library(shared: Path, tmp_path: Path, lab: Any) -> None:
    """Which a program of one's own links; the figures are those of the program around the model."""
    lab.need_tools("cortex-m4")
    model, out, whole = (
        shared / "models" / "hello_world_int8.tflite",
        tmp_path / "a",
        tmp_path / "b",
    )
    flags = [str(model), "--target=cortex-m4", "-o"]
    assert main(["compile", "--no-startup", *flags, str(out)]) == 0
    assert main(["compile", *flags, str(whole)]) == 0
    names = {p.name for p in out.rglob("*")}
    assert not names & set(OURS) and not any(name.endswith(".ld") for name in names)
    reports = [json.loads((folder / "report.json").read_text()) for folder in (out, whole)]
    assert reports[0] == reports[1]
    run("make", "-s", cwd=out)
    (out / "own.c").write_text(MAIN)
    board = (*target_named("cortex-m4").flags.split(), "--specs=nano.specs")
    library = "build/libhello_world_int8.a"
    run("arm-none-eabi-gcc", *board, "own.c", library, "-lm", "-o", "own.elf", cwd=out)
    assert " T hello_world_int8_run" in run("arm-none-eabi-nm", "own.elf", cwd=out)


def test_cmake_has_the_library_alone(shared: Path, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("needs cmake")
    out = tmp_path / "out"
    memopt.compile(
        shared / "models" / "hello_world_int8.tflite", out=out, layout="cmake", startup=False
    )
    assert not {p.name for p in out.rglob("*")} & set(OURS)
    run("cmake", "-S", str(out), "-B", str(tmp_path / "build"), cwd=tmp_path)
    run("cmake", "--build", str(tmp_path / "build"), cwd=tmp_path)
    assert (tmp_path / "build" / "libhello_world_int8.a").exists()


def test_what_has_none_is_refused(shared: Path, tmp_path: Path, capsys: Any) -> None:
    model = str(shared / "models" / "hello_world_int8.tflite")
    out = ["--no-startup", "-o", str(tmp_path / "out")]
    assert main(["compile", model, "--layout=arduino", *out]) == 2
    assert "--no-startup: --layout=arduino has no start-up code" in capsys.readouterr().err
    assert main(["compile", model, "--target=tflm", *out]) == 2
    assert "--no-startup is of C targets" in capsys.readouterr().err
    other = tmp_path / "other.tflite"
    shutil.copy(model, other)
    assert main(["compile", model, str(other), *out]) == 2
    assert "--no-startup is of one model" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
