"""How large the results of LiteRT's operators are: one rule per kind of operator.

    op = Known(options, shapes=[(1, 8, 8, 3), (4, 3, 3, 3)], values=[None, None], results=1)
    RULES["CONV_2D"](op)      # [(1, 8, 8, 4)]

A rule gives the shapes of all results, or raises one of `UNKNOWN` where it cannot: a shape that no
operand says, or one that does not fit.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.operators import operator_called
from memopt.dialects.operators.binary import BinaryOp

Shape = tuple[int, ...]


class UnknownShapeError(ValueError):
    """The operands do not say how large a result is."""


UNKNOWN = (ValueError, IndexError, KeyError, TypeError, ZeroDivisionError, OverflowError)


@dataclass(frozen=True)
class Known:
    """An operator: its options, the shapes of its operands (None where one is left out), the
    elements of those integers that are known, and how many results it has."""

    options: Mapping[str, Any]
    shapes: Sequence[Shape | None]
    values: Sequence[Array | None]
    results: int

    def shape(self, index: int) -> Shape:
        shape = self.shapes[index]
        if shape is None:
            raise UnknownShapeError
        return shape

    def numbers(self, index: int) -> list[int]:
        """The elements of an operand of integers."""
        elements = self.values[index]
        if elements is None:
            raise UnknownShapeError
        return [int(v) for v in elements.reshape(-1)]


Rule = Callable[[Known], list[Shape]]


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise UnknownShapeError
    return axis % rank


def _same(op: Known) -> list[Shape]:
    return [op.shape(0)]


def _like(index: int) -> Rule:
    return lambda op: [op.shape(index)]


def _broadcast(op: Known) -> list[Shape]:
    return [np.broadcast_shapes(*(op.shape(i) for i in range(len(op.shapes))))]


def _windows(op: Known, kernel: Sequence[int]) -> list[int]:
    o = op.options
    sizes: list[int] = []
    for n, k, axis in zip(op.shape(0)[1:3], kernel, "HW", strict=True):
        stride, dilation = o[f"stride{axis}"], o.get(f"dilation{axis}Factor", 1)
        covered = 1 if o["padding"] == 0 else (k - 1) * dilation + 1
        sizes.append((n - covered) // stride + 1)
    return sizes


def _conv(channels: int) -> Rule:
    def rule(op: Known) -> list[Shape]:
        weights = op.shape(1)
        return [(op.shape(0)[0], *_windows(op, weights[1:3]), weights[channels])]

    return rule


def _pool(op: Known) -> list[Shape]:
    n, *_, channels = op.shape(0)
    kernel = op.options["filterHeight"], op.options["filterWidth"]
    return [(n, *_windows(op, kernel), channels)]


def _fully_connected(op: Known) -> list[Shape]:
    source, (units, depth) = op.shape(0), op.shape(1)
    if op.options["keepNumDims"]:
        return [(*source[:-1], units)]
    if prod(source) % depth:
        raise UnknownShapeError
    return [(prod(source) // depth, units)]


def _reshape(op: Known) -> list[Shape]:
    wanted = op.numbers(1) if len(op.shapes) > 1 else list(map(int, op.options["newShape"]))
    if -1 in wanted:
        at = wanted.index(-1)
        wanted[at] = prod(op.shape(0)) // prod(wanted[:at] + wanted[at + 1 :])
    if min(wanted, default=0) < 0 or prod(wanted) != prod(op.shape(0)):
        raise UnknownShapeError
    return [tuple(wanted)]


def _squeeze(op: Known) -> list[Shape]:
    shape, listed = op.shape(0), op.options.get("squeezeDims")
    axes = [_axis(int(a), len(shape)) for a in (() if listed is None else listed)]
    gone = axes or [i for i, n in enumerate(shape) if n == 1]
    return [tuple(n for i, n in enumerate(shape) if i not in gone)]


def _expand(op: Known) -> list[Shape]:
    shape, (axis,) = list(op.shape(0)), op.numbers(1)
    shape.insert(_axis(axis, len(shape) + 1), 1)
    return [tuple(shape)]


def _transpose(op: Known) -> list[Shape]:
    shape = op.shape(0)
    return [tuple(shape[_axis(a, len(shape))] for a in op.numbers(1))]


def _concat(op: Known) -> list[Shape]:
    shapes = [list(op.shape(i)) for i in range(len(op.shapes))]
    axis = _axis(op.options["axis"], len(shapes[0]))
    joined = list(shapes[0])
    joined[axis] = sum(s[axis] for s in shapes)
    return [tuple(joined)]


def _pack(op: Known) -> list[Shape]:
    shape = list(op.shape(0))
    shape.insert(_axis(op.options["axis"], len(shape) + 1), len(op.shapes))
    return [tuple(shape)]


def _unpack(op: Known) -> list[Shape]:
    shape = list(op.shape(0))
    del shape[_axis(op.options["axis"], len(shape))]
    return [tuple(shape)] * op.results


def _split(op: Known) -> list[Shape]:
    shape, (axis,) = list(op.shape(1)), op.numbers(0)
    axis = _axis(axis, len(shape))
    if shape[axis] % op.results:
        raise UnknownShapeError
    shape[axis] //= op.results
    return [tuple(shape)] * op.results


def _split_v(op: Known) -> list[Shape]:
    shape, sizes, (axis,) = op.shape(0), op.numbers(1), op.numbers(2)
    axis = _axis(axis, len(shape))
    rest = shape[axis] - sum(n for n in sizes if n >= 0)
    return [(*shape[:axis], rest if n < 0 else n, *shape[axis + 1 :]) for n in sizes]


def _slice(op: Known) -> list[Shape]:
    sizes = zip(op.shape(0), op.numbers(1), op.numbers(2), strict=True)
    return [tuple(n - begin if size < 0 else size for n, begin, size in sizes)]


def cut(array: Array, op: Known) -> Array:
    """Return what STRIDED_SLICE takes of an array."""
    begin, end, strides, o = op.numbers(1), op.numbers(2), op.numbers(3), op.options
    index: list[Any] = []
    for i, (b, e, s) in enumerate(zip(begin, end, strides, strict=True)):
        masks = {name: bool(o[f"{name}Mask"] >> i & 1) for name in MASKS}
        if o.get("offset"):
            e += b
        if masks["ellipsis"]:
            index.append(Ellipsis)
        elif masks["newAxis"]:
            index.append(np.newaxis)
        elif masks["shrinkAxis"]:
            index.append(b)
        else:
            index.append(slice(None if masks["begin"] else b, None if masks["end"] else e, s))
    return array[tuple(index)]


MASKS = ("begin", "end", "ellipsis", "newAxis", "shrinkAxis")


def _strided(op: Known) -> list[Shape]:
    return [cut(np.broadcast_to(np.int8(0), op.shape(0)), op).shape]


def _gather(op: Known) -> list[Shape]:
    shape, places = op.shape(0), op.shape(1)
    axis = _axis(op.options["axis"], len(shape))
    own = op.options.get("batchDims", 0)
    own += len(places) if own < 0 else 0
    return [(*shape[:axis], *places[own:], *shape[axis + 1 :])]


def _gather_nd(op: Known) -> list[Shape]:
    *rows, depth = op.shape(1)
    return [(*rows, *op.shape(0)[depth:])]


def _tile(op: Known) -> list[Shape]:
    return [tuple(n * t for n, t in zip(op.shape(0), op.numbers(1), strict=True))]


def _said(index: int) -> Rule:
    """The shape that an operand is."""
    return lambda op: [tuple(op.numbers(index))]


def _pad(op: Known) -> list[Shape]:
    flat = op.numbers(1)
    pairs = zip(op.shape(0), flat[0::2], flat[1::2], strict=True)
    return [tuple(n + b + a for n, b, a in pairs)]


def _reduce(op: Known) -> list[Shape]:
    shape = op.shape(0)
    axes = {_axis(a, len(shape)) for a in op.numbers(1)}
    if op.options["keepDims"]:
        return [tuple(1 if i in axes else n for i, n in enumerate(shape))]
    return [tuple(n for i, n in enumerate(shape) if i not in axes)]


def _arg(op: Known) -> list[Shape]:
    shape, (axis,) = list(op.shape(0)), op.numbers(1)
    del shape[_axis(axis, len(shape))]
    return [tuple(shape)]


def _top_k(op: Known) -> list[Shape]:
    return [(*op.shape(0)[:-1], *op.numbers(1))] * 2


def _one_hot(op: Known) -> list[Shape]:
    shape, (depth,) = list(op.shape(0)), op.numbers(1)
    shape.insert(_axis(op.options["axis"], len(shape) + 1), depth)
    return [tuple(shape)]


def _resize(op: Known) -> list[Shape]:
    n, *_, channels = op.shape(0)
    return [(n, *op.numbers(1), channels)]


def _blocks(into_space: bool) -> Rule:
    def rule(op: Known) -> list[Shape]:
        (n, h, w, c), b = op.shape(0), op.options["blockSize"]
        return [(n, h * b, w * b, c // (b * b))] if into_space else [(n, h // b, w // b, c * b * b)]

    return rule


def _batches(into_space: bool) -> Rule:
    def rule(op: Known) -> list[Shape]:
        shape, blocks, flat = op.shape(0), op.numbers(1), op.numbers(2)
        inner, rest = shape[1 : 1 + len(blocks)], shape[1 + len(blocks) :]
        sizes = list(zip(inner, blocks, flat[0::2], flat[1::2], strict=True))
        if into_space:
            spatial = [n * b - before - after for n, b, before, after in sizes]
            return [(shape[0] // prod(blocks), *spatial, *rest)]
        spatial = [(n + before + after) // b for n, b, before, after in sizes]
        return [(shape[0] * prod(blocks), *spatial, *rest)]

    return rule


def _product(op: Known) -> list[Shape]:
    a, b = op.shape(0), op.shape(1)
    rows = a[-1] if op.options["adjX"] else a[-2]
    columns = b[-2] if op.options["adjY"] else b[-1]
    return [(*np.broadcast_shapes(a[:-2], b[:-2]), rows, columns)]


def _lookup(op: Known) -> list[Shape]:
    return [(op.shape(0)[0], *op.shape(1)[1:])]


def _lstm(op: Known) -> list[Shape]:
    return [(*op.shape(0)[:2], op.shape(18)[1])]


def _svdf(op: Known) -> list[Shape]:
    return [(op.shape(0)[0], op.shape(1)[0] // op.options["rank"])]


def _range(op: Known) -> list[Shape]:
    start, limit, delta = (op.numbers(i)[0] for i in range(3))
    return [(len(range(start, limit, delta)),)]


def _volume(op: Known) -> list[Shape]:
    sizes, kernel, o = op.shape(0), op.shape(1), op.options
    same, spatial = o["padding"] == 0, list[int]()
    for n, k, axis in zip(sizes[1:4], kernel[:3], "DHW", strict=True):
        covered = 1 if same else (k - 1) * o[f"dilation{axis}Factor"] + 1
        spatial.append((n - covered) // o[f"stride{axis}"] + 1)
    return [(sizes[0], *spatial, kernel[4])]


def _spectrum(op: Known) -> list[Shape]:
    rows, columns = op.numbers(1)
    return [(*op.shape(0)[:-2], rows, columns // 2 + 1)]


def _suppressed(op: Known) -> list[Shape]:
    shape = (op.numbers(2)[0],)
    return [*[shape] * (op.results - 1), ()]


def _segments(op: Known) -> list[Shape]:
    """Return the shape of as many pieces as the segments number, or as the last operand says."""
    count = op.numbers(2)[0] if len(op.shapes) > 2 else op.numbers(1)[-1] + 1
    return [(count, *op.shape(0)[len(op.shape(1)) :])]


def _rules(names: str, rule: Rule) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


class _Rules(dict[str, Rule]):
    """Rules by operator. Functions of two numbers, which operations name, broadcast."""

    def __missing__(self, name: str) -> Rule:
        kind = operator_called("TFLITE", name)
        if kind is None or not issubclass(kind, BinaryOp):
            raise KeyError(name)
        return _broadcast


_WRITTEN: Mapping[str, Rule] = {
    **_rules(
        "ABS CAST CEIL COS CUMSUM DENSIFY DEQUANTIZE ELU EXP FAKE_QUANT FLOOR GELU HARD_SWISH"
        " L2_NORMALIZATION LEAKY_RELU LOCAL_RESPONSE_NORMALIZATION LOG LOGICAL_NOT LOGISTIC"
        " LOG_SOFTMAX NEG QUANTIZE RELU RELU6 RELU_0_TO_1 RELU_N1_TO_1 REVERSE_V2 ROUND RSQRT SIGN"
        " SIN SOFTMAX SQRT SQUARE TANH ZEROS_LIKE DYNAMIC_UPDATE_SLICE COMPLEX_ABS IMAG REAL",
        _same,
    ),
    **_rules("ADD_N SELECT_V2", _broadcast),
    **_rules("AVERAGE_POOL_2D L2_POOL_2D MAX_POOL_2D", _pool),
    **_rules("MEAN REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN REDUCE_PROD SUM", _reduce),
    **_rules("ARG_MAX ARG_MIN", _arg),
    **_rules("MIRROR_PAD PAD PADV2", _pad),
    **_rules("RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR", _resize),
    **_rules("FILL TRANSPOSE_CONV", _said(0)),
    **_rules("BROADCAST_TO", _said(1)),
    **_rules("SCATTER_ND", _said(2)),
    "BROADCAST_ARGS": lambda op: [(max(op.shape(0)[0], op.shape(1)[0]),)],
    "BATCH_MATMUL": _product,
    "BATCH_TO_SPACE_ND": _batches(into_space=True),
    "CONCATENATION": _concat,
    "CONV_2D": _conv(0),
    "CONV_3D": _volume,
    "DEPTHWISE_CONV_2D": _conv(3),
    "DEPTH_TO_SPACE": _blocks(into_space=True),
    "EMBEDDING_LOOKUP": _lookup,
    "EXPAND_DIMS": _expand,
    "FULLY_CONNECTED": _fully_connected,
    "GATHER": _gather,
    "GATHER_ND": _gather_nd,
    "ONE_HOT": _one_hot,
    "NON_MAX_SUPPRESSION_V4": _suppressed,
    "NON_MAX_SUPPRESSION_V5": _suppressed,
    "PACK": _pack,
    "RANGE": _range,
    "RANK": lambda _: [()],
    "RESHAPE": _reshape,
    "RFFT2D": _spectrum,
    "SEGMENT_SUM": _segments,
    "SELECT": _like(1),
    "SHAPE": lambda op: [(len(op.shape(0)),)],
    "SLICE": _slice,
    "SPACE_TO_BATCH_ND": _batches(into_space=False),
    "SPACE_TO_DEPTH": _blocks(into_space=False),
    "SPLIT": _split,
    "SPLIT_V": _split_v,
    "SQUEEZE": _squeeze,
    "STRIDED_SLICE": _strided,
    "SVDF": _svdf,
    "TILE": _tile,
    "TOPK_V2": _top_k,
    "TRANSPOSE": _transpose,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
    "UNIDIRECTIONAL_SEQUENCE_RNN": lambda op: [(*op.shape(0)[:2], op.shape(1)[0])],
    "UNPACK": _unpack,
    "UNSORTED_SEGMENT_SUM": _segments,
}
RULES: Final[Mapping[str, Rule]] = _Rules(_WRITTEN)
