"""Partial sums: several operators add to one buffer."""

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.irdl import opt_prop_def, traits_def, var_operand_def

from memopt.dialects.arithmetic.even_rounding import multiplier, rounds_even
from memopt.dialects.arithmetic.fixed_point import need_int32
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, is_stored, per_tensor, stored_bits, unknown
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.operators import ActivationAttr, EncodingAttr, RoundingAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.interface import Alias, OperatorMemory
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.tensors import (
    AnyTensor,
    bytes_of,
    channel_axis,
    channels_of,
    elements_of,
    shape_of,
)
from memopt.dialects.operators.base import ACTIVATION, ROUNDING, TYPES, OneResultOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.products import requantized
from memopt.dialects.operators.traits import SumsUp
from memopt.dialects.operators.weighing import WeighingOp
from memopt.dialects.operators.window import as_laid_out, channels_last


@operation_definition
class AccumulateOp(OneResultOp):
    """The sum, or mean, of operands in one buffer, each added to what is there; bias and activation
    once. Integers are sums of products of `input` and `weights`, requantised"""

    name = "memgraph.accumulate"
    terms = var_operand_def(AnyTensor)
    biased = opt_prop_def(UnitAttr)
    input = opt_prop_def(EncodingAttr)
    weights = opt_prop_def(EncodingAttr)
    mean = opt_prop_def(UnitAttr)
    activation = opt_prop_def(ActivationAttr)
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(SumsUp())
    assembly_format = (
        "$terms (`biased` $biased^)? (`mean` $mean^)?"
        " (`input` `` $input^)? (`weights` `` $weights^)?" + ACTIVATION + ROUNDING + " " + TYPES
    )

    @property
    def sums(self) -> tuple[SSAValue, ...]:
        """Return the values that lie in one buffer."""
        return tuple(self.terms[: len(self.terms) - (self.biased is not None)])

    @property
    def bias(self) -> SSAValue | None:
        """A number for each channel, the last operand."""
        return None if self.biased is None else self.terms[-1]

    def verify_(self) -> None:
        self.require(len(self.sums) > 1, "a sum of fewer than two")
        one = self.sums[0].type
        self.require(all(v.type == one for v in self.sums), "operands of several types")
        alike = shape_of(self.sums[0]) == shape_of(self.result)
        self.require(alike, "the result has another shape than the operands")
        self.require(
            (self.result.type == one) != is_stored(self.result), "the operands are no partial sums"
        )
        known = self.input is not None and self.weights is not None
        stored = is_stored(self.result)
        self.require(known == stored, "`input` and `weights` are of integers, and of all")
        self.require(not stored or self.mean is None, "a mean of integers is no sum of products")
        bias = channels_of(self.result) if self.bias is None else elements_of(self.bias)
        self.require(bias == channels_of(self.result), f"a bias of {bias} elements")

    def rows_read(self, operand: int, r: int) -> range | None:
        return range(r, r + 1) if operand < len(self.sums) else None

    def memory(self, model: ModelAttr) -> OperatorMemory:
        for value in self.sums:
            self.check_partial(self, value, value.owner)
        return self.added_up(self.result, range(len(self.sums)), model)

    def added_up(self, result: SSAValue, sums: range, model: ModelAttr) -> OperatorMemory:
        """Return the effect on memory of what makes all of the result, or a row, of these operands.

        Reals: the last operand to be added finishes the sum, which is the result. Integers, of four
        bytes each, are finished by themselves."""
        results = (bytes_of(result.type),)
        if self.is_finished_by_last:
            views = tuple(Alias(0, k, "view") for k in sums)
            return OperatorMemory(results, views, executes=False, sums=sums, in_order=True)
        place = ((0, sums.start),) if model.has_inplace else ()
        return OperatorMemory(results, (), place, sums)

    def may_overwrite(self, operand: int) -> bool:
        """Return whether it is the first of stored ones: one buffer has all partial sums."""
        return operand == 0 and is_stored(self.result)

    @property
    def is_finished_by_last(self) -> bool:
        """Return whether the last operand to be added leaves the result."""
        return not is_stored(self.result)

    def check_partial(self, op: Operation, value: SSAValue, maker: Operation | Block) -> None:
        """Raise MemoptError for an operand of `op`, this operation or a row of it, that nobody
        could add up in place; `maker` is what makes it, or a row of it."""
        if not isinstance(maker, WeighingOp | MeanOp) or maker.activation_name:
            text = "an operand is no sum, which could be added to what is there"
            raise MemoptError(f"{self.name}: {text}", place_of(op))
        if not value.has_one_use():
            text = f"{name_of(value)} is read elsewhere too, but it is no buffer alone"
            raise MemoptError(f"{self.name}: {text}", place_of(op))

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """Reals in the order of the operands, each of which is rounded."""
        count = len(self.sums)
        bias = operands[count] if len(operands) > count else None
        if is_stored(self.result):
            total = sum(v.astype(np.int64) for v in operands[:count])
            need_int32(self, total)
            bits = stored_bits(self, self.result, unsigned=True)
            integers = requantized(
                self, channels_last(total, self.result), bias, self.reals(), bits
            )
            return [self.stored(as_laid_out(integers, self.result))]
        total = operands[0]
        for part in operands[1:count]:
            total = total + part
        if self.mean is not None:
            total = total / np.asarray(count, total.dtype)
        if bias is not None:
            shape = [1] * total.ndim
            shape[channel_axis(self.result)] = -1
            total = total + bias.reshape(shape)
        return [self.activated(total).astype(operands[0].dtype)]

    def reals(self) -> list[float]:
        """The real multipliers, as those of a convolution of `input` and `weights`."""
        if self.input is None or self.weights is None:
            raise unknown(self, "sums of integers of which nobody says what they stand for")
        in_scale, out_scale = self.input.scales[0], per_tensor(self, self.result)[0]
        if rounds_even(self):
            return [multiplier(in_scale, s, out_scale) for s in self.weights.scales]
        return [in_scale * s / out_scale for s in self.weights.scales]


def sum_of(op: Operation) -> AccumulateOp | None:
    """Return the operation that adds up the results of `op` with others in one buffer, None if none
    does."""
    for result in op.results:
        for use in result.uses:
            if isinstance(use.operation, AccumulateOp) and result in use.operation.sums:
                return use.operation
    return None
