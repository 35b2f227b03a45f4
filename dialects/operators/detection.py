"""Operations that make a list of objects, boxes that overlap little, of a detector's outputs."""

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr, UnitAttr
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_result_def,
)
from xdsl.traits import Pure

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, dtype_of, is_stored, per_tensor, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, shape_of
from memopt.dialects.operators.base import TYPES, ComputeOp

Real = FloatAttr[Float32Type]
Found = tuple[float, int, int]
"""Score, number of the box, class."""


@operation_definition
class DetectionPostprocessOp(ComputeOp):
    """Boxes, classes and scores of at most as many objects as there are results, and how many these
    are, of offsets to `anchors` and of a score for each anchor and class. Offsets y, x, h, w are
    divided by the scales of these names; an object counts from `score` on, and what overlaps a
    better one by more than `overlap` (area in both by area in either) does not, of the same class
    alone with `per_class`, of which each class has at most so many objects. Elements of results
    behind the last object are 0."""

    name = "memgraph.detection_postprocess"
    offsets = operand_def(AnyTensor)
    scores = operand_def(AnyTensor)
    anchors = operand_def(AnyTensor)
    boxes = result_def(AnyTensor)
    classes = result_def(AnyTensor)
    kept_scores = result_def(AnyTensor)
    count = result_def(AnyTensor)
    y = prop_def(Real)
    x = prop_def(Real)
    h = prop_def(Real)
    w = prop_def(Real)
    score = prop_def(Real)
    overlap = prop_def(Real)
    label_offset = opt_prop_def(UnitAttr)
    per_class = opt_prop_def(IntegerAttr[I64])
    traits = traits_def(Pure())
    assembly_format = (
        "$offsets `,` $scores `,` $anchors `y` $y `x` $x `h` $h `w` $w `score` $score"
        " `overlap` $overlap (`label_offset` $label_offset^)? (`per_class` $per_class^)? " + TYPES
    )

    def verify_(self) -> None:
        offsets, scores = shape_of(self.offsets), shape_of(self.scores)
        ranks = [len(shape_of(v)) for v in (*self.operands, self.boxes)]
        self.require(ranks == [3, 3, 2, 3], "three dimensions, anchors of two")
        self.require(offsets[0] == 1 and offsets[2] >= 4, "four offsets of one image's boxes")
        self.require(scores[:2] == offsets[:2], "as many scores as boxes")
        self.require(self.class_count > 0, "no classes")
        self.require(shape_of(self.anchors) == (offsets[1], 4), "an anchor for each box")
        count = self.most
        self.require(count > 0 and shape_of(self.boxes) == (1, count, 4), "boxes of four numbers")
        others = [shape_of(v) for v in (self.classes, self.kept_scores)]
        self.require(others == [(1, count)] * 2, "a class and a score for each box")
        self.require(shape_of(self.count) == (1,), "one number of objects")
        scales = (self.y, self.x, self.h, self.w)
        self.require(all(v.value.data for v in scales), "a scale of 0")
        self.require(0 < self.overlap.value.data <= 1, "an overlap is above 0 and at most 1")
        self.require(self.per_class is None or self.limit > 0, "no objects of a class")

    @property
    def most(self) -> int:
        """Return the largest number of objects."""
        return shape_of(self.boxes)[1]

    @property
    def limit(self) -> int:
        """Return the largest number of objects of a class, or of all where classes do not count."""
        return self.most if self.per_class is None else self.per_class.value.data

    @property
    def class_count(self) -> int:
        """Return the number of classes, without the first score if that is one for nothing."""
        return shape_of(self.scores)[2] - int(self.label_offset is not None)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """Return the results of detection_postprocess.cc; of equal scores the first is first, as
        the kernel sorts them."""
        if any(is_stored(v) for v in self.results):
            raise unknown(self, "stored results")
        boxes = self._decoded(self._real(0, operands[0])[0], self._real(2, operands[2]))
        scores = self._real(1, operands[1])[0][:, -self.class_count :]
        objects = sorted(self._objects(boxes, scores), key=lambda f: -f[0])[: self.most]
        results = [np.zeros(shape_of(v), np.float32) for v in self.results]
        for i, (value, box, label) in enumerate(objects):
            results[0][0, i], results[1][0, i], results[2][0, i] = boxes[box], label, value
        results[3][0] = len(objects)
        return results

    def _real(self, index: int, values: Array) -> Array:
        value = self.operands[index]
        if not is_stored(value):
            if str(values.dtype) != "float32":
                raise unknown(self, f"operands of {values.dtype}")
            return values
        if str(values.dtype) != "uint8":
            raise unknown(self, f"stored operands of {values.dtype}")
        scale, zero = per_tensor(self, value)
        return (values.astype(np.float32) - np.float32(zero)) * np.float32(scale)

    def _decoded(self, offsets: Array, anchors: Array) -> Array:
        """Return the least y and x and the greatest y and x of each box."""
        at, wide = offsets[:, :4].astype(np.float64), anchors.astype(np.float64)
        scales: Array = np.array([v.value.data for v in (self.y, self.x, self.h, self.w)])
        with np.errstate(over="ignore"):
            middle: Array = at[:, :2] / scales[:2] * wide[:, 2:] + wide[:, :2]
            half: Array = 0.5 * np.exp(at[:, 2:] / scales[2:]) * wide[:, 2:]
        at_middle: Array = middle.astype(np.float32)
        to_end: Array = half.astype(np.float32)
        return np.concatenate([at_middle - to_end, at_middle + to_end], 1)

    def _objects(self, boxes: Array, scores: Array) -> Iterable[Found]:
        if self.per_class is None:
            labels = scores.argmax(1)
            yield from self._apart(boxes, scores.max(1), labels)
            return
        for label in range(self.class_count):
            yield from self._apart(boxes, scores[:, label], [label] * len(boxes))

    def _apart(self, boxes: Array, scores: Array, labels: Sequence[int]) -> list[Found]:
        """Return the best boxes that are apart from better ones."""
        candidates = np.flatnonzero(scores >= np.float32(self.score.value.data))
        order: list[int] = candidates[np.argsort(-scores[candidates], kind="stable")].tolist()
        objects: list[Found] = []
        while order and len(objects) < self.limit:
            best = order.pop(0)
            objects.append((float(scores[best]), best, int(labels[best])))
            shared = overlaps(boxes[best], boxes[order])
            limit: Array = np.float32(self.overlap.value.data)
            order = [i for i, o in zip(order, shared, strict=True) if not o > limit]
        return objects


@operation_definition
class NonMaxSuppressionOp(ComputeOp):
    """Numbers of the best boxes (two corners, y and x of each) of more than the score `least`, of
    which none shares as much as `overlap` with a better one, and how many these are; their scores
    between, if there are three results. With `sigma` above 0 a score falls with what is shared.
    Elements behind the last box are 0; of equal scores the first is first."""

    name = "memgraph.non_max_suppression"
    boxes = operand_def(AnyTensor)
    scores = operand_def(AnyTensor)
    overlap = operand_def(AnyTensor)
    least = operand_def(AnyTensor)
    sigma = opt_operand_def(AnyTensor)
    kept = var_result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$boxes `,` $scores `,` $overlap `,` $least (`,` $sigma^)? " + TYPES

    def verify_(self) -> None:
        boxes, scores = shape_of(self.boxes), shape_of(self.scores)
        self.require(len(boxes) == 2 and boxes[1] == 4, "boxes of four numbers")
        self.require(scores == boxes[:1], "a score for each box")
        self.require(all(elements_of(v) == 1 for v in self.operands[2:]), "one limit of each kind")
        self.require(len(self.kept) in (2, 3), "numbers, scores and how many")
        shapes = [shape_of(v) for v in self.kept]
        self.require(len(shapes[0]) == 1 and shapes[0][0] > 0, "a list of numbers")
        self.require(elements_of(self.kept[-1]) == 1, "one number of boxes")
        self.require(len({*shapes[:-1]}) == 1, "lists of several lengths")

    @property
    def most(self) -> int:
        """Return the largest number of boxes."""
        return shape_of(self.kept[0])[0]

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """Return the results of non_max_suppression.h."""
        if any(str(v.dtype) != "float32" for v in operands):
            raise unknown(self, "other numbers than float32")
        boxes = np.sort(operands[0].reshape(-1, 2, 2), axis=1).reshape(-1, 4)
        overlap, least, *rest = (v.reshape(-1)[0] for v in operands[2:])
        sigma = rest[0] if rest else np.float32(0)
        scale = np.float32(-0.5 / float(sigma)) if sigma > 0 else np.float32(0)
        remaining = np.where(operands[1] > least, operands[1], -np.inf).astype(np.float32)
        begin, chosen, scores = [0] * len(remaining), list[int](), list[Array]()
        limit = min(int((remaining > -np.inf).sum()), self.most)
        while len(chosen) < limit and remaining.max() > -np.inf:
            box = int(remaining.argmax())
            score, out = remaining[box], False
            for other in chosen[begin[box] :][::-1]:
                shared = overlaps(boxes[other], boxes[box : box + 1])[0]
                out = bool(shared >= overlap)
                if out:
                    break
                score = score * np.exp(scale * shared * shared) if sigma > 0 else score
                if score <= least:
                    break
            begin[box] = len(chosen)
            if not out and score == remaining[box]:
                chosen.append(box)
                scores.append(score)
            remaining[box] = -np.inf if out or score <= least else score
        numbers, values = np.zeros(self.most), np.zeros(self.most)
        numbers[: len(chosen)], values[: len(chosen)] = chosen, scores
        count = np.full(shape_of(self.kept[-1]), len(chosen))
        results = [numbers, *([values] if len(self.kept) == 3 else []), count]
        return [a.astype(dtype_of(v)) for a, v in zip(results, self.kept, strict=True)]


def overlaps(one: Array, others: Array) -> Array:
    """Return the area in both boxes by the area in either; 0 of a box without area."""
    least, last = np.maximum(one[:2], others[:, :2]), np.minimum(one[2:], others[:, 2:])
    inner: Array = (last - least).clip(np.float32(0))
    sizes: Array = others[:, 2:] - others[:, :2]
    area, areas = (one[2] - one[0]) * (one[3] - one[1]), sizes[:, 0] * sizes[:, 1]
    both = inner[:, 0] * inner[:, 1]
    with np.errstate(all="ignore"):
        shared: Array = both / (area + areas - both)
    shared[(areas <= 0) | (area <= 0)] = 0
    return shared
