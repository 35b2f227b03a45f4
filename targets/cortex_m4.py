"""Arm Cortex-M4 with FPU: MPS2 with the AN386 image."""

from dataclasses import replace

from memopt.targets.core.cortex_m import CORTEX_M
from memopt.targets.core.timing import Timing

TARGET = replace(
    CORTEX_M,
    isa=("dsp", "c"),
    flags="-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard",
    memories=(("FLASH", "0x00000000", "4M"), ("RAM", "0x20000000", "4M")),
    rooms=((0x21000000, 16 << 20),),
    emulator="mps2-an386",
    ticks=(5, 4),
    timing=Timing("Cortex-M4 Technical Reference Manual, DDI 0439, 3.3"),
)
