"""The user's data: samples of every input, and what is expected of them.

A .npz has an array per input, by its name or in order, the first dimension counts the samples; a
.npy is that of the only input; a .csv has a line of real numbers per sample of it, a column of
labels among them if its first line has names; a folder has a file per sample, in the order of
their names: arrays of numpy, or .csv where it has none of these. The file of labels is no sample.
"""

import csv
import lzma
import math
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.errors import MemoptError, nearest

NUMBERS = "biuf"  # kinds of numpy
LABELS = "y"  # array of a .npz, or column of a .csv, that has the labels, unless it is an input
ARRAYS = ".npz", ".npy"
KINDS = *ARRAYS, ".csv"
LABEL_FILES = ".npy", ".csv", ".txt"
# an archive that is encrypted, or compressed in a way that is not known, is a RuntimeError
BROKEN = ValueError, EOFError, RuntimeError, BadZipFile, zlib.error, lzma.LZMAError


@dataclass(frozen=True)
class Input:
    """An input as the model's file has it: its name and the shape of one sample."""

    name: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Samples:
    """An array [samples, ...] per input, and the labels [samples, ...], if there are any."""

    inputs: tuple[Array, ...]
    labels: Array | None = None

    def __len__(self) -> int:
        return len(self.inputs[0])

    def first(self, count: int) -> "Samples":
        """Return the first `count` of them."""
        labels = None if self.labels is None else self.labels[:count]
        return Samples(tuple(array[:count] for array in self.inputs), labels)


def read_samples(path: Path, inputs: Sequence[Input], labels: str | None = None) -> Samples:
    """Return the samples in a .npz, a .npy, a .csv or a folder; `labels` is an array of the .npz, a
    column of the .csv or a file of its own. Raises MemoptError for what does not go with the
    inputs, OSError."""
    is_folder = path.is_dir()
    arrays = _folder(path, inputs, labels) if is_folder else _file(path, inputs, labels)
    stored = _labels(path, arrays, inputs, labels)
    expected = None if stored is None else np.atleast_1d(stored)
    unlabelled = {name: a for name, a in arrays.items() if name not in (LABELS, labels)}
    given = tuple(
        _shaped(_named(arrays, unlabelled, k, inputs, path), one, path)
        for k, one in enumerate(inputs)
    )
    every = (*given, *(() if expected is None else (expected,)))
    counts = {len(array) for array in every}
    if len(counts) > 1:
        numbers = ", ".join(map(str, sorted(counts)))
        raise MemoptError(f"arrays of different numbers of samples: {numbers}", str(path))
    if 0 in counts:
        raise MemoptError("no samples", str(path))
    for array in every:
        if array.dtype.kind not in NUMBERS:
            text = f"samples and labels are real numbers, not {array.dtype}"
            raise MemoptError(text, str(path))
    return Samples(given, expected)


def _load(path: Path) -> Mapping[str, Array]:
    """Return the arrays of a file by their names; that of a .npy has none."""
    try:
        content = np.load(path, allow_pickle=False)
        if isinstance(content, np.ndarray):
            return {"": content}
        with content:
            return {name: content[name] for name in content.files}
    except BROKEN as error:
        raise MemoptError(f"no arrays of numpy: {error}", str(path)) from None


def _file(path: Path, inputs: Sequence[Input], labels: str | None) -> Mapping[str, Array]:
    if path.suffix not in KINDS:
        raise MemoptError("data is a .npz, a .npy, a .csv or a folder of them", str(path))
    if path.suffix != ".npz" and len(inputs) != 1:
        raise MemoptError(
            f"a {path.suffix} has one input, the model {len(inputs)}: a .npz", str(path)
        )
    if path.suffix != ".csv":
        return _load(path)
    names, table = _table(path)
    chosen = _usual(inputs) if labels is None else labels
    if chosen in names:
        column = names.index(chosen)
        return {"": np.delete(table, column, 1), chosen: table[:, column]}
    if labels is not None and Path(labels).suffix not in LABEL_FILES:
        told = nearest(labels, names) if names else ": its first line has no names"
        raise MemoptError(f"no column {labels!r}{told}", str(path))
    return {"": table}


def _table(path: Path) -> tuple[list[str], Array]:
    """Return the names of a .csv's columns, none without a line of them, and its numbers [lines,
    columns]. Raises MemoptError."""
    names: list[str] = []
    rows: list[list[float]] = []
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        try:
            for fields in filter(None, reader):
                if not (names or rows) and _are_names(fields):
                    names = [field.strip() for field in fields]
                    continue
                try:
                    rows.append([_number(field) for field in fields])
                except ValueError as error:
                    what = error if names or rows else "neither names nor numbers"
                    raise MemoptError(f"line {reader.line_num}: {what}", str(path)) from None
        except (csv.Error, UnicodeDecodeError) as error:
            raise MemoptError(f"no lines of numbers with commas: {error}", str(path)) from None
    if not rows:
        raise MemoptError("no line of numbers", str(path))
    for number, row in enumerate(rows, 1):
        if len(row) != len(names or rows[0]):
            raise MemoptError(
                f"sample {number} has {len(row)} numbers, others {len(names or rows[0])}", str(path)
            )
    if len(set(names)) < len(names):
        raise MemoptError("two columns have the same name", str(path))
    return names, np.array(rows)


def _are_names(fields: Sequence[str]) -> bool:
    """Return whether a line is one of names: most of it are no numbers, of any kind."""
    numbers = 0
    for field in fields:
        with suppress(ValueError):
            float(field)
            numbers += 1
    return 2 * numbers < len(fields)


def _number(field: str) -> float:
    """Return a finite number, without the underscores that Python has. Raises ValueError."""
    number = float(field)
    if "_" in field or not math.isfinite(number):
        raise ValueError(f"no finite number: {field.strip()!r}")
    return number


def sample_files(path: Path, labels: str | None) -> list[Path]:
    """Return the files of a folder that are samples, by name. Raises OSError."""
    given = None if labels is None else Path(labels)
    files = sorted(file for file in path.iterdir() if file.suffix in KINDS)
    if given is not None and given.exists():
        files = [file for file in files if not file.samefile(given)]
    return [file for file in files if file.suffix in ARRAYS] or files


def _folder(path: Path, inputs: Sequence[Input], labels: str | None) -> Mapping[str, Array]:
    files = sample_files(path, labels)
    if not files:
        raise MemoptError("no .npz, .npy or .csv in the folder", str(path))
    each = [_of_sample(file, inputs) for file in files]
    if any(one.keys() != each[0].keys() for one in each):
        raise MemoptError("the files of the folder have arrays of different names", str(path))
    try:
        return {name: np.stack([one[name] for one in each]) for name in each[0]}
    except ValueError:
        raise MemoptError("the files of the folder have different shapes", str(path)) from None


def _of_sample(file: Path, inputs: Sequence[Input]) -> Mapping[str, Array]:
    """Return the arrays of one sample; a .csv is one array, also of several lines."""
    if file.suffix == ".csv" and len(inputs) == 1:
        return {"": _table(file)[1]}
    return _file(file, inputs, None)


def _labels(
    path: Path, arrays: Mapping[str, Array], inputs: Sequence[Input], labels: str | None
) -> Array | None:
    if labels is None:
        usual = _usual(inputs)
        return None if usual is None else arrays.get(usual)
    if labels in arrays:
        return arrays[labels]
    file = Path(labels)
    if file.suffix == ".npy":
        return _load(file)[""]
    if file.suffix in LABEL_FILES:
        try:
            return np.loadtxt(file, delimiter=",", ndmin=1)
        except ValueError as error:
            raise MemoptError(f"no labels, a line of numbers each: {error}", labels) from None
    known = list(arrays)
    raise MemoptError(
        f"no array {labels!r}{nearest(labels, known)}; a .npy or .csv of labels, or one of "
        f"{', '.join(known)}",
        str(path),
    )


def _usual(inputs: Sequence[Input]) -> str | None:
    """Return the name of labels that nobody names, None if it is that of an input."""
    return None if any(one.name == LABELS for one in inputs) else LABELS


def _named(
    arrays: Mapping[str, Array],
    unlabelled: Mapping[str, Array],
    number: int,
    inputs: Sequence[Input],
    path: Path,
) -> Array:
    """Return the array of an input: by its name, or, where no input is named, by its number among
    those that are no labels. An array without a name is that of the only input."""
    one, names = inputs[number], list(unlabelled)
    if len(inputs) == 1 and "" in arrays:
        return arrays[""]
    if one.name in arrays:
        return arrays[one.name]
    if any(other.name in arrays for other in inputs) or len(names) != len(inputs):
        wanted = ", ".join(other.name for other in inputs)
        raise MemoptError(
            f"no array of input {one.name!r}: the file has {', '.join(arrays) or 'none'}, the "
            f"model {wanted}",
            str(path),
        )
    return arrays[names[number]]


def _shaped(array: Array, one: Input, path: Path) -> Array:
    """Return an array [samples, ...] of an input, which may leave out dimensions of one; that of a
    flat one is taken apart, the last dimension the fastest."""
    sizes_given = [d for d in array.shape[1:] if d != 1]
    if array.ndim and sizes_given in ([d for d in one.shape if d != 1], [math.prod(one.shape)]):
        return array.reshape(len(array), *one.shape)
    sizes = "x".join(map(str, one.shape))
    given = "x".join(map(str, array.shape))
    raise MemoptError(
        f"input {one.name!r}: samples of {sizes} are wanted, an array of {given} is given",
        str(path),
    )
