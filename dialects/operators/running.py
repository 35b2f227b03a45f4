"""Sums of all that comes before along an axis."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import I64, IntegerAttr, UnitAttr
from xdsl.irdl import opt_prop_def, prop_def, traits_def

from memopt.dialects.arithmetic.fixed_point import rescale
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, dtype_of, is_stored, per_tensor, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.add_n import FINER, fine_sum
from memopt.dialects.operators.base import TYPES, OfOneOp
from memopt.dialects.operators.traits import Folds, RealsOnly


@operation_definition
class CumulativeSumOp(OfOneOp):
    """The sum of the elements up to each along `axis`, with `exclusive` of those before it, with
    `reverse` from the other end. That of stored integers begins with the one that is 0, as
    TFLite's does: not with real 0."""

    name = "memgraph.cumulative_sum"
    axis = prop_def(IntegerAttr[I64])
    exclusive = opt_prop_def(UnitAttr)
    reverse = opt_prop_def(UnitAttr)
    traits = traits_def(Folds(), RealsOnly())
    assembly_format = (
        "$input `axis` $axis (`exclusive` $exclusive^)? (`reverse` $reverse^)? " + TYPES
    )

    def verify_(self) -> None:
        axis, shape = self.axis.value.data, shape_of(self.input)
        self.require(0 <= axis < len(shape), f"axis {axis} out of range")
        self.require(shape_of(self.result) == shape, f"the result's shape must be {shape}")

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Elements before the axis, along it, and behind it."""
        axis, shape = self.axis.value.data, shape_of(self.input)
        return prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if is_stored(self.input) or is_stored(self.result):
            return [self._of_stored(operands[0])]
        if str(operands[0].dtype) not in ("float32", "int32", "int64"):
            raise unknown(self, f"numbers of {operands[0].dtype}")
        number = np.float64 if operands[0].dtype.kind == "f" else np.int64
        return [self._sums(operands[0].astype(number)).astype(dtype_of(self.result))]

    def _sums(self, values: Array) -> Array:
        axis = self.axis.value.data
        values = np.flip(values, axis) if self.reverse is not None else values
        total = np.cumsum(values, axis)
        if self.exclusive is not None:
            total = total - values
        return np.flip(total, axis) if self.reverse is not None else total

    @property
    def multiplier(self) -> tuple[int, int]:
        """(multiplier, shift) of such a sum of stored integers. Raises MemoptError for others than
        the runtime adds."""
        return fine_sum(self, [self.input], self.result, self.sizes[1])

    def _of_stored(self, values: Array) -> Array:
        """cumsum.h."""
        number, zero = self.multiplier, per_tensor(self, self.input)[1]
        total = self._sums(values.astype(np.int64) - zero) - zero
        integers = rescale(self, total << FINER, *number) + per_tensor(self, self.result)[1]
        return np.clip(integers, -128, 127).astype(np.int8)
