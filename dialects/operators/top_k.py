"""The largest elements and where they stand."""

from collections.abc import Sequence

from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, dtype_of, is_stored, need_same_numbers, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, shape_of
from memopt.dialects.operators.base import TYPES, ComputeOp


@operation_definition
class TopKOp(ComputeOp):
    """The largest elements along the last axis, the largest first, and their indices; of equal ones
    the first is first."""

    name = "memgraph.top_k"
    input = operand_def(AnyTensor)
    values = result_def(AnyTensor)
    indices = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$input " + TYPES

    def verify_(self) -> None:
        shape, out = shape_of(self.input), shape_of(self.values)
        self.require(bool(shape) and shape[:-1] == out[:-1], "other vectors than the operand's")
        self.require(0 < out[-1] <= shape[-1], f"{out[-1]} of {shape[-1]} elements")
        self.require(shape_of(self.indices) == out, "as many indices as values are needed")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        need_same_numbers(self, self.input, self.values)
        if is_stored(self.indices):
            raise unknown(self, "quantized indices")
        source, count = operands[0], shape_of(self.values)[-1]
        falling = np.flip(source, -1)  # a stable order from behind is that of equal ones
        order = source.shape[-1] - 1 - np.flip(np.argsort(falling, -1, kind="stable"), -1)
        at = order[..., :count]
        return [np.take_along_axis(source, at, -1), at.astype(dtype_of(self.indices))]
