"""minimalloc's CSV with sizes that grow with one bounded dimension, a batch or a length.

    id,lower,upper,size(n<=32),offset
    x,0,2,4096*n,64
    y,1,3,1024*n+64,4096*n+64

`size(n<=32)` names the dimension, from 1 to 32; sizes and offsets are `a*n+b`, all else is as in
`minimalloc.py`. For each n the file is one of those.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.minimalloc import LARGEST, Row, read_rows

HEADER = re.compile(r"size\(([a-zA-Z]\w*)<=(\d{1,18})\)", re.ASCII)
LINE = re.compile(
    r"(?:([+-]?\d{1,18})\*|([+-]))?([a-zA-Z]\w*)([+-]\d{1,18})?|([+-]?\d{1,18})", re.ASCII
)

Line = tuple[int, int]
"""(a, b) of a*n+b."""


def at(line: Line, n: int) -> int:
    """Return what a line is at `n`."""
    return line[0] * n + line[1]


@dataclass(frozen=True)
class Family:
    """The lines of a file, of which the header says `name` and `largest` value of the dimension;
    `size` is the column with it. `file` is where it stands, behind `blank` lines."""

    file: str
    name: str
    largest: int
    size: int
    blank: int
    table: tuple[tuple[str, ...], ...]

    def rows(self, n: int) -> tuple[Row, ...]:
        """Return the buffers at `n`. Raises MemoptError at a line of the file."""
        header, *lines = self.table
        columns = [c.strip() for c in header]
        columns[self.size] = "size"
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        text.write("\n" * self.blank)
        writer.writerow(columns)
        lines_of = {i for i, c in enumerate(columns) if c in ("size", "offset")}
        for number, cells in enumerate(lines, self.blank + 2):
            where = f"{self.file}:{number}"
            values = [
                self._value(c, columns[i], n, where) if i in lines_of and c.strip() else c
                for i, c in enumerate(cells)
            ]
            writer.writerow(values)
        return read_rows(text.getvalue().encode(), self.file)

    def _value(self, text: str, what: str, n: int, where: str) -> str:
        """Return a cell at `n`. Raises MemoptError for one that is no line."""
        match = LINE.fullmatch(text.strip())
        if match is None or match[3] not in (None, self.name):
            raise MemoptError(f"{what} {text.strip()!r} is no a*{self.name}+b", where)
        if match[5] is not None:
            return match[5]
        return str(at((int(match[1] or f"{match[2] or ''}1"), int(match[4] or 0)), n))

    def placed(self, offsets: Sequence[Line]) -> str:
        """Return the file with these offsets."""
        header, *lines = self.table
        columns = [i for i, c in enumerate(header) if c.strip() != "offset"]
        out = StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([*(header[i] for i in columns), "offset"])
        rows = [cells for cells in lines if any(c.strip() for c in cells)]
        for cells, offset in zip(rows, offsets, strict=True):
            writer.writerow([*(cells[i] for i in columns), self.text(offset)])
        return out.getvalue()

    def text(self, line: Line) -> str:
        """Return a line as the file says it."""
        per, base = line
        if not per:
            return str(base)
        return f"{per}*{self.name}" + (f"{base:+}" if base else "")


def read_family(data: bytes, file: str) -> Family | None:
    """Return the family of a file, None where its header has no dimension. Raises MemoptError."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None  # as `read_rows` says in its words
    lines = csv.reader(StringIO(text, newline=""), strict=True)
    try:
        header = next((cells for cells in lines if any(c.strip() for c in cells)), list[str]())
        blank = lines.line_num - 1
        for column, cell in enumerate(header):
            if head := HEADER.fullmatch(cell.strip()):
                largest = int(head[2])
                if not 2 <= largest <= LARGEST:
                    raise MemoptError(f"{head[0]}: a dimension goes to 2 or more", file)
                table = (tuple(header), *map(tuple, lines))
                return Family(file, head[1], largest, column, blank, table)
    except csv.Error as error:
        raise MemoptError(str(error), f"{file}:{lines.line_num}") from None
    return None
