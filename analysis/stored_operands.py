"""Stored integers behind real operands, and what they are where they are read instead."""

from dataclasses import dataclass
from itertools import cycle
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import OpResult, SSAValue

from memopt.analysis.constants import constants_of
from memopt.analysis.weights import weights_of
from memopt.dialects.arithmetic.even_rounding import multiplier
from memopt.dialects.arithmetic.stored import element_of, integer_type
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.memgraph.tensors import AnyTensor, encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.movement import TransposeOp
from memopt.dialects.operators.reordering import reordered_type

CLOSE = 1e-6  # relatively: by so much float32 products of the same scales may differ


@dataclass(frozen=True)
class Stored:
    """Operand of a `dequantize`, and the operation behind it: a transposition of constants, or a
    view."""

    value: SSAValue
    moved: ComputeOp | None = None

    @property
    def encoding(self) -> EncodingAttr:
        """Return that of the integers, where they are read."""
        if self.moved is None:
            return encoding_of(self.value)
        return cast("EncodingAttr", moved_type(self.value, self.moved).encoding)


def moved_type(value: SSAValue, moved: ComputeOp) -> AnyTensor:
    """The type of a tensor, transposed as another is, or of its shape."""
    if isinstance(moved, TransposeOp):
        order = [int(i) for i in moved.permutation.get_values()]
        return reordered_type(value, order, encoding_of(moved.result).layout.data)
    return like(value, moved.results[0])


def like(stored: SSAValue, other: SSAValue) -> AnyTensor:
    """The type of a tensor that is stored as one is, and lies as another does."""
    old = encoding_of(stored)
    encoding = EncodingAttr(
        encoding_of(other).layout.data, old.scales, old.zero_points, old.axis.data
    )
    return TensorType(element_of(stored), shape_of(other), encoding)


def is_zero(bias: Stored) -> bool:
    """Return whether a constant stands for zeros alone."""
    func = bias.value.owner.parent_op() if isinstance(bias.value, OpResult) else None
    if any(encoding_of(bias.value).zero_points) or not isinstance(func, FuncOp):
        return False
    numbers = constants_of(weights_of(func), GENERIC)(bias.value)
    return numbers is not None and not numbers.any()


def is_of_sums(read: list[Stored]) -> bool:
    """Return whether a bias, if there is one, is of the steps of sums of products."""
    source, weights, *bias = read
    if not bias:
        return True
    encoding, steps = weights.encoding, encoding_of(bias[0].value)
    if integer_type(element_of(bias[0].value)) != (32, False) or any(steps.zero_points):
        return False
    step = encoding_of(source.value).scales[0]
    wanted = [multiplier(step, s, 1.0) for s in encoding.scales]
    pairs = zip(cycle(steps.scales), cycle(wanted), range(max(len(steps.scales), len(wanted))))
    return all(abs(a - b) <= CLOSE * b for a, b, _ in pairs)
