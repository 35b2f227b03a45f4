"""Elements taken at steps: what a tile, a broadcast, a reversal and cuts of other ranks are."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import I64, IntegerAttr, UnitAttr
from xdsl.irdl import opt_prop_def, prop_def, traits_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, element_of, need_same_numbers
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import elements_of, shape_of
from memopt.dialects.operators.base import INTS, TYPES, OfOneOp
from memopt.dialects.operators.traits import Folds, Monotone, Moves


@operation_definition
class StridedOp(OfOneOp):
    """The elements of the operand from number `start` on, `sizes` of them along each of as many
    ways, `steps` elements apart, in this order. A step may be 0 or negative. With `as_stored`
    integers stay as they are stored where both quantizations differ, as runtimes leave them."""

    name = "memgraph.strided"
    start = prop_def(IntegerAttr[I64])
    sizes = prop_def(INTS)
    steps = prop_def(INTS)
    as_stored = opt_prop_def(UnitAttr)
    traits = traits_def(Monotone(), Moves(), Folds())
    assembly_format = (
        "$input (`as_stored` $as_stored^)? `start` $start `sizes` $sizes `steps` $steps " + TYPES
    )

    @property
    def places(self) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
        """Start, sizes and steps."""
        sizes, steps = (tuple(int(v) for v in a.get_values()) for a in (self.sizes, self.steps))
        return self.start.value.data, sizes, steps

    def verify_(self) -> None:
        start, sizes, steps = self.places
        self.require(len(sizes) == len(steps), "as many sizes as steps are needed")
        count, limit = elements_of(self.result), elements_of(self.input)
        self.require(
            min(sizes, default=1) >= 0 and prod(sizes) == count,
            f"sizes {list(sizes)} are not the {count} elements of the result",
        )
        ends = [(n - 1) * s for n, s in zip(sizes, steps, strict=True)]
        low, high = start + sum(min(e, 0) for e in ends), start + sum(max(e, 0) for e in ends)
        self.require(count == 0 or (low >= 0 and high < limit), "elements outside the operand")
        same = element_of(self.input) == element_of(self.result)
        self.require(same, "the result has other elements")

    def need_meaning(self) -> None:
        """Raise MemoptError where stored integers would mean something else than before."""
        if self.as_stored is None:
            need_same_numbers(self, self.input, self.result)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        self.need_meaning()
        start, sizes, steps = self.places
        at = np.full((1,) * len(sizes), start)
        for i, (size, step) in enumerate(zip(sizes, steps, strict=True)):
            way = [1] * len(sizes)
            way[i] = size
            at = at + (np.arange(size) * step).reshape(way)
        return [operands[0].reshape(-1)[at].reshape(shape_of(self.result))]
