"""Convolutions."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import cast

from xdsl.dialects.builtin import IntegerType, UnitAttr
from xdsl.irdl import opt_prop_def, traits_def

from memopt.dialects.arithmetic.fixed_point import need_int32
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, element_of, is_stored, per_tensor, unknown
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.runtimes import interpreter_of
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.interface import OperatorMemory
from memopt.dialects.memgraph.names import place_of
from memopt.dialects.memgraph.plan import scratch_list
from memopt.dialects.memgraph.tensors import (
    channel_axis,
    channels_of,
    element_bits,
    elements_of,
    encoding_of,
    shape_of,
)
from memopt.dialects.operators.base import TYPES, ComputeOp, Range, RowsMode
from memopt.dialects.operators.filtering import FILTERING, FilteringOp
from memopt.dialects.operators.products import (
    convolution_reals,
    need_products,
    need_room,
    real_products,
    requantized,
    sums_between,
    whole_products,
)
from memopt.dialects.operators.real_bounds import of_reals, products_off
from memopt.dialects.operators.traits import Alike, Weights
from memopt.dialects.operators.weighing import WeighingOp, less_zero_point
from memopt.dialects.operators.window import (
    WindowedOp,
    as_laid_out,
    channels_last,
    height_and_width,
    windows,
)

INT32 = IntegerType(32)


class ConvBase(FilteringOp, WindowedOp, WeighingOp):
    traits = traits_def(Alike())

    def verify_(self) -> None:
        self.check_window(self.window, self.input, self.result)
        weights = shape_of(self.weights)
        first = 2 if encoding_of(self.weights).layout.data == "oihw" else 1
        kernel = self.window.sizes[0]
        self.require(
            len(weights) == len(kernel) + 2 and weights[first : first + len(kernel)] == kernel,
            f"weights {weights} do not have the window's kernel {kernel}",
        )
        source, out = channels_of(self.input), channels_of(self.result)
        last = self._out_last and first == 1
        filters, depth = (
            (weights[-1], weights[0]) if last else (weights[0], weights[1 if first == 2 else -1])
        )
        groups = self.groups.value.data
        self.require(filters == out, f"{filters} filters cannot make {out} channels")
        self.require(
            groups > 0 and depth * groups == source,
            f"filters of depth {depth} in {groups} groups do not fit {source} channels",
        )
        bias = out if self.bias is None else elements_of(self.bias)
        self.require(bias == out, f"a bias of {bias} for {out} channels")

    def rows_read(self, operand: int, r: int) -> range | None:
        return self.taps(self.window, r) if operand == 0 else None

    @property
    def is_partial(self) -> bool:
        """Return whether the result is sums of products of integers as they are, to be added up."""
        return is_stored(self.input) and element_of(self.result) == INT32

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if not self.is_partial:
            return super().evaluate(operands)
        if self.bias is not None or self.activation_name:
            raise unknown(self, "a partial sum with more than products")
        shifted = operands[0].astype(np.int64) - per_tensor(self, self.input)[1]
        kernel = operands[1].astype(np.int64) - encoding_of(self.weights).zero_points[0]
        sums = self.sums(shifted, kernel, real=False)
        need_int32(self, sums)
        return [as_laid_out(sums, self.result).astype(np.int32)]

    def sums(self, source: Array, weights: Array, real: bool) -> Array:
        """Return the sums of products of all windows, in which padding is 0."""
        groups = self.groups.value.data
        seen = windows(channels_last(source, self.input), self.window, 0)
        filters = self._filters(weights)
        places = seen.shape[: -1 - len(self.window.kernel)]
        depth = seen.shape[len(places)] // groups
        multiplied = real_products if real else whole_products
        parts: list[Array] = []
        for group, kernel in enumerate(np.split(filters, groups)):
            part = seen[(slice(None),) * len(places) + (slice(group * depth, (group + 1) * depth),)]
            rows = part.reshape(prod(cast("tuple[int, ...]", places)), -1)
            parts.append(multiplied(rows, kernel.reshape(len(kernel), -1)))
        return np.concatenate(parts, axis=-1).reshape(*places, -1)

    @property
    def filter_axis(self) -> int:
        last = self._out_last and encoding_of(self.weights).layout.data != "oihw"
        return len(shape_of(self.weights)) - 1 if last else 0

    @property
    def depth_axis(self) -> int:
        if encoding_of(self.weights).layout.data == "oihw":
            return 1
        return 0 if self._out_last else len(shape_of(self.weights)) - 1

    def mixed(self, weights: Array) -> Array | None:
        if self.groups.value.data != 1:
            return None
        filters = self._filters(less_zero_point(weights, self.weights))
        return filters.reshape(*filters.shape[:2], -1)

    @property
    def _out_last(self) -> bool:
        """Return whether filters are the last dimension of the weights, where these are not
        `oihw`."""
        layouts = self.get_trait(Weights)
        return layouts is not None and layouts.nhwc.endswith("o")

    def extremes(self, least: Sequence[Array], most: Sequence[Array]) -> list[Range] | None:
        """From the least and the most of each channel, wherever it is, at every place of the window
        that sees another part of the padding: of stored integers exact for these, of reals with a
        margin."""
        if of_reals(self, (*least, *most)):
            return self._real_extremes(least, most)
        if (
            not is_stored(self.input)
            or self.is_partial
            or not all(map(np.array_equal, least[1:], most[1:]))
        ):
            return None
        channels = channels_of(self.result)
        bits, scales = need_products(self, self.input, self.weights, self.result, channels)
        kernel, low, high = self._by_filter(least, most)
        ends = sums_between(kernel, low, high, self._seen_taps())
        bias = least[2] if len(least) > 2 else None
        need_room(self, kernel, np.maximum(abs(low), abs(high)), bias)
        reals = convolution_reals(self, self.input, scales)
        rows = [self.stored(requantized(self, sums, bias, reals, bits)) for sums in ends]
        return [self._everywhere(rows[0].min(0), rows[1].max(0))]

    def _real_extremes(self, least: Sequence[Array], most: Sequence[Array]) -> list[Range] | None:
        if not all(map(np.array_equal, least[1:], most[1:])):
            return None
        kernel, low, high = self._by_filter(least, most)
        with np.errstate(invalid="ignore"):  # of weights that are infinite
            ends = sums_between(kernel, low, high, self._seen_taps())
            size = (abs(kernel) * np.maximum(abs(low), abs(high))[:, :, None]).sum((1, 2))
        bias, terms = least[2] if len(least) > 2 else None, prod(kernel.shape[1:])
        bounds = products_off(ends[0].min(0), ends[1].max(0), size, bias, terms)
        if bounds is None:
            return None
        return [self._everywhere(self.activated(bounds[0]), self.activated(bounds[1]))]

    def _everywhere(self, least: Array, most: Array) -> Range:
        """A number of each channel, at every place of the result."""
        shape = shape_of(self.result)
        wide = [1] * len(shape)
        wide[channel_axis(self.result)] = -1
        low, high = (np.broadcast_to(v.reshape(wide), shape) for v in (least, most))
        return low, high

    def _by_filter(self, least: Sequence[Array], most: Sequence[Array]) -> tuple[Array, ...]:
        """The weights as filter, depth, tap, and the least and the most of the channel that stands
        at each filter's depth, all less their zero points."""
        axis, groups = channel_axis(self.input), self.groups.value.data
        low, high = (
            np.moveaxis(less_zero_point(v, self.input), axis, 0).reshape(v.shape[axis], -1)
            for v in (least[0], most[0])
        )
        kernel = self._filters(less_zero_point(least[1], self.weights))
        kernel = kernel.reshape(*kernel.shape[:2], -1)
        depth = int(kernel.shape[1])
        group = np.arange(len(kernel)) // (len(kernel) // groups)
        read = group[:, None] * depth + np.arange(depth)
        return kernel, low.min(1)[read], high.max(1)[read]

    def _seen_taps(self) -> Array:
        """Which taps of a window see an element: a row for each such set that a place has."""
        kernel, stride, dilation, pad = self.window.sizes
        n = len(kernel)
        sizes, places = (height_and_width(v, n) for v in (self.input, self.result))
        taps = np.ones((1, 1), bool)
        for i in range(n):
            at = np.arange(places[i])[:, None] * stride[i] - pad[i]
            at = at + np.arange(kernel[i]) * dilation[i]
            rows: list[list[bool]] = ((at >= 0) & (at < sizes[i])).tolist()
            seen = sorted({tuple(row) for row in rows})  # numpy's way loads masked arrays
            taps = np.kron(taps, np.array(seen))
        return taps

    def padded_taps(self) -> Array:
        return ~self._seen_taps().all(0)

    def _filters(self, weights: Array) -> Array:
        """The weights as filter, depth, tap..."""
        if encoding_of(self.weights).layout.data == "oihw":
            return weights
        if self._out_last:
            return np.moveaxis(weights, -1, 0)
        return np.moveaxis(weights, -1, 1)

    def macs(self) -> int:
        """Every element of the result takes one filter's elements."""
        filters = max(channels_of(self.result), 1)
        return elements_of(self.result) * (elements_of(self.weights) // filters)


@operation_definition
class Conv2DOp(ConvBase):
    """Convolution, `groups` > 1 split channels; weights `ohwi` (NHWC) or `oihw` (NCHW)."""

    name = "memgraph.conv_2d"
    traits = traits_def(Weights("ohwi", "oihw"))


@operation_definition
class DepthwiseConv2DOp(ConvBase):
    """Each channel by itself, `groups` are the channels; weights `ihwo` (NHWC) or `oihw`."""

    name = "memgraph.depthwise_conv_2d"
    traits = traits_def(Weights("ihwo", "oihw"))
    in_place = opt_prop_def(UnitAttr)
    assembly_format = FILTERING + " (`in_place` $in_place^)? " + TYPES

    def verify_(self) -> None:
        super().verify_()
        text = "in_place, which needs one image, one filter to a channel, and a result no larger"
        self.require(self.in_place is None or self.fits_in_place, f"{text} at any row")

    @property
    def fits_in_place(self) -> bool:
        """Return whether one channel after the other can be computed over the operand, rows of one
        channel under the window kept apart: what is written never reaches rows that were not kept
        yet.

        Element i of a channel of the result lies where element i of that channel of the operand
        does, if channels are last, and not behind it, if they are first.
        """
        shape = shape_of(self.input)
        layouts = {encoding_of(v).layout.data for v in (self.input, self.result)}
        size = element_bits(element_of(self.input))
        if len(shape) != 4 or shape[0] != 1 or layouts not in ({"nhwc"}, {"nchw"}):
            return False
        if {channels_of(self.input), channels_of(self.result)} != {self.groups.value.data}:
            return False
        if size % 8 or size != element_bits(element_of(self.result)):
            return False
        (rows, width), (result_rows, across) = (
            height_and_width(v) for v in (self.input, self.result)
        )
        if result_rows * across > rows * width:
            return False
        stride, above, span = self.window.sizes[1][0], self.window.sizes[3][0], self.span
        rows_held = (min(r * stride - above + span, rows) for r in range(result_rows))
        return all((r + 1) * across <= width * k or k == rows for r, k in enumerate(rows_held))

    @property
    def span(self) -> int:
        """The rows from the first under the window to the last, those between the taps too."""
        kernel, _, dilation, _ = (v[0] for v in self.window.sizes)
        return (kernel - 1) * dilation + 1

    @property
    def kept_in_place(self) -> int:
        """Bytes of scratch in place: the rows of one channel under the window; 0 if it is not."""
        if self.in_place is None:
            return 0
        rows, width = height_and_width(self.input)
        return min(self.span, rows) * width * (element_bits(element_of(self.input)) // 8)

    def memory(self, model: ModelAttr) -> OperatorMemory:
        """Raises MemoptError for a runtime whose kernel is not in place, and for less scratch."""
        answer, scratch = super().memory(model), self.kept_in_place
        if not scratch or not answer.executes:
            return answer
        if runtime := interpreter_of(model):
            raise MemoptError(f"in_place, as no kernel of {runtime} is", place_of(self))
        given = scratch_list(self)
        if given is not None and sum(s.bytes.data for s in given) < scratch:
            raise MemoptError(f"in_place, with less scratch than {scratch} B", place_of(self))
        return replace(answer, workspace=(scratch,))

    def may_overwrite(self, operand: int) -> bool:
        return operand == 0 and self.in_place is not None

    @property
    def rows_mode(self) -> RowsMode | None:
        """Rows that lie apart need no scratch: `one_by_one` has them."""
        return None if self.in_place is not None else super().rows_mode

    def one_by_one(self) -> Sequence[ComputeOp]:
        if self.in_place is None:
            return ()
        properties = {k: v for k, v in self.properties.items() if k != "in_place"}
        types = [self.result.type]
        plain = DepthwiseConv2DOp.create(
            operands=self.operands, result_types=types, properties=properties
        )
        return (plain,)

    def channels_read(self, operand: int, result: int) -> tuple[int, ...] | None:
        """Return the one channel of each filter, where there are as many groups as channels."""
        source, filters = channels_of(self.input), channels_of(self.result)
        if operand or source != self.groups.value.data or filters % source:
            return None
        return tuple(c // (filters // source) for c in range(filters))
