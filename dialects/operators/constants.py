"""Constants that rewrites make of others: some of their channels, a bias into which others went,
and channels times, by or plus a number of each, and one over each number.

    %v = memgraph.take %w axis 3 kept [0, 2] : (tensor<4x1x1x3xi8>) -> tensor<4x1x1x2xi8>
    %c = memgraph.fold_into_bias %w, %b axis 3 values [0, -7, 0]
           : (tensor<4x1x1x3xi8>, tensor<4xi32>) -> tensor<4xi32>
    %u = memgraph.scaled %w, %f axis 0 : (tensor<4x1x1x3xf32>, tensor<4xf32>) -> tensor<4x1x1x3xf32>
    %d = memgraph.divided %b, %f axis 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %d = memgraph.shifted %b, %f axis 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %r = memgraph.reciprocal %f : (tensor<4xf32>) -> tensor<4xf32>

All are constant expressions for every target: no file has them, so whoever writes one computes
them. The constant of the model stays as it is, so the IR says what was left out of it.
"""

import itertools
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.irdl import operand_def, opt_operand_def, prop_def, traits_def

from memopt.dialects.arithmetic.fixed_point import need_int32
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, dtype_of, is_stored, need_reals, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, encoding_of, shape_of
from memopt.dialects.operators.base import INTS, TYPES, OfOneOp, OneResultOp
from memopt.dialects.operators.traits import KeepsDimensions, Moves, Written


@operation_definition
class TakeOp(OfOneOp):
    """The elements whose index along `axis` is one of `kept`, which rise."""

    name = "memgraph.take"
    axis = prop_def(IntegerAttr[I64])
    kept = prop_def(INTS)
    traits = traits_def(Moves(), KeepsDimensions(), Written())
    assembly_format = "$input `axis` $axis `kept` $kept " + TYPES

    @property
    def indices(self) -> tuple[int, ...]:
        return tuple(int(v) for v in self.kept.get_values())

    def verify_(self) -> None:
        shape, axis, indices = shape_of(self.input), self.axis.value.data, self.indices
        self.require(0 <= axis < len(shape), f"axis {axis} out of range")
        rises = all(a < b for a, b in itertools.pairwise(indices))
        self.require(
            bool(indices) and rises and indices[0] >= 0 and indices[-1] < shape[axis],
            f"{list(indices)} are no rising indices of {shape[axis]}",
        )
        expected = (*shape[:axis], len(indices), *shape[axis + 1 :])
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")
        before, after = encoding_of(self.input), encoding_of(self.result)
        scales = before.scales
        if before.axis.data == axis:
            scales = tuple(scales[i] for i in indices)
        self.require(after.scales == scales, "the result's scales are not those that are kept")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        return [np.ascontiguousarray(operands[0].take(self.indices, self.axis.value.data))]


@operation_definition
class FoldIntoBiasOp(OneResultOp):
    """The bias of filters, the first dimension of `weights`, plus what they make of channels that
    are constant: `values`, less the zero point, along `axis` of the weights. Integers only."""

    name = "memgraph.fold_into_bias"
    weights = operand_def(AnyTensor)
    bias = opt_operand_def(AnyTensor)
    axis = prop_def(IntegerAttr[I64])
    values = prop_def(INTS)
    traits = traits_def(Written())
    assembly_format = "$weights (`,` $bias^)? `axis` $axis `values` $values " + TYPES

    def verify_(self) -> None:
        shape, axis = shape_of(self.weights), self.axis.value.data
        self.require(0 < axis < len(shape), f"axis {axis} out of range")
        count = len(self.values)
        self.require(count == shape[axis], f"{count} values for {shape[axis]} channels")
        for value in (self.result, *((self.bias,) if self.bias is not None else ())):
            biases = elements_of(value)
            self.require(biases == shape[0], f"a bias of {biases} for {shape[0]} filters")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        weights, *bias = operands
        if weights.dtype.kind not in "iu" or dtype_of(self.result).kind != "i":
            raise unknown(self, "a bias of reals")
        zero = (encoding_of(self.weights).zero_points or (0,))[0]
        integers = np.moveaxis(weights.astype(np.int64) - zero, self.axis.value.data, -1)
        per_channel = integers.reshape(len(integers), -1, len(self.values)).sum(1)
        total = per_channel @ np.array(self.values.get_values(), np.int64)
        if bias:
            total = total + bias[0].reshape(-1).astype(np.int64)
        need_int32(self, total)
        return [total.astype(dtype_of(self.result)).reshape(shape_of(self.result))]


class PerChannelOp(OneResultOp):
    """Base: real numbers, with one number of each index along `axis`, or one for all. `LINEAR`: of
    a sum it makes the sum of what it makes of each term."""

    LINEAR: ClassVar[bool] = False
    input = operand_def(AnyTensor)
    numbers = operand_def(AnyTensor)
    axis = prop_def(IntegerAttr[I64])
    traits = traits_def(KeepsDimensions(), Written())
    assembly_format = "$input `,` $numbers `axis` $axis " + TYPES

    def verify_(self) -> None:
        shape, axis, given = shape_of(self.input), self.axis.value.data, shape_of(self.numbers)
        self.require(0 <= axis < len(shape), f"axis {axis} out of range")
        self.require(given in ((shape[axis],), (1,)), f"{given} numbers for {shape[axis]} channels")
        self.require(shape_of(self.result) == shape, f"the result's shape must be {shape}")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if any(is_stored(v) for v in (*self.operands, self.result)):
            raise unknown(self, "stored integers")
        need_reals(self, *operands)
        wide = [1] * operands[0].ndim
        wide[self.axis.value.data] = -1
        values, numbers = (a.astype(np.float64) for a in operands)
        with np.errstate(all="ignore"):
            return [self.of(values, numbers.reshape(wide)).astype(dtype_of(self.result))]

    @abstractmethod
    def of(self, values: Array, numbers: Array) -> Array:
        """The result in float64, which is rounded once."""


@operation_definition
class ScaledOp(PerChannelOp):
    """Real numbers times one of each index along `axis`, or times one for all."""

    name = "memgraph.scaled"
    LINEAR: ClassVar[bool] = True

    def of(self, values: Array, numbers: Array) -> Array:
        return values * numbers


@operation_definition
class DividedOp(PerChannelOp):
    """Real numbers divided by one of each index along `axis`, or by one for all."""

    name = "memgraph.divided"
    LINEAR: ClassVar[bool] = True

    def of(self, values: Array, numbers: Array) -> Array:
        return values / numbers


@operation_definition
class ShiftedOp(PerChannelOp):
    """Real numbers plus one of each index along `axis`, or plus one for all."""

    name = "memgraph.shifted"

    def of(self, values: Array, numbers: Array) -> Array:
        return values + numbers


@operation_definition
class ReciprocalOp(OfOneOp):
    """One over each of real numbers."""

    name = "memgraph.reciprocal"
    traits = traits_def(KeepsDimensions(), Written())

    def verify_(self) -> None:
        shape = shape_of(self.input)
        self.require(shape_of(self.result) == shape, f"the result's shape must be {shape}")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if is_stored(self.input) or operands[0].dtype.kind != "f":
            raise unknown(self, "integers")
        with np.errstate(all="ignore"):
            return [(1 / operands[0]).astype(dtype_of(self.result))]
