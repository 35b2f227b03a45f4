"""`memopt.sweep(graphs)`: peak, bound and proof of many graphs, on all cores or any executor.

Rows come in the order of the graphs, whichever worker is done first. A graph that cannot be read
has a row with its error; the others are not touched by that.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp

from memopt.api.answers import check_cache
from memopt.api.plans import check_words
from memopt.api.sources import Model, seconds, whole_number
from memopt.api.sweep_rows import Row, Task
from memopt.api.sweep_rows import rows as solved_rows
from memopt.compile.driver import IR, build_pipeline
from memopt.compile.options import PlanOptions
from memopt.frontends.core.registry import suffixes
from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.text.ir_text import module_text

if TYPE_CHECKING:
    from memopt.api.sources import Source

Graphs: TypeAlias = "Source | MemoryGraph | Iterable[Source | MemoryGraph]"


def sweep(
    graphs: Graphs,
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    pipeline: str = "",
    time_limit: float | None = None,
    in_order: bool = True,
    cache: "str | os.PathLike[str] | None" = None,
    target: str | None = None,
    rows: str | None = None,
    rewrite: str | None = None,
    flash: int | None = None,
) -> Iterator[Row]:
    """The least peak of each graph: one Row per graph, in order, as soon as it is known.

    `graphs` are paths, folders (then every .tflite, .onnx, .json, .hlo and .mlir below, sorted), or
    anything that `memopt.peak` takes; a generator need not end. `executor` is anything with the
    `submit` of `concurrent.futures`; it is left open. Without one there are `jobs` processes, one
    per core by default (1: this one; several need a main module that can be imported). `pipeline`
    and `time_limit` are for each graph as for `peak`. With `in_order` off rows come as they are
    done. `cache` is a file of answers, which workers, other sweeps and later ones share. With
    `target`, `rows` or `rewrite`, as of `memopt.plan`, each graph is planned, and its row has the
    arena. `flash` is bytes that a device has for weights: rows say whether they fit.

    Raises ValueError and TypeError at once for an argument that there is not, OSError for a folder
    that cannot be read, and MemoptError for a file that is no cache; what is wrong with a graph is
    in its row.

        >>> with ThreadPoolExecutor(2) as pool:
        ...     found = list(memopt.sweep("candidates/", executor=pool, time_limit=60))
        >>> [row.graph for row in found if row.optimal]
        ['candidates/cell0.json', 'candidates/cell1.json']
    """
    if jobs is not None and executor is not None:
        raise ValueError("jobs goes without executor, which has its own workers")
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs={jobs}: one process or more")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor: {type(executor).__name__} has no submit()")
    seconds(time_limit)
    build_pipeline(pipeline)  # a wrong one is told once, not per graph
    shared = None if cache is None else str(Path(cache).resolve())
    check_cache(shared)
    words = plan_words({"target": target, "rows": rows, "rewrite": rewrite}, shared)
    flash = whole_number("flash", flash)
    tasks = (
        Task(_sendable(graph), pipeline, time_limit, name, shared, flash=flash, plan=words)
        for name, graph in _listed(graphs)
    )
    return solved_rows(tasks, jobs or os.cpu_count() or 1, executor, in_order)


def plan_words(given: Mapping[str, str | None], cache: str | None) -> dict[str, str] | None:
    """Return the options of plans that are given, None without any. Raises ValueError for a word
    that there is not, and for a cache, which has no plans."""
    words: dict[str, Any] = {name: word for name, word in given.items() if word is not None}
    if not words:
        return None
    if cache is not None:
        raise ValueError(f"cache has answers of searches, not plans: it goes without {min(words)}")
    for name, word in words.items():
        if not word:
            raise ValueError(f"{name}={word!r} says nothing; leave it out")
    check_words(PlanOptions(**words))
    return words


def files_below(path: Path) -> list[Path]:
    """Every graph in a folder and the folders in it, sorted. Raises OSError."""

    def fail(error: OSError) -> None:
        raise error

    ends = (*suffixes(), IR)
    graphs = [
        Path(folder, name)
        for folder, _, names in os.walk(path, onerror=fail)
        for name in names
        if Path(name).suffix in ends
    ]
    return sorted(graphs)


def _listed(graphs: Graphs) -> Iterator[tuple[str, Any]]:
    """(what its row calls it, graph), folders opened."""
    single = isinstance(
        graphs, str | os.PathLike | bytes | Mapping | ModuleOp | Model | MemoryGraph
    ) or hasattr(graphs, "SerializeToString")
    if not single and not isinstance(graphs, Iterable):
        raise TypeError(f"graphs: a path, a folder, or several graphs, not {type(graphs).__name__}")
    return _opened([graphs] if single else cast("Iterable[Any]", graphs))


def _opened(graphs: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    for number, graph in enumerate(graphs):
        if not isinstance(graph, str | os.PathLike):
            yield graph.name if isinstance(graph, Model) else f"graph {number}", graph
            continue
        path = Path(cast("str | os.PathLike[str]", graph))
        if path.is_dir():
            yield from ((str(p), p) for p in files_below(path))
        else:
            yield os.fspath(cast("str | os.PathLike[str]", graph)), path


def _sendable(graph: Any) -> Any:
    """The graph as another process can get it: IR is not sent, its text is."""
    if isinstance(graph, ModuleOp | Model):
        module = graph if isinstance(graph, ModuleOp) else graph.module
        return module_text(module).encode()
    return graph
