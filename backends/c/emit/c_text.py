"""C text: identifiers, comments, numbers and constant arrays."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

from memopt.backends.c.emit.native_arrays import native_text
from memopt.dialects.arithmetic.lazy_numpy import np

LINE = 100
PART = 1 << 15  # numbers of an array that are words at a time
LARGE = 1 << 16  # numbers of an array, above which it is written part by part
MARK = "\f"  # around what stands for such an array
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


def _flowed(words: Sequence[str], column: int) -> tuple[str, int]:
    """Return words as text behind a line of which `column` bytes are written, 0 before the first
    word, and how many bytes of the last line are written then."""
    ends = [0, *accumulate([len(word) + 2 for word in words])]
    pieces, start, between = list[str](), 0, ", " if column else "  "
    while start < len(words):
        room = ends[start] + LINE - 1 - column
        end = bisect_right(ends, room, start + (1 if column else 2)) - 1
        if end > start:
            pieces += [between, ", ".join(words[start:end])]
            column += ends[end] - ends[start]
            start = end
        if start < len(words):
            between, column = ",\n  ", 0
    return "".join(pieces), column


@dataclass(frozen=True)
class ConstantArray:
    """A `static const` numpy array, flattened, in the section of its kind."""

    c_type: str
    name: str
    values: Any
    kind: str = "TABLES"

    def pieces(self) -> Iterator[str]:
        """Yield its definition, of which a part at a time is in memory: a number takes a hundred
        bytes as one of Python's and a word of its own."""
        flat = self.values.reshape(-1)
        head = f"MEMOPT_{self.kind} static const {self.c_type} {self.name}"
        yield f"{head}[{max(1, len(flat))}] = {{\n"
        column, is_large = 0, len(flat) > LARGE
        if not len(flat):
            yield "  0.0f" if self.c_type == "float" else "  0"
        for at in range(0, len(flat), PART):
            part = flat[at : at + PART]
            written = native_text(self.c_type, part, column) if is_large else None
            if written is None:
                numbers = part.tolist()
                is_real = self.c_type == "float"
                words = _floats(numbers) if is_real else list(map(int_literal, numbers))
                written = _flowed(words, column)
            text, column = written
            yield text
        yield ",\n};\n"

    @property
    def is_finite(self) -> bool:
        """Return whether no number is written by a macro of math.h."""
        return self.c_type != "float" or bool(np.isfinite(self.values).all())


def array(c_type: str, name: str, values: Any, kind: str = "TABLES") -> str:
    """Return the definition of a ConstantArray."""
    return "".join(ConstantArray(c_type, name, values, kind).pieces())


LargeArrays = dict[str, ConstantArray]
"""Arrays that are not written before their file is, by the mark that stands for them."""


def mark_large(arrays: LargeArrays, large: ConstantArray, digest: str) -> str:
    """Return the mark of an array of the `digest`, which is put into `arrays`."""
    mark = f"{large.kind} {large.c_type} {large.name} {digest}"
    arrays[mark] = large
    return f"{MARK}{mark}{MARK}"


def pieces_of(text: str, arrays: LargeArrays) -> Iterator[str]:
    """Yield the pieces of a text, with the arrays whose marks it has."""
    for number, piece in enumerate(text.split(MARK)):
        if number % 2:
            yield from arrays[piece].pieces()
        else:
            yield piece
