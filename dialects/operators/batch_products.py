"""Products of matrices that are both known at run time only."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import I64, IntegerAttr, UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, traits_def

from memopt.dialects.arithmetic.even_rounding import multiplier, rounds_even
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import float32
from memopt.dialects.arithmetic.stored import (
    Array,
    dtype_of,
    is_stored,
    limits_of,
    need_double_rounding,
    need_reals,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.attributes.operators import RoundingAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, rows_of, shape_of
from memopt.dialects.operators.base import ROUNDING, TYPES, OneResultOp
from memopt.dialects.operators.products import requantized
from memopt.dialects.operators.traits import Alike, RealsOnly


@operation_definition
class BatchMatmulOp(OneResultOp):
    """Products of the matrices in the last two dimensions, with `adj_x` and `adj_y` of those
    transposed; the others broadcast. Of int8 and uint8 without a scale, sums of int32."""

    name = "memgraph.batch_matmul"
    lhs = operand_def(AnyTensor)
    rhs = operand_def(AnyTensor)
    adj_x = opt_prop_def(UnitAttr)
    adj_y = opt_prop_def(UnitAttr)
    rounding = opt_prop_def(RoundingAttr)
    assembly_format = "$lhs `,` $rhs (`adj_x` $adj_x^)? (`adj_y` $adj_y^)?" + ROUNDING + " " + TYPES

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Rows, depth and columns."""
        a, b = shape_of(self.lhs), shape_of(self.rhs)
        rows, depth = (a[-1], a[-2]) if self.adj_x is not None else (a[-2], a[-1])
        return rows, depth, b[-2] if self.adj_y is not None else b[-1]

    def verify_(self) -> None:
        a, b = list(shape_of(self.lhs)), list(shape_of(self.rhs))
        self.require(len(a) >= 2 and len(b) >= 2, "two matrices")
        rows, depth, columns = self.sizes
        other = b[-1] if self.adj_y is not None else b[-2]
        self.require(depth == other, f"{depth} columns times {other} rows")
        n = max(len(a), len(b))
        wide = ([1] * (n - len(v)) + v[:-2] for v in (a, b))
        pairs = zip(*wide, strict=True)
        batches: list[int] = []
        for x, y in pairs:
            self.require(x == y or 1 in (x, y), f"{a} and {b} do not broadcast")
            batches.append(y if x == 1 else x)
        expected = (*batches, rows, columns)
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")

    def macs(self) -> int:
        """The depth for each element."""
        return elements_of(self.result) * self.sizes[1]

    def rows_read(self, operand: int, r: int) -> range | None:
        """A row of the left operand, where a row is matrices of which each has one on the right."""
        by_rows = (
            len(shape_of(self.lhs)) == len(shape_of(self.result)) > len(shape_of(self.rhs)) + 1
        )
        return range(r, r + 1) if operand == 0 and by_rows else None

    def alike(self, r: int) -> bool:
        return self.rows_read(0, r) is not None

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        a, b = operands
        a = a.swapaxes(-1, -2) if self.adj_x is not None else a
        b = b.swapaxes(-1, -2) if self.adj_y is not None else b
        if not any(is_stored(v) for v in (self.lhs, self.rhs, self.result)):
            if all(v.dtype in (np.int8, np.uint8) for v in (a, b)):
                return [(a.astype(np.int64) @ b.astype(np.int64)).astype(dtype_of(self.result))]
            need_reals(self, a, b)
            if a.dtype.kind != "f":
                raise unknown(self, "integers")
            return [(a.astype(np.float64) @ b.astype(np.float64)).astype(a.dtype)]
        real = self.real
        a = a.astype(np.int64) - per_tensor(self, self.lhs)[1]
        b = b.astype(np.int64) - per_tensor(self, self.rhs)[1]
        bits = stored_bits(self, self.lhs, unsigned=True)
        integers = requantized(self, a @ b, None, [real], bits) + per_tensor(self, self.result)[1]
        return [np.clip(integers, *limits_of(self, self.result)).astype(dtype_of(self.result))]

    @property
    def real(self) -> float:
        """Return the number with which a sum is multiplied (GetQuantizedConvolutionMultipler;
        ONNX's).

        Raises MemoptError for others than int8, int16 without zero points, and uint8 that is
        rounded as ONNX's.
        """
        even = rounds_even(self)
        if not even:
            need_double_rounding(self)
        values = self.lhs, self.rhs, self.result
        wide = stored_bits(self, *values, unsigned=even) == 16
        if wide and (even or any(per_tensor(self, v)[1] for v in values)):
            raise unknown(self, "a product of int16 with zero points, or rounded as ONNX's")
        a, b, out = (per_tensor(self, v)[0] for v in values)
        if wide:  # of 16 bits of the multiplier one more may be another; LiteRT's is that of int8
            return a * b / out
        return multiplier(a, b, out) if even else float32(a * b) / out

    @property
    def batches(self) -> tuple[int, int, int] | None:
        """Return how many products, and matrices of the left and the right operand: as many, or
        one. None where some dimensions broadcast and others do not."""
        counts = [prod(shape_of(v)[:-2]) for v in (self.result, self.lhs, self.rhs)]
        if any(n not in (1, counts[0]) for n in counts):
            return None
        return counts[0], counts[1], counts[2]


@operation_definition
class OuterProductsOp(OneResultOp):
    """The sum over places of the products of each channel of the first operand with each of the
    second; of equal `groups` of channels, each group with the one of its number. So keys times
    values of an attention without softmax are added up place by place."""

    name = "memgraph.outer_products"
    lhs = operand_def(AnyTensor)
    rhs = operand_def(AnyTensor)
    groups = prop_def(IntegerAttr[I64])
    traits = traits_def(Alike(), RealsOnly())
    assembly_format = "$lhs `,` $rhs `groups` $groups " + TYPES

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Return places, and channels of a group of each operand."""
        groups = self.groups.value.data
        (_, places, depth), (_, _, width) = shape_of(self.lhs), shape_of(self.rhs)
        return places, depth // groups, width // groups

    def verify_(self) -> None:
        a, b, groups = shape_of(self.lhs), shape_of(self.rhs), self.groups.value.data
        self.require(len(a) == len(b) == 3 and a[0] == b[0] == 1, "[1, places, channels]")
        self.require(a[1] == b[1] > 0, f"{a[1]} and {b[1]} places")
        divides = groups > 0 and not (a[2] % groups or b[2] % groups)
        self.require(divides, f"{a[2]} and {b[2]} channels in {groups} groups")
        expected = (a[2], b[2] // groups)
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")

    @property
    def accumulates(self) -> bool:
        return rows_of(self.lhs) is not None and rows_of(self.rhs) is not None

    def rows_read(self, operand: int, r: int) -> range | None:
        return range(r, r + 1)

    def macs(self) -> int:
        """One for each element of the result and each place."""
        return elements_of(self.result) * self.sizes[0]

    def part(self, operands: Sequence[Array], r: int, before: Array | None) -> Array:
        need_reals(self, *operands)
        if (
            any(is_stored(v) for v in (*self.operands, self.result))
            or operands[0].dtype.kind != "f"
        ):
            raise unknown(self, "stored integers, or whole numbers")
        groups = self.groups.value.data
        x, y = (v.astype(np.float64).reshape(-1, groups, v.shape[2] // groups) for v in operands)
        products = np.einsum("pgi,pgj->gij", x, y).reshape(shape_of(self.result))
        return products if before is None else before + products

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        return self.finished(operands, self.part(operands, 0, None))

    def finished(self, operands: Sequence[Array], total: Array) -> list[Array]:
        return [total.astype(dtype_of(self.result))]
