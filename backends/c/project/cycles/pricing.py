"""Cycles of a block of instructions, by a core's timing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memopt.backends.c.project.cycles.blocks import Ran
from memopt.backends.c.project.cycles.instructions import Instruction
from memopt.targets.core.timing import Range, Timing

_ACCESSES = {"load", "store", "loads", "stores", "load branch", "pop branch"}
_RESULTS = {"other", "divide", "multiply", "multiply and add"}


@dataclass(frozen=True)
class Cycles:
    """Instructions and cycles: the least, the most, and what lies in the middle."""

    instructions: int = 0
    least: int = 0
    most: int = 0

    @property
    def middle(self) -> int:
        return (self.least + self.most) // 2

    def plus(self, other: "Cycles", times: int) -> "Cycles":
        return Cycles(
            self.instructions + times * other.instructions,
            self.least + times * other.least,
            self.most + times * other.most,
        )


def cycles_of(ran: Ran, code: Mapping[int, Instruction], timing: Timing) -> Cycles:
    """Return the sum over all blocks that ran."""
    total = Cycles()
    for (at, following), times in ran.steps.items():
        block = [code[at]]
        while block[-1].address < ran.ends[at]:
            block.append(code[block[-1].end])
        total = total.plus(price(block, following != block[-1].end, timing), times)
    return total


def price(block: Sequence[Instruction], taken: bool, timing: Timing) -> Cycles:
    """Cycles of a block whose last instruction branches, if it is `taken`, elsewhere.

    What stands in one block follows each other; nothing is known of what ran before it, so its
    first access to memory follows none.
    """
    least = greatest = 0
    before: Instruction | None = None
    for i, instruction in enumerate(block):
        leaves = taken and i + 1 == len(block)
        low, high = _alone(instruction, before, leaves, timing)
        if timing.address_waits and _waits(instruction, before):
            low, high = low + 1, high + 1
        if instruction.is_conditional and instruction.kind != "branch":
            low = min(low, 1)  # its condition may fail
        least, greatest, before = least + low, greatest + high, instruction
    return Cycles(len(block), least, greatest)


def _alone(its: Instruction, before: Instruction | None, leaves: bool, timing: Timing) -> Range:
    refill = timing.refill
    match its.kind:
        case "load":
            follows = timing.loads_follow and before is not None and before.kind == "load"
            return (1, 1) if follows and not _takes_address_of(its, before) else (2, 2)
        case "store":
            if not timing.loads_follow:
                return (2, 2)
            return (1, 1) if len(its.address_registers) < 2 else (1, 2)
        case "loads" | "stores":
            return (1 + its.words, 1 + its.words)
        case "load branch" | "table branch":
            return (2 + refill[0], 2 + refill[1])
        case "pop branch":
            if timing.pop_branch is not None:
                fixed = timing.pop_branch + its.words - 1
                return (fixed, fixed)
            return (1 + its.words + refill[0], 1 + its.words + refill[1])
        case "branch" | "link" | "exchange":
            known = {"link": timing.link, "exchange": timing.exchange}.get(its.kind)
            if known is not None:
                return (known, known)
            return (1 + refill[0], 1 + refill[1]) if leaves else (1, 1)
        case "it":
            return (0, 1) if timing.folds else (1, 1)
        case "divide":
            return timing.divide
        case "float divide":
            return (timing.float_divide, timing.float_divide)
        case "float multiply and add":
            return (timing.float_multiply_add, timing.float_multiply_add)
        case "multiply":
            return timing.multiply
        case "multiply and add":
            return timing.multiply_add
        case "long multiply":
            return timing.long_multiply
        case "long multiply and add":
            return timing.long_multiply_add
        case "system":
            return timing.system
        case _:
            return (1, 1)


def _waits(its: Instruction, before: Instruction | None) -> bool:
    """Return whether it accesses memory where data processing right before it has said."""
    processed = before is not None and before.kind in _RESULTS
    return processed and its.kind in _ACCESSES and _takes_address_of(its, before)


def _takes_address_of(its: Instruction, before: Instruction | None) -> bool:
    """Return whether its address is made of what the one before it has written."""
    return before is not None and not set(before.written).isdisjoint(its.address_registers)
