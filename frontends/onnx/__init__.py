"""The ONNX frontend: an .onnx file in, a module with one `memgraph` function out."""

from memopt.frontends.core.registry import Frontend

FRONTEND = Frontend(
    suffix=".onnx",
    reader=f"{__name__}.read",
    looks=None,  # protobuf begins with no mark
    fixes_shapes=True,
    rules=("relu-into-producer",),  # here a ReLU is a node; the same network as .tflite has none
)
