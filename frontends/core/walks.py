"""Slices and other operators that take elements at steps, as start, sizes and steps of
`memgraph.strided`."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from memopt.frontends.core.typed import need, start_of

Walk = tuple[int, list[int], list[int]]
"""The first element, how many along each way, and how far apart."""


def element_steps(shape: Sequence[int]) -> list[int]:
    return [prod(shape[i + 1 :]) for i in range(len(shape))]


def strided_slice(
    shape: Sequence[int], spec: Sequence[Sequence[int]], options: Mapping[str, Any]
) -> Walk:
    """STRIDED_SLICE with all of its masks; `spec` are begin, end and stride of each entry."""
    masks = [
        int(options[f"{name}Mask"])
        for name in ("ellipsis", "newAxis", "shrinkAxis", "begin", "end")
    ]
    entries = len(spec)
    marks = [[mask >> i & 1 for mask in masks] for i in range(entries)]
    taken = sum(1 for ellipsis, new, *_ in marks if not (ellipsis or new))
    need(taken <= len(shape), f"{taken} slices of {len(shape)} dimensions")
    need(sum(m[0] for m in marks) <= 1, "more than one ellipsis")
    steps, start, d = element_steps(shape), 0, 0
    sizes, ways = list[int](), list[int]()
    for (begin, end, stride), (ellipsis, new, shrink, no_begin, no_end) in zip(
        spec, marks, strict=True
    ):
        if ellipsis:
            rest = len(shape) - taken
            sizes, ways, d = sizes + list(shape[d : d + rest]), ways + steps[d : d + rest], d + rest
            continue
        if new:
            sizes, ways = [*sizes, 1], [*ways, 0]
            continue
        size = shape[d]
        first, count = _range(size, begin, end, stride, bool(no_begin), bool(no_end))
        if shrink:
            first = begin + size if begin < 0 else begin
            need(0 <= first < size, f"begin = {begin} of {size} elements")
            need(stride > 0, f"a stride of {stride} (above 0 has one)")
            count = 1
        start += first * steps[d]
        sizes, ways, d = [*sizes, count], [*ways, stride * steps[d]], d + 1
    return start, sizes + list(shape[d:]), ways + steps[d:]


def _range(
    size: int, begin: int, end: int, stride: int, no_begin: bool, no_end: bool
) -> tuple[int, int]:
    """(first, how many) of one dimension."""
    need(stride != 0, "a stride of 0")
    if stride > 0:
        first = 0 if no_begin else start_of(begin, size)
        last = size if no_end else min(max(end + size if end < 0 else end, 0), size)
        return first, max(0, -(-(last - first) // stride))
    first = size - 1 if no_begin else min(max(begin + size if begin < 0 else begin, -1), size - 1)
    last = -1 if no_end else min(max(end + size if end < 0 else end, -1), size - 1)
    return first, max(0, -(-(first - last) // -stride))


def tile(shape: Sequence[int], times: Sequence[int]) -> Walk:
    """TILE: what is repeated has a step of 0."""
    need(len(times) == len(shape), f"{len(times)} multiples of {len(shape)} dimensions")
    need(min(times, default=1) >= 0, f"multiples = {list(times)} (0 and above have one)")
    sizes, ways = list[int](), list[int]()
    for count, size, step in zip(times, shape, element_steps(shape), strict=True):
        sizes, ways = [*sizes, count, size], [*ways, 0, step]
    return 0, sizes, ways


def broadcast(shape: Sequence[int], out: Sequence[int]) -> Walk:
    """BROADCAST_TO, by numpy's rule."""
    missing = len(out) - len(shape)
    misfit = f"{list(shape)} does not broadcast to {list(out)}"
    need(missing >= 0, misfit)
    wide, steps = [1] * missing + list(shape), [0] * missing + element_steps(shape)
    need(all(a in (1, b) for a, b in zip(wide, out, strict=True)), misfit)
    pairs = zip(wide, steps, strict=True)
    return 0, list(out), [0 if size == 1 else step for size, step in pairs]


def reverse(shape: Sequence[int], axes: Sequence[int]) -> Walk:
    """REVERSE_V2: from the last element along each of the axes."""
    steps = element_steps(shape)
    start = sum((shape[a] - 1) * steps[a] for a in axes)
    return start, list(shape), [-s if i in axes else s for i, s in enumerate(steps)]


def space_to_batch(shape: Sequence[int], blocks: Sequence[int]) -> Walk:
    """Without padding."""
    need(len(shape) == 4, f"{len(shape)} dimensions (4 have one)")
    need(len(blocks) == 2 and min(blocks) > 0, f"blocks of {list(blocks)}")
    (n, h, w, c), (down, across), steps = shape, blocks, element_steps(shape)
    need(h % down == 0 == w % across, f"blocks of {list(blocks)} in an image of {h} x {w}")
    sizes = [down, across, n, h // down, w // across, c]
    return 0, sizes, [steps[1], steps[2], steps[0], down * steps[1], across * steps[2], 1]


def batch_to_space(shape: Sequence[int], blocks: Sequence[int]) -> Walk:
    """Without cropping."""
    need(len(shape) == 4, f"{len(shape)} dimensions (4 have one)")
    need(len(blocks) == 2 and min(blocks) > 0, f"blocks of {list(blocks)}")
    (n, h, w, c), (down, across), steps = shape, blocks, element_steps(shape)
    need(n % (down * across) == 0, f"blocks of {list(blocks)} in {n} images")
    images = n // (down * across)
    sizes = [images, h, down, w, across, c]
    each = images * steps[0]
    return 0, sizes, [steps[0], steps[1], across * each, steps[2], each, 1]
