"""Channels to height and width."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr, UnitAttr
from xdsl.irdl import opt_prop_def, prop_def, traits_def

from memopt.dialects.arithmetic.stored import Array, need_same_numbers
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.base import TYPES, OfOneOp
from memopt.dialects.operators.traits import Moves, Spatial
from memopt.dialects.operators.window import as_laid_out, channels_last


@operation_definition
class DepthToSpaceOp(OfOneOp):
    """Blocks of `block` x `block` pixels from as many times the channels, which stand pixel by
    pixel; with `by_channel` all pixels of a channel stand together (ONNX's CRD)."""

    name = "memgraph.depth_to_space"
    block = prop_def(IntegerAttr[I64])
    by_channel = opt_prop_def(UnitAttr)
    traits = traits_def(Moves(), Spatial())
    TFLITE: ClassVar[str] = "DEPTH_TO_SPACE"
    TFLITE_OPTIONS: ClassVar[Mapping[str, str]] = {"block": "blockSize"}
    assembly_format = "$input `block` $block (`by_channel` $by_channel^)? " + TYPES

    def verify_(self) -> None:
        block, nchw = self.block.value.data, encoding_of(self.input).layout.data == "nchw"
        shape, out = shape_of(self.input), shape_of(self.result)
        self.require(block > 0 and len(shape) == 4, "a block of an image")
        n, c, h, w = shape if nchw else (shape[0], shape[3], *shape[1:3])
        self.require(c % block**2 == 0, f"{c} channels in blocks of {block}")
        deep, wide = c // block**2, (h * block, w * block)
        expected = (n, deep, *wide) if nchw else (n, *wide, deep)
        self.require(out == expected, f"the result's shape must be {expected}")

    def rows_read(self, operand: int, r: int) -> range | None:
        row = r // self.block.value.data
        return range(row, row + 1)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        need_same_numbers(self, self.input, self.result)
        block, source = self.block.value.data, channels_last(operands[0], self.input)
        n, h, w, c = source.shape
        deep = c // block**2
        if self.by_channel is None:
            moved = source.reshape(n, h, w, block, block, deep).transpose(0, 1, 3, 2, 4, 5)
        else:
            moved = source.reshape(n, h, w, deep, block, block).transpose(0, 1, 4, 2, 5, 3)
        return [as_laid_out(moved.reshape(n, h * block, w * block, deep), self.result)]
