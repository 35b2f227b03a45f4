"""docs/guides/board.md: its C compiles around a model, as C and as C++, and answers by a UART."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from places import ROOT
from serial_board import linked, running
from tools import need_tools

from memopt.cli import main
from memopt.targets.core.target import target_named

PAGE = (ROOT / "docs/guides/board.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```c\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
STUBS = """
void SCB_CleanInvalidateDCache_by_Addr(void *at, int bytes);
void SCB_InvalidateDCache_by_Addr(void *at, int bytes);
void SCB_CleanDCache_by_Addr(void *at, int bytes);
void dma_start(void *to, unsigned bytes);
void dma_wait(void);
"""


def within_a_function(block: str) -> str:
    """Return a block whose statements stand in a function, its definitions before it."""
    definitions, statements = block.split("\n\n", 1)
    function = f"void fed(void);\nvoid fed(void) {{\n{statements}}}\n"
    return f'#include "net.h"\n{STUBS}{definitions}\n{function}'


RTOS = """
#include "net.h"
typedef struct { int of; } StaticTask_t;
typedef uint32_t StackType_t;
void camera_wait(int8_t *frame);
void publish(const int8_t *scores);
static uint8_t arena[NET_ARENA_BYTES] __attribute__((aligned(NET_ARENA_ALIGNMENT)));
static int8_t frame[NET_INPUT_0_BYTES], scores[NET_OUTPUT_0_BYTES];
"""
STARTED = """
void begin(void (*run)(void *), StackType_t *at, StaticTask_t *as);
void begun(void);
void begun(void) { begin(vision, stack, &task); }
"""


def test_a_task_and_the_end_of_a_transfer_compile_for_the_core(
    shared: Path, tmp_path: Path
) -> None:
    """The flag is read in each turn, and a barrier stands between it and the run."""
    need_tools("cortex-m7")
    model = shutil.copy(shared / "models" / "hello_world_int8.tflite", tmp_path / "net.tflite")
    out = tmp_path / "firmware"
    assert main(["compile", str(model), "--measure=off", "--align-io=32", "-o", str(out)]) == 0
    task, ended, fed = (
        next(b for b in BLOCKS if word in b) for word in ("StaticTask_t", "IRQHandler", "dma_start")
    )
    ended = ended.replace("void dma_wait", "static inline void dma_wait")
    prototypes = (
        STUBS.replace("void dma_wait(void);\n", "") + "void DMA2_Stream0_IRQHandler(void);\n"
    )
    texts = {
        "task": f"{RTOS}{task}{STARTED}",
        "fed": prototypes + ended + within_a_function(fed).replace(STUBS, ""),
    }
    board = target_named("cortex-m7")
    for name, text in texts.items():
        (tmp_path / f"{name}.c").write_text("#include <stdint.h>\n" + text)
        flags = [*board.flags.split(), "-O2", "-Wall", "-Wextra", "-Werror", f"-I{out}", "-S"]
        subprocess.run([board.compiler, *flags, f"{name}.c"], cwd=tmp_path, check=True)
    lines = (tmp_path / "fed.s").read_text()
    assert re.search(r"(\.L\d+):\n\tldr\t[^\n]*\n\tcmp[^\n]*\n\tbeq\t\1\n", lines)
    assert lines.index("\tdmb") < lines.index("net_run")


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_calls_and_transfers_compile(compiler: str, shared: Path, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    model = tmp_path / "net.tflite"
    shutil.copy(shared / "models" / "hello_world_int8.tflite", model)
    out = ["-o", str(tmp_path / "firmware")]
    assert main(["compile", str(model), "--align-io=32", *out]) == 0
    (called,) = (b for b in BLOCKS if "classify" in b)
    fed, fed_whole = (b for b in BLOCKS if "dma_start" in b)
    suffix = ".c" if compiler == "gcc" else ".cpp"
    texts = {"called": called, "fed": within_a_function(fed), "whole": within_a_function(fed_whole)}
    for name, text in texts.items():
        source = (tmp_path / name).with_suffix(suffix)
        source.write_text(text)
        command = [compiler, "-Wall", "-Wextra", "-Werror", "-c", str(source)]
        subprocess.run(
            [*command, "-I", str(tmp_path / "firmware"), "-o", str(source) + ".o"], check=True
        )


def frame_of_serve(folder: Path, level: str) -> int:
    """Return the bytes of stack that net_serve takes in the folder's program."""
    board = target_named("cortex-m4")
    command = [board.compiler, *board.flags.split(), level, "-fstack-usage", "-Ikernels"]
    subprocess.run([*command, "-c", "main.c", "-o", "main.o"], cwd=folder, check=True)
    (frame,) = re.findall(r":net_serve\S*\t(\d+)\tstatic", (folder / "main.su").read_text())
    return int(frame)


@pytest.mark.deep
def test_a_board_behind_a_port_answers(
    shared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The commands of the page, its program on the board that it names, in QEMU."""
    need_tools("cortex-m4")
    section = PAGE[PAGE.index("## 8.") :]
    commands = [shlex.split(line) for line in section.splitlines() if line.startswith("memopt ")]
    monkeypatch.chdir(tmp_path)
    shutil.copy(shared / "models" / "hello_world_int8.tflite", "net.tflite")
    np.savez("samples.npz", np.linspace(0, 6, 5, dtype=np.float32))
    assert [words[1] for words in commands] == ["compile", "validate"]
    assert main(commands[0][1:]) == 0
    image = linked(next(b for b in BLOCKS if "net_serve" in b), Path("firmware"))
    (stated,) = map(int, re.findall(r"`net_serve` takes (\d+) bytes\s+of\s+stack", PAGE))
    frames = [frame_of_serve(Path("firmware"), level) for level in ("-O2", "-Os")]
    assert stated - 50 < max(frames) <= stated
    with running("cortex-m4", image, Path("uart")) as port:
        words = [w for w in commands[1][1:] if not w.startswith("--port=")]
        capsys.readouterr()
        assert main([*words, f"--port={port}", "--max-different=0"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "board     at uart",
        "output    StatefulPartitionedCall:0: none of 5 elements differs",
    ]
