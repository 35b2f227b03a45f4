"""Arm Cortex-M55 with Helium: MPS3 with the AN547 image.

Code lies in the ITCM; weights in the memory that stands for flash on this board.
"""

from dataclasses import replace

from memopt.targets.core.cortex_m import CORTEX_M

TARGET = replace(
    CORTEX_M,
    isa=("mve", "fp64", "dsp", "c"),
    flags="-mcpu=cortex-m55 -mthumb -mfloat-abi=hard",
    memories=(
        ("FLASH", "0x00000000", "512K"),
        ("CONSTANTS", "0x01000000", "2M"),
        ("RAM", "0x21000000", "4M"),
    ),
    constants="CONSTANTS",
    rooms=((0x20000000, 512 << 10), (0x60000000, 16 << 20)),
    emulator="mps3-an547",
    ticks=(125, 128),
)
