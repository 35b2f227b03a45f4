"""The stack that a linked program needs below a function: its call tree, as disassembled.

    stack_bound(Path("build/net.elf"), target_named("cortex-m4"))    # bytes, None: no bound

What a function takes is what it pushes and subtracts from the stack pointer anywhere, that of
assembly, of the compiler's routines and of libm included, of which -fstack-usage knows nothing. A
call through a pointer is one of any kernel; below a kernel, where kernels call others, of any that
calls none so. Recursion, and a stack pointer that is computed, have no bound. What is read here is
Arm's; functions_riscv.py reads RISC-V's.
"""

import re
import subprocess
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from memopt.backends.c.kernels import kernel_files
from memopt.backends.c.project.cycles.instructions import Instruction, instructions_of
from memopt.targets.core.target import Target

Code = TypeVar("Code")  # an instruction, as the reader of a family has it
_FUNCTION = re.compile(r"^([0-9a-f]+) <([^>]+)>:$")
_NUMBER = re.compile(r"#(-?\d+)")
_ENDS = ("branch", "exchange", "pop branch", "load branch", "table branch")
OTHERS = {"riscv": "memopt.backends.c.project.functions_riscv"}  # who reads their functions
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
    read: Callable[[Iterable[str]], dict[str, Function]] = functions_of
    if board.family in OTHERS:
        read = import_module(OTHERS[board.family]).functions_of
    tree = CallTree.of(read(listing.splitlines()))
    depth = tree.below("model_main")
    if "tick" not in tree.functions:  # instructions are counted by the core
        return depth
    tick, frame = tree.below("tick"), tree.functions["tick"].frame
    if depth is None or tick is None or frame is None:
        return None
    return depth + EXCEPTION["hard" in board.flags] + frame + tick


def is_called(name: str) -> bool:
    """Return whether pointers lead to a function: a kernel, of a model or shared, or the runner of
    one of several models."""
    return name.endswith("_step") or any(
        name == kernel or name.endswith(f"_{kernel}") for kernel in _kernels()
    )


@cache
def _kernels() -> frozenset[str]:
    return frozenset(file.removesuffix(".c") for file in kernel_files() if file.endswith(".c"))


@dataclass(frozen=True)
class Function:
    """Bytes of its own, None if they are computed; the functions that it calls, or ends in; whether
    it calls through pointers."""

    frame: int | None
    calls: frozenset[str]
    is_indirect: bool


@dataclass(frozen=True)
class CallTree:
    """Functions by name, and those that pointers may lead to."""

    functions: Mapping[str, Function]
    kernels: frozenset[str]
    _known: dict[tuple[str, bool], int | None] = field(
        default_factory=dict[tuple[str, bool], int | None], repr=False
    )

    @classmethod
    def of(
        cls, functions: Mapping[str, Function], is_kernel: Callable[[str], bool] = is_called
    ) -> "CallTree":
        return cls(functions, frozenset(filter(is_kernel, functions)))

    def below(self, name: str) -> int | None:
        """Bytes that what a function calls needs, besides its own."""
        return self._deepest(name, False, (name,))

    def _deepest(self, name: str, inside: bool, path: tuple[str, ...]) -> int | None:
        """Return the bytes that what a function calls needs, below a kernel or not; None for what
        is not known, as of one that calls itself."""
        if (name, inside) in self._known:
            return self._known[name, inside]
        function, below = self.functions[name], inside or name in self.kernels
        calls = set(function.calls)
        if function.is_indirect:
            calls |= self._leaves if below else self.kernels
        deepest: int | None = 0
        for call in calls:
            own = self.functions[call].frame
            depth = None if call in path else self._deepest(call, below, (*path, call))
            if depth is None or own is None:
                deepest = None
                break
            deepest = max(deepest, own + depth)
        self._known[name, inside] = deepest
        return deepest

    @property
    def _leaves(self) -> set[str]:
        """Kernels below which nothing calls through a pointer."""
        return {k for k in self.kernels if not self._calls_indirectly(k, set())}

    def _calls_indirectly(self, name: str, seen: set[str]) -> bool:
        function = self.functions[name]
        seen.add(name)
        return function.is_indirect or any(
            self._calls_indirectly(call, seen) for call in function.calls - seen
        )


def by_function(
    listing: Sequence[str],
    code: Mapping[int, Code],
    read: Callable[[Sequence[Code], int, int, Mapping[int, str]], Function],
) -> dict[str, Function]:
    """Return name -> function, of what `objdump -d -w` prints: `read` makes it of its `code`, by
    address, its start and end, and the names of all that start somewhere."""
    starts = _starts_of(listing)
    order = sorted(starts)
    bodies: dict[int, list[Code]] = {start: [] for start in order}
    for address in sorted(code):
        bodies[order[bisect_right(order, address) - 1]].append(code[address])
    return {
        starts[start]: read(bodies[start], start, end, starts)
        for start, end in zip(order, [*order[1:], 1 << 32], strict=True)
    }


def _starts_of(listing: Iterable[str]) -> dict[int, str]:
    """Return address -> function. Static ones of one name, in several files, are told apart by
    their addresses."""
    starts: dict[int, str] = {}
    for line in listing:
        if row := _FUNCTION.match(line):
            is_taken = row[2] in starts.values()
            starts[int(row[1], 16)] = f"{row[2]}@{row[1]}" if is_taken else row[2]
    return starts


def functions_of(lines: Iterable[str]) -> dict[str, Function]:
    """Return name -> function, of what `objdump -d -w` prints."""
    listing = list(lines)
    return by_function(listing, instructions_of(listing), _function)


def _function(
    body: Sequence[Instruction], start: int, end: int, starts: Mapping[int, str]
) -> Function:
    """The function from `start` to `end`."""
    frame: int | None = 0
    calls: set[str] = set()
    is_indirect = False
    for each in body:
        taken = _taken(each)
        frame = None if frame is None or taken is None else frame + taken
        if each.kind not in ("link", "branch", "exchange"):
            continue
        target = re.match(r"(?:\w+, )?([0-9a-f]+)$", each.operands)
        if target is None:
            is_indirect = is_indirect or each.operands != "lr"
            continue
        goal = int(target[1], 16)
        if start < goal < end:
            continue  # also a routine of libgcc's own within a function, whose bytes are counted
        if each.kind == "link" or goal != start:
            calls.add(starts[max(at for at in starts if at <= goal)])
    last = [each for each in body if not each.mnemonic.startswith((".", "nop"))][-1:]
    if end in starts and last and (last[0].kind not in _ENDS or last[0].is_conditional):
        calls.add(starts[end])  # assembly that runs on into the next function
    return Function(frame, frozenset(calls), is_indirect)


def _taken(each: Instruction) -> int | None:
    """Bytes by which an instruction lowers the stack pointer, None if that is computed."""
    text, operands = each.stem, each.operands
    if text in ("push", "vpush") or (text in ("stmdb", "vstmdb") and operands.startswith("sp!")):
        return 4 * each.words
    if text.startswith("str") and (moved := re.search(r"\[sp, #-(\d+)\]!", operands)):
        return int(moved[1])
    if text in ("sub", "subs", "subw") and each.registers[:1] == ("sp",):
        number = _NUMBER.search(operands)
        return None if number is None else int(number[1])
    return 0
