"""Kernels side by side in units: a compiler reads what they include once for all of them."""

import re
from pathlib import Path

_INCLUDE = re.compile(r'^#include ["<](.*?)[">]', re.MULTILINE)
_CONDITION = re.compile(r"^ *# *(?:if|elif).*", re.MULTILINE)
_DEFINED = re.compile(r"^(?:#define |\w[\w *]*?)(\w+)\b(?= *[(=\[])", re.MULTILINE)


def write_units(folder: Path) -> dict[str, list[str]]:
    """Write units into a folder of kernels; return of each the kernels that it includes.

    They include the same and ask for the same macros, so that all have the same configurations and
    none gets from another what it does not include itself. No name is defined twice.
    """
    texts = {path.name: path.read_text() for path in sorted(folder.glob("*.[ch]"))}
    groups: dict[tuple[frozenset[str], ...], list[str]] = {}
    for name, text in texts.items():
        if name.endswith(".c"):
            included = {name}
            while (
                more := {h for n in included for h in _INCLUDE.findall(texts.get(n, ""))} - included
            ):
                included |= more
            kind = (frozenset(included - {name}), frozenset(_CONDITION.findall(text)))
            groups.setdefault(kind, []).append(name)
    parts: list[list[str]] = []
    for names in groups.values():
        first, taken = len(parts), list[set[str]]()
        for name in names:
            defined = set(_DEFINED.findall(texts[name]))
            at = next((i for i, known in enumerate(taken) if not known & defined), len(taken))
            if at == len(taken):
                taken.append(set())
                parts.append([])
            taken[at] |= defined
            parts[first + at].append(name)
    units = {f"unit{number}.c": names for number, names in enumerate(parts)}
    for unit, names in units.items():
        (folder / unit).write_text("".join(f'#include "{name}"\n' for name in names))
    return units


def put_faults(folder: Path, names: list[str], fault: str) -> None:
    """Write a fault at the end of each kernel, with its `{number}`."""
    for number, name in enumerate(names):
        with (folder / name).open("a") as kernel:
            kernel.write(fault.format(number=number))
