"""Base of convolutions of both directions: operands, and sums that are requantized."""

from abc import abstractmethod
from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, is_stored, need_reals, per_tensor
from memopt.dialects.attributes.operators import ActivationAttr, RoundingAttr, WindowAttr
from memopt.dialects.memgraph.tensors import AnyTensor, channels_of, encoding_of
from memopt.dialects.operators.base import ACTIVATION, ROUNDING, TYPES, OneResultOp
from memopt.dialects.operators.products import convolution_reals, need_products, requantized
from memopt.dialects.operators.window import as_laid_out

FILTERING = (
    "$input `,` $weights (`,` $bias^)? `window` `` $window `groups` $groups" + ACTIVATION + ROUNDING
)


class FilteringOp(OneResultOp):
    input = operand_def(AnyTensor)
    weights = operand_def(AnyTensor)
    bias = opt_operand_def(AnyTensor)
    window = prop_def(WindowAttr)
    groups = prop_def(IntegerAttr[I64])
    activation = opt_prop_def(ActivationAttr)
    rounding = opt_prop_def(RoundingAttr)
    assembly_format = FILTERING + " " + TYPES

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        bias = operands[2] if len(operands) > 2 else None
        if not any(is_stored(v) for v in self.operands) and not is_stored(self.result):
            need_reals(self, *operands)
            sums = self.sums(operands[0], operands[1], real=True)
            total = sums if bias is None else sums + bias.reshape(-1).astype(np.float64)
            exact = self.activated(as_laid_out(total, self.result))
            return [exact.astype(operands[0].dtype)]
        channels = channels_of(self.result)
        bits, scales = need_products(self, self.input, self.weights, self.result, channels)
        shifted = operands[0].astype(np.int64) - per_tensor(self, self.input)[1]
        kernel = operands[1].astype(np.int64) - encoding_of(self.weights).zero_points[0]
        sums = self.sums(shifted, kernel, real=False)
        reals = convolution_reals(self, self.input, scales)
        integers = requantized(self, sums, bias, reals, bits)
        return [self.stored(as_laid_out(integers, self.result))]

    @abstractmethod
    def sums(self, source: Array, weights: Array, real: bool) -> Array:
        """The sums of products, channels last, of real numbers or of integers less their zero
        points. Raises MemoptError for integers of which nobody knows what they make."""
