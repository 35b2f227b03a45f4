"""Sums of all that comes before along an axis."""

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr, UnitAttr
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from memopt.dialects.operators.base import TYPES, ComputeOp
from memopt.dialects.stored import Array, dtype_of, is_stored, unknown
from memopt.dialects.tensors import AnyTensor, shape_of


@irdl_op_definition
class CumulativeSumOp(ComputeOp):
    """The sum of the elements up to each along `axis`, with `exclusive` of those before it, with
    `reverse` from the other end."""

    name = "memgraph.cumulative_sum"
    WHOLE: ClassVar[bool] = True
    FOLDS: ClassVar[bool] = True
    INTEGERS: ClassVar[bool] = False
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    axis = prop_def(IntegerAttr[I64])
    exclusive = opt_prop_def(UnitAttr)
    reverse = opt_prop_def(UnitAttr)
    traits = traits_def(Pure())
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
        import numpy as np

        if is_stored(self.input) or is_stored(self.result):
            raise unknown(self, "stored integers")
        if str(operands[0].dtype) not in ("float32", "int32", "int64"):
            raise unknown(self, f"numbers of {operands[0].dtype}")
        axis = self.axis.value.data
        values = np.flip(operands[0], axis) if self.reverse is not None else operands[0]
        number = np.float64 if values.dtype.kind == "f" else np.int64
        total = np.cumsum(values, axis, dtype=number)
        if self.exclusive is not None:
            total = total - values
        total = np.flip(total, axis) if self.reverse is not None else total
        return [total.astype(dtype_of(self.result))]
