"""A filter of rank-one matrices over time (single value decomposition filter)."""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IntegerAttr, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, result_def

from memopt.dialects.arithmetic.fixed_point import rescale
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import float32, quantize_multiplier
from memopt.dialects.arithmetic.stored import (
    Array,
    dtype_of,
    is_stored,
    need_double_rounding,
    need_reals,
    per_tensor,
)
from memopt.dialects.attributes.operators import ActivationAttr, RoundingAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, shape_of
from memopt.dialects.operators.base import ACTIVATION, ROUNDING, TYPES
from memopt.dialects.operators.hybrid import quantized_rows
from memopt.dialects.operators.products import whole_products
from memopt.dialects.operators.stateful import Left, StatefulOp


@operation_definition
class SvdfOp(StatefulOp):
    """Each filter remembers the last products of the input with its row of `feature` in `state`;
    the sum of these times its row of `time` is added to that of the other filters of its unit. Of
    reals `feature` and `time` may be int8: inputs are quantized as they come, with `asymmetric`
    between their least and their largest number."""

    name = "memgraph.svdf"
    input = operand_def(AnyTensor)
    feature = operand_def(AnyTensor)
    time = operand_def(AnyTensor)
    bias = opt_operand_def(AnyTensor)
    state = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    rank = prop_def(IntegerAttr[I64])
    activation = opt_prop_def(ActivationAttr)
    rounding = opt_prop_def(RoundingAttr)
    asymmetric = opt_prop_def(UnitAttr)
    assembly_format = (
        "$input `,` $feature `,` $time (`bias` $bias^)? `state` $state `rank` $rank"
        " (`asymmetric` $asymmetric^)?" + ACTIVATION + ROUNDING + " " + TYPES
    )

    def verify_(self) -> None:
        for value in (self.input, self.feature, self.time):
            self.require(len(shape_of(value)) == 2, "input and weights have two dimensions")
        batch, size = shape_of(self.input)
        filters, rank = shape_of(self.feature)[0], self.rank.value.data
        self.require(rank > 0 and filters % rank == 0, f"{filters} filters of rank {rank}")
        self.require(size == shape_of(self.feature)[1], "the filters are of another input")
        self.require(filters == shape_of(self.time)[0], "as many filters in time as of the input")
        self.require(
            shape_of(self.state) == (batch, filters * self.memory_size),
            "the state is not that of these filters",
        )
        units = filters // rank
        self.require(shape_of(self.result) == (batch, units), f"the result is not of {units} units")
        bias = units if self.bias is None else elements_of(self.bias)
        self.require(bias == units, f"a bias of {bias} for {units} units")
        self.require(self.asymmetric is None or self.is_hybrid, "weights that are not stored")

    @property
    def is_hybrid(self) -> bool:
        """Return whether reals are multiplied with stored weights."""
        return is_stored(self.feature) and not is_stored(self.input)

    def real_time(self, time: Array) -> Array:
        """Return the weights over time as float32."""
        scale = per_tensor(self, self.time)[0] if is_stored(self.time) else 1.0
        return time.astype(np.float32) * np.float32(scale)

    @property
    def states(self) -> tuple[SSAValue, ...]:
        return (self.state,)

    @property
    def memory_size(self) -> int:
        """The runs that a filter remembers."""
        return shape_of(self.time)[1]

    @property
    def reals(self) -> tuple[float, float]:
        """Return the numbers by which a product with the input is multiplied to be remembered, and
        the sum over time to be the result; in float32, as in the reference kernel."""
        scale = [float32(per_tensor(self, v)[0]) for v in (self.input, self.feature, self.time)]
        state, result = (float32(per_tensor(self, v)[0]) for v in (self.state, self.result))
        return (
            float32(float32(scale[0] * scale[1]) / state),
            float32(float32(state * scale[2]) / result),
        )

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        return self.run(operands)[0]

    def run(self, operands: Sequence[Array]) -> tuple[list[Array], Left]:
        """svdf_common.cc: EvalFloatSvdfReference, EvalIntegerSvdfReference."""
        source, feature, time, *_, state = operands
        bias = operands[3] if self.bias is not None else np.zeros(1, np.int64)
        held = state.reshape(len(source), len(feature), self.memory_size)
        newest = self._products(source, feature)[:, :, None]
        held = np.concatenate([held[:, :, 1:], newest.astype(state.dtype)], axis=2)
        units = (len(source), -1, self.rank.value.data)
        if is_stored(self.input):
            zero = per_tensor(self, self.state)[1]
            sums = ((held.astype(np.int64) - zero) * time).sum(2).reshape(units).sum(2) + bias
            multiplier, shift = quantize_multiplier(self.reals[1])
            wrapped = sums.astype(np.int32).astype(np.int64)  # as a sum of int16's may
            scaled = rescale(self, wrapped, np.int64(multiplier), np.int64(shift))
            limits = np.iinfo(dtype_of(self.result))
            values = np.clip(scaled + per_tensor(self, self.result)[1], limits.min, limits.max)
        else:
            weights = self.real_time(time)
            sums = (held.astype(np.float64) * weights).sum(2).reshape(units).sum(2)
            values = self.activated(sums + bias)
        result = values.astype(dtype_of(self.result))
        return [result], [(self.state, held.reshape(state.shape))]

    def _products(self, source: Array, feature: Array) -> Array:
        """Return the products of this run that are remembered, [batch, filters]."""
        if self.is_hybrid:
            integers, steps = quantized_rows(source, self.asymmetric is not None)
            products = whole_products(integers, feature).astype(np.float32)
            return products * (steps * np.float32(per_tensor(self, self.feature)[0]))
        if not is_stored(self.input):
            need_reals(self, source, feature)
            return source.astype(np.float64) @ feature.astype(np.float64).T
        need_double_rounding(self)
        multiplier, shift = quantize_multiplier(self.reals[0])
        shifted = source.astype(np.int64) - per_tensor(self, self.input)[1]
        sums = whole_products(shifted, feature.astype(np.int64))
        scaled = rescale(self, sums, np.int64(multiplier), np.int64(shift))
        limits = np.iinfo(dtype_of(self.state))
        clipped = np.clip(scaled, limits.min, limits.max) + per_tensor(self, self.state)[1]
        return clipped.astype(dtype_of(self.state))  # which may wrap round

    def macs(self) -> int:
        """Every filter takes the input, and what it remembers."""
        batch = shape_of(self.input)[0]
        return batch * (elements_of(self.feature) + elements_of(self.time))
