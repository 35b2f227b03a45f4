"""Numbers brought to mean 0 and variance 1 over the last dimensions."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, prop_def, traits_def, var_operand_def

from memopt.dialects.arithmetic.even_rounding import dequantized, quantized, rounds_even
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import (
    Array,
    is_stored,
    need_reals,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.attributes.operators import RoundingAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, shape_of
from memopt.dialects.operators.base import ROUNDING, TYPES, OneResultOp
from memopt.dialects.operators.reordering import with_last_axis
from memopt.dialects.operators.traits import Alike, KeepsDimensions, ReadsReals

FORMS = ("quotient", "line")
LONGEST = 1 << 16  # stored integers whose squares 32 bits can add up


@operation_definition
class LayerNormalizationOp(OneResultOp):
    """(x - mean) / sqrt(variance + `epsilon`) * scale + shift with mean and variance of each x over
    the dimensions from `axis` on; `around_zero`: with a mean of 0 instead. Reals are multiplied by
    1 / sqrt, in float32 throughout; in the `form` quotient divided by sqrt, and as a line times
    f = scale / sqrt, plus shift - mean * f. Of stored integers the sums are exact."""

    name = "memgraph.layer_normalization"
    input = operand_def(AnyTensor)
    terms = var_operand_def(AnyTensor)
    axis = prop_def(IntegerAttr[I64])
    epsilon = prop_def(FloatAttr[Float32Type])
    form = opt_prop_def(StringAttr)
    around_zero = opt_prop_def(UnitAttr)
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Alike(), KeepsDimensions(), ReadsReals(1))
    assembly_format = (
        "$input (`,` $terms^)? `axis` $axis `epsilon` $epsilon (`form` $form^)?"
        " (`around_zero` $around_zero^)?" + ROUNDING + " " + TYPES
    )
    TERMS: ClassVar[int] = 2  # scale, shift

    def verify_(self) -> None:
        shape, axis = shape_of(self.input), self.axis.value.data
        self.require(shape == shape_of(self.result), "shapes differ")
        self.require(0 <= axis < len(shape), f"axis {axis} out of range")
        self.require(0 not in shape, "vectors without elements")
        self.require(len(self.terms) <= self.TERMS, "a scale and a shift at most")
        for value in self.terms:
            numbers = shape_of(value)
            text = f"scale and shift of shape {shape[axis:]}, not {numbers}"
            self.require(numbers == shape[axis:], text)
        self.require(self.how in ("", *FORMS), f"no form {self.how}")

    @property
    def how(self) -> str:
        """Return the form, "" for that of a product."""
        return "" if self.form is None else self.form.data

    @property
    def length(self) -> int:
        """Return the number of elements that are normalized together."""
        return elements_of(self.result) // self.vectors

    @property
    def vectors(self) -> int:
        """Return how often elements are normalized."""
        return prod(shape_of(self.input)[: self.axis.value.data])

    def reordered(self, order: Sequence[int]) -> Mapping[str, Attribute] | None:
        """Return the properties where the dimensions that are normalized stay behind the others,
        which stay as they are; in any order if no term has an element for each."""
        axis = self.axis.value.data
        stays = list(order[:axis]) == list(range(axis))
        return self.properties if stays and not self.terms else None

    def may_overwrite(self, operand: int) -> bool:
        return operand == 0

    def over_vectors(self, rank: int) -> Mapping[str, Attribute] | None:
        return with_last_axis(self, rank, len(shape_of(self.input)))

    def rows_read(self, operand: int, r: int) -> range | None:
        return range(r, r + 1) if operand == 0 and self.axis.value.data > 1 else None

    def macs(self) -> int:
        """Return one per element for squares, for the root, and for scales."""
        return elements_of(self.result) * (2 + (len(self.terms) > 0))

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        stored = [is_stored(v) for v in (self.input, self.result)]
        shape = (self.vectors, self.length)
        x = operands[0].reshape(shape)
        with np.errstate(all="ignore"):
            if not any(stored):
                need_reals(self, *operands)
                centre, square = self.statistics(x)
                return [self.scaled(x, centre, square, operands[1:]).reshape(operands[0].shape)]
            self.need_bytes()
            need_reals(self, *operands[1:])
            centre, square = self.statistics_of_stored(x)
            reals = self.scaled(dequantized(self, x, self.input), centre, square, operands[1:])
            return [quantized(self, reals, self.result).reshape(operands[0].shape)]

    def need_bytes(self) -> None:
        """Raise MemoptError unless stored integers are bytes that are rounded as ONNX's, and their
        sums fit."""
        if not rounds_even(self) or not is_stored(self.input) or not is_stored(self.result):
            raise unknown(self, "stored integers beside reals, or rounded as TensorFlow Lite does")
        if stored_bits(self, self.input, self.result, unsigned=True) != 8:
            raise unknown(self, "int16")
        if self.length > LONGEST or not self.epsilon.value.data > 0:
            raise unknown(self, f"more than {LONGEST} elements, or an epsilon that is not above 0")

    def statistics(self, x: Array) -> tuple[Array, Array]:
        """Return mean and variance of vectors of reals, added up in order."""
        count = x.dtype.type(self.length)

        def mean(values: Array) -> Array:
            return np.add.accumulate(values, -1)[:, -1:] / count

        centre = np.zeros_like(x[:, :1]) if self.around_zero else mean(x)
        return centre, mean((x - centre) * (x - centre))

    @property
    def spread_scale(self) -> float:
        """Return the variance of stored integers per count * sum of squares - square of sum."""
        return float(np.float32((per_tensor(self, self.input)[0] / self.length) ** 2))

    def statistics_of_stored(self, x: Array) -> tuple[Array, Array]:
        """Return the same of stored integers, of exact sums."""
        scale, zero_point = per_tensor(self, self.input)
        steps = x.astype(np.int64) - zero_point
        total, squares = steps.sum(-1, keepdims=True), (steps * steps).sum(-1, keepdims=True)
        total = total * (self.around_zero is None)
        spread = (self.length * squares - total * total).astype(np.float32)
        mean = np.float32(scale) * total.astype(np.float32) / np.float32(self.length)
        return mean, spread * np.float32(self.spread_scale)

    def scaled(self, x: Array, centre: Array, square: Array, terms: Sequence[Array]) -> Array:
        """Return vectors with that mean and variance as the form says, each step rounded."""
        one = x.dtype.type(1)
        scale = terms[0].reshape(-1) if terms else one
        shift = terms[1].reshape(-1) if len(terms) > 1 else -0.0 * one
        root = np.sqrt(square + x.dtype.type(self.epsilon.value.data))
        if self.how == "quotient":
            return (x - centre) / root * scale + shift
        factor = one / root
        if self.how == "line":
            return x * (factor * scale) + (shift - centre * (factor * scale))
        return (x - centre) * factor * scale + shift
