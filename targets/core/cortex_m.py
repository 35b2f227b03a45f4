"""Toolchain of all Cortex-M boards: GCC, newlib and memopt's own start-up code."""

from memopt.targets.core.target import Target

CORTEX_M = Target(
    "c",
    model={"alignment": 16, "views": "on", "scratch": "none"},
    compiler="arm-none-eabi-gcc",
    size="arm-none-eabi-size",
    platform=("platform.h", "platform_cortex_m.c", "startup.h", "startup.c", "cortex_m.ld.in"),
)
