"""Toolchain of RISC-V boards: GCC, picolibc and memopt's own start-up code. QEMU's machine `spike`
has memory from 0x80000000 and none below it, so that a stack that overflows faults."""

from memopt.targets.core.target import Target

PROGRAM = "-bios none -m 64M -device loader,cpu-num=0,file="

RISCV = Target(
    "c",
    family="riscv",
    model={"alignment": 16, "views": "on", "scratch": "none"},
    compiler="riscv64-unknown-elf-gcc",
    size="riscv64-unknown-elf-size",
    platform=("platform.h", "platform_board.c", "startup.h", "startup_riscv.c", "board.ld.in"),
    memories=(("FLASH", "0x80400000", "4M"), ("RAM", "0x80000000", "4M")),
    rooms=((0x81000000, 16 << 20),),
    emulator="spike",
    qemu="qemu-system-riscv32",
    ticks=(1, 32),
)
