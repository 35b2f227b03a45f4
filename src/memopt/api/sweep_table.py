"""The CSV of a sweep: a row per graph as it is done, from which a sweep that was cut short goes on.

    graph,sha256,settings,peak,lower_bound,proof,optimal,macs,weights,arena,seconds,error
    cells/a.json,9f86...,,49152,49152,flow,True,120000,30720,,0.0012,

`sha256` is of the graph's file and `settings` what it was solved with: a graph whose file or
settings are others is solved again, and so is one with an error. A last line that was cut short is
dropped.
"""

import csv
import hashlib
import io
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import IO

from memopt.api.sweep_rows import Row, Task, is_fitting
from memopt.dialects.memgraph.errors import MemoptError
from memopt.text.diagnostics import write_file

COLUMNS = (
    *("graph", "sha256", "settings", "peak", "lower_bound", "proof", "optimal", "macs"),
    *("weights", "arena", "seconds", "error"),
)


@dataclass(frozen=True)
class Key:
    """Key of a row: the graph, as it was, and how it was solved."""

    graph: str
    sha256: str
    settings: str


def key_of(task: Task) -> Key:
    """Return the key of a graph that is a file, or the bytes of one; one that cannot be read has no
    hash."""
    try:
        data = task.graph if isinstance(task.graph, bytes) else Path(str(task.graph)).read_bytes()
        digest = hashlib.sha256(data).hexdigest()
    except OSError:
        digest = ""
    limit = "" if task.time_limit is None else f"time-limit={task.time_limit:g}"
    words = " ".join(f"{name}={word}" for name, word in sorted((task.plan or {}).items()))
    return Key(task.label, digest, " ".join(filter(None, (task.pipeline, words, limit))))


def _line(values: Iterable[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(["" if v is None else v for v in values])
    return text.getvalue()


def _row_line(key: Key, row: Row) -> str:
    figures = (row.peak, row.lower_bound, row.proof, row.optimal, row.macs, row.weights, row.arena)
    return _line((key.graph, key.sha256, key.settings, *figures, row.seconds, row.error))


def read_rows(path: Path) -> dict[Key, Row]:
    """Return the rows that are done, without those that have an error. Raises MemoptError for
    another kind of CSV."""
    text = path.read_bytes().decode()
    finished = text[: text.rfind("\n") + 1]
    lines = list(csv.reader(io.StringIO(finished)))
    if text and (not lines or tuple(lines[0]) != COLUMNS):
        raise MemoptError("is no table of a sweep: its first line names other columns", str(path))
    rows: dict[Key, Row] = {}
    for number, line in enumerate(lines[1:], 2):
        try:
            graph, digest, settings, peak, bound, proof, optimal, *work, taken, error = line
            if error:
                continue
            macs, weights, arena = (int(number) if number else None for number in work)
            row = Row(
                graph, int(peak), int(bound), proof, {"True": True, "False": False}[optimal],
                float(taken), None, (), macs, weights, arena,
            )  # fmt: skip
        except (ValueError, KeyError):
            raise MemoptError("is no row of a sweep", f"{path}:{number}") from None
        rows[Key(graph, digest, settings)] = row
    return rows


class Table:
    """The file while a sweep runs; what is done already is in `done`. Raises MemoptError, OSError.

    A `with` closes it.
    """

    def __init__(self, path: Path) -> None:
        self.done = read_rows(path) if path.exists() else {}
        rows = "".join(_row_line(key, row) for key, row in self.done.items())
        write_file(path, _line(COLUMNS) + rows)
        self._file: IO[str] = path.open("a", encoding="utf-8", newline="")

    def __enter__(self) -> "Table":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, key: Key, row: Row) -> None:
        """A row, on disk before the next."""
        self.done[key] = row
        self._file.write(_row_line(key, row))
        self._file.flush()

    def resumed(
        self, tasks: Iterable[Task], solved: Callable[[Iterable[Task]], Iterator[Row]]
    ) -> Iterator[Row]:
        """A row per task: those that are there, and those of `solved` as they come. A graph is read
        when its turn comes, so that workers begin at once."""
        keys: dict[str, Key] = {}
        known: deque[Row] = deque()

        def unsolved() -> Iterator[Task]:
            for task in tasks:
                key = keys[task.label] = key_of(task)
                row = self.done.get(key)
                if row is None:
                    yield task
                else:
                    known.append(replace(row, fits=is_fitting(task, row.weights)))

        for row in solved(unsolved()):
            yield from _drained(known)
            self.add(keys[row.graph], row)
            yield row
        yield from _drained(known)


def _drained(rows: deque[Row]) -> Iterator[Row]:
    while rows:
        yield rows.popleft()
