"""The stack that a linked program needs below a function: its call tree, as disassembled.

stack_bound(Path("build/net.elf"), target_named("cortex-m4"))    # bytes, None: no bound
"""

import subprocess
from pathlib import Path

from memopt.backends.c.project import functions_arm, functions_riscv
from memopt.backends.c.project.call_tree import CallTree
from memopt.targets.core.target import Target

READERS = {"arm": functions_arm.functions_of, "riscv": functions_riscv.functions_of}
EXCEPTION = {False: 32 + 4, True: 104 + 4}
"""Bytes that a Cortex-M pushes for an interrupt, without and with floating-point registers, and of
alignment."""


def stack_bound(program: Path, board: Target) -> int | None:
    """Return the bytes of stack below the call of a model, at most, in a program of ours for a
    board: its call tree, and the interrupt that counts instructions. None if there is no bound."""
    listing = subprocess.run(
        [f"{board.compiler.removesuffix('gcc')}objdump", "-d", "-w", str(program)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    tree = CallTree.of(READERS[board.family](listing.splitlines()))
    depth = tree.below("model_main")
    if "tick" not in tree.functions:  # instructions are counted by the core
        return depth
    tick, frame = tree.below("tick"), tree.functions["tick"].frame
    if depth is None or tick is None or frame is None:
        return None
    return depth + EXCEPTION["hard" in board.flags] + frame + tick
