"""Spectra of fixed-point samples, as the signal library of TensorFlow Lite for microcontrollers
computes them."""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from memopt.dialects.arithmetic.integer_fft import inverse_transform, is_length, real_transform
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, shape_of
from memopt.dialects.operators.base import TYPES, ComputeOp, OneResultOp


def need_numbers(op: ComputeOp, values: Array, *names: str) -> None:
    """Raise MemoptError unless the numbers are of one of these types."""
    if str(values.dtype) not in names:
        raise unknown(op, f"numbers of {values.dtype}")


@operation_definition
class SignalFftAutoScaleOp(ComputeOp):
    """The samples times the largest power of 2 that leaves the greatest of them in their type, and
    the exponent of that power. Behind a sample of -32768, which has no positive counterpart, the
    search for the greatest begins anew, as in the runtime."""

    name = "memgraph.signal_fft_auto_scale"
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    exponent = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$input " + TYPES

    def verify_(self) -> None:
        self.require(len(shape_of(self.input)) == 1, "samples in one dimension")
        self.require(shape_of(self.input) == shape_of(self.result), "shapes differ")
        self.require(shape_of(self.exponent) == (), "one exponent")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """Return the results of fft_auto_scale.cc."""
        need_numbers(self, operands[0], "int16")
        greatest = 0
        for value in operands[0].tolist():
            greatest = value if value > greatest or value == -32768 else max(greatest, -value)
        exponent = 15 - greatest.bit_length() if greatest > 0 else 0
        scaled = operands[0].astype(np.int64) << exponent
        return [scaled.astype(np.int16), np.array(exponent, np.int32)]


class SignalTransformOp(OneResultOp):
    """Base: a transform of vectors along the last dimension, of `length` real numbers each."""

    input = operand_def(AnyTensor)
    length = prop_def(IntegerAttr[I64])
    assembly_format = "$input `length` $length " + TYPES

    @property
    def count(self) -> int:
        """Return how many real numbers a transform has."""
        return self.length.value.data

    def check(self, count: int, is_possible: bool) -> None:
        """Refuse vectors of another length, and results of others than `count` numbers."""
        self.require(is_length(self.count), "a length is a power of 2 from 4 to 32768")
        shape = shape_of(self.input)
        self.require(len(shape) > 0 and is_possible, "vectors of another length")
        expected = (*shape[:-1], count)
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")


@operation_definition
class SignalRfftOp(SignalTransformOp):
    """The first half of the fixed-point Fourier transform of `length` real numbers, and one number
    more, real and imaginary parts in turn, divided by `length`; zeros stand behind shorter
    vectors."""

    name = "memgraph.signal_rfft"

    def verify_(self) -> None:
        self.check(self.count + 2, 0 < shape_of(self.input)[-1:][0] <= self.count)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """Return the results of rfft_int16.cc and rfft_int32.cc, by KissFFT."""
        need_numbers(self, operands[0], "int16", "int32")
        return [real_transform(operands[0], self.count)]


@operation_definition
class SignalIrfftOp(SignalTransformOp):
    """The `length` real numbers of which the operand is half of the fixed-point Fourier transform
    and one number more, real and imaginary parts in turn; divided by `length`."""

    name = "memgraph.signal_irfft"

    def verify_(self) -> None:
        self.check(self.count, shape_of(self.input)[-1:] == (self.count + 2,))

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """Return the results of irfft_int16.cc and irfft_int32.cc, by KissFFT."""
        need_numbers(self, operands[0], "int16", "int32")
        return [inverse_transform(operands[0], self.count)]


@operation_definition
class SignalEnergyOp(OneResultOp):
    """The square of each complex number's size from `first` to before `end`; elsewhere, where the
    runtime leaves what was there, 0."""

    name = "memgraph.signal_energy"
    input = operand_def(AnyTensor)
    first = prop_def(IntegerAttr[I64])
    end = prop_def(IntegerAttr[I64])
    assembly_format = "$input `from` $first `to` $end " + TYPES

    def verify_(self) -> None:
        shape, out = shape_of(self.input), shape_of(self.result)
        self.require(len(shape) == len(out) == 1, "numbers in one dimension")
        self.require(shape[0] == 2 * out[0], "a result for each complex number")
        first, end = self.range_
        self.require(0 <= first <= end <= out[0], f"numbers {first} to {end} of {out[0]}")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """Return the results of energy.cc."""
        need_numbers(self, operands[0], "int16")
        sizes = (operands[0].astype(np.int64).reshape(-1, 2) ** 2).sum(1)
        result, part = np.zeros(len(sizes), np.uint32), slice(*self.range_)
        result[part] = sizes[part]
        return [result]

    @property
    def range_(self) -> tuple[int, int]:
        """Return the first number that is computed, and the one behind the last."""
        return self.first.value.data, self.end.value.data
