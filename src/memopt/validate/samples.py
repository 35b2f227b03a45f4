"""The user's data: samples of every input, and what is expected of them.

A .npz has an array per input, by its name or in order, the first dimension counts the samples; a
.npy is that of the only input; a folder has a file per sample, in the order of their names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.errors import MemoptError, nearest

LABELS = "y"  # array of a .npz that has the labels, unless it is an input


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
    """Return the samples in a .npz, a .npy or a folder; `labels` is an array of the .npz or a file
    of its own. Raises MemoptError for what does not go with the inputs, OSError."""
    arrays = _folder(path, inputs) if path.is_dir() else _file(path, inputs)
    expected = _labels(path, arrays, inputs, labels)
    given = tuple(
        _shaped(_named(arrays, one, k, inputs, path), one, path) for k, one in enumerate(inputs)
    )
    counts = {len(array) for array in (*given, *(() if expected is None else (expected,)))}
    if len(counts) > 1:
        numbers = ", ".join(map(str, sorted(counts)))
        raise MemoptError(f"arrays of different numbers of samples: {numbers}", str(path))
    if 0 in counts:
        raise MemoptError("no samples", str(path))
    return Samples(given, expected)


def _load(path: Path) -> Mapping[str, Array]:
    """Return the arrays of a file by their names; that of a .npy has none."""
    try:
        content = np.load(path, allow_pickle=False)
    except ValueError as error:
        raise MemoptError(f"no arrays of numpy: {error}", str(path)) from None
    if isinstance(content, np.ndarray):
        return {"": content}
    with content:
        return {name: content[name] for name in content.files}


def _file(path: Path, inputs: Sequence[Input]) -> Mapping[str, Array]:
    if path.suffix not in (".npz", ".npy"):
        raise MemoptError("data is a .npz, a .npy or a folder of them", str(path))
    if path.suffix == ".npy" and len(inputs) != 1:
        raise MemoptError(f"a .npy has one input, the model {len(inputs)}: a .npz", str(path))
    return _load(path)


def _folder(path: Path, inputs: Sequence[Input]) -> Mapping[str, Array]:
    files = sorted(file for file in path.iterdir() if file.suffix in (".npz", ".npy"))
    if not files:
        raise MemoptError("no .npz and no .npy in the folder", str(path))
    each = [_file(file, inputs) for file in files]
    if any(one.keys() != each[0].keys() for one in each):
        raise MemoptError("the files of the folder have arrays of different names", str(path))
    try:
        return {name: np.stack([one[name] for one in each]) for name in each[0]}
    except ValueError:
        raise MemoptError("the files of the folder have different shapes", str(path)) from None


def _labels(
    path: Path, arrays: Mapping[str, Array], inputs: Sequence[Input], labels: str | None
) -> Array | None:
    if labels is None:
        is_input = any(one.name == LABELS for one in inputs)
        return None if is_input else arrays.get(LABELS)
    if labels in arrays:
        return arrays[labels]
    file = Path(labels)
    if file.suffix == ".npy":
        return _load(file)[""]
    if file.suffix in (".csv", ".txt"):
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


def _named(
    arrays: Mapping[str, Array], one: Input, number: int, inputs: Sequence[Input], path: Path
) -> Array:
    """Return the array of an input: by its name, or, where no input is named, by its number."""
    if one.name in arrays:
        return arrays[one.name]
    names = [name for name in arrays if name != LABELS]
    if any(other.name in arrays for other in inputs) or len(names) != len(inputs):
        wanted = ", ".join(other.name for other in inputs)
        raise MemoptError(
            f"no array of input {one.name!r}: the file has {', '.join(arrays) or 'none'}, the "
            f"model {wanted}",
            str(path),
        )
    return arrays[names[number]]


def _shaped(array: Array, one: Input, path: Path) -> Array:
    """Return an array [samples, ...] of an input, which may leave out dimensions of one."""
    if [d for d in array.shape[1:] if d != 1] == [d for d in one.shape if d != 1]:
        return array.reshape(len(array), *one.shape)
    sizes = "x".join(map(str, one.shape))
    given = "x".join(map(str, array.shape))
    raise MemoptError(
        f"input {one.name!r}: samples of {sizes} are wanted, an array of {given} is given",
        str(path),
    )
