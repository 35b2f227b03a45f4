"""Names of what is live while rows run, for people: rows of a tensor by its name once."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memopt.analysis.liveness import LiveGroups
from memopt.backends.c.emit.c_text import plain
from memopt.backends.c.emit.layout import Layout

_ROW = re.compile(r"(.*)\[(\d+)\]")
WIDTH = 92


@dataclass(frozen=True)
class LiveRows:
    """Live groups, each with its tensor's name and, if it is a row, its number."""

    live: LiveGroups
    names: list[tuple[str, int | None]]

    @staticmethod
    def of(layout: Layout) -> "LiveRows":
        """Return the rows of all groups."""
        return LiveRows(layout.live, [_row_of(group.name) for group in layout.memory.groups])

    def text(self, calls: Sequence[tuple[int, ...]]) -> str:
        """A comment: bytes and tensors at the fullest of these calls, of each its steps."""
        fullest = max(calls, key=self.live.in_bytes)
        rows: dict[str, list[int]] = {}
        for i in self.live.at(fullest):
            name, row = self.names[i]
            numbers = rows.setdefault(name, [])
            if row is not None:
                numbers.append(row)
        words = ", ".join(f"{name}{_ranges(numbers)}" for name, numbers in rows.items())
        return _comment(f"live at most {self.live.in_bytes(fullest)} B:", words)


def _row_of(name: str) -> tuple[str, int | None]:
    match = _ROW.fullmatch(name)
    return (plain(match[1], 32), int(match[2])) if match else (plain(name, 32), None)


def _comment(line: str, words: str) -> str:
    lines: list[str] = []
    for word in words.split(" "):
        if len(line) + len(word) > WIDTH:
            lines.append(line)
            line = word
        else:
            line += f" {word}"
    return "  /* " + "\n   * ".join([*lines, line]) + " */\n"


def _ranges(numbers: Sequence[int]) -> str:
    """`[3-7,9]`, nothing for none."""
    parts: list[list[int]] = []
    for n in sorted(numbers):
        if parts and n == parts[-1][1] + 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    texts = [str(a) if a == b else f"{a}-{b}" for a, b in parts]
    return f"[{','.join(texts)}]" if texts else ""
