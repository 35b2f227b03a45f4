"""Published families of convolutional networks as text of the dialect, for plans: int8, weights
named and not there, channels already divided by the width."""

import random
from collections.abc import Sequence

from cnn_text import Image, Net

# Expansion, channels, blocks and stride of MobileNetV2 at 0.35 of its width (table 2 of the paper).
MOBILE = (
    *((1, 8, 1, 1), (6, 8, 2, 2), (6, 16, 3, 2), (6, 24, 4, 2)),
    *((6, 32, 3, 1), (6, 56, 3, 2), (6, 112, 1, 1)),
)
# The same at its full width.
MOBILE_WIDE = (
    *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
    *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
)


def mobilenet_v2(
    side: int, stages: Sequence[tuple[int, int, int, int]] = MOBILE, stem: int = 16
) -> str:
    """Return a function @main of one square image of that `side`, up to the features' mean."""
    net = Net(random.Random(0), "i8")
    image = "%x", side, 3
    x = net.convolved(image, stem, 3, 2)
    for expansion, channels, blocks, stride in stages:
        for block in range(blocks):
            y = net.convolved(x, expansion * x[2], 1) if expansion > 1 else x
            y = net.convolved(net.depthwise(y, stride if block == 0 else 1), channels, 1)
            x = net.sum(x, y) if block else y
    x = net.convolved(x, 1280, 1)
    mean = net.add(f"mean {x[0]} axes [1, 2] keep_dims", [x], 1, x[2])
    return _function(net, image, [mean])


def detector(side: int, width: int = 16, depth: int = 1) -> str:
    """Return a function @main in the form of YOLOv8: blocks that split and concatenate, a pooled
    pyramid, and two upsamplings, each concatenated with what came before; three results."""
    net = Net(random.Random(0), "i8")
    image = "%x", side, 3
    x = net.convolved(image, width, 3, 2)
    x = _c2f(net, net.convolved(x, 2 * width, 3, 2), 2 * width, depth)
    small = x = _c2f(net, net.convolved(x, 4 * width, 3, 2), 4 * width, 2 * depth)
    middle = x = _c2f(net, net.convolved(x, 8 * width, 3, 2), 8 * width, 2 * depth)
    x = _c2f(net, net.convolved(x, 16 * width, 3, 2), 16 * width, depth)
    x = net.convolved(x, 8 * width, 1)
    pools = [x]
    for _ in range(3):
        pools.append(net.pooled(pools[-1], 1))
    large = net.convolved(net.concat(pools), 16 * width, 1)
    up = _c2f(net, net.concat([net.wider(large), middle]), 8 * width, depth)
    first = _c2f(net, net.concat([net.wider(up), small]), 4 * width, depth)
    second = _c2f(net, net.concat([net.convolved(first, 4 * width, 3, 2), up]), 8 * width, depth)
    third = net.concat([net.convolved(second, 8 * width, 3, 2), large])
    third = _c2f(net, third, 16 * width, depth)
    return _function(net, image, [net.convolved(x, 4 * width, 1) for x in (first, second, third)])


def _c2f(net: Net, x: Image, channels: int, depth: int) -> Image:
    """Return a block of YOLOv8: half of the channels through each of the bottlenecks, all
    concatenated."""
    halves = [net.convolved(x, channels // 2, 1) for _ in range(2)]  # one convolution, split
    for _ in range(depth):
        y = net.convolved(net.convolved(halves[-1], channels // 2), channels // 2)
        halves.append(net.sum(halves[-1], y))
    return net.convolved(net.concat(halves), channels, 1)


def _function(net: Net, image: Image, results: Sequence[Image]) -> str:
    body = "".join(f"  {line}\n" for line in net.lines)
    types = ", ".join(map(net.type_of, results))
    names = ", ".join(r[0] for r in results)
    return (
        f"func.func @main(%x: {net.type_of(image)}) -> ({types}) {{\n{body}"
        f"  func.return {names} : {types}\n}}\n"
    )
