"""Operators that give elements another shape, place or order."""

from collections.abc import Sequence

from xdsl.irdl import prop_def, traits_def

from memopt.dialects.arithmetic.stored import Array, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import (
    bytes_of,
    channel_axis,
    channels_of,
    elements_of,
    rows_of,
    shape_of,
)
from memopt.dialects.operators.base import INTS, TYPES, OfOneOp
from memopt.dialects.operators.traits import Alike, ByChannel, Folds, Monotone, Moves, View


@operation_definition
class ReshapeOp(OfOneOp):
    """Bytes of the operand with another shape (also squeeze, expand and flatten)."""

    name = "memgraph.reshape"
    traits = traits_def(Alike(), Monotone(), Moves(), View(), Folds())

    def verify_(self) -> None:
        a, b = bytes_of(self.input.type), bytes_of(self.result.type)
        self.require(a == b, f"{a} bytes cannot become {b} bytes")

    def rows_read(self, operand: int, r: int) -> range | None:
        return range(r, r + 1) if rows_of(self.input) == rows_of(self.result) else None

    def channels_read(self, operand: int, result: int) -> tuple[int, ...] | None:
        """Elements keep their order: where channels stand last, and their number after is a
        multiple of that before, they stand there as often."""
        axes = [channel_axis(v) + 1 - len(shape_of(v)) for v in (self.input, self.result)]
        if axes != [0, 0] or not shape_of(self.input) or not shape_of(self.result):
            return None
        before, after = channels_of(self.input), channels_of(self.result)
        return None if not before or after % before else (*range(before),) * (after // before)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if elements_of(self.input) != elements_of(self.result):
            raise unknown(self, "other elements of as many bytes")
        return [operands[0].reshape(shape_of(self.result))]


@operation_definition
class CopyOp(OfOneOp):
    """Bytes of the operand in another place. `memgraph-memory` moves tensors between memories with
    it; of a sparse constant, which is read with all its elements, it is a dense one."""

    name = "memgraph.copy"
    traits = traits_def(ByChannel(), Alike(), Monotone(), Folds())

    def verify_(self) -> None:
        self.require(self.input.type == self.result.type, "a copy has the type of its operand")

    def rows_read(self, operand: int, r: int) -> range | None:
        return range(r, r + 1)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        return [operands[0].copy()]


@operation_definition
class TransposeOp(OfOneOp):
    """Dimension i of the result is dimension `permutation[i]` of the operand."""

    name = "memgraph.transpose"
    permutation = prop_def(INTS)
    traits = traits_def(Alike(), Monotone(), Moves(), Folds())
    assembly_format = "$input `permutation` $permutation " + TYPES

    def verify_(self) -> None:
        order = [int(v) for v in self.permutation.get_values()]
        shape = shape_of(self.input)
        self.require(sorted(order) == list(range(len(shape))), f"{order} is no permutation")
        expected = tuple(shape[i] for i in order)
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")

    def rows_read(self, operand: int, r: int) -> range | None:
        return range(r, r + 1) if self.permutation.get_values()[1] == 1 else None

    def channels_read(self, operand: int, result: int) -> tuple[int, ...] | None:
        order, axis = self.permutation.get_values(), channel_axis(self.result)
        stay = bool(order) and int(order[axis]) == channel_axis(self.input)
        return tuple(range(channels_of(self.result))) if stay else None

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:

        order = [int(v) for v in self.permutation.get_values()]
        return [operands[0].transpose(order).copy()]
