"""Operators that take elements at indices of an operand, or put them there."""

from abc import abstractmethod
from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import I64, IntegerAttr, UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, dtype_of, is_stored, need_same_numbers, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, shape_of
from memopt.dialects.operators.base import TYPES, ComputeOp
from memopt.dialects.operators.traits import Folds, RealsOnly

FROM_END = " (`from_end` $from_end^)? "


class IndexingOp(ComputeOp):
    """Base of what takes indices; with `from_end` those below zero count from the end."""

    indices = operand_def(AnyTensor)
    from_end = opt_prop_def(UnitAttr)

    @property
    def depth(self) -> int:
        """Return the number of dimensions that a row of indices is for."""
        return shape_of(self.indices)[-1]

    @property
    @abstractmethod
    def indexed(self) -> tuple[int, ...]:
        """Sizes of the dimensions that are indexed, by the last dimension of the indices if these
        are several."""

    def places(self, indices: Array) -> Array:
        """Return the indices as int64, counted from zero. Raises MemoptError for no integers."""
        if indices.dtype.kind not in "iu" or is_stored(self.indices):
            raise unknown(self, f"indices of {indices.dtype}")
        at: Array = indices.astype(np.int64)
        if self.from_end is not None:
            sizes = np.array(self.indexed[0] if len(self.indexed) == 1 else self.indexed)
            at = at + (at < 0) * sizes
        return at


@operation_definition
class GatherAlongOp(IndexingOp):
    """Elements of the first operand at each index of the second along `axis`; an index that it does
    not have, which runtimes refuse, is the nearest that it has. Each of the first `batch_dims`
    dimensions has indices of its own. With `from_end` indices below zero count from the end."""

    name = "memgraph.gather_along"
    input = operand_def(AnyTensor)
    indices = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    axis = prop_def(IntegerAttr[I64])
    batch_dims = opt_prop_def(IntegerAttr[I64])
    traits = traits_def(Pure(), Folds())
    assembly_format = (
        "$input `,` $indices `axis` $axis (`batch_dims` $batch_dims^)?" + FROM_END + TYPES
    )

    @property
    def own(self) -> int:
        """Return how many dimensions have indices of their own."""
        return 0 if self.batch_dims is None else self.batch_dims.value.data

    def verify_(self) -> None:
        axis, shape, own = self.axis.value.data, shape_of(self.input), self.own
        self.require(0 <= axis < len(shape) and shape[axis] > 0, f"axis {axis} out of range")
        at = shape_of(self.indices)
        self.require(0 <= own <= axis and at[:own] == shape[:own], "indices of other batches")
        expected = (*shape[:axis], *at[own:], *shape[axis + 1 :])
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        need_same_numbers(self, self.input, self.result)
        batches, outer, length, inner, count = self.sizes
        at = np.clip(self.places(operands[1]), 0, length - 1)
        each = operands[0].reshape(batches, outer, length, inner)
        slices = [
            np.take(x, i, axis=1) for x, i in zip(each, at.reshape(batches, count), strict=True)
        ]
        return [np.array(slices, operands[0].dtype).reshape(shape_of(self.result))]

    @property
    def indexed(self) -> tuple[int, ...]:
        return (shape_of(self.input)[self.axis.value.data],)

    @property
    def sizes(self) -> tuple[int, int, int, int, int]:
        """Batches; in each: before the axis, along it, behind it, and indices."""
        axis, shape, own = self.axis.value.data, shape_of(self.input), self.own
        batches, behind = prod(shape[:own]), prod(shape[axis + 1 :])
        count = prod(shape_of(self.indices)[own:])
        return batches, prod(shape[own:axis]), shape[axis], behind, count


@operation_definition
class GatherNdOp(IndexingOp):
    """Slices of the first operand at each row of indices of the second, which are of its first
    dimensions; an index that there is not is the nearest that there is. With `from_end` indices
    below zero count from the end."""

    name = "memgraph.gather_nd"
    input = operand_def(AnyTensor)
    indices = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$input `,` $indices" + FROM_END + TYPES

    @property
    def indexed(self) -> tuple[int, ...]:
        return shape_of(self.input)[: self.depth]

    def verify_(self) -> None:
        shape, at = shape_of(self.input), shape_of(self.indices)
        self.require(bool(at) and 0 < at[-1] <= len(shape), "indices of the first dimensions")
        self.require(0 not in shape, "nothing to gather")
        expected = (*at[:-1], *shape[at[-1] :])
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        need_same_numbers(self, self.input, self.result)
        at = np.clip(self.places(operands[1]), 0, np.array(self.indexed) - 1)
        return [operands[0][tuple(np.moveaxis(at, -1, 0))]]


@operation_definition
class ScatterNdOp(IndexingOp):
    """Zeros, to which at each row of indices of the first operand, which are of the result's first
    dimensions, the element or the piece of the second is added. What has an index that there is
    not, which runtimes refuse, is left out. With `from_end` indices below zero count from the
    end."""

    name = "memgraph.scatter_nd"
    indices = operand_def(AnyTensor)
    updates = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    traits = traits_def(Pure(), RealsOnly())
    assembly_format = "$indices `,` $updates" + FROM_END + TYPES

    @property
    def indexed(self) -> tuple[int, ...]:
        return shape_of(self.result)[: self.depth]

    def verify_(self) -> None:
        shape, at = shape_of(self.result), shape_of(self.indices)
        self.require(bool(at) and 0 < at[-1] <= len(shape), "indices of the first dimensions")
        expected = (*at[:-1], *shape[at[-1] :])
        self.require(shape_of(self.updates) == expected, f"the updates' shape must be {expected}")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        at, updates = self.places(operands[0]), operands[1]
        if is_stored(self.updates) or is_stored(self.result):
            raise unknown(self, "stored integers")
        result = np.zeros(shape_of(self.result), dtype_of(self.result))
        in_range = ((at >= 0) & (at < np.array(self.indexed))).all(-1)
        with np.errstate(over="ignore"):  # integers wrap
            np.add.at(result, tuple(np.moveaxis(at[in_range], -1, 0)), updates[in_range])
        return [result]
