"""Pooling."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from xdsl.dialects.builtin import (
    UnitAttr,
)
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from memopt.dialects.attributes import ActivationAttr, WindowAttr
from memopt.dialects.operators.base import ACTIVATION, TYPES, Kernels
from memopt.dialects.operators.window import (
    WindowedOp,
    as_laid_out,
    channels_last,
    height_and_width,
    sees_elements,
    windows,
)
from memopt.dialects.stored import (
    Array,
    dtype_of,
    is_small_integer,
    is_stored,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.tensors import AnyTensor, channels_of, rows_of, shape_of


class PoolBase(WindowedOp):
    KEEPS_DIMENSIONS: ClassVar[bool] = True

    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    window = prop_def(WindowAttr)
    count_include_pad = opt_prop_def(UnitAttr)
    activation = opt_prop_def(ActivationAttr)
    traits = traits_def(Pure())
    assembly_format = (
        "$input `window` `` $window (`count_include_pad` $count_include_pad^)?"
        + ACTIVATION
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
        """Whether the tensors are stored, in one quantization. Raises MemoptError for two."""
        if not is_stored(self.input) and not is_stored(self.result):
            return False
        stored_bits(self, self.input, self.result)
        (in_scale, in_zero), (scale, zero) = (
            per_tensor(self, v) for v in (self.input, self.result)
        )
        if abs(in_scale - scale) > 1.0e-6 or in_zero != zero:
            raise unknown(self, "between two quantizations")
        return True

    def clamped(self, values: Array) -> Array:
        """Stored integers, zero point included, within what the activation leaves."""
        return self.stored(values - per_tensor(self, self.result)[1])

    def need_taps(self) -> None:
        """Raise MemoptError if a window sees nothing but padding: it has no result."""
        n = len(self.window.kernel)
        sizes, out = (height_and_width(v, n) for v in (self.input, self.result))
        if not sees_elements(self.window, sizes, out):
            raise unknown(self, "a window that lies in the padding altogether")


@irdl_op_definition
class AveragePool2DOp(PoolBase):
    """The mean over a window; padding counts with `count_include_pad` only."""

    name = "memgraph.average_pool_2d"

    @property
    def padding(self) -> Literal["zero", "lowest", "absent"]:
        return "absent" if self.count_include_pad is None else "zero"

    def scratch(self, kernels: Kernels) -> tuple[int, ...]:
        """arm_avgpool_s8 and _s16: a sum per channel."""
        has_sums = kernels == "cmsis-nn" and is_small_integer(self.input)
        return (4 * shape_of(self.input)[3],) if has_sums else ()

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """average_pool.h: what is padded does not count, unless `count_include_pad`."""
        import numpy as np

        taps = tuple(range(-len(self.window.kernel), 0))
        is_integer = self.in_one_quantization()
        number = np.int64 if is_integer else np.float64
        source = channels_last(operands[0].astype(number), self.input)
        total = windows(source, self.window, 0).sum(taps)
        if self.count_include_pad is None:
            self.need_taps()
            count = windows(np.ones_like(source), self.window, 0).sum(taps)
        else:
            count = np.full_like(total, np.prod(self.window.sizes[0]))
        if not is_integer:
            mean = self.activated(as_laid_out(total / count, self.result))
            return [mean.astype(dtype_of(self.result))]
        if self.count_include_pad is not None:
            raise unknown(self, "an average of integers in which padding counts")
        away = np.sign(total) * ((np.abs(total) + count // 2) // count)
        return [self.clamped(as_laid_out(away, self.result))]


@irdl_op_definition
class MaxPool2DOp(PoolBase):
    """The largest element under a window."""

    name = "memgraph.max_pool_2d"
    MOVES: ClassVar[bool] = True

    @property
    def padding(self) -> Literal["zero", "lowest", "absent"]:
        return "lowest"

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        import numpy as np

        taps = tuple(range(-len(self.window.kernel), 0))
        is_integer = self.in_one_quantization()
        self.need_taps()
        low = -np.inf if operands[0].dtype.kind == "f" else np.iinfo(operands[0].dtype).min
        source = channels_last(operands[0], self.input)
        largest = as_laid_out(windows(source, self.window, low).max(taps), self.result)
        if is_integer:
            return [self.clamped(largest.astype(np.int64))]
        return [self.activated(largest)]
