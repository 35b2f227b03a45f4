"""ONNX's sliding windows: convolution, pooling and resizing as typed operations."""

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from memopt.dialects.attributes.operators import WindowAttr
from memopt.dialects.attributes.quick import number
from memopt.frontends.core.typed import build, need, same_padding
from memopt.frontends.core.types import quantization
from memopt.frontends.onnx.node import Node, plain

EXACT = 1e-6  # relative: how well a given scale must fit the sizes


def window_of(node: Node, kernel: Sequence[int]) -> WindowAttr:
    """The explicit window; `auto_pad` depends on the sizes. Raises NotTyped."""
    kernel = [int(k) for k in kernel]
    strides = list(node.get("strides") or [1, 1])
    dilations = list(node.get("dilations") or [1, 1])
    pads = list(node.get("pads") or [0, 0, 0, 0])
    auto = node.get("auto_pad", "NOTSET")
    count = len(kernel)
    need(count == 2, f"a window of {count} dimensions (1 and 2 have one)")
    need(len(strides) == len(dilations) == 2 and len(pads) == 4, "strides, dilations or pads")
    need(min(*kernel, *strides, *dilations) >= 1, "a window, stride or dilation below 1")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        for i, size in enumerate(node.shape(0)[2:4]):
            out = -(-size // strides[i])
            less, more = same_padding(size, out, kernel[i], strides[i], dilations[i])
            pads[i], pads[i + 2] = (less, more) if auto == "SAME_UPPER" else (more, less)
    elif auto == "VALID":
        pads = [0, 0, 0, 0]
    return WindowAttr(kernel, strides, dilations, pads)


def images(rank: int) -> str:
    return f"{rank - 2} dimensions behind the channels (1 and 2 have one)"


def same_scale(node: Node) -> None:
    """Raise NotTyped unless operand and result stand for the same numbers."""
    same = quantization(node.type(0)) == quantization(node.result)
    need(same, "operand and result have different scales")


def convolution(node: Node, conv: type[Operation], depthwise: type[Operation]) -> Operation:
    plain(node)
    source, weights = node.shape(0), node.shape(1)
    need(len(source) == len(weights) == 4, images(len(source)))
    groups = node.get("group", 1)
    fits = groups >= 1 and source[1] == weights[1] * groups and weights[0] % groups == 0
    fits = fits and weights[0] == node.result.get_shape()[1]
    need(fits, f"group = {groups} of {source[1]} channels and {weights[0]} filters")
    return build(
        depthwise if groups > 1 and weights[1] == 1 else conv,
        (node.operand(0), node.operand(1), node.optional(2)),
        node.results,
        {"window": window_of(node, weights[2:4]), "groups": number(groups)},
    )


def convolution_of_integers(node: Node, kind: type[Operation]) -> Operation:
    """Return the convolution of images of integers, with both zero points."""
    plain(node)
    need(len(node.shape(0)) == len(node.shape(1)) == 4, images(len(node.shape(0))))
    need(node.has(2) and node.has(3), "a zero point is left out")
    properties = {
        "window": window_of(node, node.shape(1)[2:4]),
        "groups": number(node.get("group", 1)),
    }
    return build(kind, node.operands, (node.result,), properties)


def transpose_convolution(node: Node, kind: type[Operation]) -> Operation:
    """With the padding that is given; what `output_padding` adds is in the result's shape."""
    plain(node)
    need(len(node.shape(0)) == len(node.shape(1)) == 4, images(len(node.shape(0))))
    auto = node.get("auto_pad", "NOTSET")
    need(auto in ("NOTSET", "VALID"), f"auto_pad = {auto} (NOTSET and VALID have one)")
    need(not node.get("output_shape"), "output_shape (pads have one)")
    return build(
        kind,
        (node.operand(0), node.operand(1), node.optional(2)),
        node.results,
        {"window": window_of(node, node.shape(1)[2:4]), "groups": number(node.get("group", 1))},
    )


def max_pool(node: Node, kind: type[Operation]) -> Operation:
    need(len(node.shape(0)) == 4, images(len(node.shape(0))))
    need(len(node.results) == 1, "Indices, its second result, are read")
    same_scale(node)
    window = window_of(node, node.get("kernel_shape", ()))
    return build(kind, (node.operand(0),), node.results, {"window": window})


def average_pool(node: Node, kind: type[Operation]) -> Operation:
    plain(node)
    need(len(node.shape(0)) == 4, images(len(node.shape(0))))
    window = window_of(node, node.get("kernel_shape", ()))
    properties = {
        "window": window,
        "count_include_pad": UnitAttr() if node.get("count_include_pad") else None,
    }
    return build(kind, (node.operand(0),), node.results, properties)


def global_average_pool(node: Node, kind: type[Operation]) -> Operation:
    plain(node)
    need(len(node.shape(0)) == 4, images(len(node.shape(0))))
    need(min(node.shape(0)) > 0, "no elements")
    properties = {"window": WindowAttr(node.shape(0)[2:4])}
    return build(kind, (node.operand(0),), node.results, properties)


def global_max_pool(node: Node, kind: type[Operation]) -> Operation:
    need(len(node.shape(0)) == 4, images(len(node.shape(0))))
    need(min(node.shape(0)) > 0, "no elements")
    same_scale(node)
    properties = {"window": WindowAttr(node.shape(0)[2:4])}
    return build(kind, (node.operand(0),), node.results, properties)


def resize(node: Node, bilinear: type[Operation], nearest: type[Operation]) -> Operation:
    """Bilinear and nearest over height and width, where LiteRT's arithmetic is the same.

    Nearest: rounding down with asymmetric coordinates, or half up with aligned corners.
    """
    plain(node)
    source, out = node.shape(0), node.result.get_shape()
    need(len(source) == 4, images(len(source)))
    need(source[:2] == out[:2], "other sizes of batch or channels")
    need(min(*source, *out) > 0, "no elements")
    for name in ("antialias", "axes", "exclude_outside"):
        need(not node.get(name), f"{name} = {node.get(name)}")
    policy = node.get("keep_aspect_ratio_policy", "stretch")
    need(policy == "stretch", f"keep_aspect_ratio_policy = {policy} (stretch has one)")
    if node.has(2):
        scales = [float(s) for s in node.constant(2).reshape(-1)]
        need(len(scales) == 4, f"{len(scales)} scales")
        sizes = zip(scales, source, out, strict=True)
        need(all(abs(s * n - m) <= EXACT * m for s, n, m in sizes), f"scales = {scales}")
    else:
        need(node.integers(3) == list(out), f"sizes other than {list(out)}")
    mode = node.get("mode", "nearest")
    where = node.get("coordinate_transformation_mode", "half_pixel")
    if mode == "linear":
        known = ("asymmetric", "align_corners", "half_pixel")
        need(where in known, f"coordinate_transformation_mode = {where}")
        kind = bilinear
    else:
        rounding = node.get("nearest_mode", "round_prefer_floor")
        need(mode == "nearest", f"mode = {mode} (nearest and linear have one)")
        known = (("asymmetric", "floor"), ("align_corners", "round_prefer_ceil"))
        need((where, rounding) in known, f"{where} and nearest_mode = {rounding}")
        kind = nearest
    properties = {
        "align_corners": UnitAttr() if where == "align_corners" else None,
        "half_pixel_centers": UnitAttr() if where == "half_pixel" else None,
    }
    return build(kind, (node.operand(0),), node.results, properties)
