"""RISC-V of 32 bits without floating point: RV32IMC, as ESP32-C3 and small controllers have."""

from dataclasses import replace

from memopt.targets.core.riscv import PROGRAM, RISCV

TARGET = replace(
    RISCV,
    flags="-march=rv32imc -mabi=ilp32 --specs=picolibc.specs",
    loads=f"-cpu rv32,a=false,f=false,d=false {PROGRAM}",
)
