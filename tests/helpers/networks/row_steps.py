"""One step more of a random network (`row_networks.py`): windows of every stride, dilation and
padding, sums with broadcasting, gates, functions, rows and channels joined and taken apart."""

from typing import Any

import numpy as np
from row_text import STORED, Tensor, Text

FUNCTIONS = ("relu", "relu6", "logistic", "tanh", "hard_swish", "softmax", "elu", "leaky_relu")
MORE = {"softmax": " axis 3 beta 1.0", "leaky_relu": " alpha 2.5e-01"}
EXACT = {  # what a function's result must be stored as
    "logistic": "scale = [3.90625e-03], zero_point = [-128]",
    "softmax": "scale = [3.90625e-03], zero_point = [-128]",
    "tanh": "scale = [7.8125e-03], zero_point = [0]",
    "hard_swish": "scale = [1.0e-01], zero_point = [-3]",
}


def window(
    net: Text, height: int, width: int, dilated: bool = True
) -> tuple[str, tuple[int, int], tuple[int, int]]:
    """Text, height and width of the result, and the kernel; no window is in padding alone."""
    while True:
        kernel, stride = ([int(v) for v in net.rng.integers(1, 4, 2)] for _ in range(2))
        dilation = [net.pick(1, 1, 2, 3) if dilated else 1 for _ in range(2)]
        span = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
        pad = [int(net.rng.integers(0, kernel[i % 2])) for i in range(4)]
        out = [
            (size + pad[i] + pad[i + 2] - span[i]) // stride[i] + 1
            for i, size in enumerate((height, width))
        ]
        if min(out) > 0 and all(s <= n for s, n in zip(span, (height, width), strict=True)):
            text = f"window<{kernel}, stride = {stride}, dilation = {dilation}, pad = {pad}>"
            return text, (out[0], out[1]), (kernel[0], kernel[1])


def convolve(net: Text, how: tuple[str, tuple[int, int], tuple[int, int]], deep: bool) -> None:
    text, size, kernel = how
    name, (_, h, w, c) = net.last
    groups = c if deep else net.pick(*(g for g in (1, 1, 2, 3) if c % g == 0))
    out = c if deep else groups * int(net.rng.integers(1, 7 if groups == 1 else 3))
    shape, layout = ((1, *kernel, c), "ihwo") if deep else ((out, *kernel, c // groups), "ohwi")
    constants, types = net.weights(shape, layout, out)
    kind = "depthwise_conv_2d" if deep else "conv_2d"
    whole = f"{kind} {name}, {constants} {text} groups {groups}{net.activation()}{net.rounding}"
    made = (1, *size, out)
    (name,) = net.line(whole, [net.type_of((1, h, w, c)), types], [net.type_of(made)])
    net.made.append((name, made))


def convolution(net: Text) -> None:
    convolve(net, window(net, net.last[1][1], net.last[1][2]), False)


def depthwise(net: Text) -> None:
    convolve(net, window(net, net.last[1][1], net.last[1][2]), True)


def same(net: Text) -> None:
    """A depthwise convolution that keeps the shape."""
    how = "window<[3, 3], stride = [1, 1], dilation = [1, 1], pad = [1, 1, 1, 1]>"
    convolve(net, (how, (net.last[1][1], net.last[1][2]), (3, 3)), True)


def pool(net: Text) -> None:
    name, (_, h, w, c) = net.last
    text, size, _ = window(net, h, w, dilated=False)
    kind = net.pick("max_pool_2d", "average_pool_2d")
    net.add(f"{kind} {name} {text}{net.activation()}", [net.last], (1, *size, c))


def border(net: Text) -> None:
    name, (_, h, w, c) = net.last
    before, after = ([0, *(int(v) for v in net.rng.integers(0, 3, 3))] for _ in range(2))
    shape = tuple(b + s + a for b, s, a in zip(before, (1, h, w, c), after, strict=True))
    net.add(f"pad {name} before {before} after {after} value 0.0", [net.last], shape)


def function(net: Text) -> None:
    """A function of each element, back in the network's quantization."""
    name, shape = net.last
    kind = net.pick(*FUNCTIONS)
    rounding = "" if kind == "softmax" else net.rounding
    text = f"{kind} {name}{MORE.get(kind, '')}{rounding}"
    if kind not in EXACT or not net.quantized:
        net.add(text, [net.last], shape)
        return
    exact = net.type_of(shape, EXACT[kind])
    (name,) = net.line(text, [net.type_of(shape)], [exact])
    (name,) = net.line(f"quantize {name}{net.rounding}", [exact], [net.type_of(shape)])
    net.made.append((name, shape))


def stored_and_real(net: Text) -> None:
    """Dequantized, a real function, quantized; or the other way round."""
    name, shape = net.last
    usual = net.type_of(shape)
    if net.quantized:
        real = net.type_of(shape, element="f32")
        (name,) = net.line(f"dequantize {name}", [usual], [real])
        (name,) = net.line(f"{net.pick('relu', 'relu6', 'tanh')} {name}", [real], [real])
        (name,) = net.line(f"quantize {name}{net.rounding}", [real], [usual])
    else:
        stored = usual.replace(
            "xf32, #memgraph.encoding<nhwc>", f"xi8, #memgraph.encoding<nhwc, {STORED}>"
        )
        (name,) = net.line(f"quantize {name} rounding<tflm_double>", [usual], [stored])
        (name,) = net.line(f"dequantize {name}", [stored], [usual])
    net.made.append((name, shape))


def across(net: Text, anchor: Tensor) -> None:
    """The last tensor and one from before, which has the same shape or is one place."""
    _, h, w, c = net.last[1]
    kind = net.pick("add", "mul", "concat 1", "concat 3")
    pair = [anchor, net.last] if net.rng.random() < 0.5 else [net.last, anchor]
    words = ", ".join(n for n, _ in pair)
    if kind.startswith("concat"):
        axis = int(kind[-1])
        shape = (1, 2 * h, w, c) if axis == 1 else (1, h, w, 2 * c)
        net.add(f"concat {words} axis {axis}", pair, shape)
        return
    net.add(f"{kind} {words}{net.activation()}{net.rounding}", pair, (1, h, w, c))


def two(net: Text) -> None:
    alike = [m for m in net.made if m[1] == net.last[1]]
    across(net, net.pick(*alike))


def broadcast(net: Text, kinds: tuple[str, ...] = ("add", "mul")) -> None:
    """With a constant of one row, one place, or one number."""
    name, shape = net.last
    other = net.pick(shape, (1, 1, *shape[2:]), (1, 1, 1, shape[3]), (shape[3],), (1,))
    element, numbers = ("i8", "scale = [4.0e-02], zero_point = [-2]")
    if not net.quantized:
        element, numbers = "f32", ""
    layout = "nhwc" if len(other) == 4 else ""
    constant, type_ = net.constant(other, layout, element, numbers)
    first = net.rng.random() < 0.5
    pair = [(name, net.type_of(shape)), (constant, type_)][:: 1 if first else -1]
    text = f"{net.pick(*kinds)} {pair[0][0]}, {pair[1][0]}{net.activation()}{net.rounding}"
    (name,) = net.line(text, [t for _, t in pair], [net.type_of(shape)])
    net.made.append((name, shape))


def gate(net: Text) -> None:
    """Channels weighted by a function of their means: the image waits for its last row."""
    image = net.last
    shape = (1, 1, 1, image[1][3])
    net.add(f"mean {image[0]} axes [1, 2] keep_dims{net.rounding}", [image], shape)
    function(net)
    pair = [image, net.last] if net.rng.random() < 0.5 else [net.last, image]
    net.add(f"mul {pair[0][0]}, {pair[1][0]}{net.rounding}", pair, image[1])


def cropped(net: Text) -> None:
    """Rows, columns or channels of the last tensor; kernels take one of them."""
    name, shape = net.last
    axis = int(net.rng.integers(1, 4))
    start = int(net.rng.integers(0, shape[axis]))
    count = int(net.rng.integers(1, shape[axis] - start + 1))
    starts = [start if i == axis else 0 for i in range(4)]
    left = tuple(count if i == axis else d for i, d in enumerate(shape))
    net.add(f"slice {name} starts {starts} strides [1, 1, 1, 1]", [net.last], left)


def strided(net: Text) -> None:
    """Every n-th row, column and channel, backwards too."""
    name, shape = net.last
    starts, strides, left = [0], [1], [1]
    for size in shape[1:]:
        start, stride = int(net.rng.integers(size)), int(net.pick(1, 1, 2, -1))
        most = (size - 1 - start) // stride if stride > 0 else start // -stride
        starts.append(start)
        strides.append(stride)
        left.append(most + 1)
    net.add(f"slice {name} starts {starts} strides {strides}", [net.last], tuple(left))


def apart(net: Text) -> None:
    """Columns, channels or rows in parts, of which all may be read later."""
    name, shape = net.last
    axes = [a for a in (1, 2, 3) if shape[a] > 1]
    if not axes:
        return
    axis: int = net.pick(*axes)
    first = int(net.rng.integers(1, shape[axis]))
    sizes = [
        tuple(n if i == axis else d for i, d in enumerate(shape))
        for n in (first, shape[axis] - first)
    ]
    names = net.line(
        f"split {name} axis {axis}", [net.type_of(shape)], [net.type_of(s) for s in sizes]
    )
    found = list(zip(names, sizes, strict=True))
    net.made += found if net.rng.random() < 0.5 else found[::-1]


def side_by_side(net: Text) -> None:
    """Two or three tensors, perhaps one more than once, joined along their channels."""
    _, shape = net.last
    alike = [m for m in net.made if m[1][:3] == shape[:3]]
    parts = [net.last, *(net.pick(*alike) for _ in range(net.pick(1, 1, 2)))]
    names = ", ".join(name for name, _ in parts)
    net.add(f"concat {names} axis 3", parts, (*shape[:3], sum(s[3] for _, s in parts)))


def turned(net: Text, order: tuple[int, ...] = (0, 1, 3, 2)) -> None:
    """Columns and channels change places."""
    name, shape = net.last
    words = f"transpose {name} permutation {list(order)}"
    net.add(words, [net.last], tuple(shape[i] for i in order))


def upright(net: Text) -> None:
    """Rows become columns, so the tensor is needed whole."""
    turned(net, (0, 2, 1, 3))


def reshaped(net: Text) -> None:
    """Each row in another shape."""
    name, (_, h, w, c) = net.last
    factor = net.pick(*(f for f in (1, 2, 3) if w % f == 0))
    net.add(f"reshape {name}", [net.last], (1, h, w // factor, c * factor))


def mirrored(net: Text) -> None:
    """With its own rows and columns again at the ends, one for one or backwards."""
    name, (_, h, w, c) = net.last
    ways = [[0], *([*range(n - 1, -1, -1), *range(n)][-n - 2 :] for n in (h, w))]
    numbers = [i for way in ways for i in way]
    sizes = list(map(len, ways))
    text = f"mirrored {name} shape {[1, h, w]} sizes {sizes} terms [0, 0, 1, 1, 2, 2]"
    net.add(f"{text} numbers {numbers}", [net.last], (1, sizes[1], sizes[2], c))


def copied(net: Text) -> None:
    net.add(f"copy {net.last[0]}", [net.last], net.last[1])


def resized(net: Text) -> None:
    name, shape = net.last
    size = tuple(int(v) for v in net.rng.integers(1, 2 * np.array(shape[1:3]) + 1))
    kind = net.pick("resize_bilinear", "resize_nearest")
    how = net.pick("", " align_corners", " half_pixel_centers")
    net.add(f"{kind} {name}{how}", [net.last], (1, *size, shape[3]))


def transposed(net: Text) -> None:
    """Larger by a stride, with borders cut off and rows that nothing is added to."""
    name, (_, h, w, c) = net.last
    while True:
        kernel, stride, dilation = ([int(v) for v in net.rng.integers(1, 4, 2)] for _ in range(3))
        pad = [int(v) for v in net.rng.integers(0, 2, 4)]
        size = [
            (n - 1) * stride[i] + dilation[i] * (kernel[i] - 1) + 1 - pad[i] - pad[i + 2]
            for i, n in enumerate((h, w))
        ]
        if min(size) > 0:
            break
    size = [n + int(net.rng.integers(stride[i])) for i, n in enumerate(size)]
    out = int(net.rng.integers(1, 4))
    constants, types = net.weights((out, *kernel, c), "ohwi", out)
    window = f"window<{kernel}, stride = {stride}, dilation = {dilation}, pad = {pad}>"
    text = f"transpose_conv_2d {name}, {constants} {window} groups 1{net.rounding}"
    made = (1, size[0], size[1], out)
    (name,) = net.line(text, [net.type_of((1, h, w, c)), types], [net.type_of(made)])
    net.made.append((name, made))


def deep_to_wide(net: Text) -> None:
    """Channels to pixels, where there are enough, or copies of them first."""
    name, shape = net.last
    block, order = 2, net.pick("", " by_channel")
    if shape[3] % 4:
        wide = (*shape[:3], 4 * shape[3])
        net.add(f"concat {name}, {name}, {name}, {name} axis 3", [net.last] * 4, wide)
    name, (_, h, w, c) = net.last
    made = (1, block * h, block * w, c // 4)
    net.add(f"depth_to_space {name} block {block}{order}", [net.last], made)


def shuffled(net: Text) -> None:
    """Channels of two groups in turn, of two copies where they have no half."""
    name, shape = net.last
    if shape[3] % 2:
        net.add(f"concat {name}, {name} axis 3", [net.last] * 2, (*shape[:3], 2 * shape[3]))
    name, shape = net.last
    net.add(f"channel_permutation {name} groups 2", [net.last], shape)


def less_or_more(net: Text) -> None:
    """Differences of two tensors, or the smaller or larger elements."""
    name, shape = net.last
    other = net.pick(*(m for m in net.made if m[1] == shape))
    kind = net.pick("sub", "maximum", "minimum")
    if kind == "sub" and net.rng.random() < 0.4:
        broadcast(net, ("sub",))
        return
    rounding = net.rounding if kind == "sub" else ""
    net.add(f"{kind} {other[0]}, {name}{rounding}", [other, net.last], shape)


def cast(net: Text) -> None:
    """To integers and back."""
    name, shape = net.last
    if net.quantized:
        return
    whole = net.type_of(shape, element="i32")
    (name,) = net.line(f"cast {name}", [net.type_of(shape)], [whole])
    net.made.append((net.line(f"cast {name}", [whole], [net.type_of(shape)])[0], shape))


def tail(net: Text) -> None:
    """The mean or sum over height and width, a layer of all of the image, or neither."""
    name, (_, h, w, c) = net.last
    kind: Any = net.pick("mean", "reduce_sum", "fully_connected", "")
    if kind in ("mean", "reduce_sum"):
        net.add(f"{kind} {name} axes [1, 2]{net.rounding}", [net.last], (1, c))
    elif kind:
        count = h * w * c
        net.add(f"reshape {name}", [net.last], (1, count))
        flat = net.last[0]
        constants, types = net.weights((3, count), "", 3)
        text = f"fully_connected {flat}, {constants}{net.activation()}{net.rounding}"
        (name,) = net.line(text, [net.type_of((1, count)), types], [net.type_of((1, 3))])
        net.made.append((name, (1, 3)))


KEEPING = (same, function, broadcast, copied, stored_and_real)
"""Steps that keep the shape."""

KERNELS = (
    *(convolution, depthwise, pool, border, function, stored_and_real, two, broadcast, gate),
    *(cropped, apart, turned, reshaped, copied, shuffled),
)
"""Steps of operators that C has kernels for."""

ALL = (
    *(*KERNELS, resized, resized, less_or_more, less_or_more, less_or_more, cast, strided, upright),
    *(transposed, deep_to_wide, mirrored),
)
