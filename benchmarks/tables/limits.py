"""`python -m benchmarks limits`: the CPU seconds of commands under a time limit, on problems of
all sizes.

Each row is a command in a process of its own, from its start to its end: reading the file and
printing the answer are included. 40 graphs, ten generators at four sizes each, are told off in turn
to all methods of ordering and placing, so that each method has a graph of each size, and most
methods of placing the largest graph of which most lives together; besides there are buffers,
networks of typed operators and the models that have broken a limit.

In these processes time is what they use of a processor, and what they wait for the solver's
process: so a limit means the same on a machine that does other things as well.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.tables.graphs import shared_folder
from benchmarks.tables.large import FAMILIES
from benchmarks.tables.table import Table
from memopt.dialects.memgraph.errors import MemoptError
from memopt.passes.memgraph_place import METHODS as PLACEMENTS
from memopt.solvers.placement import METHODS as STRATEGIES
from memopt.solvers.scheduling import METHODS as SCHEDULES

OVER, MORE = 1.1, 1.0  # of the limit, and seconds: what a command may take at most
REFUSED = 1  # how a command ends whose method does not take so many

# of each generator the sizes that make about 100, 1,000, 5,000 and 20,000 operators
GRAPHS: dict[str, tuple[int, int, int, int]] = {
    "straight": (100, 1_000, 5_000, 20_000),
    "attention": (7, 71, 357, 1_428),
    "training": (100, 1_000, 5_000, 20_000),
    "butterfly": (4, 7, 9, 11),
    "drawn": (100, 1_000, 5_000, 20_000),
    "layers": (20, 200, 1_000, 4_000),
    "hourglass": (50, 500, 2_500, 10_000),
    "wide": (10, 32, 71, 141),
    "nested": (33, 333, 1_667, 6_667),
    "chains": (20, 200, 1_000, 4_000),
}
BUFFERS = (1_000, 20_000)
NETWORKS = (("compile --target=host", "network", 20), ("compile --target=host", "network", 200))
MODELS = (
    ("compile --target=host --rewrite=all", "families/kwt_q.onnx"),
    ("compile --target=host", "families/kwt4.onnx"),
    ("compile --target=host --rows=all", "selfie_segmentation.tflite"),
    ("compile --target=host --int8-io", "mcunet_vww_int8.tflite"),
    ("compile --target=host", "swiftnet_cell_vww_uint8.tflite"),
    ("compile --target=host", "families/gru2.onnx"),
)
PIPELINES = (  # over all models of `families`
    "--fuse --schedule=auto --place=joint",
    "--rewrite=all --rows=auto --schedule=auto --place=joint",
)

HARDEST = "hourglass", GRAPHS["hourglass"][-1]  # of which most lives together
ON_HARDEST = (
    "auto",
    "best-fit",
    "cp-sat",
    "ejection",
    "exact",
    "greedy-by-breadth",
    "greedy-by-size",
    "hill-climb",
    "joint",
    "tflite",
    "tflm",
)

Row = tuple[str, str, int]  # a command, the generator of its problem or a model, its size


def commands() -> list[str]:
    """Return the options of all planning methods."""
    return [
        "--fuse",
        "--partition=auto --schedule=auto",
        *(f"--schedule={method}" for method in SCHEDULES if method != "source"),
        *(f"--place={method}" for method in PLACEMENTS),
        "--memory=a:64K@1,b:64M@2",
    ]


def rows(quick: bool) -> Iterator[Row]:
    """Yield the commands with their problems; every fourth, on the smallest, in a quick run."""
    families = list(GRAPHS)
    for n, command in enumerate(commands()[:: 4 if quick else 1]):
        for at in range(1 if quick else 4):
            family = families[(n + 3 * at) % len(families)]
            yield command, family, GRAPHS[family][at]
    for method in () if quick else ON_HARDEST:
        yield f"--place={method}", *HARDEST
    for strategy in STRATEGIES[:: 4 if quick else 1]:
        for count in BUFFERS[: 1 if quick else None]:
            yield f"place --strategy={strategy}", "buffers", count
    yield from NETWORKS[: 1 if quick else None]
    models = shared_folder() / "models"
    every = [
        (p, f"families/{m.name}") for m in sorted(models.glob("families/*.onnx")) for p in PIPELINES
    ]
    for command, model in () if quick else (*MODELS, *every):
        if (models / model).exists():
            yield command, model, 0


def limits(time_limit: float, quick: bool, tick: Callable[[str], None]) -> Table:
    """Return a table of one row per command; `time_limit` in seconds for each. Raises
    MemoptError."""
    table = Table(
        "limits",
        f"Commands within {time_limit:g} s",
        ("command", "problem", "limit s", "CPU s", "kept"),
        (
            "CPU seconds of the process and its solver: start, reading, planning, printing. Kept:"
            f" within {OVER:g} times the limit of each pass, and {MORE:g} s. A method that refuses"
            " so many operators or buffers says so in as much time.",
        ),
    )
    with TemporaryDirectory() as folder:
        for command, problem, size in rows(quick):
            path, name = _problem(Path(folder), problem, size)
            tick(f"{command} of {name}")
            code, seconds = _seconds(command, path, time_limit, Path(folder))
            verdict = "yes" if seconds <= allowed(command, time_limit) else "no"
            verdict += ", refused" if code == REFUSED else ""
            table.add(command, name, time_limit, seconds, verdict)
    return table


def allowed(command: str, time_limit: float) -> float:
    """Return the seconds that a command may take, whose passes have the limit each."""
    passes = sum(word.startswith("-") for word in command.split())
    return OVER * time_limit * (passes if command.startswith("-") else 1) + MORE


def missed(table: Table) -> list[str]:
    """The rows whose limit was not kept."""
    return [f"{row[0]} of {row[1]}" for row in table.rows if str(row[-1]).startswith("no")]


def _problem(folder: Path, problem: str, size: int) -> tuple[Path, str]:
    """Return the file of a problem, which is written if it is a generated one, and its name."""
    if problem not in FAMILIES:
        return shared_folder() / "models" / problem, Path(problem).name
    text = FAMILIES[problem](size)
    ending = ".json" if text.startswith("{") else ".csv" if problem == "buffers" else ".mlir"
    path = folder / f"{problem}{size}{ending}"
    if not path.exists():
        path.write_text(text)
    return path, f"{problem} {size:,}"


def _seconds(command: str, path: Path, time_limit: float, folder: Path) -> tuple[int, float]:
    """Return the exit status of a command, which may write into `folder`, and its CPU seconds.
    Raises MemoptError if it fails."""
    import resource

    words = [*command.split(), str(path), f"--time-limit={time_limit:g}"]
    words += [f"-o{folder / 'out'}", "--force"] if words[0] == "compile" else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    module = [sys.executable, "-m", "benchmarks.tables.counted"]
    root = Path(__file__).resolve().parents[2]  # where the module is found
    done = subprocess.run([*module, *words], capture_output=True, text=True, cwd=root)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, REFUSED):
        raise MemoptError(f"{' '.join(words)}: {done.stderr.strip()}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, round(cpu, 2)
