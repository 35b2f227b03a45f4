"""The HLO frontend: the text of a compiled XLA module in, a function of `memgraph.opaque` out."""

from memopt.frontends.core.registry import Frontend

FRONTEND = Frontend(
    suffix=".hlo",
    reader=f"{__name__}.read",
    looks=lambda data: data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"HloModule"),
    also=(".txt",),  # what `--xla_dump_to` writes
)
