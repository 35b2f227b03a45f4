"""The native library: found, loaded once and described to ctypes; None where there is none.

    native = library()
    if native is not None: handle = native.memopt_downsets_create(...)

`interface.hpp` is its interface. `MEMOPT_NATIVE=0` does without it, which changes no answer.
A library of another interface, left by an older build, is as none.
"""

import os
import sys
from array import array
from collections.abc import Sequence
from ctypes import CDLL, POINTER, c_char, c_char_p, c_double, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

INTERFACE = 8  # MEMOPT_INTERFACE of interface.hpp
FILE = "core.native"  # named so on every platform: `.so` would be a module of Python's
LARGEST = (1 << 63) - 1  # what a number of the interface may be

Numbers = POINTER(c_int64)
# function -> (result, arguments)
FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "memopt_downsets_create": (c_void_p, (Numbers, c_int64, c_double)),
    "memopt_downsets_advance": (
        c_int32,
        (c_void_p, c_int64, c_int64, c_int64, c_int64, c_int64, Numbers),
    ),
    "memopt_downsets_order": (None, (c_void_p, Numbers)),
    "memopt_downsets_destroy": (None, (c_void_p,)),
    "memopt_corners_create": (c_void_p, (Numbers, c_int64, c_double)),
    "memopt_corners_begin": (None, (c_void_p, Numbers, c_int32, c_int64)),
    "memopt_corners_advance": (c_int32, (c_void_p, c_int64, Numbers)),
    "memopt_corners_offsets": (None, (c_void_p, Numbers)),
    "memopt_corners_destroy": (None, (c_void_p,)),
    "memopt_ejections_create": (c_void_p, (Numbers, c_int64)),
    "memopt_ejections_begin": (c_int32, (c_void_p, Numbers, c_int64)),
    "memopt_ejections_lift": (None, (c_void_p, c_int64)),
    "memopt_ejections_advance": (c_int32, (c_void_p, c_int64, Numbers)),
    "memopt_ejections_offsets": (None, (c_void_p, Numbers)),
    "memopt_ejections_destroy": (None, (c_void_p,)),
    "memopt_beam_create": (c_void_p, (Numbers, c_int64)),
    "memopt_beam_begin": (c_int32, (c_void_p, c_int64, Numbers)),
    "memopt_beam_advance": (c_int32, (c_void_p, c_int64, Numbers)),
    "memopt_beam_offsets": (None, (c_void_p, Numbers)),
    "memopt_beam_destroy": (None, (c_void_p,)),
    "memopt_best_fit": (c_int32, (Numbers, c_int64, Numbers)),
    "memopt_json_graphs_solve": (
        c_int64,
        (
            *(c_char_p, Numbers, c_int64, Numbers, c_int64, c_char_p, c_int64),
            *(Numbers, c_void_p, c_void_p),
        ),
    ),
    "memopt_array_text": (c_int64, (c_void_p, c_void_p, c_int64, Numbers, c_char_p)),
}


def library() -> CDLL | None:
    """Return the library, if it was built and is wanted."""
    return None if os.environ.get("MEMOPT_NATIVE") == "0" else _load()


@cache
def _load() -> CDLL | None:
    path = Path(__file__).with_name(FILE)
    if sys.byteorder != "little":  # masks are handed over as bytes
        return None
    try:
        loaded = CDLL(str(path))
    except OSError:  # no compiler was there, or for another machine
        return None
    if loaded.memopt_interface() != INTERFACE:
        return None
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


def numbers_of(values: "array[int]") -> Any:
    """Return `values` (signed, 64 bits each) as an argument, which shares their memory."""
    return (c_int64 * len(values)).from_buffer(values)


def octets_of(values: bytearray) -> Any:
    """Return `values` as an argument, which shares their memory."""
    return (c_char * len(values)).from_buffer(values)


def clamped(value: int | None) -> int:
    """Return a limit as the interface takes it; None is no limit."""
    return LARGEST if value is None else max(-LARGEST, min(LARGEST, value))


class Stream:
    """Numbers of a problem, one after the other, as `stream.hpp` reads them.

    A number of more than 64 bits raises OverflowError.
    """

    def __init__(self) -> None:
        self.values = array("q")

    def add(self, *values: int) -> None:
        """Add the numbers."""
        self.values.extend(values)

    def add_list(self, values: Sequence[int]) -> None:
        self.values.append(len(values))
        self.values.extend(values)

    def add_mask(self, mask: int, size: int) -> None:
        """A set of numbers below `size`."""
        words = max(1, (size + 63) // 64)
        self.values.frombytes(mask.to_bytes(8 * words, "little"))
