"""The C kernels as files, and all that a model needs in the right order."""

import re
from collections.abc import Iterable
from pathlib import Path

DIRECTORY = Path(__file__).parent
_INCLUDE = re.compile(r'^#include "(memopt_\w+\.h)"\n', re.MULTILINE)


def needed_headers(file: str) -> list[str]:
    """The project headers that a kernel file includes, innermost first, each once."""
    found: list[str] = []
    for name in _INCLUDE.findall((DIRECTORY / file).read_text()):
        for inner in [*needed_headers(name), name]:
            if inner not in found:
                found.append(inner)
    return found


def needed_files(kernels: Iterable[str]) -> list[str]:
    """Every file that kernels `memopt_<name>` consist of: headers in order, then sources."""
    headers: list[str] = []
    sources: list[str] = []
    for kernel in kernels:
        source = f"memopt_{kernel}.c"
        headers += [h for h in needed_headers(source) if h not in headers]
        sources.append(source)
    return headers + sources


def inlined(kernels: Iterable[str]) -> str:
    """The text of the kernels as one piece, without includes of one another."""
    return "\n".join(
        _INCLUDE.sub("", (DIRECTORY / name).read_text()) for name in needed_files(kernels)
    )
