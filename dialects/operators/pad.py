"""Padding."""

from typing import ClassVar

from xdsl.dialects.builtin import (
    Float32Type,
    FloatAttr,
)
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from memopt.dialects.operators.base import INTS, TYPES, ComputeOp
from memopt.dialects.tensors import AnyTensor, shape_of


@irdl_op_definition
class PadOp(ComputeOp):
    """`before` and `after` elements of the real `value` around each dimension."""

    name = "memgraph.pad"
    FOLDS: ClassVar[bool] = True
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    before = prop_def(INTS)
    after = prop_def(INTS)
    value = prop_def(FloatAttr[Float32Type])
    traits = traits_def(Pure())
    assembly_format = "$input `before` $before `after` $after `value` $value " + TYPES

    def verify_(self) -> None:
        before = [int(v) for v in self.before.get_values()]
        after = [int(v) for v in self.after.get_values()]
        shape, out = shape_of(self.input), shape_of(self.result)
        self.require(len(before) == len(after) == len(shape) == len(out), "ranks differ")
        self.require(min((*before, *after), default=0) >= 0, "negative padding")
        expected = tuple(b + s + a for b, s, a in zip(before, shape, after, strict=True))
        self.require(out == expected, f"the result's shape must be {expected}")
