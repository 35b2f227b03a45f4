"""Expansions of operators that move elements, take some of them, or put others beside them."""

from math import prod
from typing import TYPE_CHECKING

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.scope import FLOAT, INT32, INT64, Scope
from memopt.frontends.onnx.types import NAMES

if TYPE_CHECKING:
    pass


@expands("Upsample")
def upsample(s: Scope) -> bool:
    """Expand to Resize, which replaces it."""
    scales = s.get("scales") or (s.array(1) if s.has(1) else None)
    if scales is None:
        return False
    mode = s.get("mode", "nearest")
    return s.done(
        "Resize",
        s.x,
        "",
        s.const(list(scales)),
        mode="linear" if mode in ("linear", "bilinear") else mode,
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )


@expands("Expand", "Tile")
def repeated(s: Scope) -> bool:
    """Repeat nothing where the result has the operand's shape."""
    return _is_whole(s) and s.done("Identity", s.x)


def _is_whole(s: Scope) -> bool:
    """Return whether the result has as many elements of each dimension as the operand."""
    return s.shape() == s.out_shape() != ()


@expands("Slice")
def slice_(s: Scope) -> bool:
    """A slice of all elements is none. Before opset 10 where it begins and ends was said in
    attributes."""
    steps = s.array(4)
    if _is_whole(s) and (not s.has(4) or (steps is not None and bool((steps > 0).all()))):
        return s.done("Identity", s.x)
    if "starts" not in s.attributes:
        return False
    starts, ends = s.attributes["starts"], s.attributes["ends"]
    axes = s.get("axes", list(range(len(starts))))
    return s.done("Slice", s.x, *(s.const(v, INT64) for v in (starts, ends, axes)))


@expands("Pad")
def pad(s: Scope) -> bool:
    """Before opset 11 in attributes; what is cut off is a slice."""
    rank, shape = len(s.shape()), s.shape()
    pads = s.ints(1, "pads")
    if pads is None or 0 in shape:
        return False
    axes = s.ints(3) if s.has(3) else list(range(rank))
    if axes is None:
        return False
    axes = [a % rank for a in axes]
    before, after, half = [0] * rank, [0] * rank, len(axes)
    for i, axis in enumerate(axes):
        before[axis], after[axis] = pads[i], pads[i + half]
    mode, name = s.get("mode", "constant"), s.x
    if min(*before, *after, 0) < 0:
        starts = [max(-b, 0) for b in before]
        ends = [n - max(-a, 0) for n, a in zip(shape, after, strict=True)]
        name = s.add("Slice", name, s.const(starts, INT64), s.const(ends, INT64))
        shape = tuple(e - b for b, e in zip(starts, ends, strict=True))
        before, after = [max(b, 0) for b in before], [max(a, 0) for a in after]
    value = s.input(2) if s.has(2) else ""
    if "value" in s.attributes:
        value = s.like(s.attributes["value"])
    if stands_for := value in s.known.numbers:
        value = s.like(s.known.numbers[value])
    known = s.known.array(value) if value else None
    if value and (known is None or not np.isfinite(known.astype(np.float64)).all()):
        return _surrounded(s, name, shape, before, after, value)
    if name == s.x and "pads" not in s.attributes and not stands_for:
        return False
    around = s.const([*before, *after], INT64)
    return s.done("Pad", name, around, *([value] if value else []), mode=mode)


def _surrounded(
    s: Scope, name: str, shape: tuple[int, ...], before: list[int], after: list[int], value: str
) -> bool:
    """With blocks of a value that the run time knows, or that is infinite."""
    now = list(shape)
    one = s.reshaped(value, [1] * len(now))
    for axis, (first, last) in enumerate(zip(before, after, strict=True)):
        blocks = [
            s.add("Expand", one, s.const([*now[:axis], n, *now[axis + 1 :]], INT64)) if n else ""
            for n in (first, last)
        ]
        parts = [part for part in (blocks[0], name, blocks[1]) if part]
        name = s.add("Concat", *parts, axis=axis) if len(parts) > 1 else name
        now[axis] += first + last
    return s.done("Identity", name)


@expands("OneHot")
def one_hot(s: Scope) -> bool:
    """Expand to the operation of known depth, whose values are two operands."""
    depth = s.ints(1)
    if depth is None:
        return False
    if s.element() not in (FLOAT, INT32, INT64):
        return s.lacks(f"on {NAMES[s.element()]} (float32, int32 and int64 have one)")
    at = s.add("Cast", s.x, to=INT32) if s.element() == FLOAT else s.x
    axis = s.get("axis", -1) % (len(s.shape()) + 1)
    values = [s.cut(s.input(2), k, k + 1, 0) for k in (1, 0)]
    return s.done("Identity", s.own("OneHot", s.element(2), s.out_shape(), at, *values, axis=axis))


@expands("Trilu")
def trilu(s: Scope) -> bool:
    """A choice between the elements and zero, by a constant."""
    k = s.ints(1) if s.has(1) else [0]
    if k is None:
        return False
    if 0 in s.shape():
        return s.lacks("no elements")
    shape = s.shape()
    mask = np.tri(*shape[-2:], k=k[0] - 1 if s.get("upper", 1) else k[0], dtype=np.bool_)
    triangle = ~mask if s.get("upper", 1) else mask
    return s.done("Where", s.const(triangle, 9), s.x, s.like(0))


@expands("SpaceToDepth")
def space_to_depth(s: Scope) -> bool:
    """Pixels of blocks as channels; the other way round there is an operation of images."""
    (n, c, h, w), b = s.shape(), s.get("blocksize", 1)
    parts = s.reshaped(s.x, (n, c, h // b, b, w // b, b))
    order = [0, 1, 3, 5, 2, 4] if s.get("mode", "DCR") == "CRD" else [0, 3, 5, 1, 2, 4]
    moved = s.add("Transpose", parts, perm=order)
    return s.done("Reshape", moved, s.const(list(s.out_shape()), INT64))


@expands("ReverseSequence")
def reverse_sequence(s: Scope) -> bool:
    """By lengths that are known: elements at computed places."""
    lengths = s.ints(1)
    if lengths is None:
        return False
    batch, time = s.get("batch_axis", 1), s.get("time_axis", 0)
    at = np.arange(prod(s.shape())).reshape(s.shape())
    at = np.moveaxis(at, (batch, time), (0, 1)).copy()
    for row, length in enumerate(lengths):
        at[row, :length] = at[row, :length][::-1].copy()
    at = np.moveaxis(at, (0, 1), (batch, time))
    return s.done("Gather", s.reshaped(s.x, [-1]), s.const(at, INT64), axis=0)


@expands("Compress")
def compress(s: Scope) -> bool:
    """By a condition that is known."""
    array = s.array(1)
    if array is None:
        return False
    at = s.const(np.flatnonzero(array), INT64)
    if "axis" not in s.attributes:
        return s.done("Gather", s.reshaped(s.x, [-1]), at, axis=0)
    return s.done("Gather", s.x, at, axis=s.attributes["axis"] % len(s.shape()))
