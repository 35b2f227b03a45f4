"""ONNX operators as typed operations, where their meaning is exactly that one.

`typed(node)` answers None for everything else, which becomes a `memgraph.opaque`. Arithmetic on
integers with a quantization stays opaque too: ONNX computes with the stored integers, the typed
operations with the real numbers that they stand for. What only moves elements is the same in both.
"""

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import (
    AnyFloat,
    Float32Type,
    IntegerType,
    UnitAttr,
)
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes import RoundingAttr, RuntimeType
from memopt.dialects.errors import MemoptError
from memopt.dialects.operators.binary import AddOp, MaximumOp, MinimumOp, MulOp, SubOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.movement import ReshapeOp, TransposeOp
from memopt.dialects.operators.pad import PadOp
from memopt.dialects.operators.quantization import CastOp, DequantizeOp, QuantizeOp
from memopt.dialects.operators.slices import ConcatOp, SliceOp, SplitOp
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.dialects.operators.unary import HardSwishOp, LogisticOp, Relu6Op, ReluOp, TanhOp
from memopt.frontends.core.typed import NotTyped, axis_of, build, integer_list, need, number, real
from memopt.frontends.onnx import windows
from memopt.frontends.onnx.node import Node, plain, quantization

Builder = Callable[[Node], Operation]


def typed(node: Node) -> Operation | None:
    """The typed operation that means the same, or None."""
    build_one = BUILDERS.get(node.kind)
    if build_one is None:
        return None
    try:
        op = build_one(node)
        op.verify_()
    except (NotTyped, VerifyException, MemoptError):
        return None
    return op


def same_meaning(node: Node, indices: Sequence[int]) -> None:
    """Operands `indices` and all results stand for the same numbers. Raises NotTyped."""
    first = quantization(node.type(indices[0]))
    types = [*(node.type(i) for i in indices), *node.results]
    need(all(quantization(t) == first for t in types))
    need(first is None or first.axis.data < 0)
    need(not any(isinstance(t.element_type, RuntimeType) for t in types))


def floating(node: Node) -> None:
    plain(node)
    need(isinstance(node.type(0).element_type, AnyFloat))


# -- element-wise -------------------------------------------------------------------------------


def binary(kind: type[Operation]) -> Builder:
    def builder(node: Node) -> Operation:
        plain(node)
        need(len(node.types) == 2)
        return build(kind, (node.operand(0), node.operand(1)), (node.result,), {})

    return builder


def unary(kind: type[Operation]) -> Builder:
    def builder(node: Node) -> Operation:
        plain(node)
        return build(kind, (node.operand(0),), (node.result,), {})

    return builder


def clip(node: Node) -> Operation:
    """Clip to 0 .. 6 or 0 .. infinity."""
    plain(node)
    low = float(node.constant(1).reshape(-1)[0]) if node.has(1) else -math.inf
    high = float(node.constant(2).reshape(-1)[0]) if node.has(2) else math.inf
    need(low == 0 and high in (6, math.inf))
    kind = Relu6Op if high == 6 else ReluOp
    return build(kind, (node.operand(0),), (node.result,), {})


def cast(node: Node) -> Operation:
    """Cast between numbers; to a float below 16 bits it may saturate, which is not ours."""
    plain(node)
    elements = (node.type(0).element_type, node.result.element_type)
    numbers = (IntegerType, AnyFloat)
    need(all(isinstance(e, numbers) for e in elements))
    need(not any(isinstance(e, AnyFloat) and e.bitwidth < 16 for e in elements))  # may saturate
    return build(CastOp, (node.operand(0),), (node.result,), {})


def quantize(node: Node) -> Operation:
    """float32 to integers; the annotation of the result says how. Raises NotTyped."""
    need(isinstance(node.type(0).element_type, Float32Type))
    need(quantization(node.result) is not None and node.get("stated") == "result")
    properties = {"rounding": RoundingAttr("onnx_even")}
    return build(QuantizeOp, (node.operand(0),), (node.result,), properties)


def dequantize(node: Node) -> Operation:
    need(isinstance(node.result.element_type, Float32Type))
    need(quantization(node.type(0)) is not None and node.get("stated") == "operand")
    return build(DequantizeOp, (node.operand(0),), (node.result,), {})


# -- reductions and matrices --------------------------------------------------------------------


def softmax(node: Node) -> Operation:
    """Softmax as of opset 13, over one axis."""
    floating(node)
    axis = axis_of(node.get("axis", -1), len(node.shape(0)))
    properties = {"axis": number(axis), "beta": real(1.0)}
    return build(SoftmaxOp, (node.operand(0),), (node.result,), properties)


def mean(node: Node) -> Operation:
    """ReduceMean; its axes are an attribute up to opset 17, an operand from 18."""
    floating(node)
    rank = len(node.shape(0))
    axes = node.integers(1) if node.has(1) else list(node.get("axes") or [])
    axes = [axis_of(a, rank) for a in axes]
    need(len(set(axes)) == len(axes))
    if not axes:
        need(not node.get("noop_with_empty_axes"))
        axes = list(range(rank))
    keep = UnitAttr() if node.get("keepdims", 1) else None
    properties = {"axes": integer_list(sorted(axes)), "keep_dims": keep}
    return build(MeanOp, (node.operand(0),), (node.result,), properties)


def gemm(node: Node) -> Operation:
    """Gemm without scaling, as fully connected; B is transposed if it does not come so."""
    floating(node)
    need(not node.get("transA") and node.get("alpha", 1.0) == 1.0)
    need(not node.has(2) or (node.get("beta", 1.0) == 1.0))
    columns = node.result.get_shape()[1]
    need(not node.has(2) or node.shape(2) == (columns,))
    weights = node.operand(1) if node.get("transB") else node.transpose(1)
    operands = (node.operand(0), weights, node.optional(2))
    return build(FullyConnectedOp, operands, (node.result,), {})


def matmul(node: Node) -> Operation:
    """Rows times a constant matrix, which is transposed once and for all."""
    floating(node)
    a, b = node.shape(0), node.shape(1)
    need(len(a) >= 2 and len(b) == 2 and node.is_constant(1))
    need(node.result.get_shape() == (*a[:-1], b[1]))
    keep = UnitAttr() if len(a) > 2 else None
    operands = (node.operand(0), node.transpose(1))
    return build(FullyConnectedOp, operands, (node.result,), {"keep_dims": keep})


# -- data movement ------------------------------------------------------------------------------


def reshape(node: Node) -> Operation:
    """Whatever leaves the elements in their order; the type of the result has the shape."""
    same_meaning(node, (0,))
    return build(ReshapeOp, (node.operand(0),), (node.result,), {})


def dropout(node: Node) -> Operation:
    """Nothing, outside training."""
    training = node.has(2) and bool(node.constant(2).reshape(-1)[0])
    need(not training and len(node.results) == 1)
    return reshape(node)


def transpose(node: Node) -> Operation:
    """Transpose; without `perm` it reverses the dimensions."""
    same_meaning(node, (0,))
    rank = len(node.shape(0))
    order = node.get("perm")
    properties = {"permutation": integer_list(list(range(rank))[::-1] if order is None else order)}
    return build(TransposeOp, (node.operand(0),), (node.result,), properties)


def concat(node: Node) -> Operation:
    indices = range(len(node.types))
    same_meaning(node, indices)
    axis = axis_of(node.get("axis"), len(node.result.get_shape()))
    operands = [node.operand(i) for i in indices]
    return build(ConcatOp, operands, (node.result,), {"axis": number(axis)})


def split(node: Node) -> Operation:
    same_meaning(node, (0,))
    need(all(node.outputs) and (not node.has(1) or node.is_constant(1)))
    axis = axis_of(node.get("axis", 0), len(node.shape(0)))
    return build(SplitOp, (node.operand(0),), node.results, {"axis": number(axis)})


def slice_(node: Node) -> Operation:
    same_meaning(node, (0,))
    shape = node.shape(0)
    starts, ends = node.integers(1), node.integers(2)
    axes = node.integers(3) if node.has(3) else list(range(len(starts)))
    steps = node.integers(4) if node.has(4) else [1] * len(starts)
    need(len(starts) == len(ends) == len(axes) == len(steps))
    axes = [axis_of(a, len(shape)) for a in axes]
    need(len(set(axes)) == len(axes) and 0 not in steps)
    begin, strides = [0] * len(shape), [1] * len(shape)
    for start, axis, step in zip(starts, axes, steps, strict=True):
        n = shape[axis]
        start = start + n if start < 0 else start
        begin[axis] = min(max(start, 0), n if step > 0 else n - 1)
        strides[axis] = step
    properties = {"starts": integer_list(begin), "strides": integer_list(strides)}
    return build(SliceOp, (node.operand(0),), (node.result,), properties)


def pad(node: Node) -> Operation:
    plain(node)
    need(node.get("mode", "constant") == "constant")
    rank = len(node.shape(0))
    pads = node.integers(1)
    axes = [axis_of(a, rank) for a in node.integers(3)] if node.has(3) else list(range(rank))
    need(len(pads) == 2 * len(axes) and len(set(axes)) == len(axes))
    value = float(node.constant(2).reshape(-1)[0]) if node.has(2) else 0.0
    need(math.isfinite(value) and real(value).value.data == value)
    before, after = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        before[axis], after[axis] = pads[i], pads[i + len(axes)]
    properties = {
        "before": integer_list(before),
        "after": integer_list(after),
        "value": real(value),
    }
    return build(PadOp, (node.operand(0),), (node.result,), properties)


BUILDERS: dict[str, Builder] = {
    "Add": binary(AddOp),
    "AveragePool": windows.average_pool,
    "Cast": cast,
    "Clip": clip,
    "Concat": concat,
    "Conv": windows.convolution,
    "DequantizeLinear": dequantize,
    "Dropout": dropout,
    "Flatten": reshape,
    "Gemm": gemm,
    "GlobalAveragePool": windows.global_average_pool,
    "GlobalMaxPool": windows.global_max_pool,
    "HardSwish": unary(HardSwishOp),
    "Identity": reshape,
    "MatMul": matmul,
    "Max": binary(MaximumOp),
    "MaxPool": windows.max_pool,
    "Min": binary(MinimumOp),
    "Mul": binary(MulOp),
    "Pad": pad,
    "QuantizeLinear": quantize,
    "ReduceMean": mean,
    "Relu": unary(ReluOp),
    "Reshape": reshape,
    "Resize": windows.resize,
    "Sigmoid": unary(LogisticOp),
    "Slice": slice_,
    "Softmax": softmax,
    "Split": split,
    "Squeeze": reshape,
    "Sub": binary(SubOp),
    "Tanh": unary(TanhOp),
    "Transpose": transpose,
    "Unsqueeze": reshape,
}
"""ONNX operator -> its builder."""
