"""The sum of many tensors of one shape."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.irdl import irdl_op_definition, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from memopt.dialects.operators.base import TYPES, ComputeOp, Kernels, RowsMode
from memopt.dialects.stored import Array, dtype_of, is_stored, need_reals, unknown
from memopt.dialects.tensors import AnyTensor, shape_of

POINTER = 8  # bytes of a pointer on the host; 4 on a Cortex-M, so that less is needed there


@irdl_op_definition
class AddNOp(ComputeOp):
    """The sum of all operands, element by element, from the first to the last."""

    name = "memgraph.add_n"
    WHOLE: ClassVar[bool] = True
    INTEGERS: ClassVar[bool] = False
    inputs = var_operand_def(AnyTensor)
    result = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$inputs " + TYPES

    def verify_(self) -> None:
        self.require(len(self.inputs) > 0, "nothing to add")
        shape = shape_of(self.result)
        self.require(all(shape_of(v) == shape for v in self.inputs), "operands of other shapes")

    @property
    def rows_mode(self) -> RowsMode | None:
        return None

    def scratch(self, kernels: Kernels) -> tuple[int, ...]:
        """add_n.cc: a pointer per operand."""
        return (POINTER * len(self.inputs),)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        import numpy as np

        if any(is_stored(v) for v in (*self.inputs, self.result)):
            raise unknown(self, "stored integers")
        need_reals(self, *operands)
        with np.errstate(over="ignore"):  # integers wrap
            total = operands[0].copy()
            for array in operands[1:]:
                total = total + array
        return [total.astype(dtype_of(self.result))]
