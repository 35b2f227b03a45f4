"""minimalloc's CSV: buffers with live ranges, and their offsets once they are placed.

    id,lower,upper,size,alignment,gaps,offset
    b1,0,9,4096,16,3-5 6-7@0:1024,

`lower` (also `start`, `begin`) is inclusive, `upper` exclusive; a column named `end` is inclusive,
and then so are the ends of gaps. `id` is also `buffer` or `buffer_id`. Optional: `alignment`
(bytes); `gaps`, steps in which the buffer holds nothing, or with `@0:bytes` only its first bytes;
`offset`, where the buffer is fixed (empty: free to be placed); `hint`, which is not used. Columns
come in any order (src/converter.cc of google/minimalloc, Apache-2.0; read, not copied).
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

from memopt.dialects.memgraph.errors import MemoptError

LARGEST = 1 << 60  # bytes and steps; what is larger would not be safe in 64 bits
LARGEST_SUM = 1 << 62  # of all buffers, whatever their order and alignment
NAMES = {"begin": "lower", "start": "lower", "end": "upper", "buffer": "id", "buffer_id": "id"}
REQUIRED = ("id", "lower", "upper", "size")
GAP = re.compile(r"([+-]?\d+)-([+-]?\d+)(?:@(\d+):(\d+))?", re.ASCII)
KNOWN = (*REQUIRED, "alignment", "gaps", "offset", "hint")


@dataclass(frozen=True)
class Gap:
    """Steps [lower, upper) in which only the first `size` bytes of a buffer are held."""

    lower: int
    upper: int
    size: int = 0


@dataclass(frozen=True)
class Row:
    """A buffer: live in steps [lower, upper), `size` bytes, perhaps at a fixed offset."""

    name: str
    lower: int
    upper: int
    size: int
    alignment: int = 1
    gaps: tuple[Gap, ...] = ()
    offset: int | None = None


def read_rows(data: bytes, name: str) -> tuple[Row, ...]:
    """Every buffer of the file. Raises MemoptError at `name:line`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MemoptError(f"no CSV: not UTF-8 text at byte {error.start}", name) from None
    lines = csv.reader(StringIO(text, newline=""), strict=True)
    columns: list[str] = []
    inclusive = 0
    rows: list[Row] = []
    total = highest = 0
    try:
        for fields in lines:
            where = f"{name}:{lines.line_num}"
            if not any(f.strip() for f in fields):
                continue
            if not columns:
                columns, inclusive = _header([f.strip() for f in fields], where)
                continue
            if len(fields) != len(columns):
                raise MemoptError(f"{len(fields)} fields, the header has {len(columns)}", where)
            cells = {c: f.strip() for c, f in zip(columns, fields, strict=True)}
            row = _row(cells, inclusive, where)
            rows.append(row)
            total += row.size + row.alignment - 1
            highest = max(highest, row.offset or 0)
            if highest + total > LARGEST_SUM:
                text = f"with {row.name!r} the buffers may need {highest + total} B"
                raise MemoptError(f"{text}, which overflows 64-bit sizes", where)
    except csv.Error as error:
        raise MemoptError(str(error), f"{name}:{lines.line_num}") from None
    if not columns:
        raise MemoptError("empty; the first line names the columns", name)
    return tuple(rows)


def _header(fields: list[str], where: str) -> tuple[list[str], int]:
    """Names of the columns as we call them, and 1 if upper ends are inclusive."""
    columns = [NAMES.get(f, f) for f in fields]
    for i, column in enumerate(columns):
        if column not in KNOWN:
            raise MemoptError(f"unknown column {fields[i]!r}: one of {', '.join(KNOWN)}", where)
        if column in columns[:i]:
            raise MemoptError(f"column {column!r} is there twice", where)
    missing = [c for c in REQUIRED if c not in columns]
    if missing:
        raise MemoptError(f"column {missing[0]!r} is missing", where)
    return columns, int("end" in fields)


def _row(cells: dict[str, str], inclusive: int, where: str) -> Row:
    lower = _number(cells["lower"], "lower", where)
    upper = _number(cells["upper"], "upper", where) + inclusive
    size = _number(cells["size"], "size", where)
    if lower >= upper:
        raise MemoptError(f"the live range [{lower}, {upper}) is empty", where)
    if size < 0:
        raise MemoptError(f"size {size} is negative", where)
    text = cells.get("alignment", "")
    alignment = _number(text, "alignment", where) if text else 1
    if alignment < 1:
        raise MemoptError(f"alignment {alignment} is not positive", where)
    text = cells.get("offset", "")
    offset = _number(text, "offset", where) if text else None
    if offset is not None and (offset < 0 or offset % alignment):
        raise MemoptError(f"offset {offset} is no multiple of the alignment {alignment}", where)
    gaps = sorted(
        (_gap(g, inclusive, size, where) for g in cells.get("gaps", "").split()),
        key=lambda g: g.lower,
    )
    end = lower
    for gap in gaps:
        if not end <= gap.lower < gap.upper <= upper:
            raise MemoptError(
                f"gap {gap.lower}-{gap.upper} is empty, outside the live range, or overlaps", where
            )
        end = gap.upper
    return Row(cells["id"], lower, upper, size, alignment, tuple(gaps), offset)


def _gap(text: str, inclusive: int, size: int, where: str) -> Gap:
    """`lower-upper` or `lower-upper@0:bytes`."""
    match = GAP.fullmatch(text)
    if match is None:
        raise MemoptError(f"gap {text!r}: write lower-upper or lower-upper@0:bytes", where)
    lower, upper, start, size_inside = (_number(g or "0", "gap", where) for g in match.groups())
    if start != 0:
        raise MemoptError(f"gap {text!r}: a window that does not start at 0 is unsupported", where)
    if not 0 <= size_inside <= size:
        raise MemoptError(f"gap {text!r}: the window is larger than the buffer", where)
    return Gap(lower, upper + inclusive, size_inside)


def _number(text: str, what: str, where: str) -> int:
    digits = text[1:] if text[:1] in "+-" else text
    if not (digits.isascii() and digits.isdigit()):
        raise MemoptError(f"{what} {text!r} is no whole number", where)
    if len(digits) > 30 or abs(int(text)) > LARGEST:
        raise MemoptError(f"{what} {text} is too large", where)
    return int(text)


def write_rows(rows: Sequence[Row]) -> str:
    """The file: `alignment`, `gaps` and `offset` are columns where a buffer has one."""
    columns: list[str] = [*REQUIRED]
    if any(r.alignment != 1 for r in rows):
        columns.append("alignment")
    if any(r.gaps for r in rows):
        columns.append("gaps")
    if any(r.offset is not None for r in rows):
        columns.append("offset")
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for r in rows:
        gaps = " ".join(f"{g.lower}-{g.upper}" + (f"@0:{g.size}" if g.size else "") for g in r.gaps)
        cells = {
            "id": r.name,
            "lower": r.lower,
            "upper": r.upper,
            "size": r.size,
            "alignment": r.alignment,
            "gaps": gaps,
            "offset": "" if r.offset is None else r.offset,
        }
        writer.writerow([cells[c] for c in columns])
    return out.getvalue()
