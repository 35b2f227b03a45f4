"""Operation that adds rows up by their segment numbers."""

from collections.abc import Sequence

from xdsl.irdl import operand_def, traits_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, dtype_of, is_stored, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, shape_of
from memopt.dialects.operators.base import TYPES, OneResultOp
from memopt.dialects.operators.traits import RealsOnly


@operation_definition
class SegmentSumOp(OneResultOp):
    """Sums, for each index of the result's first dimension, of the pieces of the first operand
    whose number in the second is that one; a number that the result does not have is left out."""

    name = "memgraph.segment_sum"
    input = operand_def(AnyTensor)
    segments = operand_def(AnyTensor)
    traits = traits_def(RealsOnly())
    assembly_format = "$input `,` $segments " + TYPES

    def verify_(self) -> None:
        shape, numbers, out = (shape_of(v) for v in (self.input, self.segments, self.result))
        self.require(0 < len(numbers) <= len(shape), "numbers of the first dimensions")
        self.require(shape[: len(numbers)] == numbers, "a number for each piece")
        self.require(out[1:] == shape[len(numbers) :], "pieces of another shape")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        values, numbers = operands
        if is_stored(self.input) or is_stored(self.result) or numbers.dtype.kind not in "iu":
            raise unknown(self, "stored integers")
        sums = np.zeros(shape_of(self.result), dtype_of(self.result))
        flat = numbers.reshape(-1)
        inside = (flat >= 0) & (flat < len(sums))
        with np.errstate(over="ignore"):  # integers wrap
            np.add.at(sums, flat[inside], values.reshape(len(flat), *sums.shape[1:])[inside])
        return [sums]
