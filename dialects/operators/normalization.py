"""Batch normalization with given statistics, and what it multiplies and adds.

%y = memgraph.batch_normalization %x, %scale, %shift, %mean, %variance epsilon 1.0e-05 : ...
%f, %s = memgraph.normalization_terms %scale, %shift, %mean, %variance epsilon 1.0e-05 : ...
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import Float32Type, FloatAttr
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, dtype_of, is_stored, need_reals, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, shape_of
from memopt.dialects.operators.base import TYPES, ComputeOp
from memopt.dialects.operators.traits import KeepsDimensions, Pointwise, Written

STATISTICS = "$scale `,` $shift `,` $mean `,` $variance `epsilon` $epsilon "


class NormalizingOp(ComputeOp):
    """Base: what a channel is multiplied with and what is added follow from four numbers of it."""

    epsilon = prop_def(FloatAttr[Float32Type])
    traits = traits_def(Pure(), KeepsDimensions())

    def need_numbers(self, channels: int) -> None:
        """Raise VerifyException unless each of the last four operands has a number per channel."""
        for value in self.operands[-4:]:
            shape = shape_of(value)
            self.require(shape == (channels,), f"{shape} numbers for {channels} channels")

    def terms(self, statistics: Sequence[Array]) -> tuple[Array, Array]:
        """Return the factor of each channel, and the number added then, in float64. Raises
        MemoptError for what is no real number."""
        if any(is_stored(v) for v in (*self.operands, *self.results)):
            raise unknown(self, "stored integers")
        need_reals(self, *statistics)
        scale, shift, mean, variance = (a.astype(np.float64) for a in statistics)
        with np.errstate(divide="ignore", invalid="ignore"):  # a variance of nothing
            factor = scale / np.sqrt(variance + self.epsilon.value.data)
        return factor, shift - mean * factor


@operation_definition
class BatchNormalizationOp(NormalizingOp):
    """(x - mean) / sqrt(variance + `epsilon`) * scale + shift, with given numbers of each channel,
    dimension 1."""

    name = "memgraph.batch_normalization"
    traits = traits_def(Pointwise())
    input = operand_def(AnyTensor)
    scale = operand_def(AnyTensor)
    shift = operand_def(AnyTensor)
    mean = operand_def(AnyTensor)
    variance = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    assembly_format = "$input `,` " + STATISTICS + TYPES

    def verify_(self) -> None:
        shape = shape_of(self.input)
        self.require(len(shape) >= 2, f"{shape} has no channels in dimension 1")
        self.require(shape_of(self.result) == shape, f"the result's shape must be {shape}")
        self.need_numbers(shape[1])

    def may_overwrite(self, operand: int) -> bool:
        return operand == 0

    def reordered(self, order: Sequence[int]) -> None:
        """Channels are always in dimension 1."""

    def over_vectors(self, rank: int) -> None:
        """Channels are always in dimension 1."""

    def rows_read(self, operand: int, r: int) -> range | None:
        return range(r, r + 1) if operand == 0 else None

    def macs(self) -> int:
        """Return one per element."""
        return elements_of(self.result)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        need_reals(self, *operands)
        wide = (-1, *(1,) * (operands[0].ndim - 2))
        factor, term = (v.reshape(wide) for v in self.terms(operands[1:]))
        exact = operands[0].astype(np.float64) * factor + term
        return [exact.astype(dtype_of(self.result))]


@operation_definition
class NormalizationTermsOp(NormalizingOp):
    """Factor of each channel in a batch normalization, and the number added then, of constants: in
    float64, each rounded once."""

    name = "memgraph.normalization_terms"
    traits = traits_def(Written())
    scale = operand_def(AnyTensor)
    shift = operand_def(AnyTensor)
    mean = operand_def(AnyTensor)
    variance = operand_def(AnyTensor)
    factor = result_def(AnyTensor)
    term = result_def(AnyTensor)
    assembly_format = STATISTICS + TYPES

    def verify_(self) -> None:
        channels = shape_of(self.factor)
        self.require(len(channels) == 1, f"{channels} is no list of channels")
        self.require(shape_of(self.term) == channels, "as many factors as terms")
        self.need_numbers(channels[0])

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        with np.errstate(over="ignore"):
            return [
                v.astype(dtype_of(r))
                for v, r in zip(self.terms(operands), self.results, strict=True)
            ]
