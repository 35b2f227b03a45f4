"""Bytes and names, as people and C write them."""

import re
from pathlib import Path

from memopt.formats.sizes import parse_size
from memopt.text.usage import UsageError

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def bytes_of_text(text: str) -> int:
    """`256K` as bytes. Raises UsageError."""
    try:
        return parse_size(text)
    except ValueError as error:
        raise UsageError(str(error)) from None


def sizes(count: int) -> str:
    """Bytes for people: `55,296 B (54.0 KiB)`."""
    return f"{count:,} B ({count / 1024:.1f} KiB)"


def stem_of(path: Path) -> str:
    """A file name that is also an identifier in C."""
    return re.sub(r"\W", "_", path.stem) or "model"


def hertz(text: str) -> int:
    """Return a clock in Hz: `84M`, `84000000`. Raises UsageError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)(?:Hz)?", text)
    clock = 0 if match is None else round(float(match[1]) * UNITS[match[2]])
    if not clock:
        raise UsageError(f"--clock={text}: Hz, such as 84M")
    return clock
