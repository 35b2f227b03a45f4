"""Arm Cortex-M3, without FPU and DSP extension: MPS2 with the AN385 image."""

from dataclasses import replace

from memopt.targets.core.cortex_m import CORTEX_M
from memopt.targets.core.timing import Timing

TARGET = replace(
    CORTEX_M,
    isa=("c",),
    flags="-mcpu=cortex-m3 -mthumb",
    memories=(("FLASH", "0x00000000", "4M"), ("RAM", "0x20000000", "4M")),
    rooms=((0x21000000, 16 << 20),),
    emulator="mps2-an385",
    ticks=(5, 4),
    timing=Timing(
        "Cortex-M3 Technical Reference Manual, DDI 0337, 3.3",
        multiply_add=(2, 2),
        long_multiply=(3, 5),
        long_multiply_add=(4, 7),
    ),
)
