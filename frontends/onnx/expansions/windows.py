"""Expansions of operators that slide a window: over one dimension as over two, and in forms that no
operation has."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.frontends.core.typed import same_padding
from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.expansions.reductions import over
from memopt.frontends.onnx.scope import BYTES, FLOAT, INT64, Scope


class Windows(NamedTuple):
    """Sides and steps of windows, distances of their taps, and padding before and behind, along
    each dimension."""

    kernel: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    pads: Sequence[int]

    def taps(self, s: Scope, i: int) -> list[list[int]]:
        """Return the elements of each window along dimension `i`, padding left out."""
        size, out = s.shape()[2 + i], s.out_shape()[2 + i]
        side, stride, dilation, pad = (each[i] for each in self)
        return [
            [p for t in range(side) if 0 <= (p := o * stride - pad + t * dilation) < size]
            for o in range(out)
        ]


def windows_of(s: Scope, kernel: Sequence[int]) -> Windows:
    """Windows of these sides as the attributes have them."""
    ones = [1] * len(kernel)
    strides, dilations = s.get("strides", ones), s.get("dilations", ones)
    return Windows(kernel, strides, dilations, pads_of(s, kernel))


def pads_of(s: Scope, kernel: Sequence[int]) -> list[int]:
    """Explicit pads, before and after, of what `auto_pad` says."""
    n = len(kernel)
    strides, dilations = s.get("strides", [1] * n), s.get("dilations", [1] * n)
    auto, pads = s.get("auto_pad", "NOTSET"), list(s.get("pads") or [0] * 2 * n)
    if auto == "VALID":
        return [0] * 2 * n
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        for i, size in enumerate(s.shape()[2:]):
            out = -(-size // strides[i])
            less, more = same_padding(size, out, kernel[i], strides[i], dilations[i])
            pads[i], pads[i + n] = (less, more) if auto == "SAME_UPPER" else (more, less)
    return pads


def flat(s: Scope, kind: str, kernel: Sequence[int], *operands: str, **attributes: Any) -> bool:
    """Expand an operator over one dimension into one over images one pixel wide."""
    image = s.reshaped(s.x, (*s.shape(), 1))
    pads = pads_of(s, kernel)
    widened = s.add(
        kind,
        image,
        *operands,
        kernel_shape=[*kernel, 1],
        strides=[*s.get("strides", [1]), 1],
        dilations=[*s.get("dilations", [1]), 1],
        pads=[pads[0], 0, pads[1], 0],
        **attributes,
    )
    return s.done("Reshape", widened, s.const(list(s.out_shape()), INT64))


@expands("Conv", "ConvTranspose", floats=True)
def convolution(s: Scope) -> bool:
    """Over one dimension as over two."""
    if len(s.shape()) == 3 and not s.get("output_shape"):
        weights = s.reshaped(s.input(1), (*s.shape(1), 1))
        bias = [s.input(2)] if s.has(2) else []
        more: dict[str, Any] = {"group": s.get("group", 1)}
        if s.node.op_type == "ConvTranspose":
            if (auto := s.get("auto_pad", "NOTSET")) not in ("NOTSET", "VALID"):
                return _transposed_column(s, weights, bias, auto)
            more["output_padding"] = [*s.get("output_padding", [0]), 0]
        return flat(s, s.node.op_type, s.shape(1)[2:], weights, *bias, **more)
    if s.node.op_type == "Conv" and len(s.shape()) == 5:
        return _volumes(s)
    return s.node.op_type == "ConvTranspose" and len(s.shape()) == 4 and _transposed(s)


def _transposed_column(s: Scope, weights: str, bias: list[str], auto: str) -> bool:
    """Expand ConvTranspose over images one pixel wide, of a padding that follows from the sizes."""
    column = s.add(
        "ConvTranspose",
        s.reshaped(s.x, (*s.shape(), 1)),
        weights,
        *bias,
        auto_pad=auto,
        group=s.get("group", 1),
        strides=[*s.get("strides", [1]), 1],
        dilations=[*s.get("dilations", [1]), 1],
    )
    return s.done("Reshape", column, s.const(list(s.out_shape()), INT64))


def _volumes(s: Scope) -> bool:
    """Expand Conv over three dimensions, channels last as the operation has them."""
    if (groups := s.get("group", 1)) != 1:
        return s.lacks(f"group = {groups} of three dimensions (1 has one)")
    last, out = [0, 2, 3, 4, 1], s.out_shape()
    weights = s.transposed(s.input(1), [2, 3, 4, 1, 0])
    bias = [s.input(2)] if s.has(2) else []
    volumes = s.own(
        "Conv3D",
        FLOAT,
        [out[d] for d in last],
        s.transposed(s.x, last),
        weights,
        *bias,
        strides=s.get("strides", [1] * 3),
        dilations=s.get("dilations", [1] * 3),
        pad=pads_of(s, s.shape(1)[2:])[:3],
    )
    return s.done("Transpose", volumes, perm=[0, 4, 1, 2, 3])


@expands("ConvInteger")
def convolution_of_integers(s: Scope) -> bool:
    """Expand ConvInteger: zero points that are left out are 0; over one dimension as over two."""
    if s.element(0) not in BYTES or s.element(1) not in BYTES:
        return s.lacks("other integers than those of 8 bits")
    zeros = [s.input(i + 2) if s.has(i + 2) else s.const(0, s.element(i)) for i in (0, 1)]
    if len(s.shape()) == 3:
        weights = s.reshaped(s.input(1), (*s.shape(1), 1))
        return flat(s, "ConvInteger", s.shape(1)[2:], weights, *zeros, group=s.get("group", 1))
    if s.has(2) and s.has(3):
        return False
    return s.done("ConvInteger", s.x, s.input(1), *zeros, **s.attributes)


def _transposed(s: Scope) -> bool:
    """With explicit padding."""
    kernel = s.shape(1)[2:]
    auto = s.get("auto_pad", "NOTSET")
    if auto not in ("SAME_UPPER", "SAME_LOWER") and not s.get("output_shape"):
        return False
    strides, dilations = s.get("strides", [1, 1]), s.get("dilations", [1, 1])
    pads, extra = list(s.get("pads") or [0] * 4), list(s.get("output_padding") or [0, 0])
    for i, (size, out) in enumerate(zip(s.shape()[2:], s.out_shape()[2:], strict=True)):
        covered = strides[i] * (size - 1) + extra[i] + (kernel[i] - 1) * dilations[i] + 1
        total = covered - out
        if total < 0:
            extra[i] -= total
            total = 0
        less = total // 2
        upper = auto == "SAME_UPPER"
        pads[i], pads[i + 2] = (less, total - less) if upper else (total - less, less)
    given: dict[str, Any] = {
        "group": s.get("group", 1),
        "strides": strides,
        "dilations": dilations,
        "pads": pads,
        "output_padding": extra,
    }
    return s.done("ConvTranspose", *s.node.input, **given)


@expands("MaxPool", "AveragePool")
def pool(s: Scope) -> bool:
    """One dimension; windows that are rounded up, whose last ones reach beyond the padding; padding
    that counts."""
    kind, kernel = s.node.op_type, s.get("kernel_shape", [])
    if not s.is_float or s.returns(1) or len(kernel) not in (1, 2):
        return False
    windows, n = windows_of(s, kernel), len(kernel)
    dilated = any(d != 1 for d in windows.dilations)
    means = kind == "AveragePool"
    counts = means and bool(s.get("count_include_pad", 0))
    more = _padded_as_read(s, windows)
    clipped = more != windows.pads
    if s.is_stored and n == 2 and not clipped and not dilated:
        return False  # one operation does it
    if dilated and not means:
        return _dilated_max(s, windows._replace(pads=more))
    if counts and not dilated and not clipped:
        return _counted(s, windows)
    if counts or dilated:
        return _weighed(s, windows, counts)
    if n == 1 and not clipped:
        return flat(s, kind, kernel)
    if not clipped and s.get("auto_pad", "NOTSET") in ("NOTSET", "VALID"):
        return False
    given: dict[str, Any] = {
        "kernel_shape": kernel,
        "strides": windows.strides,
        "dilations": windows.dilations,
    }
    if n == 2:
        return clipped and s.done(kind, s.x, pads=more, **given)
    image = s.reshaped(s.x, (*s.shape()[:2], 1, s.shape()[2]))
    wide = {k: [1, *v] for k, v in given.items()}
    pooled = s.add(kind, image, pads=[0, more[0], 0, more[1]], **wide)
    return s.done("Reshape", pooled, s.const(list(s.out_shape()), INT64))


def _padded_as_read(s: Scope, windows: Windows) -> list[int]:
    """The padding that windows read, of which the last ones may reach beyond their own."""
    kernel, strides, dilations, pads = windows
    padding, n = list(pads), len(kernel)
    for i, (size, out) in enumerate(zip(s.shape()[2:], s.out_shape()[2:], strict=True)):
        reach = (out - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1
        padding[i + n] += max(0, reach - (size + pads[i] + pads[i + n]))
    return padding


def _counted(s: Scope, windows: Windows) -> bool:
    """Expand a mean that counts its padding, which no window lies in alone, as one of a padded
    image."""
    kind, kernel, pads = s.node.op_type, windows.kernel, windows.pads
    n = len(kernel)
    if all(all(windows.taps(s, i)) for i in range(n)):
        return n == 1 and flat(s, kind, kernel, count_include_pad=1)
    around = s.const([0, 0, *pads[:n], 0, 0, *pads[n:]], INT64)
    padded = s.add("Pad", s.x, around)
    return s.done(kind, padded, kernel_shape=kernel, strides=windows.strides)


def _weighed(s: Scope, windows: Windows, counts: bool) -> bool:
    """A mean as a sum along one dimension after the other: products with constant matrices, then a
    division by how many elements each window has."""
    kernel, strides, dilations, pads = windows
    name, n = s.x, len(kernel)
    shape = list(s.shape())
    if any(v > 256 for v in (*shape[2:], *s.out_shape()[2:])):
        return False
    numbers = np.ones((1,) * n)
    for i in range(n):
        size, out = shape[2 + i], s.out_shape()[2 + i]
        matrix = np.zeros((size, out))
        many: list[int] = []
        for o, taps in enumerate(windows.taps(s, i)):
            for p in taps:
                matrix[p, o] += 1
            first = o * strides[i] - pads[i]
            inside = [first + t * dilations[i] < size + pads[i + n] for t in range(kernel[i])]
            many.append(sum(inside) if counts else len(taps))
        name = along(s, name, shape, 2 + i, matrix)
        shape[2 + i] = out
        numbers = numbers * np.array(many).reshape([-1 if d == i else 1 for d in range(n)])
    if (numbers == numbers.reshape(-1)[0]).all():
        return s.done("Div", name, s.const(numbers.reshape(-1)[0]))
    return s.done("Div", name, s.const(numbers))


def along(s: Scope, name: str, shape: Sequence[int], axis: int, matrix: Any) -> str:
    """A tensor of that shape times a constant matrix (old size, new size) along an axis."""
    order = [*(d for d in range(len(shape)) if d != axis), axis]
    product = s.add("MatMul", s.transposed(name, order), s.const(matrix))
    return s.transposed(product, [order.index(d) for d in range(len(shape))])


def _dilated_max(s: Scope, windows: Windows) -> bool:
    """The largest of what stands at each tap, a dimension after the other; taps outside are the
    nearest tap inside."""
    name = s.x
    for i, side in enumerate(windows.kernel):
        taps = windows.taps(s, i)
        if not all(taps):
            return False
        picked = [
            s.add("Gather", name, s.const([t[min(k, len(t) - 1)] for t in taps], INT64), axis=2 + i)
            for k in range(side)
        ]
        name = picked[0]
        for other in picked[1:]:
            name = s.add("Max", name, other)
    return s.done("Identity", name)


@expands("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def whole(s: Scope) -> bool:
    """Expand a pool over others than images into a reduction."""
    rank, kind = len(s.shape()), s.node.op_type
    if not s.is_float or (rank == 4 and kind != "GlobalLpPool"):
        return False
    p = s.get("p", 2)
    name = {"GlobalAveragePool": "ReduceMean", "GlobalMaxPool": "ReduceMax"}.get(
        kind, f"ReduceL{p}"
    )
    if name not in ("ReduceMean", "ReduceMax", "ReduceL1", "ReduceL2"):
        return s.lacks(f"p = {p} (1 and 2 have one)")
    return s.done("Identity", over(s, name, s.x, range(2, rank)))


@expands("LpPool")
def lp_pool(s: Scope) -> bool:
    """Expand by the mean of powers with padding that counts, which is zero."""
    p, kernel = s.get("p", 2), s.get("kernel_shape", [])
    if not s.is_float:
        return False
    if p not in (1, 2):
        return s.lacks(f"p = {p} (1 and 2 have one)")
    if (count := len(kernel)) not in (1, 2):
        return s.lacks(f"a window of {count} dimensions (1 and 2 have one)")
    powers = s.add("Abs", s.x) if p == 1 else s.add("Mul", s.x, s.x)
    windows, shape, name = windows_of(s, kernel), list(s.shape()), powers
    for i in range(count):
        size, out = shape[2 + i], s.out_shape()[2 + i]
        matrix = np.zeros((size, out))
        for o, taps in enumerate(windows.taps(s, i)):
            matrix[taps, o] = 1
        name = along(s, name, shape, 2 + i, matrix)
        shape[2 + i] = out
    return s.done("Identity", name) if p == 1 else s.done("Sqrt", name)
