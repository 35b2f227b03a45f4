"""Instructions of a program, from a disassembler's text, and their cycles, by a core's timing."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

from memopt.backends.c.project.cycles.blocks import Ran
from memopt.targets.core.timing import Range, Timing

_LINE = re.compile(r"^\s*([0-9a-f]+):\t([0-9a-f ]+?)\s*\t(\S+)\s*(.*)$")
_CONDITIONS = "eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|hs|lo|al"
_REGISTER = re.compile(r"\b(r\d+|sb|sl|fp|ip|sp|lr|pc|[sd]\d+)\b(?:\s*-\s*(\w+))?")
_NUMBERED = {"sb": "r9", "sl": "r10", "fp": "r11", "ip": "r12"}

# The first that fits: mnemonics without width and type, a condition behind some.
_KINDS: tuple[tuple[str, str], ...] = (
    (r"ldrd", "loads"),
    (r"strd", "stores"),
    (r"ldr(b|h|sb|sh|t|ex[bh]?)?", "load"),
    (r"str(b|h|t|ex[bh]?)?", "store"),
    (r"ldm(ia|db)?|pop|vldm(ia|db)?|vpop|vldr", "loads"),
    (r"stm(ia|db)?|push|vstm(ia|db)?|vpush|vstr", "stores"),
    (r"tb[bh]", "table branch"),
    (r"blx?", "link"),
    (r"bx", "exchange"),
    (r"b|cbn?z", "branch"),
    (r"it[te]{0,3}", "it"),
    (r"[us]div", "divide"),
    (r"v(div|sqrt)", "float divide"),
    (r"v(f?n?ml[as]|fn?m[as])", "float multiply and add"),
    (r"[us]mulls?", "long multiply"),
    (r"[us]m[la]als?|umaal", "long multiply and add"),
    (r"ml[as]", "multiply and add"),
    (r"muls?", "multiply"),
    (r"mrs|msr|[di][sm]b|cps\w*|bkpt|svc|vmrs|vmsr", "system"),
)
_PATTERNS = [(re.compile(f"(?:{p})(?P<unless>{_CONDITIONS})?"), kind) for p, kind in _KINDS]


@dataclass(frozen=True)
class Instruction:
    """One instruction at `address`, `size` bytes long, and the address behind it, `end`. `stem` is
    the mnemonic without width and type, `kind` `load`, `loads` (several words), `branch`, ..., or
    `other`, which takes a cycle. One that `is_conditional` may do nothing."""

    address: int
    size: int
    mnemonic: str
    operands: str
    end: int = field(init=False)
    stem: str = field(init=False)
    kind: str = field(init=False)
    is_conditional: bool = field(init=False)

    def __post_init__(self) -> None:
        stem = self.mnemonic.partition(".")[0]
        kind, is_conditional = _known(stem)
        if kind == "load" and self.registers[:1] == ("pc",):
            kind = "load branch"
        if kind == "loads" and "{" in self.operands and "pc" in self.registers:
            kind = "pop branch"
        vars(self).update(
            end=self.address + self.size, stem=stem, kind=kind, is_conditional=is_conditional
        )

    @cached_property
    def registers(self) -> tuple[str, ...]:
        """All registers that its operands name, in order, of ranges each."""
        return _registers(self.operands)

    @cached_property
    def address_registers(self) -> tuple[str, ...]:
        """The registers that an access to memory makes its address of."""
        inside = re.search(r"\[([^\]]*)\]", self.operands)
        if inside is not None:
            return _registers(inside[1])
        return ("sp",) if self.stem.startswith(("pop", "push", "vp")) else self.registers[:1]

    @cached_property
    def words(self) -> int:
        """Return how many words an access to several takes."""
        if self.stem.startswith(("ldrd", "strd")):
            return 2
        listed = re.search(r"\{(.*)\}", self.operands)
        if listed is None:
            return 2 if self.registers[0].startswith("d") else 1
        registers = _registers(listed[1])
        return sum(2 if r.startswith("d") else 1 for r in registers)

    @cached_property
    def written(self) -> tuple[str, ...]:
        """The registers that data processing or a single load leaves a result in."""
        if self.kind not in _WRITING or re.match(r"cm[pn]|tst|teq|nop|vcmp", self.stem):
            return ()
        return self.registers[: 2 if self.kind.startswith("long") else 1]


@cache
def _known(stem: str) -> tuple[str, bool]:
    """Return the kind of a mnemonic without type, and whether it ends in a condition."""
    for pattern, kind in _PATTERNS:
        if match := pattern.fullmatch(stem):
            return kind, match["unless"] is not None
    return "other", False


def _registers(operands: str) -> tuple[str, ...]:
    names: list[str] = []
    for match in _REGISTER.finditer(operands):
        low = _NUMBERED.get(match[1], match[1])
        high = low if match[2] is None else _NUMBERED.get(match[2], match[2])
        if low == high:
            names.append(low)
        else:
            prefix = low[0]
            names += [f"{prefix}{n}" for n in range(int(low[1:]), int(high[1:]) + 1)]
    return tuple(names)


_WRITING = {
    *("other", "load", "divide", "multiply", "multiply and add", "long multiply"),
    "long multiply and add",
}


def instructions_of(lines: Iterable[str]) -> dict[int, Instruction]:
    """Address -> instruction, of what `objdump -d` prints."""
    by_address: dict[int, Instruction] = {}
    for line in lines:
        row = _LINE.match(line)
        if row is not None:
            address, size = int(row[1], 16), len(row[2].replace(" ", "")) // 2
            operands = re.sub(r"<[^>]*>|\s*[;@].*", "", row[4]).strip()
            by_address[address] = Instruction(address, size, row[3], operands)
    return by_address


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
        case _:
            return _of_arithmetic(timing).get(its.kind, (1, 1))


@cache
def _of_arithmetic(timing: Timing) -> dict[str, Range]:
    """Cycles of the kinds that take the same whatever stands before them."""
    return {
        "divide": timing.divide,
        "float divide": (timing.float_divide, timing.float_divide),
        "float multiply and add": (timing.float_multiply_add, timing.float_multiply_add),
        "multiply": timing.multiply,
        "multiply and add": timing.multiply_add,
        "long multiply": timing.long_multiply,
        "long multiply and add": timing.long_multiply_add,
        "system": timing.system,
    }


def _waits(its: Instruction, before: Instruction | None) -> bool:
    """Return whether it accesses memory where data processing right before it has said."""
    processed = before is not None and before.kind in _RESULTS
    return processed and its.kind in _ACCESSES and _takes_address_of(its, before)


def _takes_address_of(its: Instruction, before: Instruction | None) -> bool:
    """Return whether its address is made of what the one before it has written."""
    return before is not None and not set(before.written).isdisjoint(its.address_registers)
