"""Figures of a report by their names, and how far one may grow from one report to another.

figures_of(content)["flash"]                       # 38120, or None where it is not known
growths(old, new, parse_limits("arena:0,flash:2%"))
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memopt.dialects.memgraph.errors import nearest
from memopt.formats.sizes import parse_size
from memopt.text.usage import UsageError

BYTES = ("arena", "peak", "ram", "flash", "stack", "static_ram", "tensor_arena", "weights")
COUNTS = ("instructions", "cycles", "macs", "calls", "operators")
FIGURES = (*BYTES, *COUNTS)

Figures = Mapping[str, int | None]


def figures_of(content: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the figures of the content of a `report.json`, in bytes and numbers; None for what is
    not known."""
    plan, target = content["plan"], content["target"]
    rows = plan["rows"]
    return {
        "arena": plan["arena"],
        "peak": plan["peak"],
        "ram": target["ram"],
        "flash": target["flash"],
        "stack": target["stack"],
        "static_ram": target["static_ram"],
        "tensor_arena": target["tensor_arena"],
        "weights": content["weights"],
        "instructions": target["instructions"],
        "cycles": target["cycles_estimated"],
        "macs": content["macs"],
        "calls": content["operators"] if rows is None else rows["calls"],
        "operators": content["operators"],
    }


@dataclass(frozen=True)
class Limit:
    """By how much a figure may grow: by bytes, or a number, or by `percent` of what it was."""

    most: float
    percent: bool

    def allows(self, old: int, new: int) -> bool:
        """Return whether a figure has not grown by more."""
        by = old * self.most / 100 if self.percent else self.most
        return new - old <= by


@dataclass(frozen=True)
class Growth:
    """A figure of two reports, None where one does not know it; `allowed` is None without a limit,
    and False where a limit is on what is not known."""

    figure: str
    old: int | None
    new: int | None
    allowed: bool | None = None

    @property
    def change(self) -> int | None:
        """Return by how much the figure has grown; None where one of the two is not known."""
        return None if self.old is None or self.new is None else self.new - self.old


def parse_limits(text: str) -> dict[str, Limit]:
    """Return the limits of `arena:0,flash:2%,ram:1K`. Raises UsageError."""
    limits: dict[str, Limit] = {}
    for part in text.split(","):
        name, colon, amount = part.strip().partition(":")
        if name not in FIGURES:
            known = ", ".join(FIGURES)
            raise UsageError(f"no figure {name!r}{nearest(name, FIGURES)}; there are {known}")
        if not colon or name in limits:
            raise UsageError(f"{part.strip()!r}: once FIGURE:GROWTH, such as {name}:0 or {name}:2%")
        limits[name] = _limit(amount)
    return limits


def _limit(amount: str) -> Limit:
    """Raises UsageError."""
    if (share := re.fullmatch(r"(\d+(?:\.\d+)?)%", amount)) is not None:
        return Limit(float(share[1]), True)
    try:
        return Limit(parse_size(amount), False)
    except ValueError:
        raise UsageError(f"{amount!r} is no growth; write 0, 512, 2K or 1.5%") from None


def growths(old: Figures, new: Figures, limits: Mapping[str, Limit]) -> list[Growth]:
    """Return the figures that one of the two knows, or that have a limit."""
    return [
        Growth(name, old[name], new[name], _allowed(old[name], new[name], limits.get(name)))
        for name in FIGURES
        if name in limits or old[name] is not None or new[name] is not None
    ]


def _allowed(old: int | None, new: int | None, limit: Limit | None) -> bool | None:
    if limit is None:
        return None
    return old is not None and new is not None and limit.allows(old, new)
