"""The networks whose training is captured, written here: PyTorch alone is needed, no torchvision.

python tests/helpers/networks/torch_networks.py   writes the captures that the project keeps, again
"""

import gzip
import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.tables.captures import FOLDER, NAMES

from memopt.torch import Step, capture, training

torch: Any = import_module("torch")
nn: Any = torch.nn
F: Any = torch.nn.functional
Module: Any = nn.Module


def _conv(i: int, o: int, kernel: int, stride: int = 1, groups: int = 1) -> list[Any]:
    """A convolution without bias and its normalization."""
    padding = kernel // 2
    conv = nn.Conv2d(i, o, kernel, stride, padding, groups=groups, bias=False)
    return [conv, nn.BatchNorm2d(o)]


class Residual(Module):
    """The basic block of ResNet (He et al., 2016), with its activations in place."""

    def __init__(self, i: int, o: int, stride: int):
        Module.__init__(self)
        relu = nn.ReLU(inplace=True)
        self.body = nn.Sequential(*_conv(i, o, 3, stride), relu, *_conv(o, o, 3))
        same = stride == 1 and i == o
        self.past = nn.Identity() if same else nn.Sequential(*_conv(i, o, 1, stride))
        self.relu = relu

    def forward(self, x: Any) -> Any:
        y = self.body(x)
        y += self.past(x)
        return self.relu(y)


def resnet18() -> Any:
    blocks: list[Any] = []
    channels = 64
    for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        blocks += [Residual(channels, width, stride), Residual(width, width, 1)]
        channels = width
    return nn.Sequential(
        *_conv(3, 64, 7, 2),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
        *blocks,
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(512, 1000),
    )


class Inverted(Module):
    """The inverted residual of MobileNetV2 (Sandler et al., 2018)."""

    def __init__(self, i: int, o: int, stride: int, expand: int):
        Module.__init__(self)
        wide = i * expand
        widen = [] if expand == 1 else [*_conv(i, wide, 1), nn.ReLU6(inplace=True)]
        depth = [*_conv(wide, wide, 3, stride, wide), nn.ReLU6(inplace=True)]
        self.body = nn.Sequential(*widen, *depth, *_conv(wide, o, 1))
        self.past = stride == 1 and i == o

    def forward(self, x: Any) -> Any:
        return x + self.body(x) if self.past else self.body(x)


def mobilenetv2() -> Any:
    blocks: list[Any] = []
    channels = 32
    for expand, width, count, stride in (
        *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
        *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
    ):
        for k in range(count):
            blocks.append(Inverted(channels, width, stride if k == 0 else 1, expand))
            channels = width
    return nn.Sequential(
        *_conv(3, 32, 3, 2),
        nn.ReLU6(inplace=True),
        *blocks,
        *_conv(320, 1280, 1),
        nn.ReLU6(inplace=True),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(1280, 1000),
    )


class Attention(Module):
    """A block of a transformer, normalized first; attention written out."""

    def __init__(self, width: int, heads: int):
        Module.__init__(self)
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        depth = width // self.heads
        parts = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, depth)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.softmax(q @ k.transpose(-1, -2) / depth**0.5, -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def transformer(layers: int, width: int, heads: int) -> Any:
    blocks = [Attention(width, heads) for _ in range(layers)]
    ends = [nn.LayerNorm(width), nn.Linear(width, 1000)]
    return nn.Sequential(nn.Embedding(1000, width), *blocks, *ends)


def _loss(result: Any, targets: Any) -> Any:
    return F.cross_entropy(result.reshape(-1, result.shape[-1]), targets.reshape(-1))


def _images(batch: int) -> tuple[Any, Any]:
    return torch.zeros(batch, 3, 224, 224), torch.zeros(batch, dtype=torch.long)


def _words(batch: int) -> tuple[Any, Any]:
    return (torch.zeros(batch, 128, dtype=torch.long),) * 2


NETWORKS: dict[str, tuple[Callable[[], Any], Callable[[], tuple[Any, Any]]]] = {
    "resnet18_b1": (resnet18, lambda: _images(1)),
    "resnet18_b32": (resnet18, lambda: _images(32)),
    "mobilenetv2_b1": (mobilenetv2, lambda: _images(1)),
    "transformer4_b8": (lambda: transformer(4, 128, 4), lambda: _words(8)),
    "transformer24_b8": (lambda: transformer(24, 256, 8), lambda: _words(8)),
}


def step_of(name: str) -> Step:
    """The step of a capture: `resnet18_b1_sgd`."""
    network, optimizer = name.rsplit("_", 1)
    make, data = NETWORKS[network]
    inputs, targets = data()
    return training(make().train(), (inputs,), targets.clone(), _loss, optimizer)


def captured(name: str) -> dict[str, Any]:
    return capture(step_of(name), name=name)


def main() -> int:
    for name in sys.argv[1:] or NAMES:
        text = json.dumps(captured(name), separators=(",", ":")).encode()
        (FOLDER / f"{name}.json.gz").write_bytes(gzip.compress(text, 9, mtime=0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
