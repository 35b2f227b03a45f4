"""The C kernels as files, and all that a model needs in the right order.

`<family>/memopt_<kernel>.c` is a kernel; what several families include stands beside the families.
A family's `__init__.py` registers which operators its kernels run.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

DIRECTORY = Path(__file__).parent
_INCLUDE = re.compile(r'^#include "(memopt_\w+\.h)"\n', re.MULTILINE)


@cache
def kernel_files() -> dict[str, Path]:
    """Name -> file of every kernel and header."""
    return {p.name: p for p in sorted(DIRECTORY.rglob("memopt_*.[ch]"))}


def needed_headers(file: str) -> list[str]:
    """The project headers that a kernel file includes, innermost first, each once."""
    found: list[str] = []
    for name in _INCLUDE.findall(kernel_files()[file].read_text()):
        for inner in [*needed_headers(name), name]:
            if inner not in found:
                found.append(inner)
    return found


def needed_files(kernels: Iterable[str]) -> list[Path]:
    """Every file that kernels `memopt_<name>` consist of: headers in order, then sources."""
    headers: list[str] = []
    sources: list[str] = []
    for kernel in kernels:
        source = f"memopt_{kernel}.c"
        headers += [h for h in needed_headers(source) if h not in headers]
        sources.append(source)
    return [kernel_files()[name] for name in headers + sources]


def inlined(kernels: Iterable[str]) -> str:
    """The text of the kernels as one piece, without includes of one another."""
    return "\n".join(_INCLUDE.sub("", file.read_text()) for file in needed_files(kernels))
