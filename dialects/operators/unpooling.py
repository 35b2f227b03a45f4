"""Pools that remember the places of their elements, and their inverse."""

from collections.abc import Iterator, Sequence

from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, unknown
from memopt.dialects.attributes.operators import WindowAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, shape_of
from memopt.dialects.operators.base import TYPES, ComputeOp
from memopt.dialects.operators.traits import RealsOnly

AHEAD = 0.1
"""Fraction added to places, so that they are rounded down right."""


class PlacesOp(ComputeOp):
    """Base: images of reals, channels last, in windows without dilation."""

    window = prop_def(WindowAttr)
    traits = traits_def(Pure(), RealsOnly())

    def check_images(self, numbered: SSAValue, numbers: SSAValue) -> None:
        shape, out = shape_of(self.operands[0]), shape_of(self.results[0])
        self.require(len(shape) == len(out) == 4, "images have four dimensions")
        self.require(shape_of(numbers) == shape_of(numbered), "a number for each element")
        self.require((shape[0], shape[3]) == (out[0], out[3]), "other images or channels")
        self.sizes()

    def need_floats(self, operands: Sequence[Array]) -> None:
        """Raise MemoptError for operands that are not all float32."""
        if any(str(v.dtype) != "float32" for v in operands):
            raise unknown(self, "other numbers than float32")

    def sizes(self) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
        """Return the sizes of a window, the strides, and the padding above and on the left."""
        kernel, stride, dilation, pad = self.window.sizes
        self.require(tuple(dilation) == (1, 1), "no dilation")
        return (kernel[0], kernel[1]), (stride[0], stride[1]), (pad[0], pad[1])

    def places(self, large: Sequence[int], small: Sequence[int]) -> Iterator[tuple[int, Array]]:
        """Yield each number of an element in a window with its place in the image for every window,
        -1 where it lies outside."""
        kernel, stride, pad = self.sizes()
        for number in range(kernel[0] * kernel[1]):
            at = number // kernel[1], number % kernel[1]
            lines = [np.arange(small[i + 1]) * stride[i] - pad[i] + at[i] for i in range(2)]
            inside = [(v >= 0) & (v < large[i + 1]) for i, v in enumerate(lines)]
            rows, columns = np.meshgrid(*lines, indexing="ij")
            is_inside = inside[0][:, None] & inside[1][None]
            yield number, np.where(is_inside, rows * large[2] + columns, -1)


@operation_definition
class MaxPoolPlacesOp(PlacesOp):
    """The largest element under a window, and its number in the window, the first of equal ones."""

    name = "memgraph.max_pool_places"
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    numbers = result_def(AnyTensor)
    assembly_format = "$input `window` `` $window " + TYPES

    def verify_(self) -> None:
        self.check_images(self.result, self.numbers)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        self.need_floats(operands)
        shape, out = shape_of(self.input), shape_of(self.result)
        flat = operands[0].reshape(shape[0], -1, shape[3])
        best = np.full(out, np.finfo(np.float32).min, np.float32)
        best_number = np.zeros(out, np.float32)
        for number, at in self.places(shape, out):
            seen = np.where((at >= 0)[None, :, :, None], flat[:, at.clip(0)], -np.inf)
            larger = seen > best
            best, best_number = np.where(larger, seen, best), np.where(larger, number, best_number)
        places = best_number.astype(np.float32) + np.float32(AHEAD)
        return [best.astype(np.float32), places]


@operation_definition
class MaxUnpoolOp(PlacesOp):
    """Zeros, but each element of the first operand in its window where the second one says; of what
    falls on one place the last one stays."""

    name = "memgraph.max_unpool"
    input = operand_def(AnyTensor)
    numbers = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    assembly_format = "$input `,` $numbers `window` `` $window " + TYPES

    def verify_(self) -> None:
        self.check_images(self.input, self.numbers)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        self.need_floats(operands)
        shape, out = shape_of(self.input), shape_of(self.result)
        image = np.zeros((out[0], out[1] * out[2], out[3]), np.float32)
        targets = dict(self.places(out, shape))
        numbers = np.trunc(operands[1]).astype(np.int64)
        for index in np.ndindex(*shape):
            at = targets.get(int(numbers[index]))
            place = -1 if at is None else int(at[index[1], index[2]])
            if place >= 0:
                image[index[0], place, index[3]] = operands[0][index]
        return [image.reshape(out)]
