"""Arrays of real numbers and what a network's inputs and outputs hold of them.

A planned network may take bytes where the file takes reals (`--int8-io`), and images channels last
where the file has them first (`--nhwc-io`).
"""

from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, dtype_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.tensors import encoding_of, shape_of


@dataclass(frozen=True)
class Stored:
    """Shape of a tensor, type of its elements, and scale and zero point where integers stand for
    reals."""

    name: str
    shape: tuple[int, ...]
    dtype: Any
    scale: float | None
    zero_point: int

    @property
    def is_real(self) -> bool:
        """Return whether elements are reals themselves."""
        return self.dtype.kind == "f"

    def reals(self, array: Array) -> Array:
        """Return the real numbers of an array, in float64."""
        if self.scale is None:
            return array.astype(np.float64)
        return self.scale * (array.astype(np.float64) - self.zero_point)

    def holding(self, array: Array) -> Array:
        """Return an array as it is stored: reals are rounded to the nearest integer, halves away
        from zero, as the function of the header does it. Raises MemoptError for whole numbers that
        the type has not."""
        if array.dtype.kind != "f" or self.is_real:
            return self._cast(array)
        if self.scale is None:
            if (array != np.rint(array)).any():
                raise MemoptError(f"{self.name!r} has whole numbers, the data has others")
            return self._cast(array)
        ratio = array.astype(np.float32) / np.float32(self.scale)
        towards_zero = np.trunc(np.nan_to_num(ratio))
        rest = ratio - towards_zero
        nearest = towards_zero + (rest >= 0.5) - (rest <= -0.5) + self.zero_point
        limits = np.iinfo(self.dtype)
        return np.clip(nearest, limits.min, limits.max).astype(self.dtype)

    def _cast(self, array: Array) -> Array:
        cast = array.astype(self.dtype)
        if self.dtype.kind in "iub" and (cast.astype(array.dtype) != array).any():
            raise MemoptError(f"{self.name!r} is {self.dtype.name}, which does not hold the data")
        return cast


def stored_of(value: SSAValue) -> Stored:
    """Return what a tensor of the IR holds."""
    encoding = encoding_of(value)
    dtype = np.dtype(dtype_of(value))
    has_scale = len(encoding.scales) == 1 and dtype.kind in "iu"
    return Stored(
        name_of(value),
        shape_of(value),
        dtype,
        encoding.scales[0] if has_scale else None,
        encoding.zero_points[0] if has_scale else 0,
    )


def as_stored(array: Array, file: Stored, device: Stored) -> Array:
    """Return samples of a file's tensor as the device takes them. Raises MemoptError."""
    if file.scale is not None and device.scale is None:
        array = file.reals(array)
    return device.holding(_moved(array, file, device))


def as_file(array: Array, file: Stored, device: Stored) -> Array:
    """Return what the device gives as the file has it. Raises MemoptError."""
    if device.scale is not None and file.is_real:
        array = device.reals(array).astype(file.dtype)
    return file.holding(_moved(array, device, file))


def _moved(array: Array, source: Stored, goal: Stored) -> Array:
    """Return samples of another layout: channels are last on one of the sides."""
    if source.shape == goal.shape:
        return array
    rank = len(source.shape)
    for order in ((0, *range(2, rank), 1), (0, rank - 1, *range(1, rank - 1))):
        if rank > 2 and tuple(source.shape[k] for k in order) == goal.shape:
            return array.transpose(0, *(k + 1 for k in order))
    raise MemoptError(f"{source.name!r}: {source.shape} cannot be read as {goal.shape}")
