"""TensorFlow Lite Micro of the wheel with one or two arenas of given sizes, by its C++ interface.

    run_in(data, [37_072, 301_056], inputs)    # the outputs, one list of bytes per run
    run_in(data, [37_056, 301_056], inputs)    # None: too small

The wheel's library exports TFLM's functions by their C++ names, but Python reaches one arena only
of its own interpreter. Each call is a process of its own, as TFLM goes on after some allocations
that failed, and may not survive. TFLM says so on stderr.
"""

import ctypes
import importlib.util
import os
import struct
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

POINTER, SIZE = ctypes.c_void_p, ctypes.c_size_t
GREEDY = 0  # MemoryPlannerType::kGreedy
DATA, BYTES = 24, 40  # offsets in TfLiteTensor
OBJECT = 1 << 20  # more than an interpreter or a resolver takes
TFLM = {
    "resolver": ("17PythonOpsResolverC1Ev", None, [POINTER]),
    "one": ("5micro14MicroAllocator6CreateEPhmNS0_17MemoryPlannerTypeE", POINTER, [POINTER, SIZE]),
    "two": (
        "5micro14MicroAllocator6CreateEPhmS2_mNS0_17MemoryPlannerTypeE",
        POINTER,
        [POINTER, SIZE] * 2,
    ),
    "interpreter": (
        "5micro16MicroInterpreterC1EPKNS_5ModelERKNS0_15MicroOpResolverEPNS0_14MicroAllocatorE"
        "PNS0_22MicroResourceVariablesEPNS0_22MicroProfilerInterfaceE",
        None,
        [POINTER] * 6,
    ),
    "allocate": ("5micro16MicroInterpreter15AllocateTensorsEv", ctypes.c_int, [POINTER]),
    "invoke": ("5micro16MicroInterpreter6InvokeEv", ctypes.c_int, [POINTER]),
    "input": ("5micro16MicroInterpreter5inputEm", POINTER, [POINTER, SIZE]),
    "output": ("5micro16MicroInterpreter6outputEm", POINTER, [POINTER, SIZE]),
}


def run_in(
    data: bytes, arenas: Sequence[int], inputs: Sequence[Sequence[Any]], outputs: int = 1
) -> list[list[bytes]] | None:
    """Return the outputs in arenas of so many bytes, or None if TFLM finds one too small."""
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as said:
        child = os.fork()
        if not child:
            status = 1
            try:
                os.dup2(said.fileno(), 2)
                runs = _run(data, arenas, inputs, outputs)
                if runs is not None:
                    answer.write(b"".join(piece for pieces in runs for piece in pieces))
                    answer.write(struct.pack(f"<{outputs}q", *map(len, runs[0])))
                    answer.flush()
                    status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status or os.fstat(said.fileno()).st_size:
            return None
        answer.seek(0)
        text = answer.read()
    sizes = struct.unpack_from(f"<{outputs}q", text, len(text) - 8 * outputs)
    at, runs = 0, list[list[bytes]]()
    for _ in inputs:
        runs.append([])
        for size in sizes:
            runs[-1].append(text[at : at + size])
            at += size
    return runs


def _run(
    data: bytes, arenas: Sequence[int], inputs: Sequence[Sequence[Any]], outputs: int
) -> list[list[bytes]] | None:
    tflm = _library()
    resolver, interpreter = _aligned(OBJECT), _aligned(OBJECT)
    tflm["resolver"](resolver)
    sizes = [n for size in arenas for n in (_aligned(size), size)]
    allocator = tflm["one" if len(arenas) == 1 else "two"](*sizes, GREEDY)
    model = _aligned(len(data))
    ctypes.memmove(model, data, len(data))
    root = model + struct.unpack_from("<I", data)[0]
    tflm["interpreter"](interpreter, root, resolver, allocator, None, None)
    if tflm["allocate"](interpreter):
        return None
    runs: list[list[bytes]] = []
    for arrays in inputs:
        for i, array in enumerate(arrays):
            address, size = _held(tflm["input"](interpreter, i))
            assert size == array.nbytes
            ctypes.memmove(address, array.tobytes(), size)
        if tflm["invoke"](interpreter):
            return None
        runs.append(
            [ctypes.string_at(*_held(tflm["output"](interpreter, i))) for i in range(outputs)]
        )
    return runs


def _library() -> dict[str, Any]:
    spec = importlib.util.find_spec("tflite_micro")
    assert spec is not None and spec.submodule_search_locations
    folder = Path(next(iter(spec.submodule_search_locations)))
    library = ctypes.CDLL(str(folder / "python" / "tflite_micro" / "_runtime.so"))
    functions: dict[str, Any] = {}
    for name, (symbol, result, arguments) in TFLM.items():
        functions[name] = getattr(library, f"_ZN6tflite{symbol}")
        functions[name].restype = result
        more = [ctypes.c_int] if name in ("one", "two") else []
        functions[name].argtypes = [*arguments, *more]
    return functions


def _aligned(size: int) -> int:
    """Return the address of so many zeros, which live as long as the process."""
    block = ctypes.create_string_buffer(size + 16)
    _blocks.append(block)
    return -(-ctypes.addressof(block) // 16) * 16


_blocks: list[Any] = []


def _held(tensor: int) -> tuple[int, int]:
    """Return where a tensor's elements lie, and how many bytes they take."""
    address = POINTER.from_address(tensor + DATA).value
    assert address is not None
    return address, SIZE.from_address(tensor + BYTES).value


assert sys.byteorder == "little"
