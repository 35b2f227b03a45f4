"""Lines on stderr for people: errors with their place, and how far a command is; and the
matching of `// expected-error`.

xDSL, whose errors these are too, is loaded by those who have an operation or an error at hand:
`memopt place` knows no operations, and would take a third longer.
"""

import os
import re
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memopt.dialects.memgraph.errors import MemoptError, printable
from memopt.solvers.errors import ProblemError
from memopt.text.progress import Spinner
from memopt.text.usage import STDOUT, Answer, UsageError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation
    from xdsl.utils.exceptions import VerifyException

EXPECTED = re.compile(r"expected-error\s*(?:@([+-]\d+|above|below|unknown))?\s*\{\{(.*?)\}\}")
DEVICES = ("/dev", "/dev/fd", "/proc/self/fd")  # /dev/stdout is a link, not to be replaced


@dataclass(frozen=True)
class Diagnostic:
    """One error: `place` is `file:line:col` or whatever a person can find; `line` if known. Of a
    text that cannot be read `source` is the line with a mark under the place."""

    place: str
    text: str
    line: int | None = None
    source: str = ""

    def with_source(self) -> str:
        """Return the error for people, with what is there and a mark under the place, if known."""
        return f"{self}\n{self.source}" if self.source else str(self)

    def __str__(self) -> str:
        return (
            f"{printable(self.place)}: error: {self.text}" if self.place else f"error: {self.text}"
        )


def one_line(text: str, limit: int = 400) -> str:
    """The first line that says something, without control characters."""
    lines = [s for line in text.splitlines() if (s := line.strip())]
    cleaned = printable(lines[0]) if lines else ""
    return cleaned if len(cleaned) <= limit else cleaned[: limit - 3] + "..."


def marked(text: str, at: int, width: int = 100) -> str:
    """Return the line of a text around the character `at`, and a line with a caret under it."""
    start = max(text.rfind("\n", 0, at) + 1, at - width // 2)
    line = text[start : start + width].split("\n", 1)[0]
    return f"  {printable(line.replace(chr(9), ' '))}\n  {' ' * (at - start)}^"


def location_of(op: "Operation") -> tuple[str, int | None]:
    """`file:line:col` of an operation or the nearest parent that has one."""
    from xdsl.dialects.builtin import FileLineColLoc

    current: Operation | None = op
    while current is not None:
        where = current.location
        if isinstance(where, FileLineColLoc):
            line = where.line.data
            return f"{where.filename.data}:{line}:{where.column.data}", line
        current = current.parent_op()
    return "", None


def verify_module(module: "ModuleOp") -> None:
    """Verify every operation; raise MemoptError at the one that fails, without its dump."""
    from xdsl.utils.exceptions import VerifyException

    try:
        module.verify()
    except VerifyException as error:
        raise _locate(module, error) from None


def _locate(module: "ModuleOp", error: "VerifyException") -> MemoptError:
    from xdsl.utils.exceptions import VerifyException

    text = one_line(str(error))
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException as inner:
            return MemoptError(
                f"{op.name}: {' '.join(str(inner).split())[:300]}", location_of(op)[0]
            )
    return MemoptError(text)


def diagnose(error: BaseException, file: str, line_offset: int = 0) -> Diagnostic:
    """Return the diagnostic for an exception that came up while working on `file`."""
    from xdsl.utils.exceptions import DiagnosticException, ParseError

    if isinstance(error, ParseError):
        where = error.span.get_location()
        line = where.line + line_offset
        source = marked(str(error.span.input.content), error.span.start)
        return Diagnostic(f"{file}:{line}:{where.col}", one_line(error.msg), line, source)
    if isinstance(error, MemoptError):
        place = error.place
        if not place.startswith(file):
            place = f"{file}: {place}" if place else file
        match = re.match(r".*?:(\d+):\d+$", place)
        return Diagnostic(place, one_line(error.text), int(match.group(1)) if match else None)
    if isinstance(error, OSError):
        name = str(error.filename) if error.filename else file
        return Diagnostic(name, error.strerror or one_line(str(error)))
    if isinstance(error, UnicodeDecodeError):
        return Diagnostic(f"{file}: byte {error.start}", "not UTF-8 text")
    if isinstance(error, RecursionError):
        return Diagnostic(file, "nested too deeply")
    if isinstance(error, MemoryError):
        return Diagnostic(file, "out of memory")
    if isinstance(error, DiagnosticException | ProblemError):
        return Diagnostic(file, one_line(str(error)))
    name = type(error).__name__
    hint = "this is a bug in memopt; MEMOPT_DEBUG=1 shows where"
    return Diagnostic(file, f"internal error: {name}: {one_line(str(error))} ({hint})")


@contextmanager
def diagnosed(answer: Answer, file: Callable[[], str] = str) -> Generator[None]:
    """Answer a command inside whose input is wrong by 1, with one line on stderr that names the
    place in the `file` that it works on then. Raises UsageError, BrokenPipeError, and anything for
    MEMOPT_DEBUG=1."""
    try:
        yield
    except (UsageError, BrokenPipeError):
        raise
    except Exception as error:
        if os.environ.get("MEMOPT_DEBUG"):
            raise
        print(diagnose(error, file()).with_source(), file=sys.stderr)
        answer.code = 1


def unmatched(text: str, found: Iterable[Diagnostic], line_offset: int = 0) -> list[str]:
    """Compare errors with the `expected-error` comments of `text`; what does not fit, in words."""
    expected: list[tuple[int | None, str]] = []
    for number, line in enumerate(text.splitlines(), 1 + line_offset):
        for where, message in EXPECTED.findall(line):
            shift = {"": 0, "above": -1, "below": 1}.get(where)
            if where == "unknown":
                expected.append((None, message))
            else:
                expected.append((number + (int(where) if shift is None else shift), message))
    problems: list[str] = []
    for diagnostic in found:
        hit = next(
            (e for e in expected if e[1] in diagnostic.text and e[0] in (None, diagnostic.line)),
            None,
        )
        if hit is None:
            problems.append(f"unexpected error: {diagnostic}")
        else:
            expected.remove(hit)
    problems += [f"line {line}: expected error not produced: {text}" for line, text in expected]
    return problems


def write_output(path: str, data: bytes | str, sources: Iterable[Path] = ()) -> None:
    """Write what an option names: a file, whole or not at all, or stdout for `-`.

    Raises MemoptError if that is one of `sources`, which this run has read, or a stdout that is
    closed, and OSError.
    """
    if path == STDOUT:
        if sys.stdout is None:
            raise MemoptError("is closed; name a file", "stdout")
        sys.stdout.flush()  # what was printed before comes first
        payload = data.encode() if isinstance(data, str) else data  # UTF-8, as in a file
        sys.stdout.buffer.write(payload)
        sys.stdout.buffer.flush()
        return
    check_output(path, sources)
    write_file(path, data)


def check_output(path: str, sources: Iterable[Path]) -> None:
    """Raise MemoptError if a file that is to be written is one of `sources`, which are read."""
    goal = Path(path)
    if goal.is_file() and any(s.exists() and goal.samefile(s) for s in sources):
        raise MemoptError("is read by this run and would be replaced; name another file", path)


def write_file(path: str | Path, data: bytes | str) -> None:
    """Write a file whole or not at all. Raises OSError that names the file."""
    path = Path(path)
    payload = data.encode() if isinstance(data, str) else data
    if str(path.absolute().parent) in DEVICES or (path.exists() and not path.is_file()):  # a pipe
        with path.open("wb") as special:
            special.write(payload)
        return
    if path.is_symlink():  # it stays one: what it leads to is written
        path = Path(os.path.realpath(path))
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(payload)
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def progress(
    text: str, deadline: float | None = None, total: int | None = None
) -> AbstractContextManager[Spinner | None]:
    """Return a line of what is known by now, for people: only on a terminal, and after two
    seconds."""
    if not sys.stderr.isatty():
        return nullcontext()
    return Spinner(text, deadline, total)
