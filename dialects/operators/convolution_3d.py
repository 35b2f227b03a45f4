"""Convolution of images that follow each other."""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, DenseArrayBase
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, is_stored, need_reals, unknown
from memopt.dialects.attributes.operators import ActivationAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, shape_of
from memopt.dialects.operators.base import ACTIVATION, TYPES, OneResultOp

INTS = DenseArrayBase.constr(I64)


@operation_definition
class Conv3DOp(OneResultOp):
    """Convolution over depth, height and width of [image, depth, height, width, channel], weights
    [depth, height, width, channel, filter], with `strides`, `dilations` and `pad` before each."""

    name = "memgraph.conv_3d"
    input = operand_def(AnyTensor)
    weights = operand_def(AnyTensor)
    bias = opt_operand_def(AnyTensor)
    strides = prop_def(INTS)
    dilations = prop_def(INTS)
    pad = prop_def(INTS)
    activation = opt_prop_def(ActivationAttr)
    assembly_format = (
        "$input `,` $weights (`,` $bias^)? `strides` $strides `dilations` $dilations `pad` $pad"
        + ACTIVATION
        + " "
        + TYPES
    )

    def verify_(self) -> None:
        shape, weights, out = (shape_of(v) for v in (self.input, self.weights, self.result))
        self.require(len(shape) == len(weights) == len(out) == 5, "five dimensions")
        self.require(weights[3] == shape[4] and weights[4] == out[4], "weights of other channels")
        self.require(out[0] == shape[0], "another number of images")
        self.require(self.bias is None or elements_of(self.bias) == out[4], "a bias of each filter")
        lengths = {len(self.numbers(name)) for name in ("strides", "dilations", "pad")}
        self.require(lengths == {3}, "three numbers each")
        self.require(min(*self.numbers("strides"), *self.numbers("dilations")) > 0, "a step of 0")
        self.require(min(self.numbers("pad")) >= 0, "a pad below 0")

    def numbers(self, name: str) -> tuple[int, ...]:
        """Return the numbers of a property, of depth, height and width."""
        return tuple(int(v) for v in getattr(self, name).get_values())

    def macs(self) -> int:
        return elements_of(self.result) * (elements_of(self.weights) // shape_of(self.weights)[4])

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        need_reals(self, *operands)
        if is_stored(self.input) or operands[0].dtype.kind != "f":
            raise unknown(self, "integers")
        x, weights = (v.astype(np.float64) for v in operands[:2])
        out, kernel = shape_of(self.result), weights.shape[:3]
        strides, dilations, pad = map(self.numbers, ("strides", "dilations", "pad"))
        spans = [
            (k - 1) * d + (n - 1) * s + 1
            for k, d, n, s in zip(kernel, dilations, out[1:4], strides, strict=True)
        ]
        ends = [
            (p, max(0, span - p - n)) for p, span, n in zip(pad, spans, x.shape[1:4], strict=True)
        ]
        wide = np.pad(x, [(0, 0), *ends, (0, 0)])
        total = np.zeros(out)
        for tap in np.ndindex(*kernel):
            at = tuple(
                slice(t * d, t * d + (n - 1) * s + 1, s)
                for t, d, n, s in zip(tap, dilations, out[1:4], strides, strict=True)
            )
            total += wide[(slice(None), *at)] @ weights[tap]
        total = total + (operands[2].reshape(-1) if len(operands) > 2 else 0)
        return [self.activated(total).astype(operands[0].dtype)]
