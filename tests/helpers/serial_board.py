"""Boards for `memopt validate --port`: programs in QEMU behind a UART; and terminals."""

import os
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from memopt.compile.options import PlanOptions
from memopt.compile.request import Building, Request
from memopt.compile.stages import build, plan, read
from memopt.targets.core.target import target_named

# In place of what a board's package has: memory is set up, then main runs.
STARTUP = """
#include <stdint.h>
#include "startup.h"
extern uint32_t link_data_load[], link_data_begin[], link_data_end[];
extern uint32_t link_bss_begin[], link_bss_end[];
int main(void);
void startup_fault(void) { for (;;) { } }
void startup_run(void) {
  uint32_t *to = link_data_begin;
  const uint32_t *from = link_data_load;
  while (to != link_data_end) { *to++ = *from++; }
  for (to = link_bss_begin; to != link_bss_end; ++to) { *to = 0u; }
  (void)main();
  for (;;) { }
}
"""
MACHINE = {"cortex-m4": "mps2-an386", "riscv32": "virt"}  # with a UART; spike has none


def built(
    model: Path, program: str, folder: Path, options: PlanOptions, flags: str = "-O2"
) -> Path:
    """Build a board's program around the model, and return the image."""
    request = Request(
        path=model, options=options, building=Building(has_serial=True), is_built=True
    )
    for file, text in build(plan(read(request))).files.items():
        assert isinstance(text, str)
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    return linked(program, folder, flags)


def linked(program: str, folder: Path, flags: str = "-O2") -> Path:
    """Return the image of a project that has another program and start."""
    (folder / "main.c").write_text(program)
    (folder / "platform" / "platform_board.c").write_text(STARTUP)
    command = ["make", "-s", "-C", str(folder), f"CFLAGS={flags}"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    (image,) = (folder / "build").glob("*.elf")
    return image


def _listens(socket: Path) -> bool:
    """Return whether somebody may connect: the file is there a moment earlier, and a connection
    that is tried and closed would take what the board says first."""
    known = (line.split() for line in Path("/proc/net/unix").read_text().splitlines())
    return any(words[-1] == str(socket) and words[3] == "00010000" for words in known)


@contextmanager
def running(target: str, image: Path, socket: Path) -> Generator[str]:
    """Run an image in QEMU; yield the port of its UART."""
    board = target_named(target)
    command = [board.qemu, "-M", MACHINE[target], "-display", "none", "-monitor", "none"]
    command += ["-serial", f"unix:{socket},server=on,wait=off"]
    command += f"{board.loads}{image}".split()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            until = time.monotonic() + 30
            while not _listens(socket):
                assert process.poll() is None and time.monotonic() < until, process.stderr
                time.sleep(0.02)
            yield str(socket)
        finally:
            process.kill()


@contextmanager
def terminal() -> Generator[tuple[int, str]]:
    """Yield the other end of a terminal, and the terminal's name."""
    ours, theirs = os.openpty()
    try:
        yield ours, os.ttyname(theirs)
    finally:
        os.close(ours)
        os.close(theirs)
