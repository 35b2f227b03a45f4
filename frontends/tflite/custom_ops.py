"""Custom operators that many files have and whose source is public: those of MediaPipe, and the
detections of TensorFlow Lite."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from math import isfinite
from struct import unpack
from typing import Any, Final

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from memopt.dialects.attributes.operators import WindowAttr
from memopt.dialects.attributes.quick import number, numbers
from memopt.dialects.memgraph.custom import OPTIONS
from memopt.frontends.core.typed import NotTyped, build, need, real
from memopt.frontends.core.types import ELEMENTS
from memopt.frontends.tflite.node import Kind, Node
from memopt.frontends.tflite.shape_rules import Known, Rule, Shape, UnknownShapeError


def transpose_convolution(node: Node, kind: Kind) -> Operation:
    """Operands are image, weights and bias, of float32; options are padding (1: SAME, of the
    image's size), stride along a row and along a column, each of 4 bytes. All of the result is
    made, so that its shape follows from them (mediapipe, transpose_conv_bias.cc)."""
    options = bytes.fromhex(node.get(OPTIONS, ""))
    need(len(options) >= 12, f"options of {len(options)} bytes (12 and more have one)")
    need(len(node.types) == 3 and len(node.shape(1)) == 4, "other operands than those of images")
    real = all(node.element(i) == ELEMENTS["float32"] for i in range(3))
    need(real and node.result.element_type == ELEMENTS["float32"], "other types than float32")
    padding, *across = unpack("<3i", options[:12])
    stride, kernel, source = tuple(reversed(across)), node.shape(1)[1:3], node.shape(0)[1:3]
    need(padding in (1, 2), f"padding = {padding} (1 and 2 have one)")
    need(min(stride) >= 1 and len(source) == 2, f"strides of {list(stride)}")
    pad = [0, 0]
    if padding == 1:
        pad = [max(0, k - (n - 1) % s - 1) for k, n, s in zip(kernel, source, stride, strict=True)]
    (top, pad_left), (bottom, right) = (v // 2 for v in pad), (v - v // 2 for v in pad)
    sizes = [(n - 1) * s + k - p for n, s, k, p in zip(source, stride, kernel, pad, strict=True)]
    need(tuple(sizes) == node.result.get_shape()[1:3], f"a result of another size than {sizes}")
    properties = {
        "window": WindowAttr(kernel, stride, (1, 1), (top, pad_left, bottom, right)),
        "groups": number(1),
    }
    return build(
        kind, (node.operand(0), node.operand(1), node.operand(2)), node.results, properties
    )


def _pool_window(node: Node, large: Sequence[int], small: Sequence[int]) -> WindowAttr:
    """Return the window of options as TfLitePoolParams lies in memory: padding (1: SAME), strides
    of a row and a column, sizes of both, activation. Padding is of the large image."""
    options = bytes.fromhex(node.get(OPTIONS, ""))
    need(len(options) >= 24, f"options of {len(options)} bytes (24 and more have one)")
    padding, *sizes, bent = unpack("<6i", options[:24])
    stride, kernel = tuple(sizes[1::-1]), tuple(sizes[:1:-1])
    need(padding in (1, 2) and min(sizes) >= 1, f"padding {padding} and sizes {sizes}")
    need(bent == 0, f"activation {bent} (none has one)")
    need(len(large) == len(small) == 4, f"{len(large)} dimensions (4 have one)")
    spans = zip(small[1:3], stride, kernel, large[1:3], strict=True)
    pad = [max(0, (n - 1) * s + k - size) // 2 for n, s, k, size in spans]
    return WindowAttr(kernel, stride, (1, 1), (*pad, *pad))


def max_pool_places(node: Node, kind: Kind) -> Operation:
    """Return the operation of MaxPoolingWithArgmax2D (mediapipe, max_pool_argmax.cc)."""
    need(len(node.results) == 2, f"{len(node.results)} results (2 have one)")
    large, small = node.shape(0), node.results[0].get_shape()
    window = _pool_window(node, large, small)
    return build(kind, (node.operand(0),), node.results, {"window": window})


def max_unpool(node: Node, kind: Kind) -> Operation:
    """Return the operation of MaxUnpooling2D, of a result that is as many windows (mediapipe,
    max_unpooling.cc)."""
    large, small = node.result.get_shape(), node.shape(0)
    window = _pool_window(node, large, small)
    sizes = [n * k for n, k in zip(small[1:3], window.sizes[0], strict=True)]
    need(sizes == list(large[1:3]), f"a result of another size than {sizes}")
    return build(kind, (node.operand(0), node.operand(1)), node.results, {"window": window})


MOST_OPTIONS, MOST_ENTRIES = 64, 4096


def flexible_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers, and lists of numbers, of the flexbuffer's map that a custom operator's
    options are. What is nested further is left out. Raises NotTyped for anything else."""
    try:
        data = bytes.fromhex(options[OPTIONS])
        root: Any = import_module("flatbuffers.flexbuffers").GetRoot(data)
        need(bool(root.IsMap), "options that are no map")
        keys, values = root.AsMap.Keys, root.AsMap.Values
        need(len(keys) == len(values) <= MOST_OPTIONS, "options that are no map")
        read = ((keys[n].AsKey, _flexible_value(values[n])) for n in range(len(keys)))
        return {str(key): value for key, value in read if value is not None}
    except NotTyped:
        raise
    except Exception as error:  # bytes that a library reads unchecked
        raise NotTyped("options that are no flexbuffer") from error


def _flexible_value(value: Any) -> Any:
    """Return a number, or a list of a few; None for all else."""
    if value.IsBool or value.IsInt or value.IsFloat:
        return value.Value
    if value.IsMap or not (value.IsTypedVector or value.IsVector):
        return None
    entries = value.AsTypedVector if value.IsTypedVector else value.AsVector
    if len(entries) > MOST_ENTRIES:
        return None
    refs = [entries[n] for n in range(len(entries))]
    return [v.Value for v in refs if v.IsInt or v.IsFloat]


def landmarks_to_matrix(node: Node, kind: Kind) -> Operation:
    """Return the operation of Landmarks2TransformMatrix, version 2 (mediapipe,
    landmarks_to_transform_matrix.cc)."""
    o = flexible_options(node.options)
    integers = {"left": "left_rotation_idx", "right": "right_rotation_idx"}
    integers |= {"height": "output_height", "width": "output_width"}
    reals = {"target": "target_rotation_radians", "scale_x": "scale_x", "scale_y": "scale_y"}
    need("subset_idxs" in o, "options of another version than 2")
    subset = [int(v) for v in o["subset_idxs"]]
    scales = [float(o[said]) for said in reals.values()]
    need(all(isfinite(v) for v in scales) and min(scales[1:]) > 0, f"scales {scales}")
    properties = {
        "subset": numbers(subset),
        **{name: number(int(o[said])) for name, said in integers.items()},
        **{name: real(value) for name, value in zip(reals, scales, strict=True)},
    }
    return build(kind, (node.operand(0),), node.results, properties)


def transformed(node: Node, kind: Kind) -> Operation:
    """Return the operation of TransformTensorBilinear or TransformLandmarks, version 2 (mediapipe).
    The first version of the second has a scale and images of landmarks."""
    o = flexible_options(node.options)
    need("scale" not in o and len(node.types) == 2, "options of another version than 2")
    said = o.get("output_height"), o.get("output_width"), o.get("dimensions")
    shape = node.result.get_shape()
    fits = said[2] == shape[-1] if said[2] is not None else said[:2] == shape[1:3]
    need(fits, f"a result of another size than {said}")
    return build(kind, (node.operand(0), node.operand(1)), node.results, {})


def detection_postprocess(node: Node, kind: Kind) -> Operation:
    """Return the operation of TFLite_Detection_PostProcess: operands are offsets, scores and
    anchors. Several classes of one box are refused: without suppression per class, runtimes write
    where there is nothing."""
    o = flexible_options(node.options)
    names = {"y": "y_scale", "x": "x_scale", "h": "h_scale", "w": "w_scale"}
    names |= {"score": "nms_score_threshold", "overlap": "nms_iou_threshold"}
    need(len(node.types) == 3 and len(node.results) == 4, "other operands, or results")
    reals = [o[name] for name in names.values()]
    need(all(isinstance(v, int | float) and isfinite(v) for v in reals), f"options {reals}")
    each = o["max_classes_per_detection"], o["max_detections"], o["num_classes"]
    need(all(isinstance(v, int) for v in each), f"options {each}")
    need(each[0] == 1, f"max_classes_per_detection = {each[0]} (1 has one)")
    need(each[1] == node.results[1].get_shape()[-1], f"a result of another size than {each[1]}")
    without = node.shape(1)[-1] - each[2]
    need(without in (0, 1), f"scores of {node.shape(1)[-1]} classes, of which {each[2]} count")
    per_class = o.get("detections_per_class", 100) if o.get("use_regular_nms") else None
    properties = {
        **{name: real(float(o[said])) for name, said in names.items()},
        "label_offset": UnitAttr() if without else None,
        "per_class": None if per_class is None else number(per_class),
    }
    return build(kind, node.operands, node.results, properties)


def _detections(op: Known) -> list[Shape]:
    try:
        count = int(flexible_options(op.options)["max_detections"])
    except NotTyped:
        raise UnknownShapeError from None
    return [(1, count, 4), (1, count), (1, count), (1,)]


CUSTOMS: Final[dict[str, Rule]] = {"CUSTOM:TFLite_Detection_PostProcess": _detections}
"""How large results of custom operators are, of which converters know nothing."""
