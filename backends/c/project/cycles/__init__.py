"""Cycles of an inference, estimated: how often each block of instructions ran, times its timing.

    estimated_cycles(command, elf, timing)     # Cycles(instructions, least, middle, most)

The emulator counts, the core's manual says what an instruction takes (`targets/core/timing.py`).
Memories without wait states are assumed, and no interrupts: an estimate, not a measurement.
"""
