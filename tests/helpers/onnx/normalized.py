# pyright: basic, reportArgumentType=false
# (arrays of any element type: strict has nothing to say about them)
"""Random float models with batch normalization, products and sums with constants, as exporters
write them: images channels first."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Model:
    """A model that grows; `last` is what was made last."""

    def __init__(self, seed: int, shape: tuple[int, ...] = ()) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.shape = shape or (1, self.whole(1, 9), *(self.whole(4, 9) for _ in range(2)))
        self.last, self.channels = "x", self.shape[1]

    def whole(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high))

    def constant(self, values: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, np.float32), name))
        return name

    def normal(self, *shape: int) -> str:
        return self.constant(self.rng.normal(size=shape))

    def positive(self, *shape: int) -> str:
        return self.constant(self.rng.uniform(0.25, 4, shape))

    def add(self, kind: str, *inputs: str, **attributes: Any) -> None:
        name = f"v{len(self.nodes)}"
        node = helper.make_node(kind, [self.last, *inputs], [name], name=name, **attributes)
        self.nodes.append(node)
        self.last = name

    def convolve(self) -> None:
        """Of one group, of several, of each channel alone, also with several filters of each."""
        groups = int(
            self.rng.choice([g for g in (1, 2, 4, self.channels) if not self.channels % g])
        )
        kernel, made = [self.whole(1, 4), self.whole(1, 4)], groups * self.whole(1, 5)
        pads = [self.whole(0, k) for k in kernel]
        pads += [max(k - 1 - p, self.whole(0, k)) for p, k in zip(pads, kernel, strict=True)]
        operands = [self.normal(made, self.channels // groups, *kernel)]
        operands += [self.normal(made)] if self.rng.random() < 0.5 else []
        attributes = {"kernel_shape": kernel, "pads": pads, "group": groups}
        self.add("Conv", *operands, strides=[self.whole(1, 3), 1], **attributes)
        self.channels = made

    def multiply(self) -> None:
        """A matrix, as each of the three ways of writing one."""
        made, kind = self.whole(1, 9), self.whole(0, 3)
        if kind == 2:
            self.add("MatMul", self.normal(self.channels, made))
        else:
            shape = (made, self.channels) if kind else (self.channels, made)
            bias = [self.normal(made)] if self.rng.random() < 0.5 else []
            self.add("Gemm", self.normal(*shape), *bias, transB=kind)
        self.channels = made

    def normalize(self) -> None:
        numbers = [self.normal(self.channels) for _ in range(3)]
        epsilon = float(self.rng.choice([1e-5, 1e-3, 0.1]))
        variance = self.positive(self.channels)
        self.add("BatchNormalization", *numbers, variance, epsilon=epsilon, momentum=0.9)

    def with_constant(self, one: bool = True) -> None:
        """Times, plus or by a constant, one number for all or one of each channel."""
        wide = (self.channels, *(1,) * (len(self.shape) - 2))
        shape = () if one and self.rng.random() < 0.2 else wide
        kind = str(self.rng.choice(["Mul", "Add", "Div"]))
        self.add(kind, self.normal(*shape) if kind != "Div" else self.positive(*shape))
        if kind != "Div" and self.rng.random() < 0.5:
            self.nodes[-1].input[:] = self.nodes[-1].input[::-1]

    def rectify(self) -> None:
        if self.rng.random() < 0.5:
            self.add("Relu")

    def data(self) -> bytes:
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        y = helper.make_tensor_value_info(self.last, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "g", [x], [y], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        onnx.checker.check_model(model)
        return model.SerializeToString()


def convolution(model: Model) -> None:
    model.convolve()
    model.normalize()
    model.rectify()


def convolutions(model: Model) -> None:
    for _ in range(model.whole(2, 4)):
        convolution(model)


def matrix(model: Model) -> None:
    model.shape, model.channels = model.shape[:2], model.shape[1]
    model.multiply()
    model.normalize()
    model.rectify()


def products(model: Model) -> None:
    """Constants behind a convolution, the first a product, or it might have no bias to add to."""
    model.convolve()
    for _ in range(model.whole(1, 4)):
        model.with_constant(one=False)
    model.rectify()


def before(model: Model) -> None:
    """In front of a convolution, which pads with zeros: nothing makes the operand."""
    model.normalize()
    model.rectify()
    model.convolve()


def behind(model: Model) -> None:
    """Behind what weighs nothing, or is clamped, or is read twice."""
    model.convolve()
    kind = model.whole(0, 3)
    if kind == 0:
        model.add("MaxPool", kernel_shape=[1, 2], strides=[1, 1], pads=[0, 1, 0, 0])
    elif kind == 1:
        model.add("Relu")
    made = model.last
    model.normalize()
    if kind == 2:
        model.add("Add", made)


FAMILIES: dict[str, tuple[Callable[[Model], None], bool]] = {
    "convolution": (convolution, True),
    "convolutions": (convolutions, True),
    "matrix": (matrix, True),
    "products": (products, True),
    "before": (before, False),
    "behind": (behind, False),
}
"""What makes a model of it, and whether all of it goes into weights."""
