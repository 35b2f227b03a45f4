"""ONNX's sliding windows: convolution, pooling and resizing as typed operations."""

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from memopt.dialects.attributes import WindowAttr
from memopt.dialects.quick import number
from memopt.frontends.core.typed import build, need
from memopt.frontends.core.types import quantization
from memopt.frontends.core.windows import same_padding
from memopt.frontends.onnx.node import Node, plain

EXACT = 1e-6  # relative: how well a given scale must fit the sizes


def window_of(node: Node, kernel: Sequence[int]) -> WindowAttr:
    """The explicit window; `auto_pad` depends on the sizes. Raises NotTyped."""
    kernel = [int(k) for k in kernel]
    strides = list(node.get("strides") or [1, 1])
    dilations = list(node.get("dilations") or [1, 1])
    pads = list(node.get("pads") or [0, 0, 0, 0])
    auto = node.get("auto_pad", "NOTSET")
    need(len(kernel) == len(strides) == len(dilations) == 2 and len(pads) == 4)
    need(min(*kernel, *strides, *dilations) >= 1)
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        for i, size in enumerate(node.shape(0)[2:4]):
            out = -(-size // strides[i])
            less, more = same_padding(size, out, kernel[i], strides[i], dilations[i])
            pads[i], pads[i + 2] = (less, more) if auto == "SAME_UPPER" else (more, less)
    elif auto == "VALID":
        pads = [0, 0, 0, 0]
    return WindowAttr(kernel, strides, dilations, pads)


def convolution(node: Node, conv: type[Operation], depthwise: type[Operation]) -> Operation:
    plain(node)
    source, weights = node.shape(0), node.shape(1)
    need(len(source) == len(weights) == 4)
    groups = node.get("group", 1)
    need(groups >= 1 and source[1] == weights[1] * groups and weights[0] % groups == 0)
    need(weights[0] == node.result.get_shape()[1])
    return build(
        depthwise if groups > 1 and weights[1] == 1 else conv,
        (node.operand(0), node.operand(1), node.optional(2)),
        node.results,
        {"window": window_of(node, weights[2:4]), "groups": number(groups)},
    )


def transpose_convolution(node: Node, kind: type[Operation]) -> Operation:
    """With the padding that is given; what `output_padding` adds is in the result's shape."""
    plain(node)
    need(len(node.shape(0)) == len(node.shape(1)) == 4)
    need(node.get("auto_pad", "NOTSET") in ("NOTSET", "VALID") and not node.get("output_shape"))
    return build(
        kind,
        (node.operand(0), node.operand(1), node.optional(2)),
        node.results,
        {"window": window_of(node, node.shape(1)[2:4]), "groups": number(node.get("group", 1))},
    )


def max_pool(node: Node, kind: type[Operation]) -> Operation:
    need(len(node.shape(0)) == 4 and quantization(node.type(0)) == quantization(node.result))
    window = window_of(node, node.get("kernel_shape", ()))
    return build(kind, (node.operand(0),), node.results, {"window": window})


def average_pool(node: Node, kind: type[Operation]) -> Operation:
    plain(node)
    need(len(node.shape(0)) == 4)
    window = window_of(node, node.get("kernel_shape", ()))
    properties = {
        "window": window,
        "count_include_pad": UnitAttr() if node.get("count_include_pad") else None,
    }
    return build(kind, (node.operand(0),), node.results, properties)


def global_average_pool(node: Node, kind: type[Operation]) -> Operation:
    plain(node)
    need(len(node.shape(0)) == 4 and min(node.shape(0)) > 0)
    properties = {"window": WindowAttr(node.shape(0)[2:4])}
    return build(kind, (node.operand(0),), node.results, properties)


def global_max_pool(node: Node, kind: type[Operation]) -> Operation:
    need(len(node.shape(0)) == 4 and min(node.shape(0)) > 0)
    need(quantization(node.type(0)) == quantization(node.result))
    properties = {"window": WindowAttr(node.shape(0)[2:4])}
    return build(kind, (node.operand(0),), node.results, properties)


def resize(node: Node, bilinear: type[Operation], nearest: type[Operation]) -> Operation:
    """Bilinear and nearest over height and width, where LiteRT's arithmetic is the same.

    Nearest: rounding down with asymmetric coordinates, or half up with aligned corners.
    """
    plain(node)
    source, out = node.shape(0), node.result.get_shape()
    need(len(source) == 4 and source[:2] == out[:2] and min(*source, *out) > 0)
    need(not (node.get("antialias") or node.get("axes") or node.get("exclude_outside")))
    need(node.get("keep_aspect_ratio_policy", "stretch") == "stretch")
    if node.has(2):
        scales = [float(s) for s in node.constant(2).reshape(-1)]
        need(len(scales) == 4)
        need(all(abs(s * n - m) <= EXACT * m for s, n, m in zip(scales, source, out, strict=True)))
    else:
        need(node.integers(3) == list(out))
    mode = node.get("mode", "nearest")
    where = node.get("coordinate_transformation_mode", "half_pixel")
    if mode == "linear":
        need(where in ("asymmetric", "align_corners", "half_pixel"))
        kind = bilinear
    else:
        rounding = node.get("nearest_mode", "round_prefer_floor")
        need(mode == "nearest")
        need((where, rounding) in (("asymmetric", "floor"), ("align_corners", "round_prefer_ceil")))
        kind = nearest
    properties = {
        "align_corners": UnitAttr() if where == "align_corners" else None,
        "half_pixel_centers": UnitAttr() if where == "half_pixel" else None,
    }
    return build(kind, (node.operand(0),), node.results, properties)
