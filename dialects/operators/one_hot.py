"""Indices as vectors of which one element is on."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, need_same_numbers
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, shape_of
from memopt.dialects.operators.base import TYPES
from memopt.dialects.operators.gathering import FROM_END, IndexingOp
from memopt.dialects.operators.traits import Folds


@operation_definition
class OneHotOp(IndexingOp):
    """For each index a vector along `axis`, of which the element there is the second operand, all
    others the third; so are all, if there is no such element. With `from_end` indices below zero
    count from the end."""

    name = "memgraph.one_hot"
    indices = operand_def(AnyTensor)
    on_value = operand_def(AnyTensor)
    off_value = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    axis = prop_def(IntegerAttr[I64])
    traits = traits_def(Pure(), Folds())
    assembly_format = "$indices `,` $on_value `,` $off_value `axis` $axis" + FROM_END + TYPES

    def verify_(self) -> None:
        axis, shape, out = self.axis.value.data, shape_of(self.indices), shape_of(self.result)
        self.require(0 <= axis < len(out), f"axis {axis} out of range")
        expected = (*out[:axis], *out[axis + 1 :])
        self.require(expected == shape, f"indices of {shape} do not make {out}")
        one = elements_of(self.on_value) == elements_of(self.off_value) == 1
        self.require(one, "on and off are one element each")

    @property
    def indexed(self) -> tuple[int, ...]:
        return (shape_of(self.result)[self.axis.value.data],)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Elements before the axis, along it, and behind it."""
        axis, out = self.axis.value.data, shape_of(self.result)
        return prod(out[:axis]), out[axis], prod(out[axis + 1 :])

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        need_same_numbers(self, self.on_value, self.off_value, self.result)
        indices, on, off = operands
        axis, shape = self.axis.value.data, shape_of(self.result)
        places = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
        is_on: Array = np.expand_dims(self.places(indices), axis) == places
        result: Array = np.full(shape, off.reshape(()), on.dtype)
        result[is_on] = on.reshape(())
        return [result]
