"""Conversions of ONNX's operators that move elements to typed operations."""

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from memopt.dialects.attributes.operators import RuntimeType
from memopt.dialects.attributes.quick import number, numbers
from memopt.frontends.core import walks
from memopt.frontends.core.picks import along
from memopt.frontends.core.typed import axis_of, build, need, real, start_of
from memopt.frontends.core.types import quantization
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


def from_end(node: Node, index: int) -> UnitAttr | None:
    """Return the property of indices of which some may count from the end."""
    known = node.elements(index)
    return UnitAttr() if known is None or (known < 0).any() else None


def gather(node: Node, kind: Kind) -> Operation:
    same_meaning(node, (0,))
    axis = axis_of(node.get("axis", 0), len(node.shape(0)))
    properties = {"axis": number(axis), "from_end": from_end(node, 1)}
    return build(kind, (node.operand(0), node.operand(1)), node.results, properties)


def gather_nd(node: Node, kind: Kind) -> Operation:
    same_meaning(node, (0,))
    batch_dims = node.get("batch_dims", 0)
    need(not batch_dims, f"batch_dims = {batch_dims} (0 has one)")
    properties = {"from_end": from_end(node, 1)}
    return build(kind, (node.operand(0), node.operand(1)), node.results, properties)


def one_hot(node: Node, kind: Kind) -> Operation:
    """Return the operation of an expanded OneHot: indices, on and off."""
    properties = {"axis": number(node.get("axis")), "from_end": from_end(node, 0)}
    return build(kind, node.operands, node.results, properties)


def walked(node: Node, kind: Kind, walk: walks.Walk) -> Operation:
    same_meaning(node, (0,))
    start, sizes, steps = walk
    properties = {"start": number(start), "sizes": numbers(sizes), "steps": numbers(steps)}
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


def _place(index: int, size: int, mode: str) -> int:
    """Return the element that stands at an index outside: the nearest, mirrored, or that of a
    circle."""
    if mode == "edge" or size == 1:
        return min(max(index, 0), size - 1)
    if mode == "wrap":
        return index % size
    period = 2 * (size - 1)
    return min(index % period, -index % period)


def pad(node: Node, kind: Kind, mirrored: Kind, picked: Kind) -> Operation:
    """Return the pad with a value, or with elements that are picked."""
    shape, mode = node.shape(0), node.get("mode", "constant")
    rank = len(shape)
    pads = node.integers(1)
    axes = [axis_of(a, rank) for a in node.integers(3)] if node.has(3) else list(range(rank))
    need(len(pads) == 2 * len(axes), f"{len(pads)} pads of {len(axes)} axes")
    need(len(set(axes)) == len(axes), f"axes = {axes}")
    before, after = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        before[axis], after[axis] = pads[i], pads[i + len(axes)]
    if mode != "constant":
        same_meaning(node, (0,))
        need(mode in ("reflect", "edge", "wrap"), f"mode = {mode}")
        ranges = [range(-b, n + a) for b, n, a in zip(before, shape, after, strict=True)]
        places = [[_place(i, n, mode) for i in r] for r, n in zip(ranges, shape, strict=True)]
        return along(node, mirrored if mode == "reflect" else picked, places)
    plain(node)
    value = float(node.constant(2).reshape(-1)[0]) if node.has(2) else 0.0
    exact = math.isfinite(value) and real(value).value.data == value
    need(exact, f"a value of {value} (what float32 has)")
    properties = {"before": numbers(before), "after": numbers(after), "value": real(value)}
    return build(kind, (node.operand(0),), (node.result,), properties)
