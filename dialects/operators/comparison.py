"""Comparisons of two numbers, and logic of what is true or false."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerType, UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, traits_def

from memopt.dialects.arithmetic.fixed_point import rescale
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import quantize_multiplier
from memopt.dialects.arithmetic.stored import (
    Array,
    element_of,
    is_stored,
    need_double_rounding,
    need_reals,
    need_same_numbers,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, bytes_of, shape_of
from memopt.dialects.operators.base import (
    TYPES,
    ComputeOp,
    OneResultOp,
    constant_bytes,
    derived,
    follows_from_constants,
)
from memopt.dialects.operators.prelu import BentOp
from memopt.dialects.operators.traits import Folds, RealsOnly
from memopt.dialects.operators.unary import UnaryOp

BOOL = IntegerType(1)


def saves_flash(op: OneResultOp) -> bool:
    """Return whether what is true of constants is no larger than they are, or nobody needs it at
    run time, as the mask that a folding choice makes of it does not."""
    known = constant_bytes(op.result)
    if known is None or (bytes_of(op.result.type) or 0) <= known:
        return True
    readers = [use.operation for use in op.result.uses]
    return bool(readers) and all(
        isinstance(reader, ComputeOp)
        and follows_from_constants(reader.results[0])
        and reader.is_worth_flash
        for reader in readers
    )


class TruthOp(BentOp):
    """Base of what is true or false of two elements, with numpy's broadcasting."""

    IS_TRUTH: ClassVar[bool] = True
    traits = traits_def(RealsOnly(), Folds())

    def verify_(self) -> None:
        super().verify_()
        self.require(element_of(self.result) == BOOL, "what is true or false is an i1")

    @property
    def is_worth_flash(self) -> bool:
        return saves_flash(self)

    def macs(self) -> int:
        return 0

    def of_stored(self, a: Array, b: Array, bits: int) -> Array:
        raise unknown(self, "a result that is quantized")


class ComparisonOp(TruthOp):
    """Base of comparisons. `RELATION` has a bit for each of less, equal, greater, neither, of which
    it is true."""

    RELATION: ClassVar[int]
    LEFT_SHIFT: ClassVar[int] = 8

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        a, b = operands
        if is_stored(self.lhs) or is_stored(self.rhs):
            first, second = self.multipliers
            a = rescale(self, self._shifted(a, per_tensor(self, self.lhs)[1]), *first)
            b = rescale(self, self._shifted(b, per_tensor(self, self.rhs)[1]), *second)
        need_reals(self, a, b)
        return [self.of_reals(a, b)]

    def _shifted(self, values: Array, zero_point: int) -> Array:
        return (values.astype(np.int64) - zero_point) << self.LEFT_SHIFT

    @property
    def multipliers(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """(multiplier, shift) of both operands (comparisons.cc). Raises MemoptError for others than
        bytes of scales below 1."""
        need_double_rounding(self)
        if stored_bits(self, self.lhs, self.rhs, unsigned=True) != 8:
            raise unknown(self, "a comparison of int16")
        scales = [per_tensor(self, v)[0] for v in (self.lhs, self.rhs)]
        if not all(0 < s < 1 for s in scales):
            raise unknown(self, f"a comparison of scales {scales}")
        return quantize_multiplier(scales[0]), quantize_multiplier(scales[1])

    def of_reals(self, a: Array, b: Array) -> Array:
        less, equal, greater = a < b, a == b, a > b
        bits = [bool(self.RELATION >> k & 1) for k in range(4)]
        holds = (less & bits[0]) | (equal & bits[1]) | (greater & bits[2])
        return holds | (~(less | equal | greater) & bits[3])


def comparison(
    name: str, words: str, relation: int, tflite: str, onnx: str = "", commutes: bool = False
) -> type[ComparisonOp]:
    """Return the operation `memgraph.<name>`; `words` are those after "true where"."""
    fields = {"COMMUTES": commutes, "RELATION": relation, "TFLITE": tflite, "ONNX": onnx}
    return derived(ComparisonOp, name, f"True where {words}, with numpy's broadcasting.", **fields)


LessOp = comparison("less", "the left element is less", 0b0001, "LESS", "Less")
LessEqualOp = comparison(
    "less_equal", "the left element is less or equal", 0b0011, "LESS_EQUAL", "LessOrEqual"
)
GreaterOp = comparison("greater", "the left element is greater", 0b0100, "GREATER", "Greater")
GreaterEqualOp = comparison(
    "greater_equal",
    "the left element is greater or equal",
    0b0110,
    "GREATER_EQUAL",
    "GreaterOrEqual",
)
EqualOp = comparison("equal", "both elements are equal", 0b0010, "EQUAL", "Equal", commutes=True)
NotEqualOp = comparison(
    "not_equal", "both elements are not equal", 0b1101, "NOT_EQUAL", commutes=True
)


class LogicalOp(TruthOp):
    """Base of what is said of two elements that are true or false."""

    def verify_(self) -> None:
        super().verify_()
        same = all(element_of(v) == BOOL for v in (self.lhs, self.rhs))
        self.require(same, "what is true or false is an i1")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        return [self.of_reals(operands[0], operands[1])]


@operation_definition
class LogicalAndOp(LogicalOp):
    """True where both elements are true, with numpy's broadcasting."""

    name = "memgraph.logical_and"
    TFLITE: ClassVar[str] = "LOGICAL_AND"
    ONNX: ClassVar[str] = "And"

    def of_reals(self, a: Array, b: Array) -> Array:
        return a & b


@operation_definition
class LogicalOrOp(LogicalOp):
    """True where one of both elements is true, with numpy's broadcasting."""

    name = "memgraph.logical_or"
    TFLITE: ClassVar[str] = "LOGICAL_OR"
    ONNX: ClassVar[str] = "Or"

    def of_reals(self, a: Array, b: Array) -> Array:
        return a | b


@operation_definition
class LogicalNotOp(UnaryOp):
    """True where the element is not true."""

    name = "memgraph.logical_not"
    traits = traits_def(RealsOnly(), Folds())

    def verify_(self) -> None:
        super().verify_()
        same = all(element_of(v) == BOOL for v in (self.input, self.result))
        self.require(same, "what is true or false is an i1")

    @property
    def is_worth_flash(self) -> bool:
        return saves_flash(self)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        return [~operands[0]]


@operation_definition
class ChooseOp(OneResultOp):
    """An element of the second operand where the first is true, else one of the third, with numpy's
    broadcasting; with `of_rows` the first is a vector that says it of all at an index of dimension
    0."""

    name = "memgraph.choose"
    condition = operand_def(AnyTensor)
    lhs = operand_def(AnyTensor)
    rhs = operand_def(AnyTensor)
    of_rows = opt_prop_def(UnitAttr)
    traits = traits_def(Folds())
    assembly_format = "$condition `,` $lhs `,` $rhs (`of_rows` $of_rows^)? " + TYPES

    def shape_read(self, operand: int) -> tuple[int, ...]:
        """The shape of an operand as it is broadcast."""
        shape = shape_of(self.operands[operand])
        wide = operand == 0 and self.of_rows is not None
        return shape + (1,) * (len(shape_of(self.result)) - 1) if wide else shape

    def verify_(self) -> None:
        self.require(element_of(self.condition) == BOOL, "what is true or false is an i1")
        out = shape_of(self.result)
        vector = self.of_rows is None or (len(shape_of(self.condition)) == 1 and bool(out))
        self.require(vector, "a vector of conditions is needed")
        for k in range(3):
            shape = self.shape_read(k)
            wide = (1,) * (len(out) - len(shape)) + shape
            fits = len(wide) == len(out) and all(
                a in (1, b) for a, b in zip(wide, out, strict=True)
            )
            self.require(fits, f"an operand of {shape} does not broadcast to {out}")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        need_same_numbers(self, self.lhs, self.rhs, self.result)
        need_reals(self, *operands[1:])
        shape = shape_of(self.result)
        condition, lhs, rhs = (
            np.broadcast_to(a.reshape(self.shape_read(k)), shape) for k, a in enumerate(operands)
        )
        chosen = lhs.copy()
        chosen[~condition] = rhs[~condition]
        return [chosen]
