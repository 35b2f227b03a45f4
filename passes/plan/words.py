"""Words that options of passes may be, for who offers them and loads no pass."""

ALL, NONE, AUTO = "all", "none", "auto"
"""`rows` of memgraph-expand-rows, beside names of tensors."""

RAM, BALANCED, SPEED = HOW = ("ram", "balanced", "speed")
"""`optimize` of memgraph-kernels."""
