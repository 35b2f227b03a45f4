"""C text: identifiers, comments, numbers and constant arrays."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

LINE = 100
PART = 1 << 15  # numbers of an array that are words at a time
_HOLE = re.compile(r"@(\w+)@")
# A model of such a name would shadow a file of the project, a header of the C library, or the maths
# library that is linked; or CMake keeps the name for a target of its own.
_FILES = "main startup platform platform_host platform_board"
_HEADERS = (
    "alloca arm_acle arm_fp16 arm_mve arm_neon assert complex ctype endian errno features fenv "
    "float inttypes iso646 limits locale math newlib setjmp signal stdarg stdbool stddef stdint "
    "stdio stdlib string strings tgmath time unistd wchar wctype"
)
_TARGETS = (
    "all all_build clean edit_cache help install list_install_components m package package_source "
    "preinstall rebuild_cache run_tests test zero_check"
)
RESERVED = frozenset(f"{_FILES} {_HEADERS} {_TARGETS}".split())


def filled(text: str, values: Mapping[str, str]) -> str:
    """`text` with every `@key@` replaced; what is put there is not looked at again. Raises KeyError
    for a key without value."""
    return _HOLE.sub(lambda m: values[m.group(1)], text)


def identifier(text: str) -> str:
    """`text` as a C identifier in lower case; never empty, never starting with a digit."""
    word = re.sub(r"[^a-z0-9_]+", "_", text.lower()).strip("_")
    return word if word and not word[0].isdigit() else f"model_{word}".rstrip("_")


def file_name(name: str) -> str:
    """The stem of the model's files, a C identifier too, that clashes with no other file."""
    name = identifier(name)
    return f"{name}_model" if name in RESERVED or name.startswith("memopt_") else name


@lru_cache(1 << 12)  # of names, each of which stands at many operators
def plain(text: str, limit: int = 60) -> str:
    """`text` fit for a comment or a string literal: a model's tensor names may hold anything.

    Of names that a converter joined with semicolons, the last is left.
    """
    text = text.rstrip(";").rpartition(";")[2]
    word = re.sub(r"[^A-Za-z0-9_.:/+-]+", "_", text).replace("//", "/").replace("*/", "_")
    return word if len(word) <= limit else "..." + word[3 - limit :]


def float_literal(value: float) -> str:
    """A float32 literal that reads back as the same number; what has none, by math.h's macros."""
    if value != value:
        return "NAN"
    if value in (float("inf"), float("-inf")):
        return "INFINITY" if value > 0 else "-INFINITY"
    word = f"{value:.9g}"
    return (word if "." in word or "e" in word else word + ".0") + "f"


def int_literal(value: int) -> str:
    """An integer literal; the most negative ones have none of their own in C."""
    if value in (-(1 << 31), -(1 << 63)):
        return f"({value + 1} - 1)"
    return str(int(value))


def _floats(numbers: Sequence[float]) -> list[str]:
    """Return `float_literal` of each number, ten times as fast for many."""
    words = ("%.9g " * len(numbers) % tuple(numbers)).split()
    return [
        f"{word}f" if "." in word or "e" in word else float_literal(float(word)) for word in words
    ]


def _lines(words: Sequence[str]) -> tuple[list[str], Sequence[str]]:
    """Return full lines of words with a comma behind each, and the words of the last line, to which
    more may come."""
    ends = list(accumulate([len(word) + 2 for word in words]))
    lines, start, before = list[str](), 0, 1
    while (end := bisect_right(ends, LINE - before, start + 1)) < len(words):
        lines.append(f"  {', '.join(words[start:end])},\n")
        start, before = end, 1 - ends[end - 1]
    return lines, words[start:]


def array(c_type: str, name: str, values: Any, kind: str = "TABLES") -> str:
    """`static const` definition of a numpy array, flattened, in the section of its kind.

    A weight takes a hundred bytes as a number and a word of its own, so they are made of a part of
    the array at a time.
    """
    flat = values.reshape(-1)
    parts = [f"MEMOPT_{kind} static const {c_type} {name}[{max(1, len(flat))}] = {{\n"]
    rest: Sequence[str] = () if len(flat) else ("0.0f" if c_type == "float" else "0",)
    for at in range(0, len(flat), PART):
        numbers = flat[at : at + PART].tolist()
        new = _floats(numbers) if c_type == "float" else list(map(int_literal, numbers))
        lines, rest = _lines([*rest, *new])
        parts += lines
    return "".join([*parts, f"  {', '.join(rest)},\n}};\n"])
