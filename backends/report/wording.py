"""Sizes and names as people read them, and names made safe for XML."""

import re

# What XML 1.0 cannot hold, surrogates included: a hostile name must not break the file.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def kib(count: int) -> str:
    """Bytes in the unit that suits: `512 B`, `54.0 KiB`, `9.40 MiB`."""
    if count < 1024:
        return f"{count:,} B"
    if count < 10 * 1024 * 1024:
        return f"{count / 1024:,.1f} KiB"
    return f"{count / 1024 / 1024:,.2f} MiB"


def both(count: int) -> str:
    """`55,296 B (54.0 KiB)`."""
    return f"{count:,} B" if count < 1024 else f"{count:,} B ({kib(count)})"


def share(part: int, whole: int) -> str:
    """The change from `whole` to `part` in per cent, with a true minus sign."""
    if whole == 0:
        return "0 %"
    change = 100 * (part - whole) / whole
    if part == whole:
        return "0 %"
    return f"{'−' if change < 0 else '+'}{abs(change):.1f} %"  # noqa: RUF001


def xml(text: str) -> str:
    """`text` for use between tags and inside double quotes."""
    safe = _FORBIDDEN.sub("\ufffd", text)
    return (
        safe.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    )


def short(name: str, length: int) -> str:
    """A name in at most `length` characters. Of the fused names that TFLite writes
    (`a/b/Relu;a/b/Conv2D`) the first, of a path the end."""
    name = " ".join(name.split(";")[0].split()) or name.strip()
    if len(name) <= length:
        return name
    return "…" + name[len(name) - length + 1 :] if length > 1 else "…"[:length]
