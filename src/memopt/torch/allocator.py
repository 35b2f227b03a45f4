"""PyTorch's allocator for the CPU, replaced while a plan is executed or measured (allocator.cpp).

    with installed(arena=tensor) as allocator:
        allocator.serve([(4096, address)])   # the next allocation of 4096 B lies at this address
        y = torch.relu(x)
        allocator.counters().outside         # allocations that were not so foreseen

PyTorch's own extension loader builds it, once per version of PyTorch: that takes a C++ compiler
and ninja.
"""

import ctypes
import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from memopt.dialects.memgraph.errors import MemoptError
from memopt.torch.lazy import pytorch

SOURCE = Path(__file__).with_name("allocator.cpp")
ALIGNMENT = 64  # bytes, of every tensor that PyTorch's own allocator for the CPU gives


class Event(NamedTuple):
    """`size` bytes were allocated at `address`, or, 0, freed."""

    size: int
    address: int


@dataclass(frozen=True)
class Counters:
    """Allocations at their planned addresses, others, and those that were foreseen and did not
    come; bytes of the others at one time, at most."""

    served: int
    outside: int
    unused: int
    outside_peak: int


class _Pair(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint64), ("address", ctypes.c_uint64)]


class _Counters(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint64) for name in ("served", "outside", "unused", "bytes", "peak")
    ]


Script = ctypes.Array[_Pair]


def script(entries: Sequence[tuple[int, int]]) -> Script:
    """Return (bytes, address) of each allocation of one operator, in their order; address 0: in
    the system's memory."""
    return (_Pair * len(entries))(*(_Pair(size, address) for size, address in entries))


@dataclass(frozen=True)
class Allocator:
    """Interface of the library while it is installed."""

    core: Any
    bytes_before: int

    def serve(self, entries: Script) -> None:
        """Take the next allocations for those of one operator."""
        self.core.memopt_serve(entries, ctypes.c_uint64(len(entries)))

    def events(self) -> list[Event]:
        """Return what was allocated and freed since this was called last."""
        count = self.core.memopt_events(None, ctypes.c_uint64(0))
        events = (_Pair * count)()
        self.core.memopt_events(events, ctypes.c_uint64(count))
        return [Event(e.size, e.address) for e in events]

    def counters(self) -> Counters:
        c = _counters(self.core)
        return Counters(c.served, c.outside, c.unused, c.peak - self.bytes_before)


@contextmanager
def installed(arena: tuple[int, int] = (0, 0), records: bool = False) -> Generator[Allocator]:
    """Let PyTorch allocate by plan; `arena` has the first and the end address of what is planned.

    Raises MemoptError where the allocator cannot be built, and while it is installed already.
    """
    core = library()
    numbers = (ctypes.c_uint64(arena[0]), ctypes.c_uint64(arena[1]))
    begun = core.memopt_begin(*numbers, int(records))
    if begun < 0:
        raise MemoptError("another step is run by a plan or measured; only one can be at a time")
    if not begun:
        raise MemoptError("PyTorch has kept another allocator for the CPU")
    try:
        yield Allocator(core, _counters(core).bytes)
    finally:
        core.memopt_end()


def _counters(core: Any) -> _Counters:
    counters = _Counters()
    core.memopt_counters(ctypes.byref(counters))
    return counters


@cache
def library() -> Any:
    """Build and load the library. Raises MemoptError."""
    pytorch()
    path = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), path])  # of ninja
    try:
        extension = pytorch("torch.utils.cpp_extension")
        built = extension.load("memopt_allocator", [str(SOURCE)], is_python_module=False)
    except (ImportError, OSError, RuntimeError) as error:
        why = str(error).splitlines()[0]
        text = "executing a plan needs a C++ compiler and ninja: pip install memopt[torch]"
        raise MemoptError(f"{text} ({why})") from None
    finally:
        os.environ["PATH"] = path
    core = ctypes.CDLL(built)
    core.memopt_events.restype = ctypes.c_uint64
    return core
