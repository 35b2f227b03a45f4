# pyright: basic
"""Small networks of published architectures, as their exporters write them, for rules that no
shared model has a site of: `PUBLISHED[name](path)` saves one."""

import json
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from onnx import helper
from onnx_families import classifier, inverted_network
from onnx_networks import Layers, quantised, saved
from onnx_programs import saved as save
from tflite_builder import Graph, Op, T, build


def densenet(path: Path) -> Path:
    """Huang et al. 2017, with bottlenecks: normalized before each convolution, all that came before
    is concatenated. The stem takes the mean of the images off (as Simonyan et al. 2015)."""
    n = Layers(1)
    mean = n.values("mean", np.array([0.485, 0.456, 0.406], np.float32).reshape(3, 1, 1))
    name, channels = n.conv(n.add("Sub", ["x", mean]), 3, 8, 3, 2), 8
    for _ in range(2):
        narrow = n.conv(normalized(n, name, channels), channels, 16, 1)
        more = n.conv(normalized(n, narrow, 16), 16, 4, 3)
        name, channels = n.add("Concat", [name, more], axis=1), channels + 4
    return saved(n, classifier(n, normalized(n, name, channels), channels), 10, path)


def normalized(n: Layers, name: str, channels: int) -> str:
    k = len(n.nodes)
    numbers = [n.constant(f"{part}{k}", channels) for part in ("scale", "shift", "mean")]
    variance = n.values(f"var{k}", n.rng.uniform(0.5, 2, channels).astype(np.float32))
    return n.add("Relu", [n.add("BatchNormalization", [name, *numbers, variance])])


def attention(path: Path) -> Path:
    """Vaswani et al. 2017: scores over the root of a head's width, 16, of words over the root of
    their mean square."""
    n = Layers(2)
    words = patches(n)
    squares = n.add("Pow", [words, n.values("two", np.float32(2))])
    spread = n.add("ReduceMean", [squares], axes=[2], keepdims=1)
    spread = n.add("Add", [spread, n.values("least", np.float32(1e-5))])
    words = n.add("Div", [words, n.add("Sqrt", [spread])])
    q, k, v = three(n, words)
    scores = n.add("MatMul", [q, n.add("Transpose", [k], perm=[0, 2, 1])])
    over = n.add("Div", [scores, n.values("root", np.float32(4))])
    return pooled(n, n.add("MatMul", [n.add("Softmax", [over], axis=-1), v]), path)


def patches(n: Layers) -> str:
    """Return 16 patches of an image, 16 wide."""
    image = n.conv("x", 3, 16, 4, 4, pads=0)
    tall = n.add("Reshape", [image, n.values("tall", np.array([1, 16, 16]))])
    return n.add("Transpose", [tall], perm=[0, 2, 1])


def three(n: Layers, words: str) -> list[str]:
    """Return queries, keys and values of words that are 16 wide."""
    return [n.add("MatMul", [words, n.constant(f"p{i}", 16, 16)]) for i in range(3)]


def pooled(n: Layers, words: str, path: Path) -> Path:
    """Save classes of the mean of words that are 16 wide."""
    last = [n.add("ReduceMean", [words], axes=[1], keepdims=0), n.constant("gw", 10, 16)]
    return saved(n, n.add("Gemm", [*last, n.constant("gb", 10)], transB=1), 10, path)


def perceptrons(path: Path) -> Path:
    """Tolstikhin et al. 2021, normalized as flax does it: moments are sums of all channels over
    their number, a variance the mean square less the square of the mean, and each is repeated."""
    n = Layers(9)
    words = patches(n)
    whole = n.values("whole", np.array([1, 16, 16]))

    def mean(name: str) -> str:
        total = n.add("ReduceSum", [name, n.values(f"last{len(n.nodes)}", np.array([2]))])
        return n.add("Div", [total, n.values(f"count{len(n.nodes)}", np.float32(16))])

    first = mean(words)
    spread = n.add("Sub", [mean(n.add("Mul", [words, words])), n.add("Mul", [first, first])])
    spread = n.add("Sqrt", [n.add("Add", [spread, n.values("least", np.float32(1e-6))])])
    over = n.add("Reciprocal", [spread])
    scaled = n.add("Mul", [over, n.constant("scale", 16)])
    rest = n.add("Sub", [words, n.add("Expand", [first, whole])])
    words = n.add("Add", [n.add("Mul", [rest, scaled]), n.constant("shift", 16)])
    return pooled(n, n.add("MatMul", [words, n.constant("mixed", 16, 16)]), path)


def heads(n: Layers, values: list[str]) -> list[str]:
    """Return queries, keys and values of two heads."""
    return [
        n.add(
            "Transpose",
            [n.add("Reshape", [one, n.values(f"heads{i}", np.array([1, 16, 2, 8]))])],
            perm=[0, 2, 1, 3],
        )
        for i, one in enumerate(values)
    ]


def linear(path: Path) -> Path:
    """Katharopoulos et al. 2020: positive queries and keys instead of a softmax, so that products
    of keys and values are added up first."""
    n = Layers(9)
    one, (*both, v) = n.values("one", np.float32(1)), three(n, patches(n))
    q, k = (n.add("Add", [n.add("Elu", [value]), one]) for value in both)
    q, k, v = heads(n, [q, k, v])
    kv = n.add("MatMul", [n.add("Transpose", [k], perm=[0, 1, 3, 2]), v])
    words = n.add("Transpose", [n.add("MatMul", [q, kv])], perm=[0, 2, 1, 3])
    return pooled(n, n.add("Reshape", [words, n.values("all", np.array([1, 16, 16]))]), path)


def rotary(path: Path) -> Path:
    """Su et al. 2021, as transformers write it: two heads of queries and keys, turned by places."""
    n = Layers(8)
    q, k, v = heads(n, three(n, patches(n)))
    angles = np.arange(16)[:, None] / 10000 ** (np.arange(0, 8, 2) / 8)
    angles = np.concatenate([angles, angles], 1).astype(np.float32)
    cos, sin = n.values("cos", np.cos(angles)), n.values("sin", np.sin(angles))

    def turned(value: str) -> str:
        half = [n.values(f"half{len(n.nodes)}", np.array([4, 4]))]
        names = [f"{value}_first", f"{value}_second"]
        n.nodes.append(helper.make_node("Split", [value, *half], names, axis=3))
        other = n.add("Concat", [n.add("Neg", names[1:]), names[0]], axis=3)
        return n.add("Add", [n.add("Mul", [value, cos]), n.add("Mul", [other, sin])])

    scores = n.add("MatMul", [turned(q), n.add("Transpose", [turned(k)], perm=[0, 1, 3, 2])])
    words = n.add("MatMul", [n.add("Softmax", [scores], axis=-1), v])
    words = n.add("Transpose", [words], perm=[0, 2, 1, 3])
    return pooled(n, n.add("Reshape", [words, n.values("all", np.array([1, 16, 16]))]), path)


def decoder(path: Path) -> Path:
    """Radford et al. 2019, of pixels (Chen et al. 2020): scores of later words are chosen to be
    minus infinity."""
    n = Layers(7)
    q, k, v = three(n, patches(n))
    scores = n.add("MatMul", [q, n.add("Transpose", [k], perm=[0, 2, 1])])
    scores = n.add("Mul", [scores, n.values("over", np.float32(0.25))])
    later = n.values("later", np.triu(np.ones((1, 16, 16), bool), 1))
    scores = n.add("Where", [later, n.values("none", np.float32(-np.inf)), scores])
    return pooled(n, n.add("MatMul", [n.add("Softmax", [scores], axis=-1), v]), path)


def googlenet(path: Path) -> Path:
    """Szegedy et al. 2015: a module of four branches; the head that only training reads is left in
    the file."""
    n = Layers(3)
    x = n.add("Relu", [n.conv("x", 3, 8, 3, 2)])
    pooled = n.add("MaxPool", [x], kernel_shape=[3, 3], pads=[1] * 4, strides=[1, 1])
    deep = [n.conv(n.add("Relu", [n.conv(x, 8, 4, 1)]), 4, 4, size) for size in (3, 5)]
    name = n.add("Concat", [n.conv(x, 8, 4, 1), *deep, n.conv(pooled, 8, 4, 1)], axis=1)
    n.add("Gemm", [n.add("Flatten", [name]), n.constant("aux", 10, 1024)], transB=1)
    return saved(n, classifier(n, n.add("Relu", [name]), 16), 10, path)


def nasnet(path: Path) -> Path:
    """Zoph et al. 2018, and DARTS (Liu et al. 2019): what two cells made is concatenated, and each
    branch of the next one reads it through a ReLU."""
    n = Layers(5)
    stem = n.conv("x", 3, 4, 3)
    parts = [n.conv(stem, 4, 4, size) for size in (1, 3, 1, 3)]
    joined = n.add("Concat", parts, axis=1)
    branches = []
    for size in (3, 5):
        deep = n.conv(n.add("Relu", [joined]), 16, 16, size, 2, 16)
        branches.append(n.conv(deep, 16, 4, 1))
    branches.append(n.conv(n.add("Relu", [joined]), 16, 4, 1, 2))
    last = n.add("Concat", branches, axis=1)
    return saved(n, classifier(n, n.add("Relu", [last]), 12), 10, path)


def mobilenet(path: Path) -> Path:
    """Howard et al. 2017: a depthwise convolution is all there is at the peak."""
    n = Layers(6)
    wide = n.add("Relu", [n.conv("x", 3, 32, 3)])
    deep = n.add("Relu", [n.conv(wide, 32, 32, 3, 1, 32)])
    return saved(n, classifier(n, n.add("Relu", [n.conv(deep, 32, 8, 1, 2)]), 8), 10, path)


def mobilenet_of_bytes(path: Path) -> Path:
    """Sandler et al. 2018, quantised to unsigned bytes by onnxruntime's tool."""
    return quantised(inverted_network(path.with_suffix(".float.onnx"), 4), path, unsigned=True)


def voice_of_bytes(path: Path) -> Path:
    """A GRU (Cho et al. 2014) and a classifier, quantised by onnxruntime's tool."""
    from onnxruntime.quantization import CalibrationDataReader, quantize_static

    rng, source = np.random.default_rng(8), path.with_suffix(".float.onnx")
    shapes = {"w": (1, 24, 4), "r": (1, 24, 8), "b": (1, 48), "c": (8, 3)}
    constants: dict[str, Any] = {k: rng.normal(size=v).astype("f4") for k, v in shapes.items()}
    given = {"x": np.zeros((12, 1, 4), np.float32)}
    nodes = [
        helper.make_node("GRU", ["x", "w", "r", "b"], ["", "h"], "gru", hidden_size=8),
        helper.make_node("Squeeze", ["h", "a"], ["s"], "squeeze"),
        helper.make_node("MatMul", ["s", "c"], ["y"], "classifier"),
    ]
    save(source, nodes, given, constants | {"a": np.array([0])})

    class Calibration(CalibrationDataReader):
        def __init__(self) -> None:
            self.given = [{"x": rng.normal(size=(12, 1, 4)).astype("f4")}]

        def get_next(self) -> Any:
            return self.given.pop() if self.given else None

    kinds = ["GRU", "MatMul"]
    quantize_static(source, path, Calibration(), op_types_to_quantize=kinds)
    return path


def temporal(path: Path) -> Path:
    """TC-ResNet (Choi et al. 2019): convolutions over time, as Keras' Conv1D is converted."""
    tensors = [_stored("x", (1, 9, 2)), _stored("p", (1, 1, 9, 2)), _filters((4, 1, 3, 2))]
    tensors += [T("b", (4,), "INT32", np.zeros(4, np.int32), scale=[0.005], zero=[0])]
    tensors += [_stored("q", (1, 1, 4, 4)), _stored("y", (1, 4, 4))]
    window = {"padding": 1, "strideH": 1, "strideW": 2, "dilationWFactor": 1, "dilationHFactor": 1}
    shapes = [T("s", (4,), "INT32", np.array([1, 1, 9, 2], np.int32))]
    shapes += [T("t", (3,), "INT32", np.array([1, 4, 4], np.int32))]
    ops = [
        Op("RESHAPE", [0, 6], [1]),
        Op("CONV_2D", [1, 2, 3], [4], ("Conv2D", window)),
        Op("RESHAPE", [4, 7], [5]),
    ]
    path.write_bytes(build(Graph(tensors + shapes, ops, [0], [5])))
    return path


def keras_head(path: Path) -> Path:
    """MobileNet (Howard et al. 2017) as Keras has it: between its pool and its classifier a reshape
    to a shape that is computed, for the batch was open."""
    tensors = [_stored("x", (1, 4, 4, 8)), T("axes", (2,), "INT32", np.array([1, 2], np.int32))]
    tensors += [_stored("m", (1, 8)), T("n", (2,), "INT32")]
    tensors += [
        T(name, (1,), "INT32", np.array([at], np.int32)) for name, at in (("f", 0), ("t", 1))
    ]
    tensors += [T("batch", (), "INT32"), T("one", (), "INT32", np.array(1, np.int32))]
    tensors += [T("eight", (), "INT32", np.array(8, np.int32)), T("s", (4,), "INT32")]
    tensors += [_stored("y", (1, 1, 1, 8))]
    cut = ("StridedSlice", {"shrinkAxisMask": 1})
    ops = [
        Op("MEAN", [0, 1], [2], ("Reducer", {"keepDims": False})),
        Op("SHAPE", [2], [3], ("Shape", {"outType": 2})),
        Op("STRIDED_SLICE", [3, 4, 5, 5], [6], cut),
        Op("PACK", [6, 7, 7, 8], [9], ("Pack", {"valuesCount": 4, "axis": 0})),
        Op("RESHAPE", [2, 9], [10]),
    ]
    path.write_bytes(build(Graph(tensors, ops, [0], [10])))
    return path


def group_norm(path: Path) -> Path:
    """Wu & He 2018, channels last as Keras has it: moments over height, width and some channels."""
    wide, few = (1, 4, 4, 2, 4), (1, 1, 1, 2, 1)
    tensors = [T("x", (1, 4, 4, 8), "FLOAT32"), T("s", (5,), "INT32", np.array(wide, np.int32))]
    tensors += [T("g", wide, "FLOAT32")]
    tensors += [T("axes", (3,), "INT32", np.array([1, 2, 4], np.int32)), T("m", few, "FLOAT32")]
    tensors += [T("d", wide, "FLOAT32"), T("v", few, "FLOAT32")]
    moment = ("Reducer", {"keepDims": True})
    ops = [
        Op("RESHAPE", [0, 1], [2]),
        Op("MEAN", [2, 3], [4], moment),
        Op("SQUARED_DIFFERENCE", [2, 4], [5]),
        Op("MEAN", [5, 3], [6], moment),
    ]
    path.write_bytes(build(Graph(tensors, ops, [0], [6])))
    return path


def shufflenet(path: Path) -> Path:
    """Ma et al. 2018, a unit of the second version, as PyTorch exports it: half of the channels
    stay, and the channels of both halves are taken in turn."""
    n = Layers(7)
    name = n.add("Relu", [n.conv("x", 3, 16, 3, 2)])
    size = (1, 16, 8, 8)
    halves = [
        n.add("Slice", [name, *(n.values(f"{end}{k}", np.array([at])) for end, at in ends)])
        for k, ends in enumerate(
            (("begin", 8 * k), ("end", 8 * k + 8), ("axis", 1)) for k in range(2)
        )
    ]
    deep = n.add("Relu", [n.conv(halves[1], 8, 8, 1)])
    deep = n.add("Relu", [n.conv(n.conv(deep, 8, 8, 3, 1, 8), 8, 8, 1)])
    name = n.add("Concat", [halves[0], deep], axis=1)
    name = n.add("Reshape", [name, n.values("grouped", np.array([1, 2, 8, *size[2:]]))])
    name = n.add("Transpose", [name], perm=[0, 2, 1, 3, 4])
    name = n.add("Reshape", [name, n.values("whole", np.array(size))])
    return saved(n, classifier(n, n.conv(name, 16, 16, 3), 16), 10, path)


def style(path: Path) -> Path:
    """Ulyanov et al. 2016: each channel of an image is normalized, then groups of them (Wu & He
    2018) as PyTorch exports it."""
    n = Layers(8)
    name = n.conv("x", 3, 8, 3)
    numbers = [n.constant("scale", 8), n.constant("shift", 8)]
    name = n.add("Relu", [n.add("InstanceNormalization", [name, *numbers])])
    name = n.conv(name, 8, 8, 3)
    grouped = n.add("Reshape", [name, n.values("grouped", np.array([1, 2, -1]))])
    ones = [n.values("ones", np.ones(2, np.float32)), n.values("zeros", np.zeros(2, np.float32))]
    shape = n.values("shape", np.array([1, 8, 16, 16]))
    name = n.add("Reshape", [n.add("InstanceNormalization", [grouped, *ones]), shape])
    name = n.add("Mul", [name, n.constant("factor", 8, 1, 1)])
    name = n.add("Add", [name, n.constant("term", 8, 1, 1)])
    return saved(n, classifier(n, n.conv(n.add("Relu", [name]), 8, 8, 3), 8), 10, path)


def style_of_bytes(path: Path) -> Path:
    """The former, quantised by onnxruntime's tool."""
    return quantised(style(path.with_suffix(".float.onnx")), path, unsigned=False)


def bands(path: Path) -> Path:
    """Kim et al. 2021 (BC-ResNet): rows of an image are normalized in bands."""
    n = Layers(8)
    inside = n.values("inside", np.array([1, 32, 4, 16]))
    name = n.add("Reshape", [n.conv("x", 3, 8, 3), inside])
    name = n.add("Mul", [name, n.constant("factor", 32, 1, 1)])
    name = n.add("Add", [name, n.constant("term", 32, 1, 1)])
    name = n.add("Reshape", [name, n.values("shape", np.array([1, 8, 16, 16]))])
    return saved(n, classifier(n, n.conv(n.add("Relu", [name]), 8, 8, 3), 8), 10, path)


def lenet(path: Path) -> Path:
    """LeCun et al. 1998, as a graph that a program of somebody's own writes: of operators that are
    names, and tensors that are bytes."""
    shapes = {"x": [1, 1, 28, 28], "Conv": [1, 6, 24, 24], "MaxPool": [1, 6, 12, 12]}
    shapes |= {"Flatten": [1, 864], "Gemm": [1, 10]}
    kinds = list(shapes)
    tensors = [
        {"name": name, "bytes": 4 * prod(shape), "is_weight": False, "shape": shape}
        for name, shape in shapes.items()
    ]
    graph = {
        "name": "lenet",
        "tensors": [{**tensor, "dtype": "float32"} for tensor in tensors],
        "nodes": [
            {"name": kind, "op": kind, "inputs": [before], "outputs": [kind]}
            for before, kind in pairwise(kinds)
        ],
        "graph_inputs": kinds[:1],
        "graph_outputs": kinds[-1:],
    }
    path.write_text(json.dumps(graph))
    return path


def _stored(name: str, shape: tuple[int, ...]) -> Any:
    return T(name, shape, "INT8", scale=[0.5], zero=[3])


def _filters(shape: tuple[int, ...]) -> Any:
    data = np.random.default_rng(5).integers(-127, 128, shape).astype(np.int8)
    return T("w", shape, "INT8", data, scale=[0.01], zero=[0])


PUBLISHED: dict[str, Any] = {
    "densenet.onnx": densenet,
    "attention.onnx": attention,
    "decoder.onnx": decoder,
    "linear.onnx": linear,
    "rotary.onnx": rotary,
    "perceptrons.onnx": perceptrons,
    "googlenet.onnx": googlenet,
    "nasnet.onnx": nasnet,
    "mobilenet.onnx": mobilenet,
    "mobilenet_of_bytes.onnx": mobilenet_of_bytes,
    "voice_of_bytes.onnx": voice_of_bytes,
    "temporal.tflite": temporal,
    "group_norm.tflite": group_norm,
    "keras_head.tflite": keras_head,
    "lenet.json": lenet,
    "shufflenet.onnx": shufflenet,
    "style.onnx": style,
    "bands.onnx": bands,
    "style_of_bytes.onnx": style_of_bytes,
}
