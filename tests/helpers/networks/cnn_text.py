"""Random convolutional networks of ten kinds as text of the dialect, for plans: their weights are
named and not there."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Image = tuple[str, int, int]
"""A tensor's name, its height and width, and its channels."""


@dataclass
class Net:
    """A function of one image that grows line by line."""

    rng: random.Random
    element: str
    lines: list[str] = field(default_factory=list[str])

    def type_of(self, image: Image) -> str:
        return f"tensor<1x{image[1]}x{image[1]}x{image[2]}x{self.element}>"

    def add(self, operation: str, inputs: Sequence[Image], side: int, channels: int) -> Image:
        made = f"%v{len(self.lines)}", side, channels
        types = ", ".join(map(self.type_of, inputs))
        self.lines.append(f"{made[0]} = memgraph.{operation} : ({types}) -> {self.type_of(made)}")
        return made

    def window(self, x: Image, size: int, stride: int) -> tuple[str, int]:
        """The attribute of a window that is padded as `same`, and the side of the result."""
        side = -(-x[1] // stride)
        pad = max(0, (side - 1) * stride + size - x[1])
        before, after = pad // 2, pad - pad // 2
        pads = f"pad = [{before}, {before}, {after}, {after}]"
        return f"window<[{size}, {size}], stride = [{stride}, {stride}], {pads}>", side

    def convolved(
        self, x: Image, channels: int, size: int = 3, stride: int = 1, kind: str = "conv_2d"
    ) -> Image:
        depthwise = kind != "conv_2d"
        groups = x[2] if depthwise else 1
        shape = f"1x{size}x{size}x{x[2]}" if depthwise else f"{channels}x{size}x{size}x{x[2]}"
        weights = f"tensor<{shape}x{self.element}>"
        name = f"%w{len(self.lines)}"
        self.lines.append(
            f'{name} = memgraph.constant #memgraph.weights<"00", "{name}"> : {weights}'
        )
        window, side = self.window(x, size, stride)
        made = f"%v{len(self.lines)}", side, channels
        self.lines.append(
            f"{made[0]} = memgraph.{kind} {x[0]}, {name} {window} groups {groups} : "
            f"({self.type_of(x)}, {weights}) -> {self.type_of(made)}"
        )
        return made

    def depthwise(self, x: Image, stride: int = 1) -> Image:
        return self.convolved(x, x[2], 3, stride, "depthwise_conv_2d")

    def pooled(self, x: Image, stride: int = 2) -> Image:
        window, side = self.window(x, 3 if stride == 1 else 2, stride)
        return self.add(f"max_pool_2d {x[0]} {window}", [x], side, x[2])

    def sum(self, a: Image, b: Image) -> Image:
        return self.add(f"add {a[0]}, {b[0]}", [a, b], a[1], a[2])

    def concat(self, parts: Sequence[Image]) -> Image:
        names = ", ".join(p[0] for p in parts)
        return self.add(f"concat {names} axis 3", parts, parts[0][1], sum(p[2] for p in parts))

    def wider(self, x: Image) -> Image:
        return self.add(f"resize_nearest {x[0]}", [x], 2 * x[1], x[2])

    def width(self) -> int:
        return self.rng.choice((4, 8, 12, 16, 24))


def chain(net: Net, x: Image) -> Image:
    for _ in range(net.rng.randint(2, 6)):
        x = net.convolved(x, net.width(), net.rng.choice((1, 3)), net.rng.choice((1, 1, 2)))
    return x


def separable(net: Net, x: Image) -> Image:
    for _ in range(net.rng.randint(2, 5)):
        x = net.convolved(net.depthwise(x, net.rng.choice((1, 1, 2))), net.width(), 1)
    return x


def residual(net: Net, x: Image) -> Image:
    x = net.convolved(x, net.width())
    for _ in range(net.rng.randint(1, 4)):
        x = net.sum(x, net.convolved(net.convolved(x, net.width()), x[2]))
    return net.pooled(x)


def inverted(net: Net, x: Image) -> Image:
    """Expanded, depthwise, projected, with the sum across, as in MobileNetV2."""
    x = net.convolved(x, net.rng.choice((4, 8)), 3, 2)
    for _ in range(net.rng.randint(1, 4)):
        y = net.convolved(net.depthwise(net.convolved(x, 4 * x[2], 1)), x[2], 1)
        x = net.sum(x, y)
    return x


def dense(net: Net, x: Image) -> Image:
    growth = net.rng.choice((4, 8))
    for _ in range(net.rng.randint(2, 8)):
        x = net.concat([x, net.convolved(x, growth)])
    return x


def inception(net: Net, x: Image) -> Image:
    for _ in range(net.rng.randint(1, 2)):
        parts = [net.convolved(x, net.width(), 1), net.convolved(x, net.width(), 3)]
        if net.rng.random() < 0.7:
            parts.append(net.convolved(net.convolved(x, net.width(), 1), net.width(), 5))
        parts.append(net.convolved(net.pooled(x, 1), net.width(), 1))
        x = net.concat(parts)
    return x


def u_net(net: Net, x: Image) -> Image:
    kept: list[Image] = []
    for _ in range(net.rng.randint(1, 2)):
        x = net.convolved(x, net.width())
        kept.append(x)
        x = net.pooled(x)
    x = net.convolved(x, net.width())
    for other in reversed(kept):
        x = net.convolved(net.concat([net.wider(x), other]), net.width())
    return x


def branches(net: Net, x: Image) -> Image:
    """Branches that stand side by side, and are added up."""
    for _ in range(net.rng.randint(1, 3)):
        channels = net.width()
        made = [net.convolved(x, channels, 1) for _ in range(net.rng.randint(2, 3))]
        made = [net.convolved(m, channels) for m in made]
        x = made[0]
        for other in made[1:]:
            x = net.sum(x, other)
    return x


def fire(net: Net, x: Image) -> Image:
    """Squeezed, expanded twice, one beside the other, as in SqueezeNet."""
    x = net.convolved(x, net.width(), 3, 2)
    for _ in range(net.rng.randint(1, 4)):
        small, wide = net.convolved(x, 4, 1), net.width()
        x = net.concat([net.convolved(small, wide, 1), net.convolved(small, wide, 3)])
    return x


def pyramid(net: Net, x: Image) -> Image:
    """Every scale read again at the end, as in a feature pyramid."""
    x = net.convolved(x, 8)
    scales = [x]
    for _ in range(net.rng.randint(1, 2)):
        scales.append(net.convolved(scales[-1], 8, 3, 2))
    x = scales[-1]
    for other in reversed(scales[:-1]):
        x = net.sum(net.wider(x), net.convolved(other, 8, 1))
    return x


KINDS: tuple[Callable[[Net, Image], Image], ...] = (
    *(chain, separable, residual, inverted, dense),
    *(inception, u_net, branches, fire, pyramid),
)


def network(seed: int, element: str) -> str:
    """Return the text of a function @main, of kind `seed` modulo ten; `element` is f32 or i8."""
    rng = random.Random(seed)
    net = Net(rng, element)
    image = "%x", rng.choice((4, 8, 12)), rng.choice((1, 3, 4))
    last = KINDS[seed % len(KINDS)](net, image)
    body = "".join(f"  {line}\n" for line in net.lines)
    made = net.type_of(last)
    return (
        f"func.func @main(%x: {net.type_of(image)}) -> {made} {{\n{body}"
        f"  func.return {last[0]} : {made}\n}}\n"
    )
