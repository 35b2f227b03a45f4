"""Answers of graphs that had to be searched, by canonical form: in memory, and in a file if there
is one, which other processes and later runs share.

    answers = Answers(Path("sweep.cache"))
    answers.put(form, time_limit, schedule)
    answers.get(form, time_limit)     # None if unknown, or a longer search may do better

An answer that is proven optimal is one under any time limit; another is that of graphs that have
as much time at most. The file is a database of SQLite; of each version of memopt it has its own
answers. Whoever can write it can say what is proven: an order is checked before it is used, a bound
is not.
"""

import hashlib
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from memopt.dialects.memgraph.errors import MemoptError
from memopt.solvers.problems.memory_graph import Schedule
from memopt.solvers.theory.canonical import Form
from memopt.text.usage import version_line

REMEMBERED = 4_096  # forms whose answer one process keeps
BUSY = 60.0  # seconds that a process waits for others that write
MARK = 0x6D656D6F  # of our databases, "memo"
TABLE = (
    "CREATE TABLE IF NOT EXISTS answers (form BLOB PRIMARY KEY, operators TEXT, peak INTEGER, "
    "lower_bound INTEGER, proof TEXT, states INTEGER, seconds REAL) WITHOUT ROWID"
)


class Answers:
    """Answers that are known. Raises MemoptError for a file that is no cache, or cannot be one."""

    def __init__(self, path: Path | None = None) -> None:
        self._known: dict[Form, tuple[Schedule, float | None]] = {}
        self._path, self._file = path, None if path is None else _opened(path)

    def get(self, form: Form, time_limit: float | None) -> Schedule | None:
        """Return the answer of a form, if none of so many seconds is better."""
        entry = self._known.get(form)
        if (entry is None or not _does(*entry, time_limit)) and self._file is not None:
            entry = self._read(form)
        return entry[0] if entry is not None and _does(*entry, time_limit) else None

    def put(self, form: Form, time_limit: float | None, answer: Schedule) -> None:
        """Keep an answer that was found within so many seconds."""
        if len(self._known) >= REMEMBERED:
            self._known.pop(next(iter(self._known)), None)  # another thread may have done it
        self._known[form] = answer, time_limit
        if self._file is not None and self._path is not None:
            operators = " ".join(map(str, answer.order))
            facts = operators, answer.peak, answer.lower_bound, answer.proof, answer.states
            with _told(self._path):
                self._file.execute(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (_key(form), *facts, time_limit),
                )

    def _read(self, form: Form) -> tuple[Schedule, float | None] | None:
        assert self._file is not None and self._path is not None
        with _told(self._path):
            row = self._file.execute(
                "SELECT operators, peak, lower_bound, proof, states, seconds FROM answers "
                "WHERE form = ?",
                (_key(form),),
            ).fetchone()
        if row is None:
            return None
        operators, peak, lower_bound, proof, states, seconds = row
        order = tuple(map(int, operators.split()))
        return Schedule(order, peak, lower_bound, proof, states), seconds


def _does(answer: Schedule, seconds: float | None, time_limit: float | None) -> bool:
    """Return whether an answer found within `seconds` is one for `time_limit`."""
    longest = seconds is None or (time_limit is not None and time_limit <= seconds)
    return answer.optimal or longest


def _key(form: Form) -> bytes:
    return hashlib.sha256(f"{version_line()} {form}".encode()).digest()


@contextmanager
def _told(path: Path) -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise MemoptError(f"no cache of a sweep: {error}", str(path)) from None


def _opened(path: Path) -> sqlite3.Connection:
    with _told(path):
        # a thread of an executor may take over from another, never beside it: SQLite is serialized
        file = sqlite3.connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False)
        (mark,) = file.execute("PRAGMA application_id").fetchone()
        (tables,) = file.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if mark != MARK and tables:
            raise MemoptError("is no cache of a sweep, but another database", str(path))
        file.execute("PRAGMA journal_mode=WAL")  # readers wait for nobody
        file.execute("PRAGMA synchronous=NORMAL")
        file.execute(f"PRAGMA application_id={MARK}")
        file.execute(TABLE)
    return file


@cache
def answers_at(path: str | None) -> Answers:
    """Return the answers that this process has of the file, or of none."""
    return Answers(None if path is None else Path(path))
