"""Functions of a program for RISC-V, from a disassembler's text: their stack and their calls.

What a function takes is what it subtracts from the stack pointer anywhere, also by a register that
it has loaded with a constant, and what the compiler's routine takes that saves registers for it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from memopt.backends.c.project.stack import Function, by_function

Row = tuple[str, str]
"""Mnemonic and operands."""

_LINE = re.compile(r"^\s*([0-9a-f]+):\t[0-9a-f ]+\t(\S+)\s*(.*)$")
_GOAL = re.compile(r"(?:^|[,# ])([0-9a-f]+) <")
_NUMBER = re.compile(r"-?\d+")
_SAVED = 64  # bytes, at most, that __riscv_save_12 takes
_ENDS = ("j", "jr", "ret", "mret")


def functions_of(lines: Iterable[str]) -> dict[str, Function]:
    """Return name -> function, of what `objdump -d -w` prints."""
    listing = list(lines)
    rows = filter(None, map(_LINE.match, listing))
    code: dict[int, Row] = {int(row[1], 16): (row[2], row[3]) for row in rows}
    return by_function(listing, code, _function)


def _function(body: Sequence[Row], start: int, end: int, starts: Mapping[int, str]) -> Function:
    """Return the function from `start` to `end`."""
    frame: int | None = 0
    calls: set[str] = set()
    is_indirect = False
    constants: dict[str, int] = {}
    for mnemonic, operands in body:
        taken = _taken(mnemonic, operands, constants)
        frame = None if frame is None or taken is None else frame + taken
        if mnemonic not in ("jal", "jalr", "j", "jr"):
            continue
        goal = _GOAL.search(operands)
        if goal is None:
            is_indirect = is_indirect or operands != "t0"  # by which the compiler's routines return
            continue
        address = int(goal[1], 16)
        if not start < address < end and (mnemonic[:3] == "jal" or address != start):
            calls.add(starts[max(at for at in starts if at <= address)])
    last = next((m for m, _ in reversed(body) if m not in ("nop", "unimp")), "ret")
    if end in starts and last not in _ENDS:
        calls.add(starts[end])  # assembly that runs on into the next function
    return Function(frame, frozenset(calls), is_indirect)


def _taken(mnemonic: str, operands: str, constants: dict[str, int]) -> int | None:
    """Return the bytes by which an instruction lowers the stack pointer, None if that is computed;
    remember in `constants` which registers have known ones."""
    words = operands.split("#")[0].strip().split(",")
    if mnemonic == "jal" and words[0] == "t0":
        return _SAVED
    if words[0] != "sp":
        _remember(mnemonic, words, constants)
        return 0
    if not re.fullmatch("addi?|sub", mnemonic) or words[1] != "sp":
        return 0
    number = int(words[2]) if _NUMBER.fullmatch(words[2]) else constants.get(words[2])
    if number is None:
        return None
    return max(0, number if mnemonic == "sub" else -number)


def _remember(mnemonic: str, words: Sequence[str], constants: dict[str, int]) -> None:
    known = constants.pop(words[0], None)
    if mnemonic == "li":
        constants[words[0]] = int(words[1], 0)
    elif mnemonic == "lui":
        number = int(words[1], 0) << 12
        constants[words[0]] = number - (1 << 32 if number >> 31 else 0)
    elif (
        mnemonic in ("add", "addi")
        and words[1] == words[0]
        and known is not None
        and _NUMBER.fullmatch(words[2])
    ):
        constants[words[0]] = known + int(words[2])
