"""Conversions of ONNX's operators that move elements to typed operations."""

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, UnitAttr
from xdsl.ir import Operation

from memopt.dialects.attributes.operators import RuntimeType
from memopt.dialects.attributes.quick import number, numbers
from memopt.frontends.core import walks
from memopt.frontends.core.typed import axis_of, build, need, real
from memopt.frontends.core.types import quantization
from memopt.frontends.core.windows import start_of
from memopt.frontends.onnx.node import Node, plain

Kind = type[Operation]


def same_meaning(node: Node, indices: Sequence[int]) -> None:
    """Raise NotTyped unless operands `indices` and all results stand for the same numbers."""
    first = quantization(node.type(indices[0]))
    types = [*(node.type(i) for i in indices), *node.results]
    need(all(quantization(t) == first for t in types), "operands and results of different scales")
    need(first is None or first.axis.data < 0, "a scale for each channel (one for all has one)")
    strings = any(isinstance(t.element_type, RuntimeType) for t in types)
    need(not strings, "elements whose bytes only a runtime knows")


def reshape(node: Node, kind: Kind) -> Operation:
    """Return the operation of an operator that keeps the order of elements; the type of the result
    has the shape."""
    same_meaning(node, (0,))
    return build(kind, (node.operand(0),), (node.result,), {})


def dropout(node: Node, kind: Kind) -> Operation:
    """Return the identity, which Dropout is outside training. Raises NotTyped for training."""
    training = node.has(2) and bool(node.constant(2).reshape(-1)[0])
    need(not training, "training_mode")
    need(len(node.results) == 1, "its mask is read")
    return reshape(node, kind)


def transpose(node: Node, kind: Kind) -> Operation:
    """Return the transpose; without `perm` it reverses the dimensions."""
    same_meaning(node, (0,))
    rank = len(node.shape(0))
    order = node.get("perm")
    properties = {"permutation": numbers(list(range(rank))[::-1] if order is None else order)}
    return build(kind, (node.operand(0),), (node.result,), properties)


def gather(node: Node, kind: Kind) -> Operation:
    """Return the gather of indices from zero on, known ones or int32."""
    same_meaning(node, (0,))
    int32 = node.element(1) == IntegerType(32)
    need(node.is_constant(1) or int32, f"indices of {node.element(1)} that are computed (i32)")
    axis = axis_of(node.get("axis", 0), len(node.shape(0)))
    return build(kind, (node.operand(0), node.operand(1)), node.results, {"axis": number(axis)})


def gather_nd(node: Node, kind: Kind) -> Operation:
    same_meaning(node, (0,))
    batch_dims = node.get("batch_dims", 0)
    need(not batch_dims, f"batch_dims = {batch_dims} (0 has one)")
    int32 = node.element(1) == IntegerType(32)
    need(node.is_constant(1) or int32, f"indices of {node.element(1)} that are computed (i32)")
    return build(kind, (node.operand(0), node.operand(1)), node.results, {})


def walked(node: Node, kind: Kind, walk: walks.Walk) -> Operation:
    same_meaning(node, (0,))
    start, sizes, steps = walk
    properties = {
        "start": number(start),
        "sizes": numbers(sizes),
        "steps": numbers(steps),
    }
    return build(kind, (node.operand(0),), node.results, properties)


def expand(node: Node, kind: Kind) -> Operation:
    """Return the broadcast to the shape of the result's type."""
    need(node.is_constant(1), "its shape is computed at run time (a constant has one)")
    return walked(node, kind, walks.broadcast(node.shape(0), node.result.get_shape()))


def tile(node: Node, kind: Kind) -> Operation:
    return walked(node, kind, walks.tile(node.shape(0), node.integers(1)))


def depth_to_space(node: Node, kind: Kind) -> Operation:
    same_meaning(node, (0,))
    need(len(node.shape(0)) == 4, f"{len(node.shape(0))} dimensions (4 have one)")
    mode = node.get("mode", "DCR")
    need(mode in ("DCR", "CRD"), f"mode = {mode} (DCR and CRD have one)")
    properties = {
        "block": number(node.get("blocksize", 0)),
        "by_channel": UnitAttr() if node.get("mode", "DCR") == "CRD" else None,
    }
    return build(kind, (node.operand(0),), node.results, properties)


def concat(node: Node, kind: Kind) -> Operation:
    indices = range(len(node.types))
    same_meaning(node, indices)
    axis = axis_of(node.get("axis"), len(node.result.get_shape()))
    operands = [node.operand(i) for i in indices]
    return build(kind, operands, (node.result,), {"axis": number(axis)})


def split(node: Node, kind: Kind) -> Operation:
    same_meaning(node, (0,))
    need(all(node.outputs), "a result is left out")
    known = not node.has(1) or node.is_constant(1)
    need(known, "its sizes are computed at run time (constants have one)")
    axis = axis_of(node.get("axis", 0), len(node.shape(0)))
    return build(kind, (node.operand(0),), node.results, {"axis": number(axis)})


def slice_(node: Node, kind: Kind) -> Operation:
    same_meaning(node, (0,))
    shape = node.shape(0)
    starts, ends = node.integers(1), node.integers(2)
    axes = node.integers(3) if node.has(3) else list(range(len(starts)))
    steps = node.integers(4) if node.has(4) else [1] * len(starts)
    counts = [len(starts), len(ends), len(axes), len(steps)]
    need(len(set(counts)) == 1, f"starts, ends, axes and steps: {counts} numbers")
    axes = [axis_of(a, len(shape)) for a in axes]
    need(len(set(axes)) == len(axes), f"axes = {axes}")
    need(0 not in steps, f"steps = {steps}")
    begin, strides = [0] * len(shape), [1] * len(shape)
    for start, axis, step in zip(starts, axes, steps, strict=True):
        n = shape[axis]
        begin[axis] = start_of(start, n, step)
        strides[axis] = step
    properties = {"starts": numbers(begin), "strides": numbers(strides)}
    return build(kind, (node.operand(0),), (node.result,), properties)


def pad(node: Node, kind: Kind) -> Operation:
    plain(node)
    mode = node.get("mode", "constant")
    need(mode == "constant", f"mode = {mode} (constant has one)")
    rank = len(node.shape(0))
    pads = node.integers(1)
    axes = [axis_of(a, rank) for a in node.integers(3)] if node.has(3) else list(range(rank))
    need(len(pads) == 2 * len(axes), f"{len(pads)} pads of {len(axes)} axes")
    need(len(set(axes)) == len(axes), f"axes = {axes}")
    value = float(node.constant(2).reshape(-1)[0]) if node.has(2) else 0.0
    exact = math.isfinite(value) and real(value).value.data == value
    need(exact, f"a value of {value} (what float32 has)")
    before, after = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        before[axis], after[axis] = pads[i], pads[i + len(axes)]
    properties = {
        "before": numbers(before),
        "after": numbers(after),
        "value": real(value),
    }
    return build(kind, (node.operand(0),), (node.result,), properties)
