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

Order = tuple[int, ...]


@dataclass(frozen=True)
class Stored:
    """Shape of a tensor, type of its elements, and scale and zero point where integers stand for
    reals."""

    name: str
    shape: tuple[int, ...]
    dtype: Any
    scale: float | None
    zero_point: int
    layout: str = ""

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
        encoding.layout.data,
    )


def as_stored(array: Array, file: Stored, device: Stored, turned: bool = False) -> Array:
    """Return samples of a file's tensor as the device takes them, with channels last if they are
    `turned`. Raises MemoptError."""
    if file.scale is not None and device.scale is None:
        array = file.reals(array)
    return device.holding(_moved(array, file, device, _to_last(file.shape) if turned else None))


def as_file(array: Array, file: Stored, device: Stored, turned: bool = False) -> Array:
    """Return what the device gives as the file has it, with channels first again if they are
    `turned`. Raises MemoptError."""
    if device.scale is not None and file.is_real:
        array = device.reals(array).astype(file.dtype)
    return file.holding(_moved(array, device, file, _to_first(device.shape) if turned else None))


def _to_last(shape: tuple[int, ...]) -> Order:
    return (0, *range(2, len(shape)), 1)


def _to_first(shape: tuple[int, ...]) -> Order:
    return (0, len(shape) - 1, *range(1, len(shape) - 1))


def _moved(array: Array, source: Stored, goal: Stored, turn: Order | None) -> Array:
    """Return samples as they lie on the other side, by `turn` if channels are elsewhere there.
    Raises MemoptError, also for what may lie either way, such as a square sequence."""
    same = tuple(range(len(source.shape)))
    orders = {same} if turn is None or len(same) < 3 else {same, turn}
    fitting = {o for o in orders if _sizes(source.shape, o) == _sizes(goal.shape)}
    if source.layout and goal.layout:
        fitting = {o for o in fitting if (o == same) == (source.layout == goal.layout)}
    if not fitting:
        raise MemoptError(f"{source.name!r}: {source.shape} cannot be read as {goal.shape}")
    ways = {tuple(k for k in o if source.shape[k] != 1): o for o in sorted(fitting)}
    if len(ways) > 1 and source.layout == goal.layout:
        raise MemoptError(f"{source.name!r} of {source.shape} may lie either way: no --nhwc-io")
    order = next(iter(ways.values()))
    return array.transpose(0, *(k + 1 for k in order)).reshape(len(array), *goal.shape)


def _sizes(shape: tuple[int, ...], order: Order | None = None) -> list[int]:
    """Return the sizes in an order, without those of one."""
    return [size for k in order or range(len(shape)) if (size := shape[k]) != 1]
