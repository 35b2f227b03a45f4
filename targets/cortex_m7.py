"""Arm Cortex-M7 with double-precision FPU: MPS2 with the AN500 image."""

from dataclasses import replace

from memopt.targets.core.cortex_m import CORTEX_M

TARGET = replace(
    CORTEX_M,
    isa=("fp64", "dsp", "c"),
    flags="-mcpu=cortex-m7 -mthumb -mfpu=fpv5-d16 -mfloat-abi=hard",
    memories=(("FLASH", "0x00000000", "4M"), ("RAM", "0x20000000", "4M")),
    rooms=((0x60000000, 16 << 20),),
    emulator="mps2-an500",
    ticks=(5, 4),
)
