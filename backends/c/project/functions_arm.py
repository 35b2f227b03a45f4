"""Functions of a program for Arm, from a disassembler's text: their stack and their calls.

What a function takes is what it pushes and subtracts from the stack pointer anywhere, that of
assembly, of the compiler's routines and of libm included, of which -fstack-usage knows nothing.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping

from memopt.backends.c.project.call_tree import Function, starts_of
from memopt.backends.c.project.cycles.instructions import Instruction, instructions_of

_NUMBER = re.compile(r"#(-?\d+)")
_ENDS = ("branch", "exchange", "pop branch", "load branch", "table branch")


def functions_of(lines: Iterable[str]) -> dict[str, Function]:
    """Return name -> function, of what `objdump -d -w` prints."""
    listing = list(lines)
    code = instructions_of(listing)
    starts = starts_of(listing)
    order = sorted(starts)
    bodies: dict[int, list[Instruction]] = {start: [] for start in order}
    for address in sorted(code):
        bodies[order[bisect_right(order, address) - 1]].append(code[address])
    return {
        starts[start]: _function(bodies[start], start, end, starts)
        for start, end in zip(order, [*order[1:], 1 << 32], strict=True)
    }


def _function(body: list[Instruction], start: int, end: int, starts: Mapping[int, str]) -> Function:
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
