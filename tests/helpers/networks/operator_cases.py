"""Random operations of every kind, with random attributes: `GENERATORS[name](name, rng)`."""

from collections.abc import Callable
from typing import Any

import numpy as np
from operator_cases_rare import RARE
from operator_cases_signal import SIGNAL
from operator_parts import KINDS as KINDS
from operator_parts import Rng, filters, image, made, tensor, value
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    UnitAttr,
    f32,
    i1,
    i8,
    i32,
)
from xdsl.utils.test_value import create_ssa_value

from memopt.dialects.attributes.operators import EncodingAttr, WindowAttr
from memopt.dialects.attributes.quick import number, numbers
from memopt.dialects.operators.binary import BinaryOp
from memopt.dialects.operators.comparison import LogicalNotOp, TruthOp
from memopt.dialects.operators.unary import FunctionOp
from memopt.frontends.core.typed import real

ui8 = IntegerType(8, Signedness.UNSIGNED)
STORED = EncodingAttr("nhwc", (0.05,), (3,))


def window(rng: Rng) -> tuple[WindowAttr, tuple[int, ...], tuple[int, int]]:
    """(window, image, height and width of the result); no window lies in the padding alone."""
    while True:
        size = [int(v) for v in rng.integers(1, 9, 2)]
        kernel, stride, dilation = ([int(v) for v in rng.integers(1, 4, 2)] for _ in range(3))
        pad = [int(v) for v in rng.integers(0, 3, 4)]
        span = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
        out = [(size[i] + pad[i] + pad[i + 2] - span[i]) // stride[i] + 1 for i in range(2)]
        seen = all(
            any(0 <= o * stride[i] - pad[i] + t * dilation[i] < size[i] for t in range(kernel[i]))
            for i in range(2)
            for o in range(max(out[i], 0))
        )
        if min(out) > 0 and seen:
            return WindowAttr(kernel, stride, dilation, pad), (1, *size, 2), (out[0], out[1])


def convolution(name: str, rng: Rng) -> Any:
    attribute, shape, out = window(rng)
    kernel = attribute.sizes[0]
    deep = name == "depthwise_conv_2d"
    weights = value((1, *kernel, 2), "ihwo") if deep else value((3, *kernel, 2), "ohwi")
    result = tensor((1, *out, 2 if deep else 3))
    groups = number(2 if deep else 1)
    op = made(name, [value(shape), weights], [result], window=attribute, groups=groups)
    if deep and op.fits_in_place and rng.random() < 0.5:
        op.in_place = UnitAttr()
        op.verify_()
    return op


def hybrid_convolution(name: str, rng: Rng) -> Any:
    attribute, shape, out = window(rng)
    kernel, deep = attribute.sizes[0], "depthwise" in name
    weights = filters((1, *kernel, 2), "ihwo") if deep else filters((3, *kernel, 2), "ohwi")
    properties = {"window": attribute, "groups": number(2 if deep else 1)}
    result = tensor((1, *out, 2 if deep else 3))
    return made(name, [value(shape), weights], [result], **properties)


def hybrid_transposed(name: str, rng: Rng) -> Any:
    plain = transposed("transpose_conv_2d", rng)
    image_, weights = plain.operands
    result = plain.results[0].type
    stored = filters(weights.type.get_shape(), "ohwi")
    return made(name, [image_, stored], [result], window=plain.window, groups=number(1))


def hybrid_matrix(name: str, rng: Rng) -> Any:
    rows, depth, columns = (int(v) for v in rng.integers(1, 7, 3))
    asymmetric = UnitAttr() if rng.random() < 0.5 else None
    by_columns = UnitAttr() if rng.random() < 0.5 else None
    weights = filters((columns, depth) if by_columns is None else (depth, columns), "")
    ways = {"asymmetric": asymmetric, "by_columns": by_columns}
    result = tensor((rows, columns), "")
    return made(name, [value((rows, depth), ""), weights], [result], **ways)


def pool(name: str, rng: Rng) -> Any:
    attribute, shape, out = window(rng)
    return made(name, [value(shape)], [tensor((1, *out, 2))], window=attribute)


def binary(name: str, rng: Rng) -> Any:
    shape = image(rng)
    other = (shape, (1, 1, 1, shape[3]), (1, 1, *shape[2:]), (shape[3],))[int(rng.integers(4))]
    return made(name, [value(shape), value(other)], [tensor(shape)])


def truth(name: str, rng: Rng) -> Any:
    """A comparison of reals, or of what is true or false."""
    shape, element = image(rng), i1 if name.startswith("logical") else f32
    other = (shape, (1, 1, 1, shape[3]), (1, 1, *shape[2:]), (shape[3],))[int(rng.integers(4))]
    operands = [value(s, element=element) for s in (shape, other)]
    return made(name, operands[: 1 + (name != "logical_not")], [tensor(shape, element=i1)])


def choose(name: str, rng: Rng) -> Any:
    shape = image(rng)
    if rng.random() < 0.3:
        condition = value(shape[:1], "", i1)
        rows = {"of_rows": UnitAttr()}
        return made(name, [condition, value(shape), value(shape)], [tensor(shape)], **rows)
    condition = value((1, 1, *shape[2:]), element=i1)
    return made(name, [condition, value(shape), value(shape[3:], "")], [tensor(shape)])


def product(name: str, rng: Rng) -> Any:
    n, rows, depth, columns = (int(v) for v in rng.integers(1, 7, 4))
    adjoint = {k: UnitAttr() if rng.random() < 0.5 else None for k in ("adj_x", "adj_y")}
    a = (n, depth, rows) if adjoint["adj_x"] else (n, rows, depth)
    b = (columns, depth) if adjoint["adj_y"] else (depth, columns)
    one = (1,) if rng.random() < 0.5 else ()  # then a row is a product
    result = tensor((*one, n, rows, columns), "")
    return made(name, [value((*one, *a), ""), value(b, "")], [result], **adjoint)


def outer_products(name: str, rng: Rng) -> Any:
    places, groups, depth, width = (int(v) for v in rng.integers(1, 7, 4))
    sides = [value((1, places, groups * n), "") for n in (depth, width)]
    result = tensor((groups * depth, width), "")
    return made(name, sides, [result], groups=number(groups))


def gathered_rows(name: str, rng: Rng) -> Any:
    shape, depth = image(rng), int(rng.integers(1, 5))
    result = tensor((2, *shape[depth:]), "")
    ends = UnitAttr() if rng.random() < 0.5 else None
    return made(name, [value(shape), value((2, depth), "", i32)], [result], from_end=ends)


def unary(name: str, rng: Rng) -> Any:
    shape = image(rng)
    stored = TensorType(i8, shape, STORED)
    source = create_ssa_value(stored) if name == "dequantize" else value(shape)
    return made(name, [source], [stored if name == "quantize" else tensor(shape)])


def leaky_relu(name: str, rng: Rng) -> Any:
    shape = image(rng)
    return made(name, [value(shape)], [tensor(shape)], alpha=real(float(rng.choice((0.0, 0.3)))))


def formula(name: str, rng: Rng) -> Any:
    shape, text = image(rng), ("mul(x, logistic(x))", "div(mul(relu6(add(x, 3.0)), x), 6.0)")
    chosen = StringAttr(text[int(rng.integers(2))])
    return made(name, [value(shape)], [tensor(shape)], formula=chosen)


def softmax(name: str, rng: Rng) -> Any:
    shape, axis = (1, *(int(v) for v in rng.integers(2, 7, 3))), int(rng.integers(1, 4))
    return made(name, [value(shape)], [tensor(shape)], axis=number(axis), beta=real(1.0))


def mean(name: str, rng: Rng) -> Any:
    shape = image(rng)
    axes = [int(a) for a in np.flatnonzero(rng.random(4) < 0.5)]
    keep = bool(rng.random() < 0.5)
    out = [1 if i in axes else d for i, d in enumerate(shape) if keep or i not in axes]
    properties = {"axes": numbers(axes), "keep_dims": UnitAttr() if keep else None}
    return made(name, [value(shape)], [tensor(out)], **properties)


def concat(name: str, rng: Rng) -> Any:
    shape, axis = image(rng), int(rng.integers(1, 4))
    shapes = [
        tuple(int(rng.integers(1, 4)) if i == axis else d for i, d in enumerate(shape))
        for _ in range(int(rng.integers(1, 4)))
    ]
    out = [sum(s[i] for s in shapes) if i == axis else d for i, d in enumerate(shape)]
    if name == "concat":
        return made(name, [value(s) for s in shapes], [tensor(out)], axis=number(axis))
    types = [TensorType(ui8, s, EncodingAttr("nhwc", (0.5,), (0,))) for s in shapes]
    result = TensorType(ui8, out, EncodingAttr("nhwc", (0.25,), (0,)))
    return made(name, list(map(create_ssa_value, types)), [result], axis=number(axis))


def vectors(name: str, rng: Rng) -> Any:
    shape = (*image(rng)[:3], int(rng.integers(2, 7)))
    return made(name, [value(shape)], [tensor(shape)])


def arg(name: str, rng: Rng) -> Any:
    shape, axis = list(image(rng)), int(rng.integers(1, 4))
    shape[axis] += 4
    made_of = TensorType(i32, (*shape[:axis], *shape[axis + 1 :]), EncodingAttr(""))
    return made(name, [value(shape)], [made_of], axis=number(axis))


def accumulate(name: str, rng: Rng) -> Any:
    shape, count, biased = image(rng), int(rng.integers(2, 5)), bool(rng.integers(2))
    bias = [create_ssa_value(TensorType(f32, shape[3:]))] if biased else []
    terms = [*(value(shape) for _ in range(count)), *bias]
    return made(name, terms, [tensor(shape)], biased=UnitAttr() if biased else None)


def split(name: str, rng: Rng) -> Any:
    part, axis, count = image(rng), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    whole = [d * count if i == axis else d for i, d in enumerate(part)]
    return made(name, [value(whole)], [tensor(part)] * count, axis=number(axis))


def slice_(name: str, rng: Rng) -> Any:
    shape, strides, starts, out = image(rng), [1], [0], [1]
    cut = int(rng.integers(0, 4))  # 0: every axis, with any stride; else one
    for axis, size in enumerate(shape[1:], 1):
        if cut:
            start = int(rng.integers(size)) if axis == cut else 0
            starts.append(start)
            strides.append(1)
            out.append(int(rng.integers(1, size - start + 1)) if axis == cut else size)
            continue
        start, stride = int(rng.integers(size)), int(rng.choice([1, 2, -1, -2]))
        most = (size - 1 - start) // stride if stride > 0 else start // -stride
        starts.append(start)
        strides.append(stride)
        out.append(int(rng.integers(1, most + 2)))
    properties = {"starts": numbers(starts), "strides": numbers(strides)}
    return made(name, [value(shape)], [tensor(out)], **properties)


def pad(name: str, rng: Rng) -> Any:
    shape = image(rng)
    before, after = ([0, *(int(v) for v in rng.integers(0, 3, 3))] for _ in range(2))
    out = [b + s + a for b, s, a in zip(before, shape, after, strict=True)]
    properties = {"before": numbers(before), "after": numbers(after), "value": real(0.0)}
    return made(name, [value(shape)], [tensor(out)], **properties)


def reshape(name: str, rng: Rng) -> Any:
    _, h, w, c = image(rng)
    out = ((1, h, w * c), (1, h * w, c, 1), (1, h, c, w), (h, w, c))[int(rng.integers(4))]
    return made(name, [value((1, h, w, c))], [tensor(out)])


def transpose(name: str, rng: Rng) -> Any:
    shape = image(rng)
    order = [int(v) for v in rng.permutation(4)]
    properties = {"permutation": numbers(order)}
    return made(name, [value(shape)], [tensor([shape[i] for i in order])], **properties)


def fully_connected(name: str, rng: Rng) -> Any:
    shape = image(rng)
    size = int(np.prod(shape)) if rng.random() < 0.5 else shape[3]
    weights = value((3, size), "")
    return made(name, [value(shape), weights], [tensor((int(np.prod(shape)) // size, 3), "")])


def resize(name: str, rng: Rng) -> Any:
    shape, out = image(rng), image(rng)
    kind = ("align_corners", "half_pixel_centers", "")[int(rng.integers(3))]
    properties = {kind: UnitAttr()} if kind else {}
    return made(name, [value(shape)], [tensor((*out[:3], shape[3]))], **properties)


def transposed(name: str, rng: Rng) -> Any:
    """Some with rows at the end that nothing is added to; columns are, or rows could not matter."""
    shape = (1, *(int(v) for v in rng.integers(1, 6, 2)), 2)
    while True:
        kernel, stride, dilation = ([int(v) for v in rng.integers(1, 4, 2)] for _ in range(3))
        pad = [int(v) for v in rng.integers(0, 3, 4)]
        out = [
            (shape[i + 1] - 1) * stride[i]
            + dilation[i] * (kernel[i] - 1)
            + 1
            - pad[i]
            - pad[i + 2]
            + int(rng.integers(stride[i]))
            for i in range(2)
        ]
        columns = [
            n * stride[1] + t * dilation[1] - pad[1]
            for n in range(shape[2])
            for t in range(kernel[1])
        ]
        enough = all(o >= s for o, s in zip(out, stride, strict=True))
        if enough and any(0 <= c < out[1] for c in columns):
            break
    weights = value((3, *kernel, 2), "ohwi")
    window = WindowAttr(kernel, stride, dilation, pad)
    result = tensor((1, *out, 3))
    return made(name, [value(shape), weights], [result], window=window, groups=number(1))


def depth_to_space(name: str, rng: Rng) -> Any:
    (n, h, w, c), block = image(rng), int(rng.integers(1, 4))
    properties = {
        "block": number(block),
        "by_channel": UnitAttr() if rng.random() < 0.5 else None,
    }
    source, result = value((n, h, w, c * block**2)), tensor((n, h * block, w * block, c))
    return made(name, [source], [result], **properties)


def channel_permutation(name: str, rng: Rng) -> Any:
    shape, groups = image(rng), int(rng.integers(1, 4))
    wide = (*shape[:3], shape[3] * groups)
    return made(name, [value(wide)], [tensor(wide)], groups=number(groups))


def lookup(name: str, rng: Rng) -> Any:
    shape, table = image(rng), [int(v) for v in rng.integers(-128, 128, 256)]
    source, result = (TensorType((i8, ui8)[int(rng.integers(2))], shape, STORED) for _ in range(2))
    entries = DenseArrayBase.from_list(i8, table)
    return made(name, [create_ssa_value(source)], [result], table=entries)


def take(name: str, rng: Rng) -> Any:
    shape, axis = image(rng), int(rng.integers(1, 4))
    count = int(rng.integers(1, shape[axis] + 1))
    kept = sorted(int(i) for i in rng.choice(shape[axis], count, replace=False))
    out = [count if i == axis else d for i, d in enumerate(shape)]
    properties = {"axis": number(axis), "kept": numbers(kept)}
    return made(name, [value(shape)], [tensor(out)], **properties)


def fold_into_bias(name: str, rng: Rng) -> Any:
    shape = (int(rng.integers(1, 4)), *image(rng)[1:])
    weights = create_ssa_value(TensorType(i8, shape, EncodingAttr("ohwi")))
    biases = TensorType(i32, shape[:1])
    values = [int(v) for v in rng.integers(-9, 9, shape[3])]
    properties = {"axis": number(3), "values": numbers(values)}
    return made(name, [weights, create_ssa_value(biases)], [biases], **properties)


def per_channel(name: str, rng: Rng) -> Any:
    shape, axis = image(rng), int(rng.integers(4))
    numbers = value((shape[axis] if rng.random() < 0.5 else 1,), "")
    return made(name, [value(shape), numbers], [tensor(shape)], axis=number(axis))


def normalization(name: str, rng: Rng) -> Any:
    """Of any tensor, or what its channels are multiplied with and what is added."""
    shape = image(rng)
    statistics = [value(shape[1:2], "") for _ in range(4)]
    properties = {"epsilon": real(1e-5)}
    if name == "normalization_terms":
        return made(name, statistics, [tensor(shape[1:2], "")] * 2, **properties)
    return made(name, [value(shape, ""), *statistics], [tensor(shape, "")], **properties)


def strided(name: str, rng: Rng) -> Any:
    """Twice an image, one above the other, or an image upside down."""
    n, h, w, c = image(rng)
    twice = 0, (n, 2, h, w * c), (0, 0, w * c, 1)
    start, sizes, steps = ((h - 1) * w * c, (n, h, w * c), (0, -w * c, 1))
    if rng.random() < 0.5:
        start, sizes, steps = twice
    result = tensor((n, 2 * h if len(sizes) == 4 else h, w, c))
    ways = {"sizes": numbers(sizes), "steps": numbers(steps)}
    return made(name, [value((n, h, w, c))], [result], start=number(start), **ways)


def stacked(name: str, rng: Rng) -> Any:
    shape, axis, count = image(rng), int(rng.integers(5)), int(rng.integers(1, 4))
    whole, parts = (*shape[:axis], count, *shape[axis:]), [shape] * count
    if name == "pack":
        return made(name, [value(s) for s in parts], [tensor(whole, "")], axis=number(axis))
    return made(name, [value(whole, "")], [tensor(s) for s in parts], axis=number(axis))


def gathered(name: str, rng: Rng) -> Any:
    shape, axis = image(rng), int(rng.integers(4))
    at = tuple(int(v) for v in rng.integers(1, 4, int(rng.integers(1, 3))))
    result = tensor((*shape[:axis], *at, *shape[axis + 1 :]), "")
    ends = UnitAttr() if rng.random() < 0.5 else None
    operands = [value(shape), value(at, "", i32)]
    return made(name, operands, [result], axis=number(axis), from_end=ends)


def many(name: str, rng: Rng) -> Any:
    shape = image(rng)
    return made(name, [value(shape) for _ in range(int(rng.integers(1, 5)))], [tensor(shape)])


def read_variable(name: str, rng: Rng) -> Any:
    shape = tuple(int(v) for v in rng.integers(1, 7, int(rng.integers(1, 5))))
    return made(name, [value(shape, "")], [tensor(shape, "")])


def picked(name: str, rng: Rng) -> Any:
    """Images, rows and columns in any order or again; what is outside of them is in front, if it
    is."""
    shape = image(rng)
    ways = [[int(v) for v in rng.integers(size, size=rng.integers(1, 7))] for size in shape[:3]]
    if shape[0] == 1 and rng.integers(2):
        ways[0] = [0]
    if name == "picked" and rng.integers(2):
        ways[int(rng.integers(3))].insert(0, -1)
    found = {
        "shape": numbers(shape[:3]),
        "sizes": numbers([len(way) for way in ways]),
        "terms": numbers([0, 0, 1, 1, 2, 2]),
        "numbers": numbers([i for way in ways for i in way]),
    }
    result = tensor((*(len(way) for way in ways), shape[3]))
    return made(name, [value(shape), value((), "")], [result], **found)


def space_to_depth(name: str, rng: Rng) -> Any:
    (n, h, w, c), block = image(rng), int(rng.integers(1, 4))
    source, out = value((n, h * block, w * block, c)), tensor((n, h, w, c * block**2))
    return made(name, [source], [out], block=number(block))


GENERATORS: dict[str, Callable[[str, Rng], Any]] = {
    **RARE,
    **SIGNAL,
    **{name: binary for name, op in KINDS.items() if issubclass(op, BinaryOp)},
    **{name: truth for name, op in KINDS.items() if issubclass(op, TruthOp | LogicalNotOp)},
    "choose": choose,
    "batch_matmul": product,
    "outer_products": outer_products,
    "gather_nd": gathered_rows,
    "add_n": many,
    **dict.fromkeys(("l2_normalization", "log_softmax"), vectors),
    **dict.fromkeys(("arg_max", "arg_min"), arg),
    **{name: unary for name, op in KINDS.items() if issubclass(op, FunctionOp)},
    **dict.fromkeys(("quantize", "dequantize", "cast", "copy", "reciprocal"), unary),
    **dict.fromkeys(("conv_2d", "depthwise_conv_2d"), convolution),
    **dict.fromkeys(("hybrid_conv_2d", "hybrid_depthwise_conv_2d"), hybrid_convolution),
    "hybrid_transpose_conv_2d": hybrid_transposed,
    "hybrid_fully_connected": hybrid_matrix,
    **dict.fromkeys(("average_pool_2d", "max_pool_2d", "l2_pool_2d"), pool),
    **dict.fromkeys(("resize_bilinear", "resize_nearest"), resize),
    "strided": strided,
    **dict.fromkeys(("pack", "unpack"), stacked),
    "gather_along": gathered,
    "transpose_conv_2d": transposed,
    "depth_to_space": depth_to_space,
    "channel_permutation": channel_permutation,
    "lookup": lookup,
    "leaky_relu": leaky_relu,
    "formula": formula,
    "softmax": softmax,
    "space_to_depth": space_to_depth,
    **dict.fromkeys(("picked", "mirrored"), picked),
    **dict.fromkeys(("mean", "reduce_sum", "reduce_prod", "reduce_max", "reduce_min"), mean),
    **dict.fromkeys(("concat", "concat_requantized"), concat),
    "accumulate": accumulate,
    "split": split,
    "slice": slice_,
    "pad": pad,
    "reshape": reshape,
    "transpose": transpose,
    "fully_connected": fully_connected,
    "read_variable": read_variable,
    "take": take,
    "fold_into_bias": fold_into_bias,
    **dict.fromkeys(("scaled", "divided", "shifted"), per_channel),
    **dict.fromkeys(("batch_normalization", "normalization_terms"), normalization),
}
