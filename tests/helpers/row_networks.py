"""Random networks of one image whose operators have rows, as text of the dialect: windows of every
stride, dilation and padding, sums across them, borders, channels and rows put together."""

from typing import Any

import numpy as np

Rng = np.random.Generator
STORED = "scale = [5.0e-02], zero_point = [3]"


class Network:
    """Lines while they are written, and the tensors that later operators may read."""

    def __init__(self, rng: Rng, quantized: bool) -> None:
        self.rng, self.quantized = rng, quantized
        self.lines: list[str] = []
        self.made: list[tuple[str, tuple[int, ...]]] = []
        self.rounding = " rounding<tflm_double>" if quantized else ""

    def pick(self, *values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def type_of(self, shape: tuple[int, ...]) -> str:
        layout = "nhwc" if len(shape) == 4 else ""
        sizes = "x".join(map(str, shape))
        if not self.quantized:
            encoding = f", #memgraph.encoding<{layout}>" if layout else ""
            return f"tensor<{sizes}xf32{encoding}>"
        words = ", ".join(filter(None, (layout, STORED)))
        return f"tensor<{sizes}xi8, #memgraph.encoding<{words}>>"

    def add(
        self, text: str, operands: list[tuple[str, tuple[int, ...]]], shape: tuple[int, ...]
    ) -> None:
        """An operator; `@` stands for the types of its operands and of its result."""
        types = ", ".join(self.type_of(s) for _, s in operands)
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text.replace('@', f'({types}) -> {self.type_of(shape)}')}")
        self.made.append((name, shape))

    def constant(self, shape: tuple[int, ...], layout: str, scale: float, element: str) -> str:
        """A line that makes a constant; its name and its type."""
        name, words = f"%c{len(self.lines)}", []
        if element == "f32":
            values: Any = np.round(self.rng.normal(size=shape), 2)
        else:
            values = self.rng.integers(-127, 128, shape) * (1 if element == "i8" else 9)
            words = [f"scale = [{scale:e}]", "zero_point = [0]"]
        words = [layout, *words] if layout else words
        encoding = f", #memgraph.encoding<{', '.join(words)}>" if words else ""
        type_ = f"tensor<{'x'.join(map(str, shape))}x{element}{encoding}>"
        self.lines.append(f"{name} = memgraph.constant dense<{values.tolist()}> : {type_}")
        return f"{name}|{type_}"

    def window(
        self, height: int, width: int, dilations: tuple[int, ...] = (1, 1, 2)
    ) -> tuple[str, int, int, tuple[int, int]]:
        """Text, height and width of the result, and the kernel; no window is in padding alone."""
        while True:
            kernel = [int(v) for v in self.rng.integers(1, 4, 2)]
            stride = [int(v) for v in self.rng.integers(1, 3, 2)]
            dilation = [self.pick(*dilations) for _ in range(2)]
            span = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
            pad = [int(self.rng.integers(0, kernel[i % 2])) for i in range(4)]
            out = [
                (size + pad[i] + pad[i + 2] - span[i]) // stride[i] + 1
                for i, size in enumerate((height, width))
            ]
            if min(out) > 0 and all(s <= n for s, n in zip(span, (height, width), strict=True)):
                text = f"window<{kernel}, stride = {stride}, dilation = {dilation}, pad = {pad}>"
                return text, out[0], out[1], (kernel[0], kernel[1])


def convolution(net: Network, deep: bool = False) -> None:
    name, (_, h, w, c) = net.made[-1]
    window, height, width, kernel = net.window(h, w)
    out = c if deep else int(net.rng.integers(1, 7))
    shape, layout = ((1, *kernel, c), "ihwo") if deep else ((out, *kernel, c), "ohwi")
    element, sums = ("i8", "i32") if net.quantized else ("f32", "f32")
    weights, type_w = net.constant(shape, layout, 0.01, element).split("|")
    bias, type_b = net.constant((out,), "", 0.05 * 0.01, sums).split("|")
    kind = "depthwise_conv_2d" if deep else "conv_2d"
    activation = net.pick("", " activation<relu>")
    result = (1, height, width, out)
    net.lines.append(
        f"%v{len(net.lines)} = memgraph.{kind} {name}, {weights}, {bias} {window} groups "
        f"{c if deep else 1}{activation}{net.rounding} : ({net.type_of((1, h, w, c))}, {type_w}, "
        f"{type_b}) -> {net.type_of(result)}"
    )
    net.made.append((f"%v{len(net.lines) - 1}", result))


def depthwise(net: Network) -> None:
    convolution(net, True)


def pool(net: Network) -> None:
    name, (_, h, w, c) = net.made[-1]
    window, height, width, _ = net.window(h, w, dilations=(1,))
    kind = net.pick("max_pool_2d", "average_pool_2d")
    net.add(f"memgraph.{kind} {name} {window} : @", [net.made[-1]], (1, height, width, c))


def border(net: Network) -> None:
    name, (_, h, w, c) = net.made[-1]
    before, after = ([0, *(int(v) for v in net.rng.integers(0, 3, 2)), 0] for _ in range(2))
    shape = (1, h + before[1] + after[1], w + before[2] + after[2], c)
    net.add(
        f"memgraph.pad {name} before {before} after {after} value 0.0 : @", [net.made[-1]], shape
    )


def activation(net: Network) -> None:
    name, shape = net.made[-1]
    net.add(f"memgraph.relu {name} : @", [net.made[-1]], shape)


def two(net: Network) -> None:
    """A sum, or two tensors put together, of the last and an earlier one where shapes allow it."""
    last = net.made[-1]
    name, (_, h, w, c) = last
    same = [m for m in net.made if m[1] == last[1]]
    other = net.pick(*same)
    if net.rng.random() < 0.5:
        net.add(f"memgraph.add {other[0]}, {name}{net.rounding} : @", [other, last], last[1])
        return
    axis = net.pick(1, 3)
    shape = (1, 2 * h, w, c) if axis == 1 else (1, h, w, 2 * c)
    net.add(f"memgraph.concat {other[0]}, {name} axis {axis} : @", [other, last], shape)


def cropped(net: Network) -> None:
    """Rows, columns or channels of the last tensor; kernels take one of them."""
    name, shape = net.made[-1]
    axis = int(net.rng.integers(1, 4))
    start = int(net.rng.integers(0, shape[axis]))
    starts = [start if i == axis else 0 for i in range(4)]
    left = tuple(d - s for d, s in zip(shape, starts, strict=True))
    net.add(f"memgraph.slice {name} starts {starts} strides [1, 1, 1, 1] : @", [net.made[-1]], left)


def tail(net: Network) -> None:
    """The mean over height and width, a layer of all of the image, or neither."""
    name, (_, h, w, c) = net.made[-1]
    kind = net.pick("mean", "fully_connected", "")
    if kind == "mean":
        net.add(f"memgraph.mean {name} axes [1, 2]{net.rounding} : @", [net.made[-1]], (1, c))
    elif kind:
        count = h * w * c
        element, sums = ("i8", "i32") if net.quantized else ("f32", "f32")
        net.add(f"memgraph.reshape {name} : @", [net.made[-1]], (1, count))
        flat = net.made[-1][0]
        weights, type_w = net.constant((3, count), "", 0.01, element).split("|")
        bias, type_b = net.constant((3,), "", 0.05 * 0.01, sums).split("|")
        net.add(
            f"memgraph.fully_connected {flat}, {weights}, {bias}{net.rounding} : "
            f"({net.type_of((1, count))}, {type_w}, {type_b}) -> {net.type_of((1, 3))}",
            [],
            (1, 3),
        )


STEPS = (convolution, depthwise, pool, border, activation, two, cropped)


def network(rng: Rng, quantized: bool) -> str:
    """A function @main of three to seven such operators."""
    net = Network(rng, quantized)
    shape = (1, *(int(v) for v in rng.integers(3, 9, 2)), int(rng.integers(1, 4)))
    net.made.append(("%x", shape))
    for _ in range(int(rng.integers(3, 8))):
        net.pick(*STEPS)(net)
    tail(net)
    name, last = net.made[-1]
    body = "".join(f"  {line}\n" for line in net.lines)
    return (
        f"func.func @main(%x: {net.type_of(shape)}) -> {net.type_of(last)} {{\n{body}"
        f"  func.return {name} : {net.type_of(last)}\n}}\n"
    )
