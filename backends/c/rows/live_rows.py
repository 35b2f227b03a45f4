"""Names of what is live while rows run, for people: rows of a tensor by its name once."""

import re
from collections.abc import Sequence

from memopt.backends.c.emit.c_text import plain
from memopt.backends.c.emit.layout import Layout

_ROW = re.compile(r"(.*)\[(\d+)\]")
WIDTH = 92


def live_text(layout: Layout, live: Sequence[Sequence[int]]) -> str:
    """A comment: bytes and tensors at the fullest of these steps, of each its live groups."""
    groups = layout.memory.groups
    fullest = max(live, key=lambda indices: sum(groups[i].size for i in indices))
    total = sum(groups[i].size for i in fullest)
    rows: dict[str, list[int]] = {}
    for i in fullest:
        match = _ROW.fullmatch(groups[i].name)
        name = plain(match[1] if match else groups[i].name, 32)
        rows.setdefault(name, [])
        if match:
            rows[name].append(int(match[2]))
    words = ", ".join(f"{name}{_ranges(numbers)}" for name, numbers in rows.items())
    lines: list[str] = []
    line = f"live at most {total} B:"
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
