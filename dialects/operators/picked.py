"""Stretches picked along each dimension: what mirrors, blocks with padding and pads of other
elements or of many dimensions are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_operand_def, prop_def, traits_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import (
    Array,
    dtype_of,
    element_of,
    is_stored,
    need_same_numbers,
    numbers_of,
    per_tensor,
    unknown,
)
from memopt.dialects.attributes.quick import numbers
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, shape_of
from memopt.dialects.operators.base import INTS, TYPES, OneResultOp
from memopt.dialects.operators.reordering import NEW
from memopt.dialects.operators.traits import Folds, Monotone


@dataclass(frozen=True)
class Term:
    """Number that index i along a way of the result adds to the index along a dimension of the
    operand."""

    way: int
    dimension: int
    numbers: tuple[int, ...]


def picks_along(
    shape: Sequence[int], numbers_along: Sequence[Sequence[int]]
) -> dict[str, Attribute]:
    """Return the properties of what picks these indices along each dimension of an operand. The
    last dimensions, as far as they stay as they are, are one stretch."""
    moved = len(shape)
    while moved and list(numbers_along[moved - 1]) == list(range(shape[moved - 1])):
        moved -= 1
    return {
        "shape": numbers(shape[:moved]),
        "sizes": numbers([len(v) for v in numbers_along[:moved]]),
        "terms": numbers([d for d in range(moved) for _ in range(2)]),
        "numbers": numbers([i for v in numbers_along[:moved] for i in v]),
    }


class PickingOp(OneResultOp):
    """Base of what picks."""

    input = operand_def(AnyTensor)
    fill = opt_operand_def(AnyTensor)
    shape = prop_def(INTS)
    sizes = prop_def(INTS)
    terms = prop_def(INTS)
    numbers = prop_def(INTS)
    traits = traits_def(Monotone(), Folds())
    assembly_format = (
        "$input (`fill` $fill^)? `shape` $shape `sizes` $sizes `terms` $terms `numbers` $numbers "
        + TYPES
    )

    @property
    def extents(self) -> tuple[int, ...]:
        """Stretches along each dimension of the operand."""
        return tuple(int(v) for v in self.shape.get_values())

    @property
    def ways(self) -> tuple[int, ...]:
        return tuple(int(v) for v in self.sizes.get_values())

    @property
    def run(self) -> int:
        """Elements of a stretch."""
        return elements_of(self.input) // max(prod(self.extents), 1)

    @property
    def added(self) -> list[Term]:
        """The terms."""
        flat = [int(v) for v in self.terms.get_values()]
        values = iter(int(v) for v in self.numbers.get_values())
        return [
            Term(way, dimension, tuple(islice(values, self.ways[way])))
            for way, dimension in zip(flat[0::2], flat[1::2], strict=True)
        ]

    @property
    def along(self) -> list[Sequence[int]] | None:
        """Return the indices that are picked along each dimension of the operand, None where a
        dimension is not picked along by itself."""
        terms, shape, moved = self.added, shape_of(self.input), len(self.extents)
        by_itself = [(t.way, t.dimension) for t in terms] == [(d, d) for d in range(moved)]
        of_all = self.extents == shape[:moved] and shape_of(self.result) == (
            *self.ways,
            *shape[moved:],
        )
        if not by_itself or not of_all:
            return None
        return [*(t.numbers for t in terms), *(range(n) for n in shape[moved:])]

    def reordered(self, order: Sequence[int]) -> Mapping[str, Attribute] | None:
        """Return the attributes in another order, if each dimension is picked along by itself."""
        shape, along = shape_of(self.input), self.along
        if along is None or NEW in order:
            return None
        picks = picks_along([shape[i] for i in order], [along[i] for i in order])
        return {**self.properties, **picks}

    def rows_read(self, operand: int, r: int) -> range | None:
        """One row of the operand, where each row of the result is one, picked along its other
        dimensions."""
        along = self.along
        if operand or along is None or list(along[0]) != [0]:
            return None
        rows = along[1]
        if min(rows) < 0 or max(rows) >= shape_of(self.input)[1]:
            return None  # a row of what fills the rest
        return range(rows[r], rows[r] + 1)

    def of_one_row(self) -> Mapping[str, Attribute]:
        """Return the properties of the operator on one row, if it has rows."""
        along = self.along
        assert along is not None
        _, _, *rest = shape_of(self.input)
        return picks_along([1, 1, *rest], [[0], [0], *along[2:]])

    def zero(self) -> Array:
        """Return the element by which the result stores zero. Raises MemoptError as `evaluate`."""
        number = per_tensor(self, self.result)[1] if is_stored(self.result) else 0
        return np.asarray(number).astype(dtype_of(self.result))

    def verify_(self) -> None:
        flat, ways = [int(v) for v in self.terms.get_values()], self.ways
        self.require(min((*self.extents, *ways), default=1) > 0, "a size that is not positive")
        self.require(elements_of(self.input) % prod(self.extents) == 0, "no whole stretches")
        self.require(
            prod(ways) * self.run == elements_of(self.result),
            f"stretches of {self.run} in {list(ways)} ways are not those of the result",
        )
        pairs = list(zip(flat[0::2], flat[1::2], strict=False))
        self.require(
            len(flat) % 2 == 0
            and all(0 <= w < len(ways) and 0 <= d < len(self.extents) for w, d in pairs),
            "terms are pairs of a way and a dimension",
        )
        count = sum(ways[way] for way, _ in pairs)
        self.require(len(self.numbers.get_values()) == count, f"{count} numbers are needed")
        same = {element_of(v) for v in (*self.operands, self.result)}
        self.require(len(same) == 1, "the result has other elements")
        self.require(self.fill is None or elements_of(self.fill) == 1, "a fill of one element")

    def need_numbers(self) -> None:
        """Raise MemoptError unless stored integers mean the same in all tensors; where each index
        of a dimension has a scale, it goes with what is picked."""
        (scales, zeros, axis), along = numbers_of(self.input), self.along
        if axis < 0 or along is None or self.fill is not None:
            need_same_numbers(self, *self.operands, self.result)
            return
        picked, inside = along[axis], range(len(scales))
        if any(i not in inside for i in picked) or numbers_of(self.result) != (
            tuple(scales[i] for i in picked),
            tuple(zeros[i] for i in picked),
            axis,
        ):
            raise unknown(self, "other scales than those of what is picked")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        self.need_numbers()
        ways, extents = self.ways, self.extents
        index = [np.zeros(ways, np.int64) for _ in extents]
        for term in self.added:
            along = [-1 if i == term.way else 1 for i in range(len(ways))]
            index[term.dimension] = index[term.dimension] + np.array(term.numbers).reshape(along)
        in_range, at = np.ones(ways, bool), np.zeros(ways, np.int64)
        for along_one, extent in zip(index, extents, strict=True):
            in_range &= (along_one >= 0) & (along_one < extent)
            at = at * extent + along_one
        source = operands[0].reshape(-1, self.run)
        is_inside: Array = in_range.reshape(-1)
        elements: Array = source[np.where(is_inside, at.reshape(-1), 0)]
        if not is_inside.all():
            elements[~is_inside] = self.zero() if self.fill is None else operands[1].reshape(())
        return [elements.reshape(shape_of(self.result))]


@operation_definition
class PickedOp(PickingOp):
    """Stretches of the operand, of which `shape` says how many there are along its dimensions, in
    `sizes` as many ways. Each of `terms` is a way and a dimension: as many `numbers` as the way is
    long, of which the one of its index is added to the stretch's index along the dimension. Where
    there is no such stretch, the one element of `fill` stands, zero if there is none."""

    name = "memgraph.picked"


@operation_definition
class MirroredOp(PickingOp):
    """Elements as of `picked`, of the operand's own stretches alone, mirrored at the ends."""

    name = "memgraph.mirrored"
