# pyright: basic
"""Random chains of float operators as ONNX exporters write them: images channels first, turned and
reshaped on the way, joined with what came before, gated, broadcast; then matrices."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MOST = 2_000  # elements of a tensor
Shape = tuple[int, ...]


class Chain:
    """Nodes so far, the shape of every tensor, and those that later operators may read."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng([9, seed])
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        rng = self.rng.integers
        self.shapes: dict[str, Shape] = {"x": (1, *(int(n) for n in (rng(1, 6), *rng(4, 10, 2))))}
        self.made = ["x"]

    @property
    def last(self) -> str:
        return self.made[-1]

    @property
    def shape(self) -> Shape:
        return self.shapes[self.last]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def below(self, first: int, last: int) -> int:
        return int(self.rng.integers(first, last))

    def pick(self, *values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def constant(self, values: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def reals(self, *shape: int, scale: float = 0.5) -> str:
        return self.constant((scale * self.rng.normal(size=shape)).astype(np.float32))

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def node(self, kind: str, inputs: list[str], shapes: list[Shape], **attributes: Any) -> None:
        """An operator, whose last result is the chain's end."""
        names = [f"t{len(self.nodes)}_{k}" for k in range(len(shapes))]
        self.nodes.append(helper.make_node(kind, inputs, names, name=names[0], **attributes))
        self.shapes.update(zip(names, shapes, strict=True))
        self.made += names

    def add(self, kind: str, *more: str, shape: Shape | None = None, **attributes: Any) -> None:
        """An operator that reads the chain's end first."""
        self.node(kind, [self.last, *more], [shape or self.shape], **attributes)

    def like(self, fits: Callable[[Shape], bool]) -> str:
        """Any earlier tensor of such a shape; the last one is."""
        return self.pick(*(name for name in self.made if fits(self.shapes[name])))


def convolution(n: Chain) -> None:
    _, c, h, w = n.shape
    deep = n.chance(0.3)
    kernel = [min(n.pick(1, 1, 2, 3), h), min(n.pick(1, 2, 3, 3), w)]
    stride = n.pick((1, 1), (1, 1), (2, 2), (2, 1))
    pads = [n.below(0, k) for k in (*kernel, *kernel)]
    sizes = zip((h, w), kernel, stride, pads[:2], pads[2:], strict=True)
    made = [(size + a + b - k) // s + 1 for size, k, s, a, b in sizes]
    after = c if deep else n.below(1, 7)
    constants = [n.reals(after, 1 if deep else c, *kernel)]
    constants += [n.reals(after)] if n.chance(0.7) else []
    if min(made) > 0:
        window = {"kernel_shape": kernel, "strides": stride, "pads": pads}
        n.add("Conv", *constants, shape=(1, after, *made), group=c if deep else 1, **window)


def transposed(n: Chain) -> None:
    _, c, h, w = n.shape
    size, stride, after = n.pick(1, 2, 3), n.pick(1, 2), n.below(1, 5)
    made = [(length - 1) * stride + size for length in (h, w)]
    window = {"kernel_shape": [size] * 2, "strides": [stride] * 2}
    n.add("ConvTranspose", n.reals(c, after, size, size), shape=(1, after, *made), **window)


def function(n: Chain) -> None:
    kind = n.pick("Relu", "Sigmoid", "Tanh", "HardSwish", "Erf", "LeakyRelu", "PRelu", "Clip")
    more, attributes = [], {}
    if kind == "LeakyRelu":
        attributes["alpha"] = n.pick(0.1, 0.3, 2.0)
    elif kind == "PRelu":
        more = [n.reals(n.shape[1], *[1] * (len(n.shape) - 2))]
    elif kind == "Clip":
        more = [n.constant(np.float32(v)) for v in (n.pick(-1, 0), n.pick(1, 6))]
    n.add(kind, *more, **attributes)


def gate(n: Chain) -> None:
    """x * sigmoid(x), or of the mean of each channel."""
    before, shape = n.last, n.shape
    if len(shape) == 4 and n.chance(0.5):
        n.add("GlobalAveragePool", shape=(*shape[:2], 1, 1))
    n.add("Sigmoid")
    n.add("Mul", before, shape=shape)


def joined(n: Chain) -> None:
    """With any tensor of the same shape, which may be itself."""
    n.add(n.pick("Add", "Mul", "Sub", "Max"), n.like(lambda shape: shape == n.shape))


def broadcast(n: Chain) -> None:
    _, c, h, w = n.shape
    other = n.reals(*n.pick((1, c, 1, 1), (c, 1, 1), (1,), (1, 1, h, w), n.shape))
    operands = [n.last, other] if n.chance(0.8) else [other, n.last]
    n.node(n.pick("Add", "Mul", "Sub"), operands, [n.shape])


def quotient(n: Chain) -> None:
    n.add("Div", n.constant(n.rng.uniform(1, 2, (1, n.shape[1], 1, 1)).astype(np.float32)))


def pool(n: Chain) -> None:
    _, c, h, w = n.shape
    if min(h, w) < 2:
        return
    pads = n.pick([0] * 4, [1] * 4, [1, 0, 0, 1])
    made = [(h + pads[0] + pads[2]) // 2, (w + pads[1] + pads[3]) // 2]
    kind, attributes = n.pick("MaxPool", "AveragePool"), {}
    if kind == "AveragePool":
        attributes["count_include_pad"] = n.below(0, 2)
    window = {"kernel_shape": [2, 2], "strides": [2, 2], "pads": pads}
    n.add(kind, shape=(1, c, *made), **window, **attributes)


def concatenation(n: Chain) -> None:
    axis, shape = n.pick(1, 1, 2, 3), list(n.shape)

    def fits(other: Shape) -> bool:
        return len(other) == 4 and all(other[k] == shape[k] for k in range(4) if k != axis)

    other = n.like(fits)
    operands = [n.last, other] if n.chance(0.5) else [other, n.last]
    shape[axis] += n.shapes[other][axis]
    n.node("Concat", operands, [tuple(shape)], axis=axis)


def cut_out(n: Chain) -> None:
    axis, shape = n.pick(1, 2, 3), list(n.shape)
    if shape[axis] < 2:
        return
    start, step = n.below(0, shape[axis] - 1), n.pick(1, 1, 2)
    end = n.below(start + 1, shape[axis] + 1)
    shape[axis] = -(-(end - start) // step)
    n.add("Slice", *(n.integers(v) for v in (start, end, axis, step)), shape=tuple(shape))


def padding(n: Chain) -> None:
    _, c, h, w = n.shape
    top, left, bottom, right = (n.below(0, 3) for _ in range(4))
    amounts = n.integers(0, 0, top, left, 0, 0, bottom, right)
    value = n.constant(np.float32(n.pick(0, 0, 1.5)))
    n.add("Pad", amounts, value, shape=(1, c, h + top + bottom, w + left + right))


def turned(n: Chain) -> None:
    order = n.pick((0, 2, 3, 1), (0, 1, 3, 2), (0, 3, 1, 2))
    n.add("Transpose", shape=tuple(n.shape[k] for k in order), perm=order)


def normalization(n: Chain) -> None:
    c = n.shape[1]
    variance = n.constant(n.rng.uniform(0.5, 2, c).astype(np.float32))
    n.add("BatchNormalization", *(n.reals(c) for _ in range(3)), variance)


def resize(n: Chain) -> None:
    _, c, h, w = n.shape
    mode = n.pick("nearest", "linear")
    more = {"nearest_mode": "floor"} if mode == "nearest" else {}
    where = n.pick("asymmetric", "half_pixel", "align_corners")
    scales = n.constant(np.array([1, 1, 2, 2], np.float32))
    shape = (1, c, 2 * h, 2 * w)
    n.add(
        "Resize", "", scales, shape=shape, mode=mode, coordinate_transformation_mode=where, **more
    )


def split(n: Chain) -> None:
    _, c, h, w = n.shape
    if c < 2:
        return
    first, source = n.below(1, c), n.last
    shapes = [(1, first, h, w), (1, c - first, h, w)]
    n.node("Split", [source, n.integers(first, c - first)], shapes, axis=1)
    if n.chance(0.5):
        n.node("Concat", n.made[:-3:-1], [(1, c, h, w)], axis=1)


def reduction(n: Chain) -> None:
    axis, shape = n.pick(2, 3), list(n.shape)
    shape[axis] = 1
    n.add(n.pick("ReduceMean", "ReduceMax"), shape=tuple(shape), axes=[axis], keepdims=1)


def whole_mean(n: Chain) -> None:
    n.add("GlobalAveragePool", shape=(*n.shape[:2], 1, 1))


def softmax(n: Chain) -> None:
    n.add("Softmax", axis=n.pick(1, -1))


def depth_to_space(n: Chain) -> None:
    _, c, h, w = n.shape
    if c % 4 == 0:
        mode = n.pick("DCR", "CRD")
        n.add("DepthToSpace", shape=(1, c // 4, 2 * h, 2 * w), blocksize=2, mode=mode)


def choice(n: Chain) -> None:
    before = n.last
    n.add("Greater", n.constant(np.float32(0.1)))
    condition = n.made.pop()  # of another type, so nothing else reads it
    n.node("Where", [condition, before, n.constant(np.float32(-0.5))], [n.shapes[before]])


def flatten(n: Chain) -> None:
    n.add("Flatten", shape=(1, int(np.prod(n.shape))), axis=1)


def matrix(n: Chain) -> None:
    before, after = n.shape[-1], n.below(1, 13)
    if n.chance(0.5):
        n.add("Gemm", n.reals(after, before), n.reals(after), shape=(1, after), transB=1)
    else:
        n.add("MatMul", n.reals(before, after), shape=(1, after))


def sum_of_features(n: Chain) -> None:
    n.add("Add", n.reals(n.shape[-1]))


def centred(n: Chain) -> None:
    size = n.shape[-1]
    n.add("LayerNormalization", n.reals(size), n.reals(size), axis=-1)


def pixel(n: Chain) -> None:
    """One pixel of as many channels as there were features."""
    size = n.shape[-1]
    n.add("Reshape", n.integers(1, size, 1, 1), shape=(1, size, 1, 1))


IMAGES: tuple[Callable[[Chain], None], ...] = (
    *(convolution,) * 3,
    *(function,) * 8,
    *(gate, gate, joined, joined, joined, broadcast, quotient, pool, pool, concatenation, cut_out),
    *(padding, turned, normalization, resize, split, reduction, whole_mean, flatten, softmax),
    *(choice, transposed, depth_to_space),
)
FEATURES: tuple[Callable[[Chain], None], ...] = (
    *(matrix, matrix, function, gate, softmax, centred, sum_of_features, joined, pixel),
)


def chain(seed: int) -> bytes:
    """The file of a network of three to eight operators, or a few more, with one result."""
    n = Chain(seed)
    count = n.below(3, 9)
    while len(n.nodes) < count:
        before = len(n.nodes), len(n.made), len(n.constants)
        n.pick(*(IMAGES if len(n.shape) == 4 else FEATURES))(n)
        if any(np.prod(n.shapes[name]) > MOST for name in n.made[before[1] :]):
            del n.nodes[before[0] :], n.made[before[1] :], n.constants[before[2] :]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, n.shapes[name])
        for name in ("x", n.last)
    ]
    graph = helper.make_graph(n.nodes, "g", ends[:1], ends[1:], n.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())
