"""Operators of a file of which TensorFlow Lite Micro's own answer is wrong, whatever the plan, or
which it does not compute though it has them.

wrong_answers(model, data)    # ["subgraph 0 operator 3 (SPACE_TO_BATCH_ND): TFLM pads ..."]
"""

from collections.abc import Sequence

from memopt.formats.tflite import Model, Operator, Tensor, elements_of


def wrong_answers(model: Model, data: bytes, until: int = -1) -> list[str]:
    """Return a line per operator that TFLM computes other than LiteRT and other than is meant, or
    at which it stops; of the first subgraph none behind the operator that writes tensor `until`, if
    one does."""
    last = next(
        (i for i, op in enumerate(model.subgraphs[0].operators) if until in op.outputs), None
    )
    return [
        f"subgraph {g} operator {i} ({op.name}): TFLM {what}"
        for g, graph in enumerate(model.subgraphs)
        for i, op in enumerate(graph.operators)
        if g or last is None or i <= last
        if (what := _padding(op, graph.tensors, model, data) or _detections(op, graph.tensors))
    ]


def _padding(op: Operator, tensors: Sequence[Tensor], model: Model, data: bytes) -> str:
    """Say how a dilated convolution's image is padded when it becomes a batch, whose zero point is
    not 0 (space_to_batch_nd.cc sets no offset)."""
    if op.name != "SPACE_TO_BATCH_ND" or len(op.inputs) < 3:
        return ""
    paddings, result = tensors[op.inputs[2]], tensors[op.outputs[0]]
    is_padded = not paddings.is_constant or any(elements_of(data, model, paddings))
    numbers = result.quantization
    zero = numbers.zero_point[0] if is_padded and numbers and numbers.zero_point else 0
    text = f"pads with the stored 0, LiteRT with the zero point {zero}: its answer is wrong there"
    return text if zero else ""


def _detections(op: Operator, tensors: Sequence[Tensor]) -> str:
    """Say that objects are found of reals alone (detection_postprocess.cc)."""
    if op.name != "CUSTOM:TFLite_Detection_PostProcess":
        return ""
    types = {tensors[i].type for i in op.inputs[:2]} - {"FLOAT32"}
    text = f"finds objects of FLOAT32 alone, not of {', '.join(sorted(types))}: it stops there"
    return text if types else ""
