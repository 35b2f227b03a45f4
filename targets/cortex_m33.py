"""Arm Cortex-M33 with FPU and DSP extension: MPS2 with the AN505 image, in the secure state."""

from dataclasses import replace

from memopt.targets.core.cortex_m import CORTEX_M

TARGET = replace(
    CORTEX_M,
    isa=("dsp", "c"),
    flags="-mcpu=cortex-m33 -mthumb -mfpu=fpv5-sp-d16 -mfloat-abi=hard",
    memories=(("FLASH", "0x10000000", "4M"), ("RAM", "0x38000000", "4M")),
    rooms=((0x80000000, 16 << 20),),
    emulator="mps2-an505",
    ticks=(25, 16),
)
