"""Arm Cortex-M85 with Helium: the code of a Cortex-M55, which runs on it.

GCC knows it from 13 on, QEMU not yet; MPS3 with the AN547 image has a Cortex-M55.
"""

from memopt.targets.cortex_m55 import TARGET as TARGET
