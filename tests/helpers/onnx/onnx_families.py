# pyright: basic
"""Small networks of the families that are quantised most: a ResNet, a MobileNet, a transformer."""

from pathlib import Path
from typing import Any

import numpy as np
from onnx_networks import Layers, saved


def residual_network(path: Path, seed: int) -> Path:
    """A ResNet: blocks of two convolutions and a sum, by a convolution of one tap where the
    channels change."""
    n = Layers(seed)
    name, channels = n.add("Relu", [n.conv("x", 3, 8, 3)]), 8
    name = n.add("MaxPool", [name], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for after, stride in ((8, 1), (12, 2), (16, 2)):
        inner = n.add("Relu", [n.conv(name, channels, after, 3, stride)])
        changes = (after, stride) != (channels, 1)
        past = n.conv(name, channels, after, 1, stride) if changes else name
        name = n.add("Relu", [n.add("Add", [n.conv(inner, after, after, 3), past])])
        channels = after
    return saved(n, classifier(n, name, channels), 10, path)


def inverted_network(path: Path, seed: int) -> Path:
    """A MobileNet v2: each block wider inside, of a depthwise convolution, its end linear."""
    n = Layers(seed)
    name, channels = clipped(n, n.conv("x", 3, 8, 3, 2)), 8
    for after, stride in ((8, 1), (12, 2), (12, 1), (16, 2)):
        wide = 3 * channels
        inner = clipped(n, n.conv(name, channels, wide, 1))
        inner = clipped(n, n.conv(inner, wide, wide, 3, stride, wide))
        inner = n.conv(inner, wide, after, 1)
        name = n.add("Add", [name, inner]) if (after, stride) == (channels, 1) else inner
        channels = after
    return saved(n, classifier(n, clipped(n, name), channels), 10, path)


def clipped(n: Layers, name: str) -> str:
    k = len(n.nodes)
    ends = [n.values(f"low{k}", np.float32(0)), n.values(f"high{k}", np.float32(6))]
    return n.add("Clip", [name, *ends])


def classifier(n: Layers, name: str, channels: int) -> str:
    flat = n.add("Flatten", [n.add("GlobalAveragePool", [name])])
    return n.add("Gemm", [flat, n.constant("gw", 10, channels), n.constant("gb", 10)], transB=1)


def transformer(path: Path, seed: int, layers: int = 2) -> Path:
    """A vision transformer: 16 patches, two heads of 8, normalized before each half of a layer."""
    n, tokens, width, heads = Layers(seed), 16, 16, 2
    patches = n.conv("x", 3, width, 4, 4, pads=0)
    tall = n.add("Reshape", [patches, n.values("tall", np.array([1, width, tokens]))])
    name = n.add(
        "Add", [n.add("Transpose", [tall], perm=[0, 2, 1]), n.constant("at", tokens, width)]
    )
    split = n.values("split", np.array([1, tokens, heads, width // heads]))
    joined = n.values("joined", np.array([1, tokens, width]))
    root = n.values("root", np.float32((width // heads) ** -0.5))
    for _ in range(layers):
        x = normalized(n, name, width)
        parts = [n.add("Reshape", [linear(n, x, width, width), split]) for _ in range(3)]
        q, v = (n.add("Transpose", [parts[i]], perm=[0, 2, 1, 3]) for i in (0, 2))
        scores = n.add("MatMul", [q, n.add("Transpose", [parts[1]], perm=[0, 2, 3, 1])])
        shares = n.add("Softmax", [n.add("Mul", [scores, root])], axis=-1)
        mixed = n.add("Transpose", [n.add("MatMul", [shares, v])], perm=[0, 2, 1, 3])
        name = n.add("Add", [name, linear(n, n.add("Reshape", [mixed, joined]), width, width)])
        wide = n.add("Relu", [linear(n, normalized(n, name, width), width, 2 * width)])
        name = n.add("Add", [name, linear(n, wide, 2 * width, width)])
    mean = n.add("ReduceMean", [normalized(n, name, width)], axes=[1], keepdims=0)
    last = [mean, n.constant("gw", 10, width), n.constant("gb", 10)]
    return saved(n, n.add("Gemm", last, transB=1), 10, path)


def normalized(n: Layers, name: str, width: int) -> str:
    k = len(n.nodes)
    factors = n.values(f"n{k}", n.rng.uniform(0.5, 1.5, width).astype(np.float32))
    return n.add("LayerNormalization", [name, factors, n.constant(f"m{k}", width)])


def linear(n: Layers, name: str, before: int, after: int) -> str:
    k = len(n.nodes)
    product = n.add("MatMul", [name, n.constant(f"w{k}", before, after)])
    return n.add("Add", [product, n.constant(f"b{k}", after)])


FAMILIES: dict[str, Any] = {
    "resnet": residual_network,
    "mobilenet": inverted_network,
    "transformer": transformer,
}
