"""Transposed convolution."""

from collections.abc import Mapping, Sequence
from math import gcd
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import traits_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, is_stored, stored_bits
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import channels_of, elements_of, encoding_of, shape_of
from memopt.dialects.operators.filtering import FilteringOp
from memopt.dialects.operators.products import real_products, whole_products
from memopt.dialects.operators.traits import Spatial, Weights
from memopt.dialects.operators.window import channels_last, first_spatial


@operation_definition
class TransposeConv2DOp(FilteringOp):
    """Every element times a window of weights is added to the result from `stride` times its place
    on; `pad` is cut off, what nothing is added to is the bias. Weights `iohw`, of all channels of
    the input and those of the result of one group, or `ohwi`, the other way round."""

    name = "memgraph.transpose_conv_2d"
    OFFSET_WEIGHTS: ClassVar[bool] = False
    traits = traits_def(Spatial(), Weights("ohwi", "iohw"))

    def verify_(self) -> None:
        shape, out, weights = (shape_of(v) for v in (self.input, self.result, self.weights))
        kernel, stride, dilation, pad = self.window.sizes
        self.require(len(shape) == len(out) == len(weights) == 4 and len(kernel) == 2, "no images")
        first = first_spatial(self.input)
        for i in range(2):
            span = dilation[i] * (kernel[i] - 1) + 1
            least = (shape[first + i] - 1) * stride[i] + span - pad[i] - pad[i + 2]
            self.require(
                0 < least <= out[first + i] < least + stride[i],
                f"dimension {first + i} of the result is {out[first + i]}, not {least}",
            )
        deep, places, filters = self._dimensions(weights)
        groups, channels = self.groups.value.data, channels_of(self.result)
        self.require(places == kernel, f"weights {weights} do not have the window's {kernel}")
        self.require(shape[0] == out[0], f"{shape[0]} batches in, {out[0]} out")
        self.require(
            groups > 0 and deep == channels_of(self.input) and filters * groups == channels,
            f"weights {weights} in {groups} groups do not make {channels} channels",
        )
        bias = channels if self.bias is None else elements_of(self.bias)
        self.require(bias == channels, f"a bias of {bias} for {channels} channels")

    def reordered(self, order: Sequence[int]) -> Mapping[str, Attribute] | None:
        """Weights of several groups have one scale."""
        of_filters = encoding_of(self.weights).axis.data >= 0
        return None if of_filters and self.groups.value.data > 1 else self.properties

    @property
    def filter_axis(self) -> int:
        """Return the dimension of the weights along which channels of a group's result stand."""
        return 1 if encoding_of(self.weights).layout.data == "iohw" else 0

    def _dimensions(self, weights: tuple[int, ...]) -> tuple[int, tuple[int, ...], int]:
        """(channels in, height and width, channels out of one group) of the weights."""
        if encoding_of(self.weights).layout.data == "iohw":
            return weights[0], weights[2:], weights[1]
        groups = self.groups.value.data
        return weights[3] * groups, weights[1:3], weights[0] // groups

    def rows_read(self, operand: int, r: int) -> range | None:
        """Return the rows from which a tap of the window reaches row r."""
        if operand != 0:
            return None
        kernel, stride, dilation, pad = (sizes[0] for sizes in self.window.sizes)
        rows = shape_of(self.input)[1]
        at = [r + pad - tap * dilation for tap in reversed(range(kernel))]
        rows_reached = [a // stride for a in at if a % stride == 0 and 0 <= a < rows * stride]
        step = dilation // gcd(dilation, stride)
        return range(rows_reached[0], rows_reached[-1] + 1, step) if rows_reached else range(0)

    def sums(self, source: Array, weights: Array, real: bool) -> Array:
        """Tap after tap, so that those of an element do not depend on the others'."""
        if is_stored(self.input):
            stored_bits(self, self.input, self.result, unsigned=True)
        kernel, stride, dilation, pad = self.window.sizes
        groups, images = self.groups.value.data, channels_last(source, self.input)
        n, h, w, _ = images.shape
        first = first_spatial(self.result)
        out = shape_of(self.result)[first : first + 2]
        sizes = [
            max(s * (m - 1) + d * (k - 1) + 1, p + o)
            for s, m, d, k, p, o in zip(stride, (h, w), dilation, kernel, pad, out, strict=False)
        ]
        number = np.float64 if real else np.int64
        total = np.zeros((n, *sizes, channels_of(self.result)), number)
        multiplied = real_products if real else whole_products
        for y in range(kernel[0]):
            for x in range(kernel[1]):
                products = [
                    multiplied(part.reshape(-1, part.shape[-1]), filters[:, y, x])
                    for part, filters in zip(
                        np.split(images, groups, axis=3), self._filters(weights), strict=True
                    )
                ]
                places = tuple(
                    slice(t * d, t * d + s * (m - 1) + 1, s)
                    for t, d, s, m in zip((y, x), dilation, stride, (h, w), strict=True)
                )
                products_of_tap = np.concatenate(products, axis=-1).reshape(n, h, w, -1)
                total[(slice(None), *places)] += products_of_tap.astype(number)
        return total[:, pad[0] : pad[0] + out[0], pad[1] : pad[1] + out[1]]

    def _filters(self, weights: Array) -> list[Array]:
        """Return the filters of each group: channel out, tap..., channel in."""
        groups = self.groups.value.data
        if encoding_of(self.weights).layout.data == "iohw":
            return [np.moveaxis(w, 0, -1) for w in np.split(weights, groups)]
        return list(np.split(weights, groups))

    def macs(self) -> int:
        """Every element of the input meets the weights of its channel."""
        channels = max(channels_of(self.input), 1)
        return elements_of(self.input) * (elements_of(self.weights) // channels)
