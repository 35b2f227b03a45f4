"""Normalization of vectors, each element divided by a sum over its neighbours."""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr
from xdsl.irdl import prop_def, traits_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, is_stored, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import TYPES
from memopt.dialects.operators.traits import RealsOnly
from memopt.dialects.operators.unit_length import VectorsOp


@operation_definition
class LocalResponseNormalizationOp(VectorsOp):
    """Vectors along the last axis, of which each element is divided by (`bias` + `alpha` * the sum
    of squares of up to `radius` elements on both sides and its own) to the power of `beta`."""

    name = "memgraph.local_response_normalization"
    traits = traits_def(RealsOnly())
    radius = prop_def(IntegerAttr[I64])
    bias = prop_def(FloatAttr[Float32Type])
    alpha = prop_def(FloatAttr[Float32Type])
    beta = prop_def(FloatAttr[Float32Type])
    assembly_format = "$input `radius` $radius `bias` $bias `alpha` $alpha `beta` $beta " + TYPES

    def verify_(self) -> None:
        super().verify_()
        self.require(0 <= self.radius.value.data < 1 << 31, "a radius below 0")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if is_stored(self.input) or operands[0].dtype.kind != "f":
            raise unknown(self, "integers")
        x, length = operands[0].astype(np.float64), shape_of(self.input)[-1]
        radius = min(self.radius.value.data, length)
        sums = np.cumsum(np.pad(x * x, [(0, 0)] * (x.ndim - 1) + [(radius + 1, radius)]), -1)
        near = sums[..., 2 * radius + 1 :] - sums[..., : -2 * radius - 1]
        scale = self.bias.value.data + self.alpha.value.data * near
        with np.errstate(all="ignore"):
            return [(x * scale**-self.beta.value.data).astype(operands[0].dtype)]
