"""Sizes and memories as texts: `256K`, `dtcm:64K@1,sram:320K@2`."""

import re

from memopt.solvers.memories import Bank

_SIZE = re.compile(r"(\d+)([KMkm]?)")
_BANK = re.compile(r"([A-Za-z_]\w*):([^@]+)(?:@(.*))?")


def parse_size(text: str) -> int:
    """Bytes of `65536`, `64K` or `1M`; K = 1024. Raises ValueError."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no size; write 65536, 64K or 1M")
    return int(match[1]) * {"": 1, "K": 1 << 10, "M": 1 << 20}[match[2].upper()]


def parse_banks(text: str) -> tuple[Bank, ...]:
    """Memories `NAME:CAPACITY[@COST],...`, the fastest first.

    COST is what reading or writing one byte there costs, a whole number from 1 on; without it the
    first costs 1 and each other twice the one before it. Raises ValueError.
    """
    banks: list[Bank] = []
    for part in text.split(","):
        match = _BANK.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"{part.strip()!r} is no memory; write dtcm:64K or dtcm:64K@1")
        name, size, price = match.groups()
        if price is None:
            cost = 2 * banks[-1].cost if banks else 1
        elif price.isdigit() and 0 < int(price) < 1 << 20:
            cost = int(price)
        else:
            raise ValueError(f"memory {name}: {price!r} is no cost, a whole number from 1 on")
        if any(b.name.lower() == name.lower() for b in banks):
            raise ValueError(f"memory {name} is given twice")
        banks.append(Bank(name, parse_size(size), cost))
    return tuple(banks)
