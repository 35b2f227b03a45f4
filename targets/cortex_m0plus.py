"""Arm Cortex-M0+. QEMU has none: its Cortex-M3 runs the same instructions, on MPS2 with AN385."""

from dataclasses import replace

from memopt.targets.core.cortex_m import CORTEX_M
from memopt.targets.core.timing import Timing

TARGET = replace(
    CORTEX_M,
    isa=("c",),
    flags="-mcpu=cortex-m0plus -mthumb",
    memories=(("FLASH", "0x00000000", "4M"), ("RAM", "0x20000000", "4M")),
    rooms=((0x21000000, 16 << 20),),
    emulator="mps2-an385",
    ticks=(5, 4),
    timing=Timing(
        "Cortex-M0+ Technical Reference Manual, DDI 0484, 3.3, with the multiplier of one cycle",
        refill=(1, 1),
        loads_follow=False,
        address_waits=False,
        link=3,
        exchange=2,
        pop_branch=3,
        system=(3, 3),
    ),
)
