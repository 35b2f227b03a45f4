"""Toolchain of all Cortex-M boards: GCC, newlib and memopt's own start-up code."""

from memopt.targets.core.target import Target

CORTEX_M = Target(
    "c",
    family="arm",
    model={"alignment": 16, "views": "on", "scratch": "none"},
    compiler="arm-none-eabi-gcc",
    size="arm-none-eabi-size",
    qemu="qemu-system-arm",
    libraries="--specs=nano.specs --specs=nosys.specs",
    clang="--target=arm-none-eabi -fshort-enums -isystem NEWLIB_HEADERS",
    platform=("platform.h", "platform_board.c", "startup.h", "startup.c", "board.ld.in"),
)
