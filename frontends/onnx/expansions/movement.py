"""What moves elements, takes some of them, or puts others beside them."""

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.scope import FLOAT, INT32, INT64, RefusedError, Scope
from memopt.frontends.onnx.types import NAMES

if TYPE_CHECKING:
    from memopt.frontends.onnx.scope import Array


@expands("Upsample")
def upsample(s: Scope) -> bool:
    """What Resize is now."""
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


@expands("Slice")
def slice_(s: Scope) -> bool:
    """Before opset 10 where it begins and ends was said in attributes."""
    if "starts" not in s.attributes:
        return False
    starts, ends = s.attributes["starts"], s.attributes["ends"]
    axes = s.get("axes", list(range(len(starts))))
    return s.done("Slice", s.x, *(s.const(v, INT64) for v in (starts, ends, axes)))


@expands("Pad")
def pad(s: Scope) -> bool:
    """Before opset 11 in attributes; what is cut off is a slice; others than a constant around
    images are gathered along each axis."""
    import numpy as np

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
    if mode == "constant":
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
        return s.done("Pad", name, around, *([value] if value else []))
    for axis, (first, last, size) in enumerate(zip(before, after, shape, strict=True)):
        if first or last:
            indices = [_place(i, size, mode) for i in range(-first, size + last)]
            name = s.add("Gather", name, s.const(indices, INT64), axis=axis)
    return s.done("Identity", name)


def _surrounded(
    s: Scope,
    name: str,
    shape: tuple[int, ...],
    before: list[int],
    after: list[int],
    value: str,
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


def _place(index: int, size: int, mode: str) -> int:
    """The element that stands at an index outside: the nearest, mirrored, or that of a circle."""
    if mode == "edge" or size == 1:
        return min(max(index, 0), size - 1)
    if mode == "wrap":
        return index % size
    period = 2 * (size - 1)
    index %= period
    return index if index < size else period - index


@expands("Gather", "GatherND")
def gather(s: Scope) -> bool:
    """Of indices from zero on; those that count from the end are brought there."""
    array = s.known.array(s.input(1))
    if s.is_constant(0) and s.is_constant(1) and array is None:
        return False
    if s.node.op_type == "GatherND" and s.get("batch_dims", 0):
        return False
    if s.node.op_type == "Gather":
        axis = s.get("axis", 0) % len(s.shape())
        sizes: list[int] = [s.shape()[axis]]
    else:
        axis, sizes = None, list(s.shape()[: s.shape(1)[-1]])
    if array is not None:
        need_indices(array, sizes)
        if (array >= 0).all():
            return False
        import numpy as np

        ends = np.array(sizes if axis is None else sizes[0])  # a scalar index stays one
        at = s.const(np.where(array < 0, array + ends, array), INT64)
    elif s.element(1) == INT32 and s.input(1).endswith(WRAPPED):
        return False
    else:
        at = wrapped(s, s.input(1), s.element(1), sizes)
    return s.done(s.node.op_type, s.x, at, axis=axis)


def need_indices(array: "Array", sizes: Sequence[int]) -> None:
    """Raises RefusedError for an index that is not in [-n, n) of its dimension: one for all, or one
    for each element of the last dimension."""
    for k, size in enumerate(sizes):
        each = array if len(sizes) == 1 else array[..., k]
        if each.size and not -size <= each.min() <= each.max() < size:
            wrong = each.min() if each.min() < -size else each.max()
            raise RefusedError(f"index {wrong} is not in [{-size}, {size - 1}]")


WRAPPED = "/wrapped"


def wrapped(s: Scope, name: str, element: int, sizes: list[int]) -> str:
    """Indices that the run time knows, as int32 from zero on."""
    at = name if element == INT32 else s.add("Cast", name, to=INT32)
    ends = s.const(sizes if len(sizes) > 1 else sizes[0], INT32)
    below = s.add("Cast", s.add("Less", at, s.const(0, INT32)), to=INT32)
    found = s.add("Add", at, s.add("Mul", below, ends))
    s.made[-1].output[0] = s.known.fresh(found) + WRAPPED
    return s.made[-1].output[0]


@expands("GatherElements")
def gather_elements(s: Scope) -> bool:
    """Along one axis: of all elements those at computed places."""
    import numpy as np

    shape, out = s.shape(), s.shape(1)
    axis = int(s.get("axis", 0)) % len(shape)
    if 0 in shape or 0 in out:
        return False
    steps = [prod(shape[i + 1 :]) for i in range(len(shape))]
    grid = np.indices(out)
    base = np.zeros(out, np.int64)
    for d in range(len(shape)):
        base += grid[d] * steps[d] if d != axis else 0
    array = s.array(1)
    flat = s.reshaped(s.x, [-1])
    if array is not None:
        need_indices(array, [shape[axis]])
        at = np.where(array < 0, array + shape[axis], array) * steps[axis] + base
        return s.done("Gather", flat, s.const(at, INT64), axis=0)
    at = wrapped(s, s.input(1), s.element(1), [shape[axis]])
    at = s.add("Mul", at, s.const(steps[axis], INT32)) if steps[axis] != 1 else at
    at = s.add("Add", at, s.const(base, INT32))
    s.made[-1].output[0] = at + WRAPPED
    return s.done("Gather", flat, at + WRAPPED, axis=0)


@expands("ScatterElements", "Scatter")
def scatter_elements(s: Scope) -> bool:
    """At places that are known: of the elements there are and the new ones those that stand there
    in the end, the last of several."""
    import numpy as np

    shape, places = s.shape(), s.known.array(s.input(1))
    if places is None or not places.size:
        return s.lacks("its places are computed at run time (constants have one)")
    if s.get("reduction", "none") != "none":
        return s.lacks(f"reduction = {s.get('reduction')} (none has one)")
    axis = int(s.get("axis", 0)) % max(1, len(shape))
    beyond = any(places.shape[k] > size for k, size in enumerate(shape) if k != axis)
    if places.ndim != len(shape) or s.shape(2) != places.shape or beyond:
        return s.lacks("places of another shape than the operand's")
    where = [grid.reshape(-1) for grid in np.indices(places.shape)]
    flat = places.reshape(-1).astype(np.int64)
    where[axis] = np.where(flat < 0, flat + shape[axis], flat)
    if not ((where[axis] >= 0) & (where[axis] < shape[axis])).all():
        return s.lacks(f"a place outside of the {shape[axis]} elements")
    at = np.arange(prod(shape))
    for new, old in enumerate(np.ravel_multi_index(where, shape)):
        at[old] = prod(shape) + new
    both = s.add("Concat", s.reshaped(s.x, [-1]), s.reshaped(s.input(2), [-1]), axis=0)
    return s.done("Gather", both, s.const(at.reshape(shape), INT64), axis=0)


@expands("OneHot")
def one_hot(s: Scope) -> bool:
    """Whether the index is that of the place."""
    depth = s.ints(1)
    if depth is None:
        return False
    if s.element() not in (FLOAT, INT32, INT64):
        return s.lacks(f"on {NAMES[s.element()]} (float32, int32 and int64 have one)")
    at = s.x
    if s.element() != INT32:
        at = s.add("Cast", at, to=INT32)
    rank = len(s.shape()) + 1
    axis = s.get("axis", -1) % rank
    size, along = depth[0], [1] * rank
    along[axis] = size
    below = s.add("Cast", s.add("Less", at, s.const(0, INT32)), to=INT32)
    at = s.add("Add", at, s.add("Mul", below, s.const(size, INT32)))
    at = s.reshaped(at, [*s.shape()[:axis], 1, *s.shape()[axis:]])
    every = s.reshaped(s.const(list(range(size)), INT32), along)
    hot = s.add("Equal", every, at)
    values = [
        s.add("Slice", s.input(2), *(s.const([v], INT64) for v in (k, k + 1))) for k in (1, 0)
    ]
    return s.done("Where", hot, *values)


@expands("Trilu")
def trilu(s: Scope) -> bool:
    """A choice between the elements and zero, by a constant."""
    import numpy as np

    k = s.ints(1) if s.has(1) else [0]
    if k is None:
        return False
    if 0 in s.shape():
        return s.lacks("no elements")
    shape = s.shape()
    mask = np.tri(*shape[-2:], k=k[0] - 1 if s.get("upper", 1) else k[0], dtype=np.bool_)
    kept = ~mask if s.get("upper", 1) else mask
    return s.done("Where", s.const(kept, 9), s.x, s.like(0))


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
    import numpy as np

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
    import numpy as np

    array = s.array(1)
    if array is None:
        return False
    at = s.const(np.flatnonzero(array), INT64)
    if "axis" not in s.attributes:
        return s.done("Gather", s.reshaped(s.x, [-1]), at, axis=0)
    return s.done("Gather", s.x, at, axis=s.attributes["axis"] % len(s.shape()))
