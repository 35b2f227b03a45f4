"""`memopt bench limits`: what a time limit means on large problems, in seconds of this machine.

Each row is a command in a process of its own, from its start to its end: reading the file and
printing the answer are included.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from memopt.benchmarks.large import FAMILIES
from memopt.benchmarks.table import Table

OPT = "from memopt.opt import main; import sys; sys.exit(main())"
MEMOPT = "from memopt.cli import main; import sys; sys.exit(main())"
OVER, MORE = 1.1, 1.0  # of the limit, and seconds: what a limit of one solver may take at most

# (command, family, size, size in a quick run)
ROWS: tuple[tuple[str, str, int, int], ...] = (
    ("--schedule=auto", "butterfly", 10, 7),
    ("--schedule=search", "butterfly", 10, 7),
    ("--schedule=auto", "chains", 1_000, 100),
    ("--fuse", "chains", 1_000, 100),
    ("--schedule=ilp", "chains", 1_000, 100),
    ("--place=auto", "chains", 1_000, 100),
    ("--place=auto", "butterfly", 10, 7),
    ("--memory=a:64K@1,b:64M@2", "butterfly", 10, 7),
    ("place", "buffers", 20_000, 3_000),
    ("place --strategy=hill-climb", "buffers", 20_000, 3_000),
    ("place --strategy=exact", "buffers", 20_000, 3_000),
)


def limits(time_limit: float, quick: bool, tick: Callable[[str], None]) -> Table:
    """One row per command; `time_limit` in seconds for each. Raises CalledProcessError."""
    table = Table(
        "limits",
        f"Large problems within {time_limit:g} s",
        ("command", "problem", "limit s", "wall s", "CPU s", "kept"),
        (
            "Seconds of the whole process: start, reading, planning, printing. Kept: within"
            f" {OVER:g} times the limit and {MORE:g} s.",
        ),
    )
    with TemporaryDirectory() as folder:
        for command, family, large, small in ROWS:
            size = small if quick else large
            path = Path(folder) / f"{family}.{'csv' if family == 'buffers' else 'json'}"
            if not path.exists():
                path.write_text(FAMILIES[family](size))
            tick(f"{command} of {family} {size:,}")
            wall, cpu = _seconds(command, path, time_limit)
            kept = "yes" if wall <= OVER * time_limit + MORE else "no"
            table.add(command, f"{family} {size:,}", time_limit, round(wall, 2), cpu, kept)
    return table


def missed(table: Table) -> list[str]:
    """The rows whose limit was not kept."""
    return [f"{row[0]} of {row[1]}" for row in table.rows if row[-1] == "no"]


def _seconds(command: str, path: Path, time_limit: float) -> tuple[float, float]:
    """Wall and CPU seconds of one command."""
    import resource

    program = OPT if command.startswith("-") else MEMOPT
    words = [*command.split(), str(path), f"--time-limit={time_limit:g}"]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", program, *words], check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, round(cpu, 2)
