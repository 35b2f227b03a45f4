"""Operators of a file of which TensorFlow Lite Micro's own answer is wrong, whatever the plan.

wrong_answers(model, data)    # ["subgraph 0 operator 3 (SPACE_TO_BATCH_ND): TFLM pads ..."]
"""

from collections.abc import Sequence

from memopt.formats.tflite import Model, Operator, Tensor, elements_of


def wrong_answers(model: Model, data: bytes) -> list[str]:
    """Return a line per operator that TFLM computes other than LiteRT, and other than is meant."""
    return [
        f"subgraph {g} operator {i} ({op.name}): TFLM pads with the stored 0, LiteRT with the zero "
        f"point {zero}: its answer is wrong there"
        for g, graph in enumerate(model.subgraphs)
        for i, op in enumerate(graph.operators)
        if (zero := _padded_zero(op, graph.tensors, model, data))
    ]


def _padded_zero(op: Operator, tensors: Sequence[Tensor], model: Model, data: bytes) -> int:
    """The zero point with which a dilated convolution's image is padded when it becomes a batch
    (space_to_batch_nd.cc sets no offset); 0 for anything else."""
    if op.name != "SPACE_TO_BATCH_ND" or len(op.inputs) < 3:
        return 0
    paddings, result = tensors[op.inputs[2]], tensors[op.outputs[0]]
    is_padded = not paddings.is_constant or any(elements_of(data, model, paddings))
    numbers = result.quantization
    return numbers.zero_point[0] if is_padded and numbers and numbers.zero_point else 0
