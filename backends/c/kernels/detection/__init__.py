"""Kernels of detections: one call finds the objects and leaves a list of them in scratch, one call
for each result writes it from that list."""

from memopt.backends.c.emit.call import Constants, KernelCall, Rows, Table, refuse, tensor_or_table
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.emit.rowwise import moved
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import is_stored, per_tensor
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.detection import DetectionPostprocessOp, NonMaxSuppressionOp

HEAD, ENTRY, BOX = 4, 12, 20  # bytes: how many objects, one of them, a box with its score


def _list_and_boxes(op: DetectionPostprocessOp) -> int:
    return HEAD + ENTRY * op.most + BOX * shape_of(op.offsets)[1]


@kernel(DetectionPostprocessOp, "f32, u8 to f32", workspace=_list_and_boxes)
def detection_postprocess(op: DetectionPostprocessOp, constants: Constants) -> list[KernelCall]:
    """Return a call that finds the objects and one for each result; operands are float32 or uint8,
    each with its own scale."""
    anchors = constants(op.anchors)
    if anchors is None:
        raise refuse(op, "anchors that are only known at run time")
    scale, zero = per_tensor(op, op.anchors) if is_stored(op.anchors) else (1.0, 0)
    reals = (anchors.astype(np.float32) - np.float32(zero)) * np.float32(scale)
    numbers: list[tuple[str, int | float]] = []
    for name, value in (("offset", op.offsets), ("score", op.scores)):
        stored = is_stored(value)
        one, nothing = per_tensor(op, value) if stored else (1.0, 0)
        numbers += [(f"{name}_stored", int(stored)), (f"{name}_zero", nothing)]
        numbers.append((f"{name}_unit", one))
    fields = (
        *(("boxes", shape_of(op.offsets)[1]), ("offset_n", shape_of(op.offsets)[2])),
        *(("classes", op.class_count), ("score_n", shape_of(op.scores)[2]), ("most", op.most)),
        *(("limit", op.limit), ("each_class", int(op.per_class is not None))),
        *((name, getattr(op, name).value.data) for name in ("y", "x", "h", "w")),
        *(("least", op.score.value.data), ("overlap", op.overlap.value.data)),
        *(*numbers, ("anchors", Table("float", reals))),
    )
    return [
        moved(
            KernelCall(
                "detection_postprocess",
                (("part", part), *fields),
                (op.offsets, op.scores),
                Rows(1, 0, 0),
            ),
            *(0, 0, part),
        )
        for part in range(4)
    ]


def _scores_and_candidates(op: NonMaxSuppressionOp) -> int:
    return HEAD + 4 * op.most + 8 * shape_of(op.boxes)[0]


@kernel(NonMaxSuppressionOp, "f32 to i32, f32 to f32 and i32", workspace=_scores_and_candidates)
def non_max_suppression(op: NonMaxSuppressionOp, constants: Constants) -> list[KernelCall]:
    """Return a call that finds the boxes, and those that write their scores and their number."""
    operands = tuple(tensor_or_table(op, v, constants) for v in op.operands)
    last, calls = len(op.kept) - 1, list[KernelCall]()
    for number in range(len(op.kept)):
        part = 2 if number == last else number
        fields = (
            *(("part", part), ("boxes", shape_of(op.boxes)[0]), ("most", op.most)),
            ("has_sigma", int(op.sigma is not None)),
        )
        call = KernelCall("non_max_suppression", fields, operands, Rows(1, 0, 0))
        calls.append(moved(call, 0, 0, number))
    return calls
