"""Rooms that must not know each other, connected: what passes ask of a backend, and the IR of
runtimes.

`import memopt` connects them, so before anything else of it runs; the modules are loaded when they
are asked.
"""

from memopt.dialects.attributes.runtimes import connect_runtimes
from memopt.targets.core.kernels import connect_oracle


def connect() -> None:
    """Say which backend knows the kernels of which targets, and who knows the runtimes."""
    connect_runtimes("memopt.targets.core.runtimes")
    connect_oracle("c", "memopt.backends.c.emit.registry")
