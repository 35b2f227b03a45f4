"""Convolutions of integers that stand for themselves but for their zero points."""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.irdl import operand_def, prop_def, traits_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, is_stored, unknown
from memopt.dialects.attributes.operators import WindowAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, shape_of
from memopt.dialects.operators.base import TYPES, OneResultOp
from memopt.dialects.operators.traits import RealsOnly


@operation_definition
class ConvIntegerOp(OneResultOp):
    """Sums of int32 of products of images, [n, channels, h, w], and filters, [filters, channels of
    a group, h, w], of int8 and uint8, less their zero points: one of the image, and one of all
    filters or of each. Padding is the image's zero point."""

    name = "memgraph.conv_integer"
    input = operand_def(AnyTensor)
    weights = operand_def(AnyTensor)
    zero = operand_def(AnyTensor)
    weights_zero = operand_def(AnyTensor)
    window = prop_def(WindowAttr)
    groups = prop_def(IntegerAttr[I64])
    traits = traits_def(RealsOnly())
    assembly_format = (
        "$input `,` $weights `zero` $zero `,` $weights_zero `window` `` $window `groups` $groups "
        + TYPES
    )

    def verify_(self) -> None:
        shape, filters, out = (shape_of(v) for v in (self.input, self.weights, self.result))
        self.require(len(shape) == len(filters) == len(out) == 4, "images and filters")
        groups = self.groups.value.data
        fits = groups > 0 and filters[0] % groups == 0 and shape[1] == filters[1] * groups
        self.require(fits, f"{groups} groups of {shape[1]} channels and {filters[0]} filters")
        kernel, stride, dilation, pad = self.window.sizes
        self.require(kernel == filters[2:], "filters of the window's size")
        ends = pad[:2], pad[2:]
        sizes = [
            (n + a + b - d * (k - 1) - 1) // s + 1
            for n, a, b, k, s, d in zip(shape[2:], *ends, kernel, stride, dilation, strict=True)
        ]
        self.require(out == (shape[0], filters[0], *sizes), f"the result's size must be {sizes}")
        self.require(elements_of(self.zero) == 1, "one zero point of the image")
        self.require(elements_of(self.weights_zero) in (1, filters[0]), "zero points of filters")

    def macs(self) -> int:
        _, depth, *kernel = shape_of(self.weights)
        return elements_of(self.result) * depth * kernel[0] * kernel[1]

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if any(is_stored(v) for v in (*self.operands, self.result)):
            raise unknown(self, "integers with a scale")
        if any(a.dtype not in (np.int8, np.uint8) for a in operands):
            raise unknown(self, "other integers than those of 8 bits")
        x, w, zero, w_zero = (a.astype(np.int64) for a in operands)
        (_, stride, dilation, pad), out = self.window.sizes, shape_of(self.result)
        x = np.pad(x - zero.reshape(()), ((0, 0), (0, 0), (pad[0], pad[2]), (pad[1], pad[3])))
        w = w - w_zero.reshape(-1, 1, 1, 1)
        filters, depth, height, width = w.shape
        groups = self.groups.value.data
        x = x.reshape(x.shape[0], groups, depth, *x.shape[2:])
        each = w.reshape(groups, filters // groups, depth, height, width)
        sums: Array = np.zeros((out[0], groups, filters // groups, *out[2:]), np.int64)
        for i in range(height):
            for j in range(width):
                top, column = i * dilation[0], j * dilation[1]
                tall = slice(top, top + stride[0] * (out[2] - 1) + 1, stride[0])
                wide = slice(column, column + stride[1] * (out[3] - 1) + 1, stride[1])
                sums += np.einsum("ngchw,gfc->ngfhw", x[:, :, :, tall, wide], each[..., i, j])
        return [sums.reshape(out).astype(np.int32)]
