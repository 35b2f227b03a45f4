"""Conversions of convolutions, pools and matrices, with the windows that they read by."""

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import Float32Type, UnitAttr
from xdsl.ir import Operation

from memopt.dialects.attributes.operators import WindowAttr
from memopt.dialects.attributes.quick import number
from memopt.frontends.core.typed import build, need, same_padding
from memopt.frontends.core.types import ELEMENTS
from memopt.frontends.tflite.elementwise import one_type
from memopt.frontends.tflite.node import (
    Kind,
    Node,
    activation,
    matrix_rounding,
    rounding,
    same_arithmetic,
)


def window_of(node: Node, kernel: Sequence[int]) -> WindowAttr:
    """Return the explicit window: SAME padding depends on the sizes, an odd element goes to the
    end."""
    o = node.options
    stride = (o["strideH"], o["strideW"])
    dilation = (o.get("dilationHFactor", 1), o.get("dilationWFactor", 1))
    sizes = (*stride, *dilation, *kernel)
    need(all(v >= 1 for v in sizes), "a window, stride or dilation below 1")
    source, out = node.shape(0)[1:3], node.result.get_shape()[1:3]
    before, after = [0, 0], [0, 0]
    if o["padding"] == 0:  # SAME
        for i in range(2):
            is_exact = out[i] == -(-source[i] // stride[i])  # else no runtime pads as much
            need(is_exact, f"SAME padding of {source[i]} to {out[i]} by strides of {stride[i]}")
            sizes = source[i], out[i], kernel[i], stride[i], dilation[i]
            before[i], after[i] = same_padding(*sizes)
    return WindowAttr(kernel, stride, dilation, (*before, *after))


def is_hybrid(node: Node) -> bool:
    """Return whether reals are multiplied with stored weights."""
    reals = all(isinstance(t.element_type, Float32Type) for t in (node.type(0), node.result))
    narrow = node.kind == "FULLY_CONNECTED" and node.element(1) == ELEMENTS["int4"]
    return reals and (narrow or node.element(1) == ELEMENTS["int8"])


def convolution(depthwise: bool) -> Callable[[Node, Kind, Kind], Operation]:
    def builder(node: Node, plain: Kind, hybrid: Kind) -> Operation:
        kind = hybrid if is_hybrid(node) else plain
        if kind is plain:
            same_arithmetic(node, 0, 1)
        source, weights = node.shape(0), node.shape(1)
        need(len(source) == len(weights) == 4, f"{len(source)} dimensions (4 have one)")
        need(len(node.types) <= 3, f"{len(node.types)} operands (up to 3 have one)")
        channels, inner, outer = source[3], weights[3], node.result.get_shape()[3]
        if depthwise:
            fits = weights[0] == 1 and inner == outer and channels > 0 and outer % channels == 0
            need(fits, f"weights of {list(weights)} for {channels} channels")
            groups = channels
        else:
            fits = inner > 0 and channels % inner == 0 and weights[0] == outer
            need(fits, f"weights of {list(weights)} for {channels} channels")
            groups = channels // inner
        return build(
            kind,
            (node.operand(0), node.operand(1), node.optional(2)),
            node.results,
            {
                "window": window_of(node, weights[1:3]),
                "groups": number(groups),
                "activation": activation(node),
                "rounding": rounding(node),
            },
        )

    return builder


def pool(node: Node, kind: Kind) -> Operation:
    need(len(node.shape(0)) == 4, f"{len(node.shape(0))} dimensions (4 have one)")
    kernel = (node.options["filterHeight"], node.options["filterWidth"])
    properties = {"window": window_of(node, kernel), "activation": activation(node)}
    return build(kind, (node.operand(0),), node.results, properties)


def fully_connected(node: Node, plain: Kind, hybrid: Kind) -> Operation:
    o, kind = node.options, hybrid if is_hybrid(node) else plain
    need(o["weightsFormat"] == 0, f"weightsFormat = {o['weightsFormat']} (0 has one)")
    need(len(node.types) <= 3, f"{len(node.types)} operands (up to 3 have one)")
    if kind is plain:
        same_arithmetic(node, 0, 1)
    is_asymmetric = kind is hybrid and o.get("asymmetricQuantizeInputs")
    return build(
        kind,
        (node.operand(0), node.operand(1), node.optional(2)),
        node.results,
        {
            "keep_dims": UnitAttr() if o["keepNumDims"] else None,
            "asymmetric": UnitAttr() if is_asymmetric else None,
            "activation": activation(node),
            "rounding": matrix_rounding(node),
        },
    )


def batch_matmul(node: Node, kind: Kind, hybrid: Kind) -> Operation:
    """Return the product with a matrix; reals with a stored one are a FULLY_CONNECTED, whose
    weights are transposed."""
    if is_hybrid(node):
        return _hybrid_product(node, hybrid)
    one_type(node)
    properties = {
        "adj_x": UnitAttr() if node.options["adjX"] else None,
        "adj_y": UnitAttr() if node.options["adjY"] else None,
        "rounding": rounding(node),
    }
    return build(kind, (node.operand(0), node.operand(1)), node.results, properties)


def transpose_convolution(node: Node, plain: Kind, hybrid: Kind) -> Operation:
    """Return the operation whose operands are the result's shape, weights, image and bias: of
    bytes, of float, or of int16 with a bias of 64 bits or none."""
    source, wide = node.element(2), node.element(2) == ELEMENTS["int16"]
    reals = source == node.result.element_type == ELEMENTS["float32"]
    kind = hybrid if reals and node.element(1) == ELEMENTS["int8"] else plain
    if kind is plain:
        same_arithmetic(node, 1, 2)
    known = reals or wide or source in (ELEMENTS["int8"], ELEMENTS["uint8"])
    need(known, f"on {source} (f32, i8, ui8 and i16 have one)")
    need(len(node.types) <= 4, f"{len(node.types)} operands (up to 4 have one)")
    fits = not (wide and node.has(3)) or node.element(3) == ELEMENTS["int64"]
    need(fits, "a bias of int16 that is not of 64 bits")
    shape = node.constant(0)
    need(tuple(shape) == node.result.get_shape(), f"a shape of {shape}, which its result has not")
    need(len(node.shape(1)) == 4, f"weights of {len(node.shape(1))} dimensions (4 have one)")
    o, kernel = node.options, node.shape(1)[1:3]
    stride, pad = (o["strideH"], o["strideW"]), [(0, 0), (0, 0)]
    need(min(stride) >= 1, f"strides of {list(stride)}")
    if o["padding"] == 0:  # SAME
        sizes = zip(node.result.get_shape()[1:3], kernel, stride, strict=True)
        pad = [same_padding(out, -(-out // s), k, s, 1) for out, k, s in sizes]
    (top, bottom), (pad_left, right) = pad
    return build(
        kind,
        (node.operand(2), node.operand(1), node.optional(3)),
        node.results,
        {
            "window": WindowAttr(kernel, stride, (1, 1), (top, pad_left, bottom, right)),
            "groups": number(1),
            "activation": activation(node),
            "rounding": rounding(node),
        },
    )


def _hybrid_product(node: Node, kind: Kind) -> Operation:
    need(not node.options["adjX"], "a transposed left operand")
    need(
        len(node.shape(1)) == 2, f"stored matrices of {len(node.shape(1))} dimensions (2 have one)"
    )
    properties = {
        "keep_dims": UnitAttr(),
        "asymmetric": UnitAttr() if node.options["asymmetricQuantizeInputs"] else None,
        "by_columns": None if node.options["adjY"] else UnitAttr(),
    }
    return build(kind, (node.operand(0), node.operand(1)), node.results, properties)
