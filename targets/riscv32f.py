"""RISC-V of 32 bits with single precision: RV32IMAFC, as ESP32-P4 and GD32VF have."""

from dataclasses import replace

from memopt.targets.core.riscv import PROGRAM, RISCV

TARGET = replace(
    RISCV,
    flags="-march=rv32imafc -mabi=ilp32f --specs=picolibc.specs",
    loads=f"-cpu rv32,d=false {PROGRAM}",
)
