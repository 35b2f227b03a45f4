"""Answers of graphs that had to be searched, by canonical form: in memory, and in a file if there
is one, which other processes and later runs share.

    answers = Answers(Path("sweep.cache"))
    answers.put(form, time_limit, schedule)
    answers.get(form, time_limit)     # None if unknown, or a longer search may do better

An answer that is proven optimal is one under any time limit; another is that of graphs that have
as much time at most. The file is a database of SQLite; of each version of memopt it has its own
answers. Whoever can write it can say what is proven: an order is checked before it is used, a bound
is not. A file that fails while a sweep runs costs answers and no rows.
"""

import atexit
import hashlib
import os
import sqlite3
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from memopt.dialects.memgraph.errors import MemoptError, printable
from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.memory_graph import Schedule
from memopt.solvers.theory.canonical import Form, graph_of
from memopt.text.usage import version_line

REMEMBERED = 4_096  # forms whose answer one process keeps
BUSY = 60.0  # seconds that a process waits for others that write
AGAIN = 0.01  # seconds between two tries where SQLite does not wait by itself
MARK = 0x6D656D6F  # of our databases, "memo"
COLUMNS = "form, operators, peak, lower_bound, proof, states, seconds"
TABLE = (
    "CREATE TABLE answers (form BLOB PRIMARY KEY, operators TEXT, peak INTEGER, "
    "lower_bound INTEGER, proof TEXT, states INTEGER, seconds REAL) WITHOUT ROWID"
)
# another process may have found more meanwhile: what is proven, or took longer, stays
WRITE = (
    f"INSERT INTO answers ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (form) DO UPDATE "
    "SET operators = excluded.operators, peak = excluded.peak, proof = excluded.proof, "
    "lower_bound = excluded.lower_bound, states = excluded.states, seconds = excluded.seconds "
    "WHERE (excluded.proof <> 'none' AND excluded.peak = excluded.lower_bound) "
    "OR ((answers.proof = 'none' OR answers.peak <> answers.lower_bound) "
    "AND ifnull(excluded.seconds, 9e999) >= ifnull(answers.seconds, 9e999))"
)


class Answers:
    """Answers that are known. Raises MemoptError for a file that is no cache, or cannot be one."""

    def __init__(self, path: Path | None = None) -> None:
        self._known: dict[Form, tuple[Schedule, float | None]] = {}
        self._path, self._file = path, None if path is None else _opened(path)
        self._has_failed = False

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
        if self._file is None:
            return
        operators = " ".join(map(str, answer.order))
        facts = operators, answer.peak, answer.lower_bound, answer.proof, answer.states
        try:
            self._file.execute(WRITE, (_key(form), *facts, time_limit))
        except (sqlite3.Error, OverflowError) as error:
            self._note(error)

    def close(self) -> None:
        """Close the file, whose log goes into it with the last process that has it."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _read(self, form: Form) -> tuple[Schedule, float | None] | None:
        """Return what the file says of a form; None also where that is no answer."""
        assert self._file is not None
        try:
            query = f"SELECT {COLUMNS} FROM answers WHERE form = ?"
            row = self._file.execute(query, (_key(form),)).fetchone()
            if row is None:
                return None
            _, operators, peak, lower_bound, proof, states, seconds = row
            order = tuple(map(int, operators.split()))
            answer = Schedule(order, int(peak), int(lower_bound), proof, int(states))
            answer.verify(graph_of(form))
            return answer, None if seconds is None else float(seconds)
        except (sqlite3.Error, ProblemError, ValueError, AttributeError, TypeError) as error:
            self._note(error)
            return None

    def _note(self, error: Exception) -> None:
        """Say once per process what is wrong with the file."""
        if not self._has_failed:
            _warn(f"{self._path}: warning: answers are missing or not kept: {error}")
        self._has_failed = True


def _warn(line: str) -> None:
    print(printable(line), file=sys.stderr)


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
    """Return the database, which is made where there is no file, or an empty one."""
    with _told(path):
        # a thread of an executor may take over from another, never beside it: SQLite is serialized
        file = sqlite3.connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False)
        try:
            if _number(file, "PRAGMA application_id") != MARK:
                _make(file, path)
            file.execute("PRAGMA synchronous=NORMAL")  # a row that is lost is searched again
            file.execute(f"SELECT {COLUMNS} FROM answers LIMIT 0")  # fails for another table
        except BaseException:
            file.close()
            raise
    return file


def _make(file: sqlite3.Connection, path: Path) -> None:
    """Make a cache of a database without anything, unless another process does."""
    file.execute("BEGIN IMMEDIATE")
    with file:  # ends the transaction, also at an error
        mark = _number(file, "PRAGMA application_id")
        if mark == MARK:
            return
        tables = _number(file, "SELECT count(*) FROM sqlite_master")
        if mark or tables or _number(file, "PRAGMA user_version"):
            raise MemoptError("is no cache of a sweep, but another database", str(path))
        file.execute(f"PRAGMA application_id={MARK}")
        file.execute(TABLE)
    _write_ahead(file)


def _write_ahead(file: sqlite3.Connection) -> None:
    """Let readers wait for nobody from now on. SQLite itself does not wait for others here."""
    end = time.monotonic() + BUSY
    while True:
        try:
            file.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(AGAIN)


def _number(file: sqlite3.Connection, query: str) -> int:
    (number,) = file.execute(query).fetchone()
    return number


def check_cache(path: str | None) -> None:
    """Raise MemoptError for a file that is no cache, or cannot be one. One that is not there is
    made."""
    if path is not None:
        Answers(Path(path)).close()


def answers_at(path: str | None) -> Answers:
    """Return the answers that this process has of the file as it is now, or of none."""
    if path is None:
        return _answers("", 0, None)
    try:
        status = Path(path).stat()
    except OSError:
        return _answers(path, os.getpid(), None)
    return _answers(path, os.getpid(), (status.st_dev, status.st_ino))


@cache
def _answers(path: str, process: int, identity: tuple[int, int] | None) -> Answers:
    """Return one object per process, as a fork has no connection of its own, and per `identity` of
    the file, its device and number. One that cannot be opened any more is told once, and done
    without."""
    if not path:
        return Answers()
    try:
        answers = Answers(Path(path))
    except MemoptError as error:
        _warn(f"{path}: warning: {error.text}")
        return Answers()
    atexit.register(lambda: answers.close() if os.getpid() == process else None)
    return answers
