"""Convolutions."""

from collections.abc import Sequence
from math import prod
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    I64,
    IntegerAttr,
)
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from memopt.dialects.attributes import ActivationAttr, RoundingAttr, WindowAttr
from memopt.dialects.operators.base import ACTIVATION, ROUNDING, TYPES
from memopt.dialects.operators.products import (
    convolution_reals,
    need_products,
    real_products,
    requantized,
    whole_products,
)
from memopt.dialects.operators.window import WindowedOp, as_laid_out, channels_last, windows
from memopt.dialects.stored import Array, is_stored, need_reals, per_tensor
from memopt.dialects.tensors import AnyTensor, channels_of, elements_of, encoding_of, shape_of


class ConvBase(WindowedOp):
    input = operand_def(AnyTensor)
    weights = operand_def(AnyTensor)
    bias = opt_operand_def(AnyTensor)
    result = result_def(AnyTensor)
    window = prop_def(WindowAttr)
    groups = prop_def(IntegerAttr[I64])
    activation = opt_prop_def(ActivationAttr)
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Pure())
    assembly_format = (
        "$input `,` $weights (`,` $bias^)? `window` `` $window `groups` $groups"
        + ACTIVATION
        + ROUNDING
        + " "
        + TYPES
    )

    OUT_LAST: ClassVar[bool] = False  # weights `ihwo`, not `ohwi`, where they are not `oihw`

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
        last = self.OUT_LAST and first == 1
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

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        import numpy as np

        bias = operands[2] if len(operands) > 2 else None
        if not any(is_stored(v) for v in self.operands) and not is_stored(self.result):
            need_reals(self, *operands)
            sums = self._sums(operands[0], operands[1], real=True)
            total = sums if bias is None else sums + bias.reshape(-1).astype(np.float64)
            exact = self.activated(as_laid_out(total, self.result))
            return [exact.astype(operands[0].dtype)]
        channels = channels_of(self.result)
        bits, scales = need_products(self, self.input, self.weights, self.result, channels)
        shifted = operands[0].astype(np.int64) - per_tensor(self, self.input)[1]
        kernel = operands[1].astype(np.int64) - encoding_of(self.weights).zero_points[0]
        sums = self._sums(shifted, kernel, real=False)
        reals = convolution_reals(self, self.input, scales)
        whole = requantized(self, sums, bias, reals, bits)
        return [self.stored(as_laid_out(whole, self.result))]

    def _sums(self, source: Array, weights: Array, real: bool) -> Array:
        """The sums of products, channels last. What is padded is 0."""
        import numpy as np

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

    def _filters(self, weights: Array) -> Array:
        """The weights as filter, depth, tap..."""
        import numpy as np

        if encoding_of(self.weights).layout.data == "oihw":
            return weights
        if self.OUT_LAST:
            return np.moveaxis(weights, -1, 0)
        return np.moveaxis(weights, -1, 1)

    def macs(self) -> int:
        """Every element of the result takes one filter's elements."""
        filters = max(channels_of(self.result), 1)
        return elements_of(self.result) * (elements_of(self.weights) // filters)


@irdl_op_definition
class Conv2DOp(ConvBase):
    """Two-dimensional convolution; `groups` > 1 splits channels."""

    name = "memgraph.conv_2d"


@irdl_op_definition
class DepthwiseConv2DOp(ConvBase):
    """Convolution of each channel by itself; `groups` is the number of input channels."""

    name = "memgraph.depthwise_conv_2d"
    OUT_LAST: ClassVar[bool] = True
