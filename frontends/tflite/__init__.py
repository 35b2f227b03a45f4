"""The .tflite frontend: LiteRT's schema in, a module of `memgraph` functions out."""

from memopt.frontends.core.registry import Frontend

FRONTEND = Frontend(
    suffix=".tflite",
    reader=f"{__name__}.read",
    looks=lambda data: data[4:8] == b"TFL3",
    fixes_shapes=True,
)
