"""Resizing of images."""

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import opt_prop_def, traits_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import (
    Array,
    is_stored,
    is_unsigned,
    need_same_numbers,
    stored_bits,
    unknown,
)
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.base import TYPES, OfOneOp, Range
from memopt.dialects.operators.real_bounds import means_between
from memopt.dialects.operators.traits import ByChannel, Monotone, Spatial
from memopt.dialects.operators.window import as_laid_out, channels_last


class ResizeBase(OfOneOp):
    align_corners = opt_prop_def(UnitAttr)
    half_pixel_centers = opt_prop_def(UnitAttr)
    traits = traits_def(ByChannel(), Monotone(), Spatial())
    assembly_format = (
        "$input (`align_corners` $align_corners^)? (`half_pixel_centers` $half_pixel_centers^)? "
        + TYPES
    )

    def verify_(self) -> None:
        shape, out = shape_of(self.input), shape_of(self.result)
        first = 2 if encoding_of(self.input).layout.data == "nchw" else 1
        fits = (
            len(shape) == len(out) == 4
            and shape[:first] == out[:first]
            and shape[first + 2 :] == out[first + 2 :]
        )
        self.require(fits, f"only height and width may change from {shape} to {out}")

    def sizes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """(height, width), each before and after."""
        shape, out = shape_of(self.input), shape_of(self.result)
        first = 2 if encoding_of(self.input).layout.data == "nchw" else 1
        return (shape[first], out[first]), (shape[first + 1], out[first + 1])

    def scale(self, size: int, out: int) -> Array:
        """Elements before per element after, as a float32."""
        corners = self.align_corners is not None and out > 1
        a, b = (size - 1, out - 1) if corners else (size, out)
        return np.float32(a) / np.float32(b)


@operation_definition
class ResizeBilinearOp(ResizeBase):
    """Another height and width, of the four nearest elements each."""

    name = "memgraph.resize_bilinear"

    def neighbours(self, size: int, out: int) -> tuple[Array, Array, Array]:
        """Per element after: the one before, the one behind, and the part that the latter has."""
        at = np.arange(out, dtype=np.float32) * self.scale(size, out)
        if self.half_pixel_centers is not None:
            half = np.float32(0.5)
            at = (np.arange(out, dtype=np.float32) + half) * self.scale(size, out) - half
        low = np.maximum(np.floor(at), 0).astype(np.int64)
        high = np.minimum(np.ceil(at), size - 1).astype(np.int64)
        return np.minimum(low, size - 1), np.maximum(high, 0), at - low.astype(np.float32)

    def neighbours_in_1024(self, size: int, out: int) -> tuple[Array, Array, Array]:
        """Return the neighbours in integers, the part in 1024ths
        (ComputeInterpolationValuesInteger)."""
        corners = self.align_corners is not None and out > 1
        a, b = (size - 1, out - 1) if corners else (size, out)
        scale = (1024 * a + b // 2) // b
        at = np.arange(out, dtype=np.int64) * scale
        if self.half_pixel_centers is not None:
            at = at + scale // 2 - 512
        low = np.clip(np.trunc(at / 1024).astype(np.int64), 0, size - 1)
        high = np.clip(np.trunc((at + 1023) / 1024).astype(np.int64), 0, size - 1)
        return low, high, at - 1024 * low

    def extremes(self, least: Sequence[Array], most: Sequence[Array]) -> list[Range] | None:
        """Return the ends of the result; of reals with a margin for the four products."""
        if is_stored(self.input):
            return super().extremes(least, most)
        return means_between(self, least[0], most[0], 4)

    def rows_read(self, operand: int, r: int) -> range | None:
        rule = self.neighbours_in_1024 if self.is_exact else self.neighbours
        low, high, part = (v[r] for v in rule(*self.sizes()[0]))
        return range(int(low), int(high if part else low) + 1)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """resize_bilinear.h: the four neighbours, weighted."""
        need_same_numbers(self, self.input, self.result)
        source, is_integer = channels_last(operands[0], self.input), is_stored(self.input)
        if is_integer:
            stored_bits(self, self.input, self.result, unsigned=True)  # refuses others
        if not is_integer and source.dtype.kind != "f":
            raise unknown(self, f"a bilinear resize of {source.dtype}")
        if is_unsigned(self.input):
            return [as_laid_out(self._of_bytes(source), self.result)]
        rule, one = (self.neighbours_in_1024, 1024) if is_integer else (self.neighbours, 1)
        source = source.astype(np.int64 if is_integer else np.float64)
        total = None
        (top, bottom, down), (before, right, across) = (rule(*size) for size in self.sizes())
        down, across = down[:, None, None], across[None, :, None]
        for rows, row_part in ((top, one - down), (bottom, down)):
            for columns, column_part in ((before, one - across), (right, across)):
                part = source[:, rows][:, :, columns] * row_part * column_part
                total = part if total is None else total + part
        assert total is not None
        if is_integer:
            total = np.sign(total) * ((np.abs(total) + (1 << 19)) >> 20)
        return [as_laid_out(total.astype(operands[0].dtype), self.result)]

    @property
    def is_exact(self) -> bool:
        """Return whether sums are of integers; uint8 are weighted as reals."""
        return is_stored(self.input) and not is_unsigned(self.input)

    def _of_bytes(self, source: Array) -> Array:
        """Return the result of uint8, which are weighted as float32, one product after the
        other."""
        wide, one = source.astype(np.float32), np.float32(1)
        (top, bottom, down), (before, right, across) = (self.neighbours(*n) for n in self.sizes())
        down, across = down[:, None, None], across[None, :, None]
        total = np.float32(0)
        for columns, column_part in ((before, one - across), (right, across)):
            for rows, row_part in ((top, one - down), (bottom, down)):
                total = total + wide[:, rows][:, :, columns] * row_part * column_part
        return np.trunc(total + np.float32(0.5)).astype(source.dtype)


@operation_definition
class ResizeNearestOp(ResizeBase):
    """Another height and width, of the nearest element each."""

    name = "memgraph.resize_nearest"

    @property
    def takes_stored(self) -> bool:
        return True

    def nearest(self, size: int, out: int) -> Array:
        """The element before of each one after (GetNearestNeighbor)."""
        offset = np.float32(0.5 if self.half_pixel_centers is not None else 0.0)
        at = (np.arange(out, dtype=np.float32) + offset) * self.scale(size, out)
        half = np.float32(0.5) if self.align_corners is not None else np.float32(0)
        return np.clip(np.floor(at + half), 0, size - 1).astype(np.int64)

    def rows_read(self, operand: int, r: int) -> range | None:
        row = int(self.nearest(*self.sizes()[0])[r])
        return range(row, row + 1)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        need_same_numbers(self, self.input, self.result)
        rows, columns = (self.nearest(*size) for size in self.sizes())
        source = channels_last(operands[0], self.input)
        return [as_laid_out(source[:, rows][:, :, columns], self.result)]
