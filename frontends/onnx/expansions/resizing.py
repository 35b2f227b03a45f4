"""Resize, whatever it says."""

from collections.abc import Sequence
from math import ceil, floor
from typing import Any

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.expansions.windows import along
from memopt.frontends.onnx.scope import INT64, Scope


@expands("Resize")
def resize(s: Scope) -> bool:
    """Whatever is not one of the operations' own ways: along each dimension that changes, a product
    with the matrix of what each new element is made of; where it is one element, taking that."""
    if (names := _needed(s)) != list(s.node.input):
        return s.done("Resize", *names, **s.attributes)
    if not s.is_float and s.get("mode", "nearest") != "nearest":
        return False
    shape, out = s.shape(), s.out_shape()
    if 0 in shape or 0 in out or _has_form(s):
        return False
    if s.get("coordinate_transformation_mode") == "pytorch_half_pixel" and _has_no_single(s):
        same: dict[str, Any] = {**s.attributes, "coordinate_transformation_mode": "half_pixel"}
        return s.done("Resize", *s.node.input, **same)
    how = Sampling.of(s)
    if how is None:
        return False
    name, now = s.x, list(shape)
    for axis in range(len(shape)):
        matrix = how.matrix(axis, shape[axis], out[axis])
        if matrix is None:
            return False
        if matrix.shape[0] == matrix.shape[1] and (matrix == np.eye(len(matrix))).all():
            continue
        picks = (matrix.max(axis=0) == 1) & ((matrix != 0).sum(axis=0) == 1)
        if picks.all():
            name = s.add("Gather", name, s.const(matrix.argmax(axis=0), INT64), axis=axis)
        else:
            name = along(s, name, now, axis, matrix)
        now[axis] = out[axis]
    return s.done("Identity", name)


def _needed(s: Scope) -> list[str]:
    """The operands without those that say nothing: scales without elements, a region that no crop
    asks for."""
    names = list(s.node.input)
    for index in range(1, min(len(names), 3) if s.opset >= 11 else 0):
        crops = s.get("coordinate_transformation_mode") == "tf_crop_and_resize"
        is_region = index == 1 and not crops
        if names[index] and (is_region or s.shape(index) == (0,)):
            names[index] = ""
    return names


def _has_no_single(s: Scope) -> bool:
    """Return whether no dimension becomes 1, for which alone PyTorch's coordinates are others."""
    return all(m > 1 or n == 1 for n, m in zip(s.shape(), s.out_shape(), strict=True))


def _has_form(s: Scope) -> bool:
    """Return whether `windows.resize` of the frontend reads it as one operation: of images, whose
    batch and channels stay, bilinear or nearest."""
    plain = len(s.shape()) == 4 and s.shape()[:2] == s.out_shape()[:2] and s.opset >= 11
    if (
        not plain
        or not s.is_float
        or s.get("antialias")
        or s.get("axes")
        or s.get("exclude_outside")
    ):
        return False
    if s.get("keep_aspect_ratio_policy", "stretch") != "stretch":
        return False
    if s.has(2):
        scales = s.array(2)
        sizes = zip(scales if scales is not None else (), s.shape(), s.out_shape(), strict=False)
        if scales is None or any(abs(float(r) * n - m) > 1e-6 * m for r, n, m in sizes):
            return False
    where = s.get("coordinate_transformation_mode", "half_pixel")
    if s.get("mode", "nearest") == "linear":
        return where in ("asymmetric", "align_corners", "half_pixel")
    how = (where, s.get("nearest_mode", "round_prefer_floor"))
    return s.get("mode", "nearest") == "nearest" and how in (
        ("asymmetric", "floor"),
        ("align_corners", "round_prefer_ceil"),
    )


class Sampling:
    """How Resize finds the place of a new element, and what stands there (onnx/defs: Resize)."""

    def __init__(self, s: Scope, scales: list[float], sizes: Sequence[int], roi: list[float]):
        self.s, self.scales, self.sizes, self.roi = s, scales, sizes, roi
        self.mode = s.get("mode", "nearest")
        default = "half_pixel" if s.opset >= 11 else "asymmetric"
        self.where = s.get("coordinate_transformation_mode", default)
        self.nearest = s.get("nearest_mode", "round_prefer_floor" if s.opset >= 11 else "floor")
        self.cubic = s.get("cubic_coeff_a", -0.75)
        self.antialias, self.exclude = bool(s.get("antialias")), bool(s.get("exclude_outside"))

    @classmethod
    def of(cls, s: Scope) -> "Sampling | None":
        """None where scales, sizes or the region are not known."""
        rank, shape, out = len(s.shape()), s.shape(), s.out_shape()
        axes: list[int] = [a % rank for a in s.get("axes", range(rank))]
        first = 1 if s.opset < 11 else 2
        scales, roi = [1.0] * rank, [0.0] * rank + [1.0] * rank
        given = s.array(first) if s.has(first) else None
        if given is not None and given.size:
            for axis, value in zip(axes, given.reshape(-1), strict=True):
                scales[axis] = float(value)
        else:
            sizes = s.array(3) if s.has(3) else None
            if sizes is None:
                return None
            scales = [m / n for n, m in zip(shape, out, strict=True)]
            policy = s.get("keep_aspect_ratio_policy", "stretch")
            if policy != "stretch":
                numbers: list[int] = [int(v) for v in sizes]
                wanted = [n / shape[a] for a, n in zip(axes, numbers, strict=True)]
                one = min(wanted) if policy == "not_larger" else max(wanted)
                scales = [one if d in axes else 1.0 for d in range(rank)]
        if s.get("coordinate_transformation_mode") == "tf_crop_and_resize":
            region = s.array(1) if s.has(1) else None
            if region is None:
                return None
            half = len(axes)
            for k, axis in enumerate(axes):
                roi[axis], roi[axis + rank] = float(region[k]), float(region[k + half])
        return cls(s, scales, out, roi)

    def place(self, axis: int, index: int, size: int, out: int) -> float:
        """The place of element `index` of the result in the operand."""
        scale = self.scales[axis]
        match self.where:
            case "asymmetric":
                return index / scale
            case "align_corners":
                length = scale * size  # which is no whole number where scales are given
                return 0.0 if length == 1 else index * (size - 1) / (length - 1)
            case "pytorch_half_pixel":
                return (index + 0.5) / scale - 0.5 if out > 1 else 0.0
            case "half_pixel_symmetric":
                centre, length = size / 2, scale * size
                offset = centre * (1 - out / length)
                return offset + (index + 0.5) / scale - 0.5
            case "tf_crop_and_resize":
                start, end = self.roi[axis], self.roi[axis + len(self.scales)]
                if out > 1:
                    return start * (size - 1) + index * (end - start) * (size - 1) / (out - 1)
                return 0.5 * (start + end) * (size - 1)
            case _:
                return (index + 0.5) / scale - 0.5

    def matrix(self, axis: int, size: int, out: int) -> Any:
        """(old size, new size): what each new element is made of; None for what no product says."""
        weights = np.zeros((size, out))
        if size == out and self.scales[axis] == 1 and self.where != "tf_crop_and_resize":
            return np.eye(size)
        for o in range(out):
            x = self.place(axis, o, size, out)
            if self.where == "tf_crop_and_resize" and not 0 <= x <= size - 1:
                if self.s.get("extrapolation_value", 0.0):
                    return None
                continue
            for place, weight in self.taps(x, axis, size):
                weights[min(max(place, 0), size - 1), o] += weight
        return weights

    def taps(self, x: float, axis: int, size: int) -> list[tuple[int, float]]:
        """(element, weight) of what stands at a place; elements outside are those at the edge."""
        if self.mode == "nearest":
            return [(self.rounded(x), 1.0)]
        scale = min(self.scales[axis], 1.0) if self.antialias else 1.0
        reach = (2 if self.mode == "cubic" else 1) / scale
        low, high = floor(x - reach) + 1, ceil(x + reach) - 1
        weigh = self.bend if self.mode == "cubic" else self.line
        weighted = [(p, weigh((p - x) * scale)) for p in range(low, high + 1)]
        if self.exclude:
            weighted = [(p, w if 0 <= p < size else 0.0) for p, w in weighted]
        total = sum(w for _, w in weighted)
        if self.antialias or self.exclude:
            weighted = [(p, w / total) for p, w in weighted]
        return weighted

    def rounded(self, x: float) -> int:
        """The element nearest to a place."""
        match self.nearest:
            case "floor":
                return floor(x)
            case "ceil":
                return ceil(x)
            case "round_prefer_ceil":
                return floor(x + 0.5)
            case _:
                return ceil(x - 0.5)

    @staticmethod
    def line(x: float) -> float:
        """The weight of an element so far away, of lines between elements."""
        return max(0.0, 1 - abs(x))

    def bend(self, x: float) -> float:
        """Keys' cubic convolution."""
        x, a = abs(x), self.cubic
        if x <= 1:
            return (a + 2) * x**3 - (a + 3) * x**2 + 1
        return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0
