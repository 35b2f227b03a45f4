"""Pooling."""

from collections.abc import Sequence
from math import prod
from typing import Literal

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from memopt.dialects.arithmetic.even_rounding import quantized, rounds_even
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import (
    Array,
    Dtype,
    dtype_of,
    is_stored,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.attributes.operators import ActivationAttr, RoundingAttr, WindowAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, channels_of, rows_of, shape_of
from memopt.dialects.operators.base import ACTIVATION, ROUNDING, TYPES, Range
from memopt.dialects.operators.real_bounds import means_between
from memopt.dialects.operators.traits import (
    Alike,
    ByChannel,
    KeepsDimensions,
    Monotone,
    Moves,
    RealsOnly,
)
from memopt.dialects.operators.window import (
    WindowedOp,
    as_laid_out,
    channels_last,
    height_and_width,
    sees_elements,
    windows,
)


class PoolBase(WindowedOp):
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    window = prop_def(WindowAttr)
    count_include_pad = opt_prop_def(UnitAttr)
    activation = opt_prop_def(ActivationAttr)
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Pure(), ByChannel(), Alike(), KeepsDimensions())
    assembly_format = (
        "$input `window` `` $window (`count_include_pad` $count_include_pad^)?"
        + ACTIVATION
        + ROUNDING
        + " "
        + TYPES
    )

    def verify_(self) -> None:
        self.check_window(self.window, self.input, self.result)
        source, out = channels_of(self.input), channels_of(self.result)
        self.require(source == out, f"{source} channels in, {out} out")

    @property
    def accumulates(self) -> bool:
        return rows_of(self.result) == 1 != rows_of(self.input)

    def rows_read(self, operand: int, r: int) -> range | None:
        if self.accumulates:
            return range(r, r + 1) if r in self.taps(self.window, 0) else range(0)
        return self.taps(self.window, r)

    def in_one_quantization(self) -> bool:
        """Return whether the tensors are stored, in one quantization. Raises MemoptError for
        two."""
        if not is_stored(self.input) and not is_stored(self.result):
            return False
        stored_bits(self, self.input, self.result, unsigned=True)
        (in_scale, in_zero), (scale, zero) = (
            per_tensor(self, v) for v in (self.input, self.result)
        )
        if abs(in_scale - scale) > 1.0e-6 or in_zero != zero:
            raise unknown(self, "between two quantizations")
        return True

    def clamped(self, values: Array) -> Array:
        """Stored integers, zero point included, within what the activation leaves."""
        return self.stored(values - per_tensor(self, self.result)[1])

    @property
    def of_window(self) -> tuple[int, ...]:
        """The dimensions of `windows` that lie in one window: the last ones."""
        return tuple(range(-len(self.window.kernel), 0))

    def need_taps(self) -> None:
        """Raise MemoptError if a window sees nothing but padding: it has no result."""
        n = len(self.window.kernel)
        sizes, out = (height_and_width(v, n) for v in (self.input, self.result))
        if not sees_elements(self.window, sizes, out):
            raise unknown(self, "a window that lies in the padding altogether")


@operation_definition
class AveragePool2DOp(PoolBase):
    """The mean over a window; padding counts with `count_include_pad` only."""

    name = "memgraph.average_pool_2d"
    traits = traits_def(Monotone())

    @property
    def padding(self) -> Literal["zero", "lowest", "absent"]:
        return "absent" if self.count_include_pad is None else "zero"

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """average_pool.h: what is padded does not count, unless `count_include_pad`."""
        if self.accumulates:
            return self.finished(operands, self.over_rows(operands))
        return self.finished(operands, self._sum(operands[0], self._number()))

    def extremes(self, least: Sequence[Array], most: Sequence[Array]) -> list[Range] | None:
        """Return the ends of the result; of reals with a margin for the sum."""
        if self._is_stored():
            return super().extremes(least, most)
        return means_between(self, least[0], most[0], prod(self.window.sizes[0]))

    def _is_stored(self) -> bool:
        """Return whether integers are added up. Raises MemoptError where it is not known how."""
        both = is_stored(self.input) and is_stored(self.result)
        return (rounds_even(self) and both) or self.in_one_quantization()

    def _number(self) -> Dtype:
        """Return the type in which elements are added up. Raises MemoptError as `_is_stored`."""
        return np.dtype(np.int64 if self._is_stored() else np.float64)

    def _sum(self, values: Array, number: Dtype) -> Array:
        """Over every window, channels last."""
        source = channels_last(values.astype(number), self.input)
        return windows(source, self.window, 0).sum(self.of_window)

    def part(self, operands: Sequence[Array], r: int, before: Array | None) -> Array:
        image = np.zeros(shape_of(self.input), operands[0].dtype)
        image[:, r : r + 1] = operands[0]
        total = self._sum(image, self._number() if before is None else before.dtype)
        return total if before is None else before + total

    def finished(self, operands: Sequence[Array], total: Array) -> list[Array]:
        ones = channels_last(np.ones(shape_of(self.input), total.dtype), self.input)
        seen = windows(ones, self.window, 0).sum(self.of_window)
        if self.count_include_pad is None:
            self.need_taps()
            count = seen
        else:
            count = np.full_like(total, np.prod(self.window.sizes[0]))
        if rounds_even(self) and self._is_stored():
            scale, zero_point = per_tensor(self, self.input)
            mean = as_laid_out((total - seen * zero_point) * scale / count, self.result)
            return [quantized(self, self.activated(mean), self.result)]
        if not self.in_one_quantization():
            mean = self.activated(as_laid_out(total / count, self.result))
            return [mean.astype(dtype_of(self.result))]
        if self.count_include_pad is not None:
            raise unknown(self, "an average of integers in which padding counts")
        away = np.sign(total) * ((np.abs(total) + count // 2) // count)
        return [self.clamped(as_laid_out(away, self.result))]


@operation_definition
class L2Pool2DOp(PoolBase):
    """The root of the mean of squares under a window; padding does not count."""

    name = "memgraph.l2_pool_2d"
    traits = traits_def(RealsOnly())

    @property
    def padding(self) -> Literal["zero", "lowest", "absent"]:
        return "absent"

    @property
    def accumulates(self) -> bool:
        return False

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if is_stored(self.input) or is_stored(self.result) or operands[0].dtype.kind != "f":
            raise unknown(self, f"a root of {operands[0].dtype}")
        self.need_taps()
        squares = channels_last(operands[0].astype(np.float64) ** 2, self.input)
        seen = windows(np.ones(squares.shape), self.window, 0).sum(self.of_window)
        means = windows(squares, self.window, 0).sum(self.of_window) / seen
        roots = self.activated(as_laid_out(np.sqrt(means), self.result))
        return [roots.astype(dtype_of(self.result))]


@operation_definition
class MaxPool2DOp(PoolBase):
    """The largest element under a window."""

    name = "memgraph.max_pool_2d"
    traits = traits_def(Monotone(), Moves())

    @property
    def padding(self) -> Literal["zero", "lowest", "absent"]:
        return "lowest"

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        return self.finished(operands, self._largest(operands[0]))

    @property
    def accumulator(self) -> AnyTensor:
        return self.result.type

    def _largest(self, values: Array) -> Array:
        """Under every window, as the input stores it."""
        self.need_taps()
        seen = windows(channels_last(values, self.input), self.window, _lowest(values))
        return as_laid_out(seen.max(self.of_window), self.result)

    def part(self, operands: Sequence[Array], r: int, before: Array | None) -> Array:
        row = operands[0]
        image = np.full(shape_of(self.input), _lowest(row), row.dtype)
        image[:, r : r + 1] = row
        largest = self._largest(image)
        return largest if before is None else np.maximum(before, largest)

    def finished(self, operands: Sequence[Array], total: Array) -> list[Array]:
        if self.in_one_quantization():
            return [self.clamped(total.astype(np.int64))]
        return [self.activated(total)]


def _lowest(values: Array) -> float | int:
    """No element of this type is below it."""
    return -np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).min
