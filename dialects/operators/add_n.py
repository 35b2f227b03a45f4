"""The sum of many tensors of one shape."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.irdl import traits_def, var_operand_def

from memopt.dialects.arithmetic.fixed_point import rescale
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import quantize_multiplier
from memopt.dialects.arithmetic.stored import (
    Array,
    dtype_of,
    is_stored,
    need_reals,
    need_same_numbers,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, shape_of
from memopt.dialects.operators.base import TYPES, OneResultOp
from memopt.dialects.operators.traits import RealsOnly

FINER = 19
"""Bits that the reference kernel's sums of int8 have more."""


def fine_sum(
    op: Operation, inputs: Sequence[SSAValue], result: SSAValue, count: int
) -> tuple[int, int]:
    """(multiplier, shift) of a finer sum of `count` int8 and of the stored 0 (add_n.cc, cumsum.cc:
    CalculateOpData). Raises MemoptError for others than the runtime adds."""
    if stored_bits(op, *inputs, result) != 8:
        raise unknown(op, "a sum of int16")
    if count > 15:
        raise unknown(op, "so many numbers that the sum could overflow")
    real = per_tensor(op, inputs[0])[0] / ((1 << FINER) * per_tensor(op, result)[0])
    if not 0 < real < 1:
        raise unknown(op, "the scales need an output multiplier of 1 or more")
    return quantize_multiplier(real)


@operation_definition
class AddNOp(OneResultOp):
    """The sum of all operands, element by element, from the first to the last. That of stored
    integers begins with the one that is 0, as TFLite's does: not with real 0."""

    name = "memgraph.add_n"
    inputs = var_operand_def(AnyTensor)
    traits = traits_def(RealsOnly())
    assembly_format = "$inputs " + TYPES

    def verify_(self) -> None:
        self.require(len(self.inputs) > 0, "nothing to add")
        shape = shape_of(self.result)
        self.require(all(shape_of(v) == shape for v in self.inputs), "operands of other shapes")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if any(is_stored(v) for v in (*self.inputs, self.result)):
            return [self._of_stored(operands)]
        need_reals(self, *operands)
        with np.errstate(over="ignore"):  # integers wrap
            total = operands[0].copy()
            for array in operands[1:]:
                total = total + array
        return [total.astype(dtype_of(self.result))]

    @property
    def multiplier(self) -> tuple[int, int]:
        """(multiplier, shift) of such a sum of stored integers. Raises MemoptError for others than
        the runtime adds."""
        need_same_numbers(self, *self.inputs)
        return fine_sum(self, self.inputs, self.result, len(self.inputs))

    def _of_stored(self, operands: Sequence[Array]) -> Array:
        """add_n.h."""
        number, zero = self.multiplier, per_tensor(self, self.inputs[0])[1]
        total = sum(a.astype(np.int64) - zero for a in operands) - zero
        integers = rescale(self, total << FINER, *number) + per_tensor(self, self.result)[1]
        return np.clip(integers, -128, 127).astype(np.int8)
