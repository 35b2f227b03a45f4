"""Operators that slide a window over height and width."""

from collections.abc import Sequence
from typing import Literal

from xdsl.ir import SSAValue
from xdsl.irdl import traits_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.attributes.operators import WindowAttr
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import Spatial
from memopt.dialects.rows.questions import taps


class WindowedOp(ComputeOp):
    """Base of what slides a window: the result's height and width follow from it."""

    traits = traits_def(Spatial())

    @property
    def padding(self) -> Literal["zero", "lowest", "absent"]:
        """Return the value that the window's own padding counts as: real 0, less than any number,
        or nothing."""
        return "zero"

    def check_window(self, window: WindowAttr, source: SSAValue, result: SSAValue) -> None:
        shape, out = shape_of(source), shape_of(result)
        self.require(len(shape) == len(out) == len(window.kernel) + 2, "rank does not fit window")
        first = first_spatial(source)
        kernel, stride, dilation, pad = window.sizes
        n = len(kernel)
        for i in range(n):
            span = dilation[i] * (kernel[i] - 1) + 1
            expected = (shape[first + i] + pad[i] + pad[i + n] - span) // stride[i] + 1
            self.require(
                out[first + i] == expected,
                f"dimension {first + i} of the result is {out[first + i]}, not {expected}",
            )
        self.require(shape[0] == out[0], f"{shape[0]} batches in, {out[0]} out")

    def alike(self, r: int) -> bool:
        """Return whether no tap is in the padding."""
        window, needed = self.properties.get("window"), self.rows_needed(0, r)
        assert isinstance(window, WindowAttr)
        return needed is not None and len(needed) == window.sizes[0][0]

    def taps(self, window: WindowAttr, r: int) -> range:
        """The rows of operand 0 under the window of row `r`; not those in the padding."""
        kernel, stride, dilation, pad = (v[0] for v in window.sizes)
        return taps(kernel, stride, dilation, pad, shape_of(self.operands[0])[1], r)


def height_and_width(value: SSAValue, dimensions: int = 2) -> tuple[int, ...]:
    """The sizes of the dimensions that a window slides over; there may be one or three."""
    first = first_spatial(value)
    return shape_of(value)[first : first + dimensions]


def first_spatial(value: SSAValue) -> int:
    """The dimension that is the height: the third of NCHW, else the second."""
    return 2 if encoding_of(value).layout.data == "nchw" else 1


def sees_elements(window: WindowAttr, sizes: Sequence[int], places: Sequence[int]) -> bool:
    """Return whether every window of a tensor has an element that is no padding. `sizes` are the
    tensor's height and width, `places` the windows down and across."""
    kernel, stride, dilation, pad = window.sizes
    return all(
        any(0 <= place * stride[i] - pad[i] + tap * dilation[i] < size for tap in range(kernel[i]))
        for i, size in enumerate(sizes)
        for place in range(places[i])
    )


def channels_last(array: Array, value: SSAValue) -> Array:
    """An NCHW array as NHWC; any other as it is."""
    return np.moveaxis(array, 1, -1) if encoding_of(value).layout.data == "nchw" else array


def as_laid_out(array: Array, value: SSAValue) -> Array:
    """A channels-last array in the layout of `value`."""
    nchw = encoding_of(value).layout.data == "nchw"
    return np.ascontiguousarray(np.moveaxis(array, -1, 1) if nchw else array)


def windows(array: Array, window: WindowAttr, fill: float) -> Array:
    """Every window of a channels-last array: batch, place..., channel, tap...; `fill` outside."""
    from numpy.lib.stride_tricks import sliding_window_view

    kernel, stride, dilation, pad = window.sizes
    n = len(kernel)
    around = [(0, 0), *((pad[i], pad[i + n]) for i in range(n)), (0, 0)]
    padded = np.pad(array, around, constant_values=fill)
    span = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True))
    view = sliding_window_view(padded, span, axis=tuple(range(1, n + 1)))  # type: ignore[call-overload]
    places = tuple(slice(None, None, s) for s in stride)
    taps = tuple(slice(None, None, d) for d in dilation)
    return view[(slice(None), *places, slice(None), *taps)]
