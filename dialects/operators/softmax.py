"""Softmax."""

from collections.abc import Mapping, Sequence
from functools import partial

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr
from xdsl.ir import Attribute
from xdsl.irdl import opt_prop_def, prop_def, traits_def

from memopt.dialects.arithmetic.even_rounding import quantized, rounds_even
from memopt.dialects.arithmetic.fixed_point import by_table, high_mul, rescale, round_shift
from memopt.dialects.arithmetic.int16_tables import exponential_table, look_up, reciprocal_table
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import (
    INT32_MAX,
    one_over_one_plus_x,
    quantize_multiplier,
    softmax_exponentials,
)
from memopt.dialects.arithmetic.stored import (
    Array,
    dtype_of,
    element_of,
    integer_type,
    is_stored,
    limits_of,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.attributes.operators import RoundingAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import ROUNDING, TYPES, OfOneOp, Range
from memopt.dialects.operators.real_bounds import of_reals
from memopt.dialects.operators.reordering import with_axis, with_last_axis
from memopt.dialects.operators.traits import Alike, KeepsDimensions

EXPONENTIAL_BITS = 24  # of exponentials between ONNX's pairs, which float32 holds


@operation_definition
class SoftmaxOp(OfOneOp):
    """exp(beta * x) normalised over `axis`. Of stored integers that round as ONNX's, exponentials
    are integers of 24 bits, their sum is exact, and quotients are float32."""

    name = "memgraph.softmax"
    axis = prop_def(IntegerAttr[I64])
    beta = prop_def(FloatAttr[Float32Type])
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Alike(), KeepsDimensions())
    assembly_format = "$input `axis` $axis `beta` $beta" + ROUNDING + " " + TYPES

    def verify_(self) -> None:
        self.require(shape_of(self.input) == shape_of(self.result), "shapes differ")
        axis = self.axis.value.data
        self.require(0 <= axis < max(1, len(shape_of(self.input))), f"axis {axis} out of range")

    def reordered(self, order: Sequence[int]) -> Mapping[str, Attribute]:
        return with_axis(self, order)

    def over_vectors(self, rank: int) -> Mapping[str, Attribute] | None:
        return with_last_axis(self, rank, len(shape_of(self.input)))

    def rows_read(self, operand: int, r: int) -> range | None:
        return None if self.axis.value.data == 1 else range(r, r + 1)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        axis, beta = self.axis.value.data, float(self.beta.value.data)
        if is_stored(self.input) or is_stored(self.result):
            return [self._stored(np.moveaxis(operands[0], axis, -1), axis, beta)]
        x = operands[0].astype(np.float64)
        e = np.exp(beta * (x - x.max(axis, keepdims=True)))
        total = np.add.accumulate(e, axis).take([-1], axis)  # in order, however long the rows are
        return [(e / total).astype(operands[0].dtype)]

    def extremes(self, least: Sequence[Array], most: Sequence[Array]) -> list[Range] | None:
        """Return the ends of the result of finite reals: a part of a sum of what is not negative,
        whose quotient may be off."""
        if not of_reals(self, (*least, *most)) or not float(self.beta.value.data) > 0:
            return None
        return [(np.zeros_like(least[0]), np.full_like(most[0], 1 + 2.0**-20))]

    def need_unit_steps(self) -> tuple[int, int, int]:
        """Return the least and the largest integer of a result of bytes, and its bits.

        Raises MemoptError unless it goes from 0 to almost 1 in as many steps as there are.
        """
        if stored_bits(self, self.input, unsigned=True) != 8:
            raise unknown(self, "int16 is no byte")
        width = 16 if integer_type(element_of(self.result)) == (16, False) else 8
        if width == 8:
            stored_bits(self, self.input, self.result, unsigned=True)
        low, high = limits_of(self, self.result)
        scale, zero = per_tensor(self, self.result)
        off = 0.001 if width == 16 else 0  # softmax_common.cc, CalculateSoftmaxParams
        if abs(scale * 2.0**width - 1) > off or zero != low:
            text = f"a softmax of bytes needs scale 1/{1 << width} and zero point {low} after it"
            raise unknown(self, text)
        return low, high, width

    def in_tenths(self) -> tuple[int, int]:
        """Return (multiplier, shift) from steps of int16 to those of the exponential's table,
        6553.5 to 1.

        Raises MemoptError for scales that the reference kernel does not take.
        """
        stored_bits(self, self.input, self.result)
        scale, zero = per_tensor(self, self.result)
        if zero or abs(scale * 32768 - 1) > 0.001:
            raise unknown(self, "a softmax of int16 needs scale 1/32768 and zero point 0 after it")
        real = per_tensor(self, self.input)[0] * float(self.beta.value.data) / (10.0 / 65535.0)
        multiplier, shift = quantize_multiplier(real)
        if shift > 14:
            raise unknown(self, "an input scale so large that differences could overflow")
        shape = shape_of(self.input)
        if shape and shape[self.axis.value.data] > 1 << 16:
            raise unknown(self, "a vector so long that the sum could overflow")
        return multiplier, shift

    def even_exponentials(self) -> Array:
        """Return the exponentials of 0 to 255 steps below the largest, of softmax between ONNX's
        pairs.

        Raises MemoptError unless bytes are stored, and beta is above 0.
        """
        beta = float(self.beta.value.data)
        if {stored_bits(self, v, unsigned=True) for v in (self.input, self.result)} != {8}:
            raise unknown(self, "int16 that is rounded as ONNX's")
        if not 0 < beta < np.inf:
            raise unknown(self, "a beta that is not above 0")
        steps = np.arange(256) * (per_tensor(self, self.input)[0] * beta)
        return np.rint(np.exp(-steps) * (1 << EXPONENTIAL_BITS)).astype(np.int64)

    def _stored_even(self, x: Array) -> Array:
        below = x.max(-1, keepdims=True).astype(np.int64) - x
        exponential = self.even_exponentials()[below]
        total = exponential.sum(-1, keepdims=True)
        parts = exponential.astype(np.float32) / total.astype(np.float32)
        return quantized(self, parts, self.result)

    def _stored_int16(self, x: Array) -> Array:
        """softmax.h, SoftmaxInt16: by tables, exponentials and their sum in Q0.15."""
        multiplier, shift = (np.int64(v) for v in self.in_tenths())
        below = x.astype(np.int64) - x.max(-1, keepdims=True)
        places = np.clip(rescale(self, below, multiplier, shift) + 32767, -32768, 32767)
        exponential = by_table(places, partial(look_up, exponential_table()))
        total = exponential.sum(-1, keepdims=True)
        zeros = by_table(total, lambda v: 32 - v.bit_length())
        moved = (((total << (zeros - 1)) + (1 << 13)) >> 14) - (1 << 15) - (1 << 16)
        scale = by_table(np.clip(moved, -32768, 32767), partial(look_up, reciprocal_table()))
        bits = 31 - zeros
        integers = (exponential * scale + (np.int64(1) << (bits - 1))) >> bits
        return np.clip(integers, 0, 32767).astype(np.int16)

    def _stored(self, x: Array, axis: int, beta: float) -> Array:
        """softmax.h, the integer Softmax: exponentials in Q0.31, their sum in Q12.19, which ends at
        the largest int32: where it would overflow runtimes stop or give anything."""
        if rounds_even(self):
            return np.ascontiguousarray(np.moveaxis(self._stored_even(x), -1, axis))
        if integer_type(element_of(self.input)) == (16, False):
            return np.ascontiguousarray(np.moveaxis(self._stored_int16(x), -1, axis))
        low, high, width = self.need_unit_steps()
        table = np.array(softmax_exponentials(beta, per_tensor(self, self.input)[0]), np.int64)
        below = x.max(-1, keepdims=True).astype(np.int64) - x
        exponential = np.where(below < len(table), table[np.minimum(below, len(table) - 1)], 0)
        total = round_shift(exponential, np.int64(12)).sum(-1, keepdims=True).clip(max=INT32_MAX)
        zeros = by_table(total, lambda v: 32 - v.bit_length())
        scale = by_table((total << zeros) - (1 << 31), one_over_one_plus_x)
        bits = 12 - zeros + 31 - width
        value = round_shift(high_mul(scale, exponential), np.minimum(bits, 40))
        parts = np.where((below < len(table)) & (bits < 32), value + low, low)
        integers = np.clip(parts, low, high).astype(dtype_of(self.result))
        return np.ascontiguousarray(np.moveaxis(integers, -1, axis))
