"""Custom operators that many files have and whose source is public: those of MediaPipe."""

from struct import unpack

from xdsl.ir import Operation

from memopt.dialects.attributes import WindowAttr
from memopt.dialects.custom import OPTIONS
from memopt.dialects.quick import number
from memopt.frontends.core.typed import build, need
from memopt.frontends.core.types import ELEMENTS
from memopt.frontends.tflite.node import Kind, Node


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
    (top, left), (bottom, right) = (v // 2 for v in pad), (v - v // 2 for v in pad)
    made = [(n - 1) * s + k - p for n, s, k, p in zip(source, stride, kernel, pad, strict=True)]
    need(tuple(made) == node.result.get_shape()[1:3], f"a result of another size than {made}")
    properties = {
        "window": WindowAttr(kernel, stride, (1, 1), (top, left, bottom, right)),
        "groups": number(1),
    }
    return build(
        kind, (node.operand(0), node.operand(1), node.operand(2)), node.results, properties
    )
