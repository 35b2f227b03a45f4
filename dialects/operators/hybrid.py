"""Products of reals with stored weights: the input is quantized at run time, as LiteRT does."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr, IntegerType, UnitAttr
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, traits_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, element_of, unknown
from memopt.dialects.attributes.operators import ActivationAttr, WindowAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import (
    AnyTensor,
    channels_of,
    elements_of,
    encoding_of,
    shape_of,
)
from memopt.dialects.operators.base import ACTIVATION, TYPES, OneResultOp
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.filtering import FilteringOp
from memopt.dialects.operators.products import whole_products
from memopt.dialects.operators.traits import Weights
from memopt.dialects.operators.transpose_convolution import TransposeConv2DOp
from memopt.dialects.operators.window import WindowedOp, as_laid_out


def symmetric(values: Array) -> tuple[Array, Array, int]:
    """(int8, scale, zero point) of reals: 0 stays 0, the largest size is 127
    (PortableSymmetricQuantizeFloats)."""
    size = np.float32(np.abs(values).max(initial=0))
    if size == 0:
        return np.zeros(values.shape, np.int64), np.float32(1), 0
    steps = (values * (np.float32(127) / size)).astype(np.float64)
    return np.clip(_away(steps), -127, 127), size / np.float32(127), 0


def asymmetric(values: Array) -> tuple[Array, Array, int]:
    """(int8, scale, zero point) of reals: the least is -128, the largest 127, and 0 is a whole
    number (PortableAsymmetricQuantizeFloats)."""
    ends = values.min(initial=0), values.max(initial=0)
    low, high = (float(v) for v in ends)
    if low == high:
        return np.zeros(values.shape, np.int64), np.float32(1), 0
    scale = float(np.float32(ends[1]) - np.float32(ends[0])) / 255  # a float32's difference
    from_low, from_high = -128 - low / scale, 127 - high / scale
    nearer = from_low if 128 + abs(low / scale) < 127 + abs(high / scale) else from_high
    zero = int(_away(np.float64(min(max(nearer, -128.0), 127.0))))
    inverse = np.float32(1) / np.float32(scale)
    steps = (np.float32(zero) + values * inverse).astype(np.float64)
    return np.clip(_away(steps), -128, 127), np.float32(scale), zero


def quantized_rows(values: Array, between_ends: bool) -> tuple[Array, Array]:
    """(integers less their zero point, a scale each) of rows of reals, each quantized by itself,
    `between_ends` as `asymmetric` does."""
    rule = asymmetric if between_ends else symmetric
    rows = [rule(row) for row in values]
    steps: Array = np.array([scale for _, scale, _ in rows], np.float32)[:, None]
    return np.stack([q - zero for q, _, zero in rows]), steps


def _away(values: Array) -> Array:
    """Whole numbers, halves away from zero."""
    return np.copysign(np.floor(np.abs(values) + 0.5), values).astype(np.int64)


class HybridOp(OneResultOp):
    """Base: float32, with int8 weights of one scale or of one per channel."""

    input = operand_def(AnyTensor)
    weights = operand_def(AnyTensor)
    bias = opt_operand_def(AnyTensor)
    activation = opt_prop_def(ActivationAttr)

    def need_stored_weights(self, channels: int) -> None:
        encoding = encoding_of(self.weights)
        self.require(
            element_of(self.weights) in (IntegerType(8), IntegerType(4))
            and len(encoding.scales) in (1, channels)
            and not any(encoding.zero_points),
            "weights must be int8 or int4 with a scale, or one per channel, and no zero point",
        )

    @property
    def scales(self) -> tuple[float, ...]:
        return encoding_of(self.weights).scales

    def with_bias(self, values: Array, operands: Sequence[Array]) -> Array:
        """float32 values, channels last, plus bias, activated."""
        total = values + operands[2].reshape(-1) if len(operands) > 2 else values
        return self.activated(total)


class HybridConvBase(HybridOp, WindowedOp):
    """`SAME`: the operation of one type, which does the products."""

    SAME: ClassVar[type[FilteringOp]]
    window = prop_def(WindowAttr)
    groups = prop_def(IntegerAttr[I64])
    assembly_format = (
        "$input `,` $weights (`,` $bias^)? `window` `` $window `groups` $groups"
        + ACTIVATION
        + " "
        + TYPES
    )

    def verify_(self) -> None:
        same = self._same()
        try:
            same.verify_()
        finally:
            same.drop_all_references()
        self.need_stored_weights(channels_of(self.result))

    def _same(self) -> FilteringOp:
        return self.SAME.create(
            operands=self.operands, result_types=self.result_types, properties=self.properties
        )

    @property
    def is_symmetric(self) -> bool:
        """Return whether 0 of the input stays 0: with one scale for all filters."""
        return len(self.scales) == 1

    def macs(self) -> int:
        filters = max(channels_of(self.result), 1)
        return elements_of(self.result) * (elements_of(self.weights) // filters)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """conv.cc, depthwise_conv.cc: EvalHybrid, EvalHybridPerChannel; each image by itself."""
        if str(operands[0].dtype) != "float32":
            raise unknown(self, f"{operands[0].dtype} with stored weights")
        rule = symmetric if self.is_symmetric else asymmetric
        images = [rule(image) for image in operands[0]]
        shifted = np.stack([q - zero for q, _, zero in images])
        same = self._same()
        try:
            sums = same.sums(shifted, operands[1].astype(np.int64), real=False)
        finally:
            same.drop_all_references()
        steps = np.array([scale for _, scale, _ in images], np.float32)
        steps = steps.reshape(-1, *[1] * (sums.ndim - 1))
        scaled = self.scaled(sums.astype(np.float32), steps, np.array(self.scales, np.float32))
        return [as_laid_out(self.with_bias(scaled, operands), self.result).astype(np.float32)]

    def scaled(self, sums: Array, steps: Array, scales: Array) -> Array:
        """The sums of images of these scales with weights of those."""
        return sums * (steps * scales) if self.is_symmetric else sums * scales * steps


@operation_definition
class HybridConv2DOp(HybridConvBase):
    """Convolution of reals with int8 weights; each image is quantized as it comes."""

    name = "memgraph.hybrid_conv_2d"
    SAME: ClassVar[type[FilteringOp]] = Conv2DOp
    traits = traits_def(Weights("ohwi"))


@operation_definition
class HybridDepthwiseConv2DOp(HybridConvBase):
    """Hybrid convolution of each channel by itself."""

    name = "memgraph.hybrid_depthwise_conv_2d"
    SAME: ClassVar[type[FilteringOp]] = DepthwiseConv2DOp
    traits = traits_def(Weights("ihwo"))

    @property
    def is_symmetric(self) -> bool:
        return False

    def scaled(self, sums: Array, steps: Array, scales: Array) -> Array:
        return sums * (scales * steps)


@operation_definition
class HybridTransposeConv2DOp(HybridConvBase):
    """Transposed convolution of reals with int8 weights; each image is quantized as it comes."""

    name = "memgraph.hybrid_transpose_conv_2d"
    SAME: ClassVar[type[FilteringOp]] = TransposeConv2DOp
    traits = traits_def(Weights("ohwi"))

    @property
    def is_symmetric(self) -> bool:
        """Never, also with one scale for all filters (transpose_conv.cc)."""
        return False

    def macs(self) -> int:
        channels = max(channels_of(self.input), 1)
        return elements_of(self.input) * (elements_of(self.weights) // channels)


@operation_definition
class HybridFullyConnectedOp(HybridOp):
    """input (rows of `weights`' last dimension) times transposed int8 weights, or with `by_columns`
    times weights that are not transposed, plus bias; each row is quantized as it comes, with
    `asymmetric` between its least and its largest number."""

    name = "memgraph.hybrid_fully_connected"
    keep_dims = opt_prop_def(UnitAttr)
    asymmetric = opt_prop_def(UnitAttr)
    by_columns = opt_prop_def(UnitAttr)
    assembly_format = (
        "$input `,` $weights (`,` $bias^)? (`keep_dims` $keep_dims^)? (`asymmetric` $asymmetric^)?"
        " (`by_columns` $by_columns^)?" + ACTIVATION + " " + TYPES
    )

    def verify_(self) -> None:
        self.require(len(shape_of(self.weights)) == 2, "weights must have two dimensions")
        weights = self.matrix
        self.require(weights[1] > 0, "weights without elements")
        self.require(self.by_columns is None or len(self.scales) == 1, "one scale of columns")
        size, out = elements_of(self.input), elements_of(self.result)
        self.require(
            size % weights[1] == 0 and out == size // weights[1] * weights[0],
            f"{size} elements times weights {weights} are not {out}",
        )
        bias = weights[0] if self.bias is None else elements_of(self.bias)
        self.require(bias == weights[0], f"a bias of {bias} for {weights[0]} columns")
        self.need_stored_weights(weights[0])

    @property
    def matrix(self) -> tuple[int, int]:
        """Return the number of columns of the result and that of elements of an input row."""
        first, second = shape_of(self.weights)
        return (first, second) if self.by_columns is None else (second, first)

    def macs(self) -> int:
        return elements_of(self.result) * self.matrix[1]

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """fully_connected.cc: EvalHybrid; the products are added to the bias."""
        if str(operands[0].dtype) != "float32":
            raise unknown(self, f"{operands[0].dtype} with stored weights")
        weights = operands[1].astype(np.int64)
        weights = weights if self.by_columns is None else weights.T
        rows = operands[0].reshape(-1, weights.shape[1])
        integers, steps = quantized_rows(rows, self.asymmetric is not None)
        sums = whole_products(integers, weights)
        scales = steps * np.array(self.scales, np.float32)
        biased = self.with_bias(sums.astype(np.float32) * scales, operands)
        return [biased.reshape(shape_of(self.result)).astype(np.float32)]
