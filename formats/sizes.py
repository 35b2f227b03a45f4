"""Sizes as texts: `256K`."""

import re

_SIZE = re.compile(r"(\d+)([KMkm]?)")


def parse_size(text: str) -> int:
    """Bytes of `65536`, `64K` or `1M`; K = 1024. Raises ValueError."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no size; write 65536, 64K or 1M")
    return int(match[1]) * {"": 1, "K": 1 << 10, "M": 1 << 20}[match[2].upper()]
