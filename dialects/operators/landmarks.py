"""Operations of MediaPipe from landmarks to a part of an image, and back."""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, DenseArrayBase, Float32Type, FloatAttr, IntegerAttr
from xdsl.irdl import operand_def, prop_def, traits_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, shape_of
from memopt.dialects.operators.base import TYPES, OneResultOp
from memopt.dialects.operators.traits import RealsOnly

MATRIX = (1, 4, 4)
Real = FloatAttr[Float32Type]
Number = IntegerAttr[I64]


class LandmarksOp(OneResultOp):
    """Base: of reals, each result of all operands."""

    traits = traits_def(RealsOnly())

    def need_floats(self, operands: Sequence[Array]) -> None:
        """Raise MemoptError for operands that are not all float32."""
        if any(str(v.dtype) != "float32" for v in operands):
            raise unknown(self, "other numbers than float32")


@operation_definition
class LandmarksToMatrixOp(LandmarksOp):
    """The matrix by which pixels of an image of `height` times `width` are places in another one,
    in which that image lies around `subset` of the landmarks (x, y and z each), turned so that what
    goes from `left` to `right` has the angle `target`, and `scale_x` and `scale_y` times as large
    as they need."""

    name = "memgraph.landmarks_to_matrix"
    input = operand_def(AnyTensor)
    subset = prop_def(DenseArrayBase.constr(I64))
    left = prop_def(Number)
    right = prop_def(Number)
    target = prop_def(Real)
    height = prop_def(Number)
    width = prop_def(Number)
    scale_x = prop_def(Real)
    scale_y = prop_def(Real)
    assembly_format = (
        "$input `subset` $subset `left` $left `right` $right `target` $target `height` $height"
        " `width` $width `scale_x` $scale_x `scale_y` $scale_y " + TYPES
    )

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the landmarks that lie inside."""
        return tuple(int(v) for v in self.subset.get_values())

    def verify_(self) -> None:
        self.require(elements_of(self.input) % 3 == 0, "three numbers of each landmark")
        self.require(shape_of(self.result) == MATRIX, f"the result's shape must be {MATRIX}")
        count, ends = elements_of(self.input) // 3, (self.left.value.data, self.right.value.data)
        self.require(bool(self.numbers), "no landmarks")
        inside = all(0 <= n < count for n in (*self.numbers, *ends))
        self.require(inside, f"landmarks that are none of {count}")
        sizes = self.height.value.data, self.width.value.data
        self.require(min(sizes) > 0, "an image without pixels")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        self.need_floats(operands)
        at = operands[0].astype(np.float64).reshape(-1, 3)[:, :2]
        across = at[self.right.value.data] - at[self.left.value.data]
        angle = self.target.value.data - np.arctan2(across[1], across[0])
        turned = at[list(self.numbers)] @ _turn(angle)[:2, :2].T
        low, high = turned.min(0), turned.max(0)
        middle = _turn(-angle)[:2, :2] @ ((low + high) / 2)
        sizes = np.array([self.width.value.data, self.height.value.data])
        scales = np.array([self.scale_x.value.data, self.scale_y.value.data]) * (high - low)
        scaled = np.diag([*(scales / sizes), 1, 1])
        matrix = _shift(middle) @ _turn(-angle) @ scaled @ _shift(-sizes / 2)
        return [matrix.astype(np.float32).reshape(MATRIX)]


def _turn(angle: float) -> Array:
    matrix: Array = np.eye(4)
    matrix[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return matrix


def _shift(by: Array) -> Array:
    matrix: Array = np.eye(4)
    matrix[:2, 3] = by
    return matrix


class TransformedOp(LandmarksOp):
    """Base: by a matrix of four rows, of which the first two count."""

    input = operand_def(AnyTensor)
    matrix = operand_def(AnyTensor)
    assembly_format = "$input `,` $matrix " + TYPES

    def verify_(self) -> None:
        self.require(shape_of(self.matrix)[-2:] == MATRIX[1:], "a matrix of four rows")
        self.require(elements_of(self.matrix) == 16, "one matrix")


@operation_definition
class TransformBilinearOp(TransformedOp):
    """The image whose pixels are, of the four nearest elements, what lies where the matrix says,
    half a pixel from the edges; 0 outside."""

    name = "memgraph.transform_bilinear"

    def verify_(self) -> None:
        super().verify_()
        shape, out = shape_of(self.input), shape_of(self.result)
        self.require(len(shape) == len(out) == 4 and shape[0] == out[0] == 1, "one image each")
        self.require(shape[3] == out[3] and 0 not in shape, "other channels, or no pixels")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        self.need_floats(operands)
        image, rows = operands[0][0].astype(np.float64), operands[1].reshape(4, 4)[:2].copy()
        half = np.float32(0.5)
        rows[:, 3] += rows[:, 0] * half + rows[:, 1] * half - half
        out = shape_of(self.result)
        y, x = np.meshgrid(*map(np.arange, out[1:3]), indexing="ij")
        at = np.stack([x, y, np.zeros_like(x), np.ones_like(x)], -1).astype(np.float32)
        places = at @ rows.T
        limits = np.array([image.shape[1] - 1, image.shape[0] - 1])
        inside = ((places >= 0) & (places <= limits)).all(-1)
        first = np.floor(places.clip(0, limits)).astype(np.int64)
        part = (places - first).astype(np.float64)
        wide = np.pad(image, [(0, 1), (0, 1), (0, 0)])
        pixels: Array = np.zeros(out[1:])
        for dy in range(2):
            for dx in range(2):
                weight = (part[..., 1] if dy else 1 - part[..., 1]) * (
                    part[..., 0] if dx else 1 - part[..., 0]
                )
                pixels += weight[..., None] * wide[first[..., 1] + dy, first[..., 0] + dx]
        return [np.where(inside[..., None], pixels, 0).astype(np.float32)[None]]


@operation_definition
class TransformLandmarksOp(TransformedOp):
    """Landmarks, x, y and perhaps z each, with x and y where the matrix says."""

    name = "memgraph.transform_landmarks"

    def verify_(self) -> None:
        super().verify_()
        shape = shape_of(self.input)
        self.require(shape == shape_of(self.result), "shapes differ")
        self.require(bool(shape) and shape[-1] in (2, 3), "two or three numbers of a landmark")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        self.need_floats(operands)
        rows = operands[1].reshape(4, 4)[:2]
        landmarks: Array = operands[0].copy()
        landmarks[..., :2] = operands[0][..., :2] @ rows[:, :2].T + rows[:, 3]
        return [landmarks]
