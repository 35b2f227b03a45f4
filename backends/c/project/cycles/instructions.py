"""Instructions of a program, from a disassembler's text, as far as their timing asks."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property

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
        """How many words an access to several takes."""
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
