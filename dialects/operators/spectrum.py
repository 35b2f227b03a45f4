"""Spectra of reals, and the parts of complex numbers."""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, DenseArrayBase
from xdsl.irdl import prop_def, traits_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, dtype_of, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import TYPES, OfOneOp
from memopt.dialects.operators.traits import RealsOnly


@operation_definition
class RealFft2DOp(OfOneOp):
    """The Fourier transform of the reals in the last two dimensions, as many as `sizes` says, which
    are powers of 2, cut off or with zeros behind; of the last one the first half and one number
    more."""

    name = "memgraph.real_fft_2d"
    sizes = prop_def(DenseArrayBase.constr(I64))
    traits = traits_def(RealsOnly())
    assembly_format = "$input `sizes` $sizes " + TYPES

    @property
    def lengths(self) -> tuple[int, ...]:
        """Return the numbers of rows and columns."""
        return tuple(int(v) for v in self.sizes.get_values())

    def verify_(self) -> None:
        shape, sizes = shape_of(self.input), self.lengths
        self.require(len(sizes) == 2 <= len(shape), "two dimensions")
        self.require(all(n > 0 and not n & (n - 1) for n in sizes), "sizes are powers of 2")
        expected = (*shape[:-2], sizes[0], sizes[1] // 2 + 1)
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if (str(operands[0].dtype), str(dtype_of(self.result))) != ("float32", "complex64"):
            raise unknown(self, f"numbers of {operands[0].dtype}")
        return [np.fft.rfft2(operands[0].astype(np.float64), self.lengths).astype(np.complex64)]


class ComplexPartOp(OfOneOp):
    """Base: a real of each complex number."""

    traits = traits_def(RealsOnly())

    def verify_(self) -> None:
        self.require(shape_of(self.input) == shape_of(self.result), "shapes differ")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if (str(operands[0].dtype), str(dtype_of(self.result))) != ("complex64", "float32"):
            raise unknown(self, f"numbers of {operands[0].dtype}")
        return [self.real_of(operands[0].astype(np.complex128)).astype(np.float32)]

    def real_of(self, values: Array) -> Array:
        """Return the real of each complex number."""
        raise NotImplementedError


@operation_definition
class ComplexAbsOp(ComplexPartOp):
    """The size of complex numbers, element-wise."""

    name = "memgraph.complex_abs"

    def real_of(self, values: Array) -> Array:
        return np.abs(values)


@operation_definition
class RealPartOp(ComplexPartOp):
    """The real part of complex numbers, element-wise."""

    name = "memgraph.real_part"

    def real_of(self, values: Array) -> Array:
        return values.real


@operation_definition
class ImaginaryPartOp(ComplexPartOp):
    """The imaginary part of complex numbers, element-wise."""

    name = "memgraph.imaginary_part"

    def real_of(self, values: Array) -> Array:
        return values.imag
