"""Operators that weigh their input: sums of products with weights, a filter for each channel of the
result."""

from abc import abstractmethod
from typing import ClassVar

from xdsl.ir import SSAValue

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.interface import is_constant_value
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import Pointwise


class WeighingOp(ComputeOp):
    """Operands are what is weighed, the weights, and a bias or none. `OFFSET_WEIGHTS`: bytes of one
    scale may have a zero point."""

    OFFSET_WEIGHTS: ClassVar[bool] = False

    @property
    def weighed(self) -> tuple[SSAValue, SSAValue, SSAValue | None]:
        """The input, the weights, the bias."""
        source, weights, *bias = self.operands
        return source, weights, bias[0] if bias else None

    def may_be_made_by(self, reader: ComputeOp) -> bool:
        """Sums are made once each, so one operation of two tensors may make them as it reads them.
        What is known before run time is no buffer."""
        if not reader.has_trait(Pointwise) or reader.is_function:
            return False
        alike = shape_of(reader.results[0]) == shape_of(self.results[0])
        return alike and all(map(is_constant_value, self.operands[1:]))

    @property
    @abstractmethod
    def filter_axis(self) -> int:
        """The dimension of the weights along which channels of the result stand."""

    @property
    @abstractmethod
    def depth_axis(self) -> int:
        """The dimension of the weights along which channels of the input stand."""

    @abstractmethod
    def mixed(self, weights: Array) -> Array | None:
        """Weights as filter, channel, tap, less their zero point, where each filter adds up all
        channels of the input; None where it does not."""

    @abstractmethod
    def padded_taps(self) -> Array:
        """Return which taps, in the order of `mixed`, are ever in the padding."""

    def by_filter(self, weights: Array) -> Array:
        """Weights as filter, element, less their zero point."""
        integers = less_zero_point(weights, self.operands[1])
        return np.moveaxis(integers, self.filter_axis, 0).reshape(
            weights.shape[self.filter_axis], -1
        )


def less_zero_point(weights: Array, value: SSAValue) -> Array:
    """Stored integers as int64, less their zero point; real numbers as float64."""
    if weights.dtype.kind == "f":
        return weights.astype(np.float64)
    return weights.astype(np.int64) - (encoding_of(value).zero_points or (0,))[0]
