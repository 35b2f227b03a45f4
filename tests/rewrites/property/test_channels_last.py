# pyright: basic
"""`channels-last` over random networks of images channels first: the same numbers everywhere."""

from collections import Counter
from typing import Any

import numpy as np
from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.dialects.attributes.operators import EncodingAttr, WindowAttr
from memopt.dialects.attributes.quick import number, numbers
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators import operations
from memopt.frontends.core.typed import build, real
from memopt.passes.memgraph_nhwc_io import turn_border
from memopt.rewrites import apply_rules

KINDS: dict[str, Any] = {op.name.removeprefix("memgraph."): op for op in operations()}
FULL = 2_000  # networks


class Net:
    """A function that grows; numbers are small and whole, so that float32 sums are exact."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.block = Block(arg_types=[self.type((1, 2, *self.sizes(3, 6)))])
        self.images: list[SSAValue] = list(self.block.args)
        self.used = Counter[str]()

    def sizes(self, low: int, high: int) -> tuple[int, int]:
        return int(self.rng.integers(low, high)), int(self.rng.integers(low, high))

    def type(self, shape: Any, layout: str = "nchw") -> Any:
        return TensorType(f32, list(shape), EncodingAttr(layout))

    def pick(self, *values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def image(self) -> SSAValue:
        return self.pick(*self.images[-3:])

    def constant(self, shape: Any, layout: str = "") -> SSAValue:
        values = self.rng.integers(-2, 3, shape).astype(np.float32)
        type_ = self.type(shape, layout)
        op = ConstantOp(DenseIntOrFPElementsAttr(type_, BytesAttr(values.tobytes())), type_)
        self.block.add_op(op)
        return op.result

    def add(self, kind: str, operands: Any, *shapes: Any, layout: str = "nchw", **properties: Any):
        op = build(KINDS[kind], operands, [self.type(s, layout) for s in shapes], properties)
        op.verify_()
        self.block.add_op(op)
        self.used[kind] += 1
        if layout == "nchw":
            self.images += op.results
        return op.results

    def window(self, x: SSAValue) -> tuple[Any, tuple[int, int]]:
        while True:
            kernel, stride = self.sizes(1, 4), self.sizes(1, 3)
            pad = [int(self.rng.integers(0, k)) for k in (*kernel, *kernel)]
            sizes = shape_of(x)[2:]
            out = [(sizes[i] + pad[i] + pad[i + 2] - kernel[i]) // stride[i] + 1 for i in range(2)]
            if min(out) > 0 and all(s >= k for s, k in zip(sizes, kernel, strict=True)):
                return WindowAttr(kernel, stride, (1, 1), pad), (out[0], out[1])

    def step(self) -> None:
        x = self.image()
        _, c, h, w = shape_of(x)
        kind = self.pick(*STEPS)
        window, out = self.window(x)
        if kind == "conv_2d":
            groups, made = self.pick(1, c), self.pick(1, 2, 3) * c
            weights = self.constant((made, c // groups, *window.sizes[0]), "oihw")
            deep = "depthwise_conv_2d" if groups == c > 1 else kind
            properties = {"window": window, "groups": number(groups)}
            self.add(deep, [x, weights], (1, made, *out), **properties)
        elif kind == "transpose_conv_2d":
            weights = self.constant((c, 2, 2, 2), "iohw")
            properties = {"window": WindowAttr((2, 2), (2, 2)), "groups": number(1)}
            self.add(kind, [x, weights], (1, 2, 2 * h, 2 * w), **properties)
        elif kind == "max_pool_2d":
            self.add(kind, [x], (1, c, *out), window=window)
        elif kind in ("add", "mul", "maximum"):
            other = self.pick(x, self.constant((c, 1, 1)), self.constant((1,)), *self.images)
            other = other if shape_of(other) in ((c, 1, 1), (1,)) else x
            self.add(kind, [x, other], (1, c, h, w))
        elif kind == "relu":
            self.add(kind, [x], (1, c, h, w))
        elif kind == "concat":
            axis = int(self.rng.integers(4))
            shape = [1, c, h, w]
            shape[axis] *= 2
            made = self.add(kind, [x, x], shape, axis=number(axis))
            if axis == 0:  # one picture again
                self.images.remove(made[0])
        elif kind == "split" and c % 2 == 0:
            self.add(kind, [x], *[(1, c // 2, h, w)] * 2, axis=number(1))
        elif kind == "slice" and min(h, w) > 1:
            shape = (1, c - c // 2, h - 1, -(-w // 2))
            starts, strides = numbers([0, c // 2, 1, 0]), numbers([1, 1, 1, 2])
            self.add(kind, [x], shape, starts=starts, strides=strides)
        elif kind == "pad":
            before, after = numbers([0, 0, 1, 0]), numbers([0, 1, 0, 2])
            shape = (1, c + 1, h + 1, w + 2)
            self.add(kind, [x], shape, before=before, after=after, value=real(0.0))
        elif kind == "resize_nearest":
            self.add(kind, [x], (1, c, 2 * h, 2 * w))
        elif kind == "softmax":
            self.add(kind, [x], (1, c, h, w), axis=number(self.pick(1, 2, 3)), beta=real(1.0))
            self.images.pop()  # no whole numbers
        elif kind == "mean":
            axes = self.pick([2, 3], [1], [1, 2, 3], [3])
            left = tuple(n for i, n in enumerate((1, c, h, w)) if i not in axes)
            self.add(kind, [x], left, layout="", axes=numbers(axes))
        elif kind == "reshape":
            self.add(kind, [x], (1, c * h * w), layout="")
        elif kind == "transpose":
            order = numbers([0, 2, 3, 1])
            self.add(kind, [x], (1, h, w, c), layout="", permutation=order)

    def function(self) -> FuncOp:
        """Every result that nobody reads goes out, and an image that somebody does."""
        ends = [r for op in self.block.ops for r in op.results if not r.uses]
        ends = [v for v in ends if not isinstance(v.owner, ConstantOp)]
        given = list(dict.fromkeys([*ends, self.images[-1]]))
        self.block.add_op(ReturnOp(*given))
        types = ([a.type for a in self.block.args], [v.type for v in given])
        return FuncOp("main", types, Region(self.block))


STEPS = (
    *("conv_2d",) * 4,
    *("transpose_conv_2d", "max_pool_2d", "add", "mul", "maximum", "relu", "concat", "split"),
    *("slice", "pad", "resize_nearest", "softmax", "mean", "reshape", "transpose"),
)


def given(func: FuncOp, image: Any) -> list[Any]:
    """What the function returns of an image channels first, and so itself."""
    (argument,) = func.body.block.args
    turned = encoding_of(argument).layout.data == "nhwc"
    values = evaluate(func, Weights({}), [np.moveaxis(image, 1, -1) if turned else image])
    returned = func.get_return_op()
    assert returned is not None
    last = [encoding_of(v).layout.data == "nhwc" for v in returned.operands]
    arrays = [values[v] for v in returned.operands]
    return [np.moveaxis(a, -1, 1) if n else a for a, n in zip(arrays, last, strict=True)]


def test_images_channels_last_are_the_same_images(fuzz: float) -> None:
    used, turned, borders = Counter[str](), 0, 0
    for seed in range(max(40, int(FULL * fuzz))):
        net = Net(seed)
        for _ in range(int(net.rng.integers(2, 9))):
            net.step()
        func = net.function()
        module = ModuleOp([func])
        image = net.rng.integers(-2, 3, shape_of(func.body.block.args[0])).astype(np.float32)
        want = given(func, image)
        used += net.used
        if not apply_rules(func, ("channels-last",)):
            continue
        module.verify()
        turned += 1
        check(want, given(func, image), seed)
        assert not apply_rules(func, ("channels-last",)), seed
        try:
            turn_border(func)
        except MemoptError:  # an image is needed channels first there
            continue
        module.verify()
        borders += 1
        assert all(encoding_of(v).layout.data != "nchw" for v in func.body.block.args)
        check(want, given(func, image), seed)
    assert turned > 20 and borders > 5 and set(used) >= set(STEPS), (turned, borders, used)


def check(want: list[Any], got: list[Any], seed: int) -> None:
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, err_msg=str(seed))
