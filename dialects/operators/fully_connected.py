"""Matrix times vector."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import Pure

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, is_stored, need_reals, per_tensor
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.operators import ActivationAttr, RoundingAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import (
    AnyTensor,
    channel_axis,
    channels_of,
    elements_of,
    encoding_of,
    rows_of,
    shape_of,
)
from memopt.dialects.operators.base import (
    ACTIVATION,
    ROUNDING,
    TYPES,
    Range,
    is_constant_expression,
)
from memopt.dialects.operators.products import (
    matrix_reals,
    need_products,
    need_room,
    products_between,
    real_products,
    requantized,
    whole_products,
)
from memopt.dialects.operators.real_bounds import of_reals, products_off
from memopt.dialects.operators.traits import Flattens
from memopt.dialects.operators.weighing import WeighingOp, less_zero_point


@operation_definition
class FullyConnectedOp(WeighingOp):
    """result = input (rows of `weights`' last dimension) times transposed weights, plus bias."""

    name = "memgraph.fully_connected"
    OFFSET_WEIGHTS: ClassVar[bool] = True
    input = operand_def(AnyTensor)
    weights = operand_def(AnyTensor)
    bias = opt_operand_def(AnyTensor)
    result = result_def(AnyTensor)
    keep_dims = opt_prop_def(UnitAttr)
    activation = opt_prop_def(ActivationAttr)
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Pure(), Flattens())
    assembly_format = (
        "$input `,` $weights (`,` $bias^)? (`keep_dims` $keep_dims^)?"
        + ACTIVATION
        + ROUNDING
        + " "
        + TYPES
    )

    def verify_(self) -> None:
        weights = shape_of(self.weights)
        self.require(len(weights) == 2, "weights must have two dimensions")
        size, out = elements_of(self.input), elements_of(self.result)
        self.require(
            weights[1] > 0 and size % weights[1] == 0,
            f"input of {size} elements does not split into rows of {weights[1]}",
        )
        rows = size // weights[1]
        self.require(
            out == rows * weights[0],
            f"the result has {out} elements, not {rows} rows of {weights[0]}",
        )
        bias = weights[0] if self.bias is None else elements_of(self.bias)
        self.require(bias == weights[0], f"a bias of {bias} for {weights[0]} columns")

    @property
    def has_offset_weights(self) -> bool:
        """Return whether its weights are constant and have a zero point other than 0."""
        known = is_constant_expression(self.weights, GENERIC)
        return known and any(encoding_of(self.weights).zero_points)

    @property
    def accumulates(self) -> bool:
        one_vector = elements_of(self.input) == shape_of(self.weights)[1]
        return rows_of(self.input) is not None and one_vector

    @property
    def keeps_rows(self) -> bool:
        """Return whether each row of the result is made of the vectors in one of the input."""
        rows = rows_of(self.input)
        if not rows or self.accumulates or rows != rows_of(self.result):
            return False
        return elements_of(self.input) // rows % shape_of(self.weights)[1] == 0

    def alike(self, r: int) -> bool:
        return self.keeps_rows

    def reads_parts(self, operand: int) -> bool:
        """Return whether a row of the input is the channels of one pixel."""
        axis = channel_axis(self.input)
        last = axis == len(shape_of(self.input)) - 1
        return operand == 0 and last and channels_of(self.input) == shape_of(self.weights)[1]

    def over_vectors(self, rank: int) -> Mapping[str, Attribute] | None:
        sizes = *shape_of(self.input)[-1:], *shape_of(self.result)[-1:]
        fits = sizes == shape_of(self.weights)[::-1]
        return {**self.properties, "keep_dims": UnitAttr()} if fits else None

    def rows_read(self, operand: int, r: int) -> range | None:
        is_cut = operand == 0 and (self.accumulates or self.keeps_rows)
        return range(r, r + 1) if is_cut else None

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        total = (
            self.over_rows(operands)
            if self.accumulates
            else self._products(operands[0], operands[1])
        )
        return self.finished(operands, total)

    def _products(self, values: Array, weights: Array) -> Array:
        """Sums of products, one row per vector, before the bias."""
        rows = values.reshape(-1, weights.shape[1])
        if not any(is_stored(v) for v in self.operands) and not is_stored(self.result):
            need_reals(self, values, weights)
            return real_products(rows, weights)
        need_products(self, self.input, self.weights, self.result, len(weights))
        shifted = rows.astype(np.int64) - per_tensor(self, self.input)[1]
        return whole_products(shifted, self._matrix(weights))

    def _matrix(self, weights: Array) -> Array:
        return weights.astype(np.int64) - encoding_of(self.weights).zero_points[0]

    @property
    def filter_axis(self) -> int:
        return 0

    @property
    def depth_axis(self) -> int:
        return 1

    def mixed(self, weights: Array) -> Array | None:
        """A vector may be several places one after the other, of all channels each."""
        source, result = shape_of(self.input), shape_of(self.result)
        if not source or not result or weights.shape[1] % source[-1] or result[-1] != len(weights):
            return None
        by_place = less_zero_point(weights, self.weights).reshape(len(weights), -1, source[-1])
        return np.moveaxis(by_place, 2, 1)

    def padded_taps(self) -> Array:
        return np.zeros(shape_of(self.weights)[1] // shape_of(self.input)[-1], bool)

    def extremes(self, least: Sequence[Array], most: Sequence[Array]) -> list[Range] | None:
        """Return the ends of the result: exact ones of stored integers, with a margin of reals;
        each element of a vector has weights of its own."""
        if of_reals(self, (*least, *most)):
            return self._real_extremes(least, most)
        if not is_stored(self.input) or not all(map(np.array_equal, least[1:], most[1:])):
            return None
        weights, bias = least[1], least[2] if len(least) > 2 else None
        need_products(self, self.input, self.weights, self.result, len(weights))
        zero, kernel = per_tensor(self, self.input)[1], self._matrix(weights)
        low, high = (
            v.reshape(-1, kernel.shape[1]).astype(np.int64) - zero for v in (least[0], most[0])
        )
        largest = np.maximum(abs(low), abs(high)).max(0)
        need_room(self, kernel[:, :, None], np.broadcast_to(largest, kernel.shape), bias)
        below, above = products_between(kernel, low, high)
        return [(self.finished(least, below)[0], self.finished(least, above)[0])]

    def _real_extremes(self, least: Sequence[Array], most: Sequence[Array]) -> list[Range] | None:
        if not all(map(np.array_equal, least[1:], most[1:])):
            return None
        kernel = least[1].astype(np.float64)
        low, high = (v.reshape(-1, kernel.shape[1]).astype(np.float64) for v in (least[0], most[0]))
        rises, falls = np.maximum(kernel, 0), np.minimum(kernel, 0)
        with np.errstate(invalid="ignore"):  # of weights that are infinite
            below, above = low @ rises.T + high @ falls.T, high @ rises.T + low @ falls.T
            size = np.maximum(abs(low), abs(high)) @ abs(kernel).T
        bias = least[2] if len(least) > 2 else None
        bounds = products_off(below, above, size, bias, kernel.shape[1])
        if bounds is None:
            return None
        shape = shape_of(self.result)
        return [
            (self.activated(bounds[0]).reshape(shape), self.activated(bounds[1]).reshape(shape))
        ]

    def part(self, operands: Sequence[Array], r: int, before: Array | None) -> Array:
        row = operands[0].size
        total = self._products(operands[0], operands[1][:, r * row : (r + 1) * row])
        total = total.reshape(shape_of(self.result))
        return total if before is None else before + total

    def finished(self, operands: Sequence[Array], total: Array) -> list[Array]:
        weights, bias = operands[1], operands[2] if len(operands) > 2 else None
        sums, shape = total.reshape(-1, len(weights)), shape_of(self.result)
        if not any(is_stored(v) for v in self.operands) and not is_stored(self.result):
            need_reals(self, *operands)
            if bias is not None:
                sums = sums + bias.reshape(-1).astype(np.float64)
            return [self.activated(sums).astype(operands[0].dtype).reshape(shape)]
        bits, scales = need_products(self, self.input, self.weights, self.result, len(weights))
        integers = requantized(self, sums, bias, matrix_reals(self, self.input, scales), bits)
        return [self.stored(integers).reshape(shape)]

    def macs(self) -> int:
        """Every element of the result takes one row of weights."""
        return elements_of(self.result) * shape_of(self.weights)[1]
