"""Element-wise operations of two operands."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from itertools import product
from typing import ClassVar

from xdsl.irdl import operand_def, opt_prop_def, traits_def

from memopt.dialects.arithmetic.even_rounding import rounds_even
from memopt.dialects.arithmetic.fixed_point import by_table, high_mul, rescale, round_shift
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import float32, one_over_one_plus_x, quantize_multiplier
from memopt.dialects.arithmetic.stored import (
    Array,
    is_stored,
    need_double_rounding,
    need_reals,
    need_rounding,
    need_same_numbers,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.attributes.operators import ActivationAttr, RoundingAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, shape_of
from memopt.dialects.operators.base import ACTIVATION, ROUNDING, TYPES, OneResultOp, Range
from memopt.dialects.operators.constants import DividedOp, PerChannelOp, ScaledOp, ShiftedOp
from memopt.dialects.operators.traits import Elementwise, IgnoresActivation, RealsOnly

ELEMENTS = ("f32", "i32", "i64", "s8", "s16", "u8")
"""Element kinds of what takes one of two elements."""


class BinaryOp(OneResultOp):
    """Element-wise with numpy's broadcasting. `OF_CONSTANT`: what does to a constant, with a
    number of each channel, what this does with the right operand; None where that is not known.
    `COMMUTES`: the operands may change places."""

    C: ClassVar[Mapping[str, str]] = {}
    """The expression of `x` and `y` by element kind, where that is all that a kernel does."""
    TFLITE: ClassVar[str] = ""
    """The operator of `.tflite` that is this function."""
    ONNX: ClassVar[str] = ""
    """The operator of ONNX that is this function and has no attributes."""

    REALS: ClassVar[bool | None] = None
    """Whether it is of real numbers alone, and not of plain int32 and int64, too; None where there
    is a form of stored integers."""
    IS_TRUTH: ClassVar[bool] = False
    """Whether results are true or false."""
    COMMUTES: ClassVar[bool] = True
    OF_CONSTANT: ClassVar[type[PerChannelOp] | None] = None
    lhs = operand_def(AnyTensor)
    rhs = operand_def(AnyTensor)
    activation = opt_prop_def(ActivationAttr)
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Elementwise())
    assembly_format = "$lhs `,` $rhs" + ACTIVATION + ROUNDING + " " + TYPES

    def verify_(self) -> None:
        a, b = shape_of(self.lhs), shape_of(self.rhs)
        n = max(len(a), len(b))
        a, b = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
        self.require(
            all(x == y or 1 in (x, y) for x, y in zip(a, b, strict=True)),
            f"shapes {a} and {b} do not broadcast",
        )
        expected = tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")

    def rows_read(self, operand: int, r: int) -> range | None:
        """There are none where an operand of fewer dimensions has another element for each row."""
        rank = len(shape_of(self.result))
        shapes = [shape_of(v) for v in self.operands]
        if any(len(s) == rank - 1 and s[0] != 1 for s in shapes):
            return None
        shape = shapes[operand]
        if len(shape) != rank:
            return None
        return range(1) if shape[1] == 1 else range(r, r + 1)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        a, b = operands
        if not any(is_stored(v) for v in (self.lhs, self.rhs, self.result)):
            need_reals(self, a, b)
            with np.errstate(over="ignore"):  # integers wrap
                return [self.activated(self.of_reals(a, b))]
        if rounds_even(self):
            return self.by_reals(operands)
        bits = stored_bits(self, self.lhs, self.rhs, self.result, unsigned=True)
        need_rounding(self)
        return [self.stored(self.of_stored(a.astype(np.int64), b.astype(np.int64), bits))]

    def extremes(self, least: Sequence[Array], most: Sequence[Array]) -> list[Range] | None:
        """Where one operand stays, no such function of the other both rises and falls: so the ends
        are among those of ends."""
        rank = len(shape_of(self.result))
        sides = [
            [a.reshape((1,) * (rank - a.ndim) + a.shape) for a in least_and_most]
            for least_and_most in zip(least, most, strict=True)
        ]
        corners = zip(*product(*sides), strict=True)  # all four at once, one above the other
        values = self.evaluate([np.stack(a) for a in corners])[0]
        return [(values.min(0), values.max(0))]

    @abstractmethod
    def of_reals(self, a: Array, b: Array) -> Array:
        """The result of numbers that stand for themselves, before the activation."""

    @abstractmethod
    def of_stored(self, a: Array, b: Array, bits: int) -> Array:
        """The result of integers of so many bits, before zero point and clamping."""


class SumOp(BinaryOp):
    """Base of sum and difference: both operands are brought to one finer scale."""

    SIGN: ClassVar[int] = 1

    def of_reals(self, a: Array, b: Array) -> Array:
        return a + b if self.SIGN > 0 else a - b

    def common_scale(self, bits: int) -> tuple[int, tuple[tuple[int, int], ...]]:
        """Return how many bits finer both operands are brought to one scale, and (multiplier,
        shift) of the left, the right and the sum (add.cc, sub.cc: CalculateOpData). Raises
        MemoptError for scales with which the runtime has none."""
        left_shift = 20 if bits == 8 else 15
        a_scale, b_scale = (per_tensor(self, v)[0] for v in (self.lhs, self.rhs))
        twice = 2 * max(a_scale, b_scale)
        out = twice / ((1 << left_shift) * per_tensor(self, self.result)[0])
        reals = (a_scale / twice, b_scale / twice, out)
        if not all(0 < r < 1 for r in reals):
            raise unknown(self, "the scales need an output multiplier of 1 or more")
        return left_shift, tuple(quantize_multiplier(r) for r in reals)

    def of_stored(self, a: Array, b: Array, bits: int) -> Array:
        """add.cc, sub.cc: AddElementwise."""
        a_zero, b_zero = (per_tensor(self, v)[1] for v in (self.lhs, self.rhs))
        left_shift, (first, second, last) = self.common_scale(bits)
        scaled_a = rescale(self, (a - a_zero) << left_shift, *first)
        scaled_b = rescale(self, (b - b_zero) << left_shift, *second)
        return rescale(self, scaled_a + self.SIGN * scaled_b, *last)


@operation_definition
class AddOp(SumOp):
    """The sum, element-wise, with numpy's broadcasting."""

    name = "memgraph.add"
    C: ClassVar[Mapping[str, str]] = {"i64": "(uint64_t)x + (uint64_t)y"}
    TFLITE: ClassVar[str] = "ADD"
    ONNX: ClassVar[str] = "Add"
    OF_CONSTANT: ClassVar[type[PerChannelOp] | None] = ShiftedOp


@operation_definition
class SubOp(SumOp):
    """The difference, element-wise, with numpy's broadcasting."""

    name = "memgraph.sub"
    C: ClassVar[Mapping[str, str]] = {"i64": "(uint64_t)x - (uint64_t)y"}
    TFLITE: ClassVar[str] = "SUB"
    ONNX: ClassVar[str] = "Sub"
    COMMUTES: ClassVar[bool] = False
    SIGN: ClassVar[int] = -1


@operation_definition
class MulOp(BinaryOp):
    """The product, element-wise, with numpy's broadcasting."""

    name = "memgraph.mul"
    C: ClassVar[Mapping[str, str]] = {"i64": "(uint64_t)x * (uint64_t)y"}
    TFLITE: ClassVar[str] = "MUL"
    ONNX: ClassVar[str] = "Mul"
    OF_CONSTANT: ClassVar[type[PerChannelOp] | None] = ScaledOp

    def macs(self) -> int:
        """Return one per element."""
        return elements_of(self.result)

    def of_reals(self, a: Array, b: Array) -> Array:
        return a * b

    def of_stored(self, a: Array, b: Array, bits: int) -> Array:
        """mul_common.cc: CalculateOpDataMul."""
        (a_scale, a_zero), (b_scale, b_zero) = (
            per_tensor(self, self.lhs),
            per_tensor(self, self.rhs),
        )
        real = a_scale * b_scale / per_tensor(self, self.result)[0]
        return rescale(self, (a - a_zero) * (b - b_zero), *quantize_multiplier(real))


@operation_definition
class DivOp(BinaryOp):
    """The quotient, of int32 and int64 without what is left over, with numpy's broadcasting.
    Integers by 0, which runtimes refuse or leave open, give 0.

    So do stored ones whose quotient is less than half a step where runtimes shift by 32 bits and
    more: what they give then depends on the processor.
    """

    name = "memgraph.div"
    TFLITE: ClassVar[str] = "DIV"
    ONNX: ClassVar[str] = "Div"
    COMMUTES: ClassVar[bool] = False
    traits = traits_def(RealsOnly())
    OF_CONSTANT: ClassVar[type[PerChannelOp] | None] = DividedOp

    def macs(self) -> int:
        """Return one per element."""
        return elements_of(self.result)

    def extremes(self, least: Sequence[Array], most: Sequence[Array]) -> None:
        """Where the divisor may be 0 the ends are not those of ends."""

    def of_reals(self, a: Array, b: Array) -> Array:
        with np.errstate(all="ignore"):  # by 0
            if a.dtype.kind == "f":
                return a / b
            if str(a.dtype) not in ("int32", "int64"):
                raise unknown(self, f"a quotient of {a.dtype}")
            down = np.floor_divide(a, b)  # 0 by 0; the least number by -1 wraps
            up = (down * b != a) & ((a < 0) != (b < 0)) & (b != 0)
            return down + up.astype(a.dtype)

    @property
    def multiplier(self) -> tuple[int, int]:
        """(multiplier, shift) of the quotient (div.cc: CalculateOpDataDiv, of floats). Raises
        MemoptError for a scale with which the runtime has none."""
        a, b, out = (per_tensor(self, v)[0] for v in (self.lhs, self.rhs, self.result))
        unit = float32(b * out)
        if a >= unit * (1 << 23):
            raise unknown(self, "an output scale so small that the quotient could overflow")
        return quantize_multiplier(float32(a / unit))

    def of_stored(self, a: Array, b: Array, bits: int) -> Array:
        """div.h: DivElementwise."""
        need_double_rounding(self)
        if bits != 8:
            raise unknown(self, "a quotient of int16")
        multiplier, shift = (np.int64(v) for v in self.multiplier)
        above, below = a - per_tensor(self, self.lhs)[1], b - per_tensor(self, self.rhs)[1]
        above, size = above * np.sign(below), np.abs(below)
        zeros = by_table(size, lambda v: 32 - max(v, 1).bit_length())
        room = by_table(above, lambda v: 31 - max(v, ~v).bit_length())
        inverse = by_table(np.maximum(size << zeros, 1 << 31) - (1 << 31), one_over_one_plus_x)
        value = high_mul(high_mul(above << room, inverse), multiplier)
        right = 31 - zeros + room - shift
        return np.where((size == 0) | (right > 31), 0, round_shift(value, np.minimum(right, 31)))


class SelectOp(BinaryOp):
    """Base of what takes one of two elements: stored ones as they are."""

    traits = traits_def(IgnoresActivation())

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if rounds_even(self):
            return self.by_reals(operands)
        need_same_numbers(self, self.lhs, self.rhs, self.result)
        need_reals(self, *operands)
        if self.activation is not None:
            raise unknown(self, "a fused activation")
        return [self.of_reals(operands[0], operands[1])]

    def of_stored(self, a: Array, b: Array, bits: int) -> Array:
        return self.of_reals(a, b)


@operation_definition
class MaximumOp(SelectOp):
    """The larger element, with numpy's broadcasting."""

    name = "memgraph.maximum"
    C: ClassVar[Mapping[str, str]] = dict.fromkeys(ELEMENTS, "x > y ? x : y")
    TFLITE: ClassVar[str] = "MAXIMUM"
    ONNX: ClassVar[str] = "Max"

    def of_reals(self, a: Array, b: Array) -> Array:
        return np.maximum(a, b)


@operation_definition
class MinimumOp(SelectOp):
    """The smaller element, with numpy's broadcasting."""

    name = "memgraph.minimum"
    C: ClassVar[Mapping[str, str]] = dict.fromkeys(ELEMENTS, "x < y ? x : y")
    TFLITE: ClassVar[str] = "MINIMUM"
    ONNX: ClassVar[str] = "Min"

    def of_reals(self, a: Array, b: Array) -> Array:
        return np.minimum(a, b)
