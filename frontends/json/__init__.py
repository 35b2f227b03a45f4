"""The JSON frontend: a graph of sized tensors in, a module of `memgraph.opaque` operations out."""

from memopt.frontends.core.registry import Frontend

FRONTEND = Frontend(
    suffix=".json",
    reader=f"{__name__}.read",
    looks=lambda data: data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"),
)
