"""Height and width to channels."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.irdl import prop_def, traits_def

from memopt.dialects.arithmetic.stored import Array, need_same_numbers
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.base import TYPES, OfOneOp
from memopt.dialects.operators.traits import Spatial
from memopt.dialects.operators.window import as_laid_out, channels_last


@operation_definition
class SpaceToDepthOp(OfOneOp):
    """Pixels with the channels of a block of `block` x `block` pixels."""

    name = "memgraph.space_to_depth"
    block = prop_def(IntegerAttr[I64])
    traits = traits_def(Spatial())
    TFLITE: ClassVar[str] = "SPACE_TO_DEPTH"
    TFLITE_OPTIONS: ClassVar[Mapping[str, str]] = {"block": "blockSize"}
    assembly_format = "$input `block` $block " + TYPES

    def verify_(self) -> None:
        block, nchw = self.block.value.data, encoding_of(self.input).layout.data == "nchw"
        shape, out = shape_of(self.input), shape_of(self.result)
        self.require(block > 0 and len(shape) == 4, "a block of an image")
        n, c, h, w = shape if nchw else (shape[0], shape[3], *shape[1:3])
        deep = c * block**2
        small = (h // block, w // block)
        self.require(h % block == w % block == 0, f"{h} x {w} pixels in blocks of {block}")
        self.require(out == ((n, deep, *small) if nchw else (n, *small, deep)), "another shape")

    def rows_read(self, operand: int, r: int) -> range | None:
        block = self.block.value.data
        return range(r * block, (r + 1) * block)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        need_same_numbers(self, self.input, self.result)
        block, source = self.block.value.data, channels_last(operands[0], self.input)
        n, h, w, c = source.shape
        small = h // block, w // block
        moved = source.reshape(n, small[0], block, small[1], block, c).transpose(0, 1, 3, 2, 4, 5)
        return [as_laid_out(moved.reshape(n, *small, c * block**2), self.result)]
