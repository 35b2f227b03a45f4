"""Other programs that place buffers, run as they are: Vela and minimalloc.

    placed_by_vela(rows, 10.0)     # the rows with offsets, None where it takes longer

Vela: `ethosu.vela.hillclimb_allocation` of the package ethos-u-vela (the extra `peers`).
minimalloc: its binary, if MINIMALLOC points to one, asked for an arena of the bound.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.minimalloc import Row, read_rows, write_rows

# In a process of its own: it can be stopped, and it seeds Python's random numbers. Its live ranges
# are closed; it asks each for its alignment. A memory limit that is always met ends the search
# after 500 changes without an improvement, as in Vela itself when the model fits.
VELA = """
import json, sys
from types import SimpleNamespace
from ethosu.vela.hillclimb_allocation import allocate_live_ranges
ranges = [
    SimpleNamespace(start_time=a, end_time=b - 1, size=s, get_alignment=lambda n=n: n)
    for a, b, s, n in json.load(sys.stdin)
]
json.dump([int(a) for a in allocate_live_ranges(ranges, None, 1 << 62)], sys.stdout)
"""


def vela_is_there() -> bool:
    try:
        return find_spec("ethosu.vela") is not None
    except ModuleNotFoundError:
        return False


def minimalloc() -> str | None:
    """The binary's path, or None. Raises MemoptError if MINIMALLOC points to no file."""
    path = os.environ.get("MINIMALLOC")
    if path and not Path(path).is_file():
        raise MemoptError(f"MINIMALLOC={path}: no such file")
    return path or None


def placed_by_vela(rows: Sequence[Row], time_limit: float) -> list[Row] | None:
    """Raises MemoptError where Vela fails, and for rows that it has no words for."""
    if any(r.gaps or r.offset is not None for r in rows):
        raise MemoptError("Vela knows neither gaps nor fixed offsets")
    steps = sorted({s for r in rows for s in (r.lower, r.upper)})
    at = {step: i for i, step in enumerate(steps)}  # it keeps a list per step
    given = json.dumps([(at[r.lower], at[r.upper], r.size, r.alignment) for r in rows])
    text = _run([sys.executable, "-c", VELA], given, time_limit)
    if text is None:
        return None
    offsets = json.loads(text)
    return [replace(r, offset=o) for r, o in zip(rows, offsets, strict=True)]


def placed_by_minimalloc(rows: Sequence[Row], bound: int, time_limit: float) -> list[Row] | None:
    """None where it finds nothing in `bound` bytes within the limit. Raises MemoptError."""
    binary = minimalloc()
    assert binary is not None
    with tempfile.TemporaryDirectory() as folder:
        given, output = Path(folder) / "in.csv", Path(folder) / "out.csv"
        given.write_text(write_rows(rows), encoding="utf-8")
        command = [binary, f"--capacity={bound}", f"--input={given}", f"--output={output}"]
        if _run(command, "", time_limit) is None or not output.is_file():
            return None
        placed = read_rows(output.read_bytes(), "minimalloc")
    if len(placed) != len(rows) or any(p.offset is None for p in placed):
        return None
    return [replace(r, offset=p.offset) for r, p in zip(rows, placed, strict=True)]


def _run(command: list[str], given: str, time_limit: float) -> str | None:
    """Run a program and return its output; None if it takes longer. Raises MemoptError if it
    fails."""
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, timeout=time_limit, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise MemoptError(f"{Path(command[0]).name} ended with {done.returncode}: {last}")
    return done.stdout
