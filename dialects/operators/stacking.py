"""Tensors stacked along a new dimension, and taken apart."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.irdl import operand_def, prop_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import Pure

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, need_same_numbers
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, shape_of
from memopt.dialects.operators.base import TYPES, ComputeOp, OneResultOp
from memopt.dialects.operators.traits import Folds, Monotone, Moves


def _between(shape: tuple[int, ...], axis: int, count: int) -> tuple[int, ...]:
    return (*shape[:axis], count, *shape[axis:])


@operation_definition
class PackOp(OneResultOp):
    """Operands of one shape one after the other along a new dimension, `axis`."""

    name = "memgraph.pack"
    inputs = var_operand_def(AnyTensor)
    axis = prop_def(IntegerAttr[I64])
    traits = traits_def(Monotone(), Moves(), Folds())
    assembly_format = "$inputs `axis` $axis " + TYPES

    def verify_(self) -> None:
        axis, out = self.axis.value.data, shape_of(self.result)
        self.require(0 <= axis < len(out) and bool(self.inputs), f"axis {axis} out of range")
        for value in self.inputs:
            expected = _between(shape_of(value), axis, len(self.inputs))
            self.require(expected == out, f"operands make {expected}, not {out}")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        need_same_numbers(self, *self.inputs, self.result)
        return [np.stack(operands, axis=self.axis.value.data)]

    @property
    def stretches(self) -> tuple[int, int]:
        """(how many, elements in each) of what every operand gives in one piece."""
        axis, out = self.axis.value.data, shape_of(self.result)
        return prod(out[:axis]), prod(out[axis + 1 :])


@operation_definition
class UnpackOp(ComputeOp):
    """Each index of dimension `axis` of the operand, which is left out."""

    name = "memgraph.unpack"
    input = operand_def(AnyTensor)
    parts = var_result_def(AnyTensor)
    axis = prop_def(IntegerAttr[I64])
    traits = traits_def(Pure(), Monotone(), Moves())
    assembly_format = "$input `axis` $axis " + TYPES

    def verify_(self) -> None:
        axis, shape = self.axis.value.data, shape_of(self.input)
        self.require(0 <= axis < len(shape) and bool(self.parts), f"axis {axis} out of range")
        for value in self.parts:
            expected = _between(shape_of(value), axis, len(self.parts))
            self.require(expected == shape, f"parts make {expected}, not {shape}")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        need_same_numbers(self, self.input, *self.parts)
        parts = np.moveaxis(operands[0], self.axis.value.data, 0)
        return [np.array(part, order="C") for part in parts]

    @property
    def stretches(self) -> tuple[int, int]:
        """(how many, elements in each) of what every part takes in one piece."""
        axis, shape = self.axis.value.data, shape_of(self.input)
        return prod(shape[:axis]), prod(shape[axis + 1 :])
