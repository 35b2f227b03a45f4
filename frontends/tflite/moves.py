"""Operators that move elements: what typed operations say of them in attributes."""

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import IntegerType, UnitAttr
from xdsl.ir import Operation

from memopt.dialects.attributes.quick import number, numbers
from memopt.frontends.core import walks
from memopt.frontends.core.typed import axis_of, build, need, real, start_of
from memopt.frontends.core.types import ELEMENTS, is_quantized, quantization
from memopt.frontends.tflite import picks
from memopt.frontends.tflite.node import Builder, Kind, Node, activation, rounding


def same_shape(node: Node, index: int) -> None:
    """Raise NotTyped unless operand `index` is the result's shape."""
    shape = node.constant(index)
    need(tuple(shape) == node.result.get_shape(), f"a shape of {shape}, which its result has not")


def reshape(node: Node, kind: Kind) -> Operation:
    need(node.element(0) == node.result.element_type, "another type than its operand")
    if node.kind != "SQUEEZE" and len(node.types) > 1:
        node.constant(1)  # a shape that is computed makes it another operator
    return build(kind, (node.operand(0),), node.results, {})


def concat(node: Node, plain: Kind, requantized: Kind) -> Operation:
    """Build a concatenation; of different quantizations, of uint8 alone, one that requantizes."""
    need(bool(node.types), "no operands")
    types = [*(node.type(i) for i in range(len(node.types))), node.result]
    encodings = {t.encoding for t in types}
    is_bytes = all(t.element_type == ELEMENTS["uint8"] and is_quantized(t) for t in types)
    kind = requantized if is_bytes and len(encodings) > 1 else plain
    axis = axis_of(node.options["axis"], len(node.result.get_shape()))
    properties = {"axis": number(axis), "activation": activation(node), "rounding": rounding(node)}
    return build(kind, node.operands, node.results, properties)


def split(data: int, axis: int) -> Builder:
    def builder(node: Node, kind: Kind) -> Operation:
        values = node.constant(axis)
        need(len(values) == 1, f"{len(values)} axes (1 has one)")
        properties = {"axis": number(axis_of(values[0], len(node.shape(data))))}
        return build(kind, (node.operand(data),), node.results, properties)

    return builder


def slice_(node: Node, kind: Kind) -> Operation:
    starts = node.constant(1)
    node.constant(2)
    properties = {"starts": numbers(starts), "strides": numbers([1] * len(starts))}
    return build(kind, (node.operand(0),), node.results, properties)


def strided_slice(node: Node, kind: Kind, other: Kind) -> Operation:
    o, shape = node.options, node.shape(0)
    need(not o.get("offset"), "offset = true (false has one)")
    begin, end, strides = node.constant(1), node.constant(2), node.constant(3)
    counts = [len(begin), len(end), len(strides)]
    need(len(set(counts)) == 1, f"begin, end and strides: {counts} numbers")
    plain = not (o["ellipsisMask"] or o["newAxisMask"] or o["shrinkAxisMask"])
    if not plain or len(begin) != len(shape) or min(strides) < 0:
        spec = list(zip(begin, end, strides, strict=True))
        return walked(node, other, walks.strided_slice(shape, spec, o))
    starts = [
        0 if o["beginMask"] >> i & 1 else start_of(b, n)
        for i, (b, n) in enumerate(zip(begin, shape, strict=True))
    ]
    properties = {"starts": numbers(starts), "strides": numbers(strides)}
    return build(kind, (node.operand(0),), node.results, properties)


def walked(node: Node, kind: Kind, walk: walks.Walk, as_stored: bool = False) -> Operation:
    start, sizes, steps = walk
    properties = {
        "as_stored": UnitAttr() if as_stored else None,
        "start": number(start),
        "sizes": numbers(sizes),
        "steps": numbers(steps),
    }
    return build(kind, (node.operand(0),), node.results, properties)


def fill(node: Node, kind: Kind) -> Operation:
    """The one element of operand 1 everywhere."""
    same_shape(node, 0)
    need(node.element(1) == node.result.element_type, "another type than its operand")
    sizes = node.result.get_shape()
    properties = {"start": number(0), "sizes": numbers(sizes), "steps": numbers([0] * len(sizes))}
    return build(kind, (node.operand(1),), node.results, properties)


def tile(node: Node, kind: Kind) -> Operation:
    return walked(node, kind, walks.tile(node.shape(0), node.constant(1)))


def broadcast_to(node: Node, kind: Kind) -> Operation:
    same_shape(node, 1)
    return walked(node, kind, walks.broadcast(node.shape(0), node.result.get_shape()))


def reverse(node: Node, kind: Kind) -> Operation:
    """Converters measure its result by itself: runtimes move the bytes, whatever both mean."""
    axes = [axis_of(a, len(node.shape(0))) for a in node.constant(1)]
    differs = quantization(node.type(0)) != quantization(node.result)
    return walked(node, kind, walks.reverse(node.shape(0), axes), differs)


def batches(
    walk: Callable[[Sequence[int], Sequence[int]], walks.Walk], other: Builder
) -> Callable[[Node, Kind, Kind], Operation]:
    """Between images and pixels; operand 2 is what is padded or cut off, which, as blocks of other
    tensors than images, is picked."""

    def builder(node: Node, plain: Kind, picked: Kind) -> Operation:
        if any(node.constant(2)) or len(node.shape(0)) != 4 or len(node.constant(1)) != 2:
            return other(node, picked)
        return walked(node, plain, walk(node.shape(0), node.constant(1)))

    return builder


def stack(node: Node, kind: Kind) -> Operation:
    """PACK, and UNPACK the other way round: the tensor of more dimensions says the axis."""
    rank = max(len(t.get_shape()) for t in (node.type(0), node.results[0]))
    properties = {"axis": number(axis_of(node.options["axis"], rank))}
    return build(kind, node.operands, node.results, properties)


def gather(node: Node, kind: Kind) -> Operation:
    known = node.element(1) in (IntegerType(32), IntegerType(64))
    need(known, f"indices of {node.element(1)} (i32 and i64 have one)")
    own = node.options.get("batchDims", 0)
    own += len(node.shape(1)) if own < 0 else 0
    properties = {
        "axis": number(axis_of(node.options["axis"], len(node.shape(0)))),
        "batch_dims": number(own) if own else None,
    }
    return build(kind, (node.operand(0), node.operand(1)), node.results, properties)


def embedding_lookup(node: Node, kind: Kind) -> Operation:
    """Build a lookup in a table of the result's type."""
    need(node.element(0) == IntegerType(32), f"indices of {node.element(0)} (i32 has one)")
    need(node.element(1) == node.result.element_type, "another type than its table")
    operands = (node.operand(1), node.operand(0))
    return build(kind, operands, node.results, {"axis": number(0)})


def pad(node: Node, plain: Kind, picked: Kind) -> Operation:
    """Build a pad; of many dimensions, and of plain integers, it is picked."""
    element, flat = node.element(0), node.constant(1)
    is_plain = isinstance(element, IntegerType) and not is_quantized(node.type(0))
    if is_plain or len(node.shape(0)) > 4:
        return picks.pad(node, picked)
    need(len(node.types) == 2, "a value other than 0 around more than integers or 4 dimensions")
    properties = {"before": numbers(flat[0::2]), "after": numbers(flat[1::2]), "value": real(0.0)}
    return build(plain, (node.operand(0),), node.results, properties)


def transpose(node: Node, kind: Kind) -> Operation:
    rank = len(node.shape(0))
    order = [axis_of(a, rank) for a in node.constant(1)]
    properties = {"permutation": numbers(order)}
    return build(kind, (node.operand(0),), node.results, properties)


def resize(node: Node, kind: Kind) -> Operation:
    size = node.constant(1)
    need(len(node.shape(0)) == 4, f"{len(node.shape(0))} dimensions (4 have one)")
    need(tuple(size) == node.result.get_shape()[1:3], f"a size of {size}")
    properties = {
        "align_corners": UnitAttr() if node.options["alignCorners"] else None,
        "half_pixel_centers": UnitAttr() if node.options["halfPixelCenters"] else None,
    }
    return build(kind, (node.operand(0),), node.results, properties)
