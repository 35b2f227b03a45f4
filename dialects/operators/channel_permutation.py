"""Channels in another order."""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.irdl import prop_def, traits_def

from memopt.dialects.arithmetic.stored import Array, need_same_numbers
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import channel_axis, channels_of, shape_of
from memopt.dialects.operators.base import TYPES, OfOneOp
from memopt.dialects.operators.traits import Alike, Monotone, Moves, Spatial


@operation_definition
class ChannelPermutationOp(OfOneOp):
    """The channels of equal `groups` in turn: the first of each group, then the second of each (a
    channel shuffle)."""

    name = "memgraph.channel_permutation"
    groups = prop_def(IntegerAttr[I64])
    traits = traits_def(Alike(), Monotone(), Moves(), Spatial())
    assembly_format = "$input `groups` $groups " + TYPES

    def verify_(self) -> None:
        groups, shape = self.groups.value.data, shape_of(self.input)
        self.require(len(shape) > 1 and shape == shape_of(self.result), "shapes differ")
        self.require(channel_axis(self.input) == channel_axis(self.result), "layouts differ")
        channels = channels_of(self.input)
        divides = groups > 0 and channels % groups == 0
        self.require(divides, f"{channels} channels in {groups} groups")

    def rows_read(self, operand: int, r: int) -> range | None:
        return range(r, r + 1) if channel_axis(self.input) > 1 else None

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        need_same_numbers(self, self.input, self.result)
        axis, shape = channel_axis(self.input), shape_of(self.input)
        grouped = (*shape[:axis], self.groups.value.data, -1, *shape[axis + 1 :])
        turned = operands[0].reshape(grouped).swapaxes(axis, axis + 1)
        return [turned.reshape(shape).copy()]
