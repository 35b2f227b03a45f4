"""The ONNX frontend: an .onnx file in, a module with one `memgraph` function out."""

from memopt.frontends.core.registry import Frontend

FRONTEND = Frontend(
    suffix=".onnx",
    reader=f"{__name__}.read",
    looks=None,  # protobuf begins with no mark
    fixes_shapes=True,
    # An operator of stored integers was taken apart; and a ReLU is a node here, none in a .tflite.
    rules=("qdq-fold", "relu-into-producer"),
    rounds_freely=True,  # the standard says what is computed, not in which order
)
