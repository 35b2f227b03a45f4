"""Networks whose training steps are planned, in plain PyTorch: those of OLLA's Figure 7 among them.

Sizes are those of the papers and of torchvision, without what it adds to training (auxiliary heads,
stochastic depth). `NETWORKS[name]` makes a module, `examples(name, batch)` its input and targets.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
nn: Any = torch.nn
F: Any = torch.nn.functional
Module: Any = nn.Module

CLASSES = 1000
WORDS = 128  # of a sentence


def conv(i: int, o: int, kernel: int, stride: int = 1, groups: int = 1) -> list[Any]:
    """Return a convolution without bias and its normalization."""
    padding = kernel // 2
    convolution = nn.Conv2d(i, o, kernel, stride, padding, groups=groups, bias=False)
    return [convolution, nn.BatchNorm2d(o)]


def _relu() -> Any:
    return nn.ReLU(inplace=True)


def _pooled(*layers: Any) -> list[Any]:
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), *layers]


def alexnet() -> Any:
    """Krizhevsky, 2014."""
    return nn.Sequential(
        *(nn.Conv2d(3, 64, 11, 4, 2), _relu(), nn.MaxPool2d(3, 2)),
        *(nn.Conv2d(64, 192, 5, 1, 2), _relu(), nn.MaxPool2d(3, 2)),
        *(nn.Conv2d(192, 384, 3, 1, 1), _relu(), nn.Conv2d(384, 256, 3, 1, 1), _relu()),
        *(nn.Conv2d(256, 256, 3, 1, 1), _relu(), nn.MaxPool2d(3, 2)),
        *(nn.AdaptiveAvgPool2d(6), nn.Flatten(), nn.Dropout(), nn.Linear(9216, 4096), _relu()),
        *(nn.Dropout(), nn.Linear(4096, 4096), _relu(), nn.Linear(4096, CLASSES)),
    )


def vgg11() -> Any:
    """Simonyan and Zisserman, 2015, configuration A."""
    layers: list[Any] = []
    i = 3
    for o in (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0):
        layers += [nn.Conv2d(i, o, 3, 1, 1), _relu()] if o else [nn.MaxPool2d(2)]
        i = o or i
    for i, o in ((512 * 49, 4096), (4096, 4096)):
        layers += [*([nn.Flatten()] if i > o else []), nn.Linear(i, o), _relu(), nn.Dropout()]
    return nn.Sequential(*layers, nn.Linear(4096, CLASSES))


class Branches(Module):
    """Parallel branches whose results are joined."""

    def __init__(self, *branches: Sequence[Any]):
        Module.__init__(self)
        self.branches = nn.ModuleList(nn.Sequential(*layers) for layers in branches)

    def forward(self, x: Any) -> Any:
        return torch.cat([branch(x) for branch in self.branches], 1)


def googlenet() -> Any:
    """Szegedy et al., 2015, with normalizations."""

    def unit(i: int, o: int, kernel: int, stride: int = 1) -> list[Any]:
        return [*conv(i, o, kernel, stride), _relu()]

    layers = [*unit(3, 64, 7, 2), nn.MaxPool2d(3, 2, ceil_mode=True), *unit(64, 64, 1)]
    layers += [*unit(64, 192, 3), nn.MaxPool2d(3, 2, ceil_mode=True)]
    i = 192
    for widths in (
        *((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64), ()),
        *((192, 96, 208, 16, 48, 64), (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64)),
        *((112, 144, 288, 32, 64, 64), (256, 160, 320, 32, 128, 128), ()),
        *((256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128)),
    ):
        if not widths:
            layers.append(nn.MaxPool2d(3, 2, ceil_mode=True))
            continue
        one, narrow3, three, narrow5, five, pool = widths
        layers.append(
            Branches(
                unit(i, one, 1),
                [*unit(i, narrow3, 1), *unit(narrow3, three, 3)],
                [*unit(i, narrow5, 1), *unit(narrow5, five, 3)],
                [nn.MaxPool2d(3, 1, 1, ceil_mode=True), *unit(i, pool, 1)],
            )
        )
        i = one + three + five + pool
    return nn.Sequential(*layers, *_pooled(nn.Dropout(0.2), nn.Linear(i, CLASSES)))


class Inverted(Module):
    """The inverted residual of MobileNetV2 (Sandler et al., 2018)."""

    def __init__(self, i: int, o: int, stride: int, expand: int):
        Module.__init__(self)
        wide = i * expand
        widen = [] if expand == 1 else [*conv(i, wide, 1), nn.ReLU6(inplace=True)]
        depth = [*conv(wide, wide, 3, stride, wide), nn.ReLU6(inplace=True)]
        self.body = nn.Sequential(*widen, *depth, *conv(wide, o, 1))
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
        *conv(3, 32, 3, 2),
        nn.ReLU6(inplace=True),
        *blocks,
        *conv(320, 1280, 1),
        nn.ReLU6(inplace=True),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(1280, CLASSES),
    )


class Squeeze(Module):
    """Squeeze and excitation: a factor per channel of the means (Hu et al., 2018)."""

    def __init__(self, channels: int, narrow: int):
        Module.__init__(self)
        layers = nn.Conv2d(channels, narrow, 1), nn.SiLU(inplace=True)
        last = nn.Conv2d(narrow, channels, 1), nn.Sigmoid()
        self.factor = nn.Sequential(nn.AdaptiveAvgPool2d(1), *layers, *last)

    def forward(self, x: Any) -> Any:
        return self.factor(x) * x


class Searched(Module):
    """A block of EfficientNet, with `narrow` channels in its squeeze, or of MNASNet, 0."""

    def __init__(self, ends: tuple[int, int], kernel: int, stride: int, expand: int, narrow: int):
        Module.__init__(self)
        i, o = ends
        wide = i * expand

        def active() -> Any:
            return nn.SiLU(inplace=True) if narrow else _relu()

        widen = [] if expand == 1 else [*conv(i, wide, 1), active()]
        depth = [*conv(wide, wide, kernel, stride, wide), active()]
        squeeze = [Squeeze(wide, narrow)] if narrow else []
        self.body = nn.Sequential(*widen, *depth, *squeeze, *conv(wide, o, 1))
        self.past = stride == 1 and i == o

    def forward(self, x: Any) -> Any:
        return x + self.body(x) if self.past else self.body(x)


Stage = tuple[int, int, int, int, int]  # expansion, kernel, stride, channels, blocks


def _searched(channels: int, stages: Sequence[Stage], squeeze: bool) -> list[Any]:
    blocks: list[Any] = []
    for expand, kernel, stride, width, count in stages:
        for k in range(count):
            narrow = max(1, channels // 4) if squeeze else 0
            step = stride if k == 0 else 1
            blocks.append(Searched((channels, width), kernel, step, expand, narrow))
            channels = width
    return blocks


def mnasnet() -> Any:
    """Tan et al., 2019: MNASNet-B1."""
    stages = (3, 3, 2, 24, 3), (3, 5, 2, 40, 3), (6, 5, 2, 80, 3)
    last = (6, 3, 1, 96, 2), (6, 5, 2, 192, 4), (6, 3, 1, 320, 1)
    return nn.Sequential(
        *(*conv(3, 32, 3, 2), _relu(), *conv(32, 32, 3, 1, 32), _relu(), *conv(32, 16, 1)),
        *_searched(16, (*stages, *last), squeeze=False),
        *(*conv(320, 1280, 1), _relu()),
        *_pooled(nn.Dropout(0.2), nn.Linear(1280, CLASSES)),
    )


def efficientnet() -> Any:
    """Tan and Le, 2019: EfficientNet-B0."""
    stages = (1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3)
    last = (6, 5, 1, 112, 3), (6, 5, 2, 192, 4), (6, 3, 1, 320, 1)
    return nn.Sequential(
        *(*conv(3, 32, 3, 2), nn.SiLU(inplace=True)),
        *_searched(32, (*stages, *last), squeeze=True),
        *(*conv(320, 1280, 1), nn.SiLU(inplace=True)),
        *_pooled(nn.Dropout(0.2), nn.Linear(1280, CLASSES)),
    )


class Residual(Module):
    """The basic block of ResNet (He et al., 2016), with its activations in place."""

    def __init__(self, i: int, o: int, stride: int):
        Module.__init__(self)
        relu = _relu()
        self.body = nn.Sequential(*conv(i, o, 3, stride), relu, *conv(o, o, 3))
        same = stride == 1 and i == o
        self.past = nn.Identity() if same else nn.Sequential(*conv(i, o, 1, stride))
        self.relu = relu

    def forward(self, x: Any) -> Any:
        y = self.body(x)
        y += self.past(x)
        return self.relu(y)


class Bottleneck(Residual):
    """The block of ResNet-50, whose result has four times the channels of its inside."""

    def __init__(self, i: int, o: int, stride: int):
        Residual.__init__(self, i, 4 * o, stride)
        inside = *conv(i, o, 1), self.relu, *conv(o, o, 3, stride), self.relu
        self.body = nn.Sequential(*inside, *conv(o, 4 * o, 1))


def _resnet(block: Callable[[int, int, int], Any], counts: Sequence[int], factor: int) -> Any:
    blocks: list[Any] = []
    channels = 64
    for width, stride, count in zip((64, 128, 256, 512), (1, 2, 2, 2), counts, strict=True):
        for k in range(count):
            blocks.append(block(channels, width, stride if k == 0 else 1))
            channels = width * factor
    return nn.Sequential(
        *conv(3, 64, 7, 2),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
        *blocks,
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(channels, CLASSES),
    )


def resnet18() -> Any:
    return _resnet(Residual, (2, 2, 2, 2), 1)


def resnet50() -> Any:
    return _resnet(Bottleneck, (3, 4, 6, 3), 4)


class Residual3d(Module):
    """The basic block of ResNet3D (Tran et al., 2018)."""

    def __init__(self, i: int, o: int, stride: int):
        Module.__init__(self)

        def unit(i: int, kernel: int, stride: int) -> list[Any]:
            padding = kernel // 2
            return [nn.Conv3d(i, o, kernel, stride, padding, bias=False), nn.BatchNorm3d(o)]

        self.relu = _relu()
        self.body = nn.Sequential(*unit(i, 3, stride), self.relu, *unit(o, 3, 1))
        same = stride == 1 and i == o
        self.past = nn.Identity() if same else nn.Sequential(*unit(i, 1, stride))

    def forward(self, x: Any) -> Any:
        y = self.body(x)
        y += self.past(x)
        return self.relu(y)


def resnet3d() -> Any:
    """Tran et al., 2018: R3D-18, 16 images of 112 x 112."""
    blocks = [Residual3d(64, 64, 1), Residual3d(64, 64, 1)]
    for width in (128, 256, 512):
        blocks += [Residual3d(width // 2, width, 2), Residual3d(width, width, 1)]
    first = nn.Conv3d(3, 64, (3, 7, 7), (1, 2, 2), (1, 3, 3), bias=False)
    last = nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(512, 400)
    return nn.Sequential(first, nn.BatchNorm3d(64), _relu(), *blocks, *last)


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
    ends = [nn.LayerNorm(width), nn.Linear(width, CLASSES)]
    return nn.Sequential(nn.Embedding(1000, width), *blocks, *ends)


class Patches(Module):
    """Patches of 16 x 16 pixels as words, with one more for the class, and their positions."""

    def __init__(self, width: int, side: int):
        Module.__init__(self)
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(1, (side // 16) ** 2 + 1, width))

    def forward(self, x: Any) -> Any:
        words = self.patches(x).flatten(2).transpose(1, 2)
        return torch.cat([self.first.expand(len(x), -1, -1), words], 1) + self.positions


class First(Module):
    """The first word of each sentence."""

    def forward(self, x: Any) -> Any:
        return x[:, 0]


class Sentences(Module):
    """Words and their positions, normalized."""

    def __init__(self, words: int, width: int):
        Module.__init__(self)
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(512, width)
        self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(0.1)

    def forward(self, x: Any) -> Any:
        places = torch.arange(x.shape[1], device=x.device)
        return self.dropout(self.norm(self.words(x) + self.positions(places)))


def _encoder(width: int, heads: int, first: bool) -> list[Any]:
    """Return 12 layers of PyTorch's own encoder; `first`: normalized first."""
    dropout = 0.0 if first else 0.1
    return [
        nn.TransformerEncoderLayer(width, heads, 4 * width, dropout, "gelu", 1e-6, True, first)
        for _ in range(12)
    ]


def vit() -> Any:
    """Dosovitskiy et al., 2021: ViT-B/16."""
    ends = nn.LayerNorm(768), First(), nn.Linear(768, CLASSES)
    return nn.Sequential(Patches(768, 224), *_encoder(768, 12, first=True), *ends)


def bert() -> Any:
    """Devlin et al., 2019: BERT-base with a classifier on the first word."""
    head = nn.Linear(768, 768), nn.Tanh(), nn.Dropout(0.1), nn.Linear(768, CLASSES)
    return nn.Sequential(Sentences(30522, 768), *_encoder(768, 12, first=False), First(), *head)


def xlm_r() -> Any:
    """Conneau et al., 2020: XLM-R base, BERT with 250,002 words."""
    head = nn.Dropout(0.1), nn.Linear(768, 768), nn.Tanh(), nn.Linear(768, CLASSES)
    return nn.Sequential(Sentences(250002, 768), *_encoder(768, 12, first=False), First(), *head)


class Translation(Module):
    """Vaswani et al., 2017: encoder and decoder of six layers each, of 512 channels."""

    def __init__(self) -> None:
        Module.__init__(self)
        self.body = nn.Transformer(512, 8, 6, 6, 2048, 0.1, batch_first=True)
        self.words, self.last = nn.Embedding(CLASSES, 512), nn.Linear(512, CLASSES)

    def forward(self, x: Any) -> Any:
        words = self.words(x)
        return self.last(self.body(words, words))


NETWORKS: dict[str, Callable[[], Any]] = {
    "alexnet": alexnet,
    "vgg11": vgg11,
    "googlenet": googlenet,
    "mnasnet": mnasnet,
    "mobilenetv2": mobilenetv2,
    "efficientnet": efficientnet,
    "resnet18": resnet18,
    "resnet50": resnet50,
    "resnet3d": resnet3d,
    "vit": vit,
    "transformer": Translation,
    "bert": bert,
    "xlm-r": xlm_r,
}
WITH_WORDS = ("transformer", "bert", "xlm-r")


def examples(name: str, batch: int) -> tuple[Any, Any]:
    """Return a random input of a network and its targets."""
    if name in WITH_WORDS:
        words = torch.randint(0, CLASSES, (batch, WORDS))
        return words, words.clone() if name == "transformer" else words[:, 0].clone()
    if name == "resnet3d":
        return torch.randn(batch, 3, 16, 112, 112), torch.randint(0, 400, (batch,))
    return torch.randn(batch, 3, 224, 224), torch.randint(0, CLASSES, (batch,))


def loss_of(result: Any, targets: Any) -> Any:
    """Return the cross entropy, of every word where there are several."""
    return F.cross_entropy(result.reshape(-1, result.shape[-1]), targets.reshape(-1))
