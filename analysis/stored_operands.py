"""Stored integers behind real operands, and what they are where they are read instead."""

from dataclasses import dataclass
from itertools import cycle
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from memopt.analysis.constants import constants_of
from memopt.analysis.weights import weights_of
from memopt.dialects.arithmetic.even_rounding import multiplier
from memopt.dialects.arithmetic.stored import element_of, integer_type, numbers_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.operators import EncodingAttr, RoundingAttr
from memopt.dialects.memgraph.tensors import AnyTensor, encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.movement import TransposeOp
from memopt.dialects.operators.quantization import QuantizeOp
from memopt.dialects.operators.reordering import reordered_type

EVEN = RoundingAttr("onnx_even")
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


def operand(found: Stored, op: Operation, rewriter: PatternRewriter) -> SSAValue:
    """The integers, transposed or of another shape if need be, before `op`."""
    if found.moved is None:
        return found.value
    moved = type(found.moved).create(
        operands=[found.value],
        result_types=[moved_type(found.value, found.moved)],
        properties=found.moved.properties,
    )
    rewriter.insert(moved, InsertPoint.before(op))
    return moved.results[0]


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


def as_stored(
    value: SSAValue, pattern: SSAValue, op: Operation, rewriter: PatternRewriter
) -> SSAValue:
    """The integers in the quantization of another tensor, before `op`."""
    if element_of(value) == element_of(pattern) and numbers_of(value) == numbers_of(pattern):
        return value
    return requantized(value, like(pattern, value), op, rewriter)


def requantized(
    value: SSAValue, type_: Attribute, op: Operation, rewriter: PatternRewriter
) -> SSAValue:
    """The integers as another type has them, before `op`."""
    properties = {"rounding": EVEN}
    new = QuantizeOp.create(operands=[value], result_types=[type_], properties=properties)
    rewriter.insert(new, InsertPoint.before(op))
    return new.result


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
