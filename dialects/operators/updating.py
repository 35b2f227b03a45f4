"""A tensor with another one written into it."""

from collections.abc import Sequence

from xdsl.irdl import operand_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, is_stored, need_same_numbers, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, shape_of
from memopt.dialects.operators.base import TYPES, OneResultOp


@operation_definition
class DynamicUpdateSliceOp(OneResultOp):
    """The first operand, but the second one from the indices on that the third one has for each
    dimension; where it would not fit, from the nearest on where it does."""

    name = "memgraph.dynamic_update_slice"
    input = operand_def(AnyTensor)
    update = operand_def(AnyTensor)
    starts = operand_def(AnyTensor)
    assembly_format = "$input `,` $update `,` $starts " + TYPES

    def verify_(self) -> None:
        shape, inner = shape_of(self.input), shape_of(self.update)
        self.require(shape_of(self.result) == shape and bool(shape), "another shape")
        self.require(shape_of(self.starts) == (len(shape),), "a start for each dimension")
        fits = len(inner) == len(shape) and all(a <= b for a, b in zip(inner, shape, strict=True))
        self.require(fits, "an update that is larger")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        need_same_numbers(self, self.input, self.update, self.result)
        values, update, starts = operands
        if starts.dtype.kind not in "iu" or is_stored(self.starts):
            raise unknown(self, f"starts of {starts.dtype}")
        last = np.array(values.shape) - update.shape
        first = np.clip(starts.astype(np.int64), 0, last)
        result = values.copy()
        result[tuple(slice(a, a + n) for a, n in zip(first, update.shape, strict=True))] = update
        return [result]
